"""Whether the chat proxy hears the person, and only the person, behind the clients that people use.

    python benchmarks/clients.py [CLIENT ...] [--details]

Each session of `tests/clients/recorded/` was recorded from a real client; what is expected beside it was written from
what was typed. Here each is sent again, request by request, to a real `vault-memory serve` with a scripted provider
behind it, by a user of its own. Every user has preferences before, so there is a memory for each request.

    turns_expected, turns     what was typed, and the turns that were recorded
    words_wrong               recorded turns whose words are not exactly what was typed
    false_preferences         preferences in USER.md that the person did not state
    injected_missing          requests of a turn that went on without its memory
    injected_twice            requests in which one turn's memory stands more than once

Required: `turns` is `turns_expected`, the others are 0; so are these, which the same replay shows: `turns_late` (turns
that were recorded only when the server stopped), `injected_wrongly` (requests that a client makes on its own, with a
memory of their own) and `preferences_missing`. `unknowable` counts words, and preferences from them, of which nothing
in the request tells that they were not typed: known limits, which `expected.toml` names. The last line is one JSON
object.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from proxy import Running

from tests.clients import recording
from tests.clients.provider import say
from tests.scripted_http import Received, Reply, ScriptedServer
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.profiles import list_preferences, set_preference
from vault_memory.services.vault import Vault, open_vault

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "clients" / "recorded"
BEFORE = {"display_name": "Alice", "language": "en"}
"""What every user prefers before: another language than the one that is asked for, which a new vault has by itself."""
QUIET_S = 3.0
"""When no turn has been recorded for so long, all are that will be while the server runs."""
BLOCK = re.compile("<vault-memory>")
WHOLE_BLOCK = re.compile("<vault-memory>.*?</vault-memory>")
ASSISTANT = ("function_call", "custom_tool_call", "reasoning")
"""Items of OpenAI's responses that the model said, beside those with its role."""
Memory = tuple[int, str]
"""The index of the message in which a memory stands, and the text of that."""
KEYS = (
    *("turns_expected", "turns", "words_wrong", "false_preferences", "injected_missing", "injected_twice"),
    *("turns_late", "injected_wrongly", "preferences_missing", "unknowable"),
)


@dataclass
class Session:
    """A recorded session, what is expected of it, and what came of it."""

    name: str
    exchanges: list[recording.Exchange]
    turns: list[str]
    preferences: set[tuple[str, str]]
    requests: list[int]
    unknowable: list[str] = field(default_factory=list)
    """Turns of which nothing in the request tells what was typed, and what is learned from them (`tolerated`)."""
    tolerated: set[tuple[str, str]] = field(default_factory=set)
    figures: Counter[str] = field(default_factory=Counter)
    details: list[str] = field(default_factory=list)

    @property
    def user_id(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower())

    def count(self, figure: str, detail: str) -> None:
        self.figures[figure] += 1
        self.details.append(f"{figure}: {detail}")


def sessions(clients: list[str]) -> Iterator[Session]:
    """The recorded sessions of the named clients, or of all."""
    for expected in sorted(RECORDED.glob("*/expected.toml")):
        client = expected.parent.name
        if clients and not any(client.startswith(name) for name in clients):
            continue
        for name, values in tomllib.loads(expected.read_text(encoding="utf-8")).items():
            exchanges = recording.read(expected.parent / f"{name}.jsonl")
            assert len(values["requests"]) == len(exchanges), f"{client} {name}: a number for each request"
            preferences = set(values["preferences"].items())
            unknowable, tolerated = values.get("unknowable", []), set(values.get("false_preferences", {}).items())
            yield Session(
                *(f"{client} {name}", exchanges, values["turns"], preferences, values["requests"]),
                *(unknowable, tolerated),
            )


def replay(session: Session, address: str, token: str, provider: ScriptedServer) -> None:
    """Send the session's requests, one after the other, and look at what the provider gets."""
    begins: dict[int, int] = {}
    known: dict[Memory, int] = {}
    with httpx.Client(base_url=address, timeout=60) as client:
        for number, (exchange, turn) in enumerate(zip(session.exchanges, session.requests, strict=True), 1):

            def answer(received: Received, exchange: recording.Exchange = exchange, number: int = number) -> Reply:
                return say(received, exchange.answer, number) if exchange.answer else Reply([b"{}"], status=404)

            provider.script = [answer]
            provider.received.clear()
            headers = [(name, value.replace("KEY", token)) for name, value in exchange.headers]
            content = b"" if exchange.body is None else json.dumps(exchange.body, ensure_ascii=False).encode()
            response = client.request(exchange.method, exchange.path, headers=headers, content=content)
            if exchange.answer is None:
                continue
            where = f"request {number} ({response.headers.get('x-vault-memory', 'without memory')})"
            if response.status_code != 200 or not provider.received:
                session.count("injected_missing", f"{where}: status {response.status_code} {response.text[:200]}")
                continue
            look(session, provider.received[-1].fields, turn, begins, known, where)


def look(
    session: Session, fields: Any, turn: int, begins: dict[int, int], known: dict[Memory, int], where: str
) -> None:
    """Count what is wrong with the memory in one request, as the provider got it.

    `begins` is where the first new message of each turn stood. `known` is the turn of each memory: one that stands
    where it stood in an earlier turn belongs to that one.
    """
    said = fields.get("messages", fields.get("input")) or []
    messages = said if isinstance(said, list) else [{"role": "user", "content": said}]
    after = 1 + max((at for at, message in enumerate(messages) if is_assistant(message)), default=-1)
    given = memories(messages)
    if not turn:
        if any(each[0] >= after and each not in known for each in given):
            session.count("injected_wrongly", where)
        return
    begins.setdefault(turn, after)
    words = session.turns[turn - 1]
    asked = [at for at, message in enumerate(messages) if words in without_blocks(message)]  # files may move behind it
    first = min([begins[turn], after, *asked[-1:]])
    own = [each for each in given if known.setdefault(each, turn) == turn and each[0] >= first]
    if not own:
        session.count("injected_missing", where)
    if len(own) > 1:
        session.count("injected_twice", where)


def is_assistant(message: Any) -> bool:
    """Whether the model said this message or item."""
    return message.get("role") == "assistant" or message.get("type") in ASSISTANT


def without_blocks(message: Any) -> str:
    """What the client has written in a message."""
    return WHOLE_BLOCK.sub("", json.dumps(message, ensure_ascii=False))


def memories(messages: list[Any]) -> list[Memory]:
    """The memories in these messages, each with the texts of its message, however the client has packed them."""
    contents = [message.get("content") or "" for message in messages]
    parts = [content if isinstance(content, list) else [{"text": content}] for content in contents]
    texts = ["".join(str(part.get("text") or "") for part in each) for each in parts]
    return [(index, text) for index, text in enumerate(texts) for _ in BLOCK.findall(text)]


def recorded_words(vault: Vault, user_id: str) -> list[str]:
    """The person's words in the conversation records of a user, each turn once."""
    folder = vault.root / "memory" / user_id / "conversations"
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").split("\n") if line]
    return [row["user_message"] for row in map(json.loads, lines) if "completes" not in row]


def profile(vault: Vault, user_id: str) -> set[tuple[str, str]]:
    """What USER.md says."""
    return {(each.key, each.value) for each in list_preferences(vault, user_id)}


def judge(session: Session, words: list[str], before: set[tuple[str, str]], said: set[tuple[str, str]]) -> None:
    """Count what is wrong with the turns, and with what USER.md says since `before`."""
    session.figures["turns_expected"] = len(session.turns)
    session.figures["turns"] = len(words)
    left = Counter(session.turns)
    unknown = list(session.unknowable)
    for each in words:
        if left[each] > 0:
            left[each] -= 1
        elif unknown:
            left[unknown.pop()] -= 1
            session.count("unknowable", f"words: {each[:150]!r}")
        else:
            session.count("words_wrong", repr(each[:150]))
    for missing in left.elements():
        session.details.append(f"no turn: {missing!r}")
    for key, value in sorted(said - before - session.preferences):
        figure = "unknowable" if (key, value) in session.tolerated else "false_preferences"
        session.count(figure, f"{key} = {value}")
    for key, value in sorted(session.preferences - said):
        session.count("preferences_missing", f"{key} = {value}")


def wait_for_turns(vault: Vault, found: list[Session]) -> dict[str, int]:
    """How many turns of each session are recorded while the server runs, once no more come."""
    before: dict[str, int] = {}
    changed_at = time.monotonic()
    while time.monotonic() - changed_at < QUIET_S:
        now = {session.name: len(recorded_words(vault, session.user_id)) for session in found}
        if now != before:
            changed_at, before = time.monotonic(), now
        time.sleep(0.1)
    return before


def main() -> None:
    """Replay, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help="such as `codex`; all without one")
    parser.add_argument("--details", action="store_true", help="say what is wrong, line by line")
    options = parser.parse_args()
    found = list(sessions(options.clients))
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name, ScriptedServer() as provider:
        vault = open_vault(create_vault(Path(name) / "vault").root)
        tokens, before = {}, {}
        for session in found:
            tokens[session.name] = new_user_token(vault, session.user_id)
            for key, value in BEFORE.items():
                set_preference(vault, session.user_id, key, value)
            before[session.name] = profile(vault, session.user_id)
        serve = [sys.executable, "-m", "vault_memory", "--vault", str(vault.root), "serve"]
        settings = {"UPSTREAM_BASE_URL": provider.url, "UPSTREAM_ANTHROPIC_URL": provider.url, "SERVE_PORT": "0"}
        settings |= {"SERVE_RATE": "100000", "PROXY_MEMORY_TIMEOUT_MS": "20000"}
        server = Running(*serve, **{f"VAULT_MEMORY_{key}": value for key, value in settings.items()})
        try:
            for session in found:
                replay(session, server.url, tokens[session.name], provider)
            in_time = wait_for_turns(vault, found)
        finally:
            server.end()
        for session in found:
            words = recorded_words(vault, session.user_id)
            judge(session, words, before[session.name], profile(vault, session.user_id))
            session.figures["turns_late"] = len(words) - in_time[session.name]
    print(f"{'session':<34}" + "".join(f"{key.replace('_', ' '):>20}" for key in KEYS))
    for session in found:
        print(f"{session.name:<34}" + "".join(f"{session.figures[key]:>20}" for key in KEYS))
        for detail in session.details if options.details else ():
            print(f"    {detail}")
    print(json.dumps({key: sum(session.figures[key] for session in found) for key in KEYS}))


if __name__ == "__main__":
    main()
