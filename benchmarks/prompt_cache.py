"""How many input tokens a provider does not read from its prompt cache: asked directly, and through the chat proxy.

    python benchmarks/prompt_cache.py [SESSION ...] [--chunks 300]

Sessions of our own (5 questions, 20 requests with rounds of tools, as clients of Anthropic and OpenAI send them) and
those of `tests/clients/recorded/` are sent through a real `vault-memory serve` to a scripted provider. Both series of
requests, as the client sent them and as the provider got them, go into a simulation of the documented caches:

- Anthropic: an entry is written only at a breakpoint (`cache_control`, at most four, or one for the whole request) and
  holds the prefix of tools, system and messages up to that block, if it is as long as the model's minimum. From each
  breakpoint an entry is looked for at 20 positions backwards, itself the first; `tool_use` blocks in a row are one
  position, and so are `tool_result` blocks. A text is the same as a list with one part.
- OpenAI: the longest prefix that it has in common with an earlier request, if that is 1,024 tokens or more, in steps
  of 128.

Nothing is too old in it. What was cut from a recording counts with its length. Tokens are estimated, as the proxy does.

    uncached_direct     the share of input tokens that were not read from the cache, of our own sessions
    uncached_proxy      the same through the proxy

Required: at most .01 apart, and so for each of the two APIs. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clients import RECORDED
from prompt import make_vault
from proxy import Running

from tests.clients import recording
from tests.clients.provider import MESSAGES, Answer, Call, door, say
from tests.scripted_http import Received, Reply, ScriptedServer
from vault_memory.core.chat.prompt import tokens
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.vault import Vault

ANTHROPIC, OPENAI = "anthropic", "openai"
PATHS = {ANTHROPIC: "/v1/messages", OPENAI: "/v1/chat/completions"}
MIN_TOKENS = 1_024
"""The shortest prefix that is cached: OpenAI's, and Anthropic's for most models."""
STEP_TOKENS = 128
MAX_BREAKPOINTS = 4
LOOKBACK = 20
QUESTIONS, ROUNDS = 5, 4
RANDOM = random.Random(12)
_CUT = re.compile(r"\[… (\d+) characters …\]")
_RUNS = ("tool_use", "tool_result")


@dataclass(frozen=True)
class Sent:
    """One request of a session: its headers and fields, and what the model says to it."""

    path: str
    headers: list[tuple[str, str]]
    fields: dict[str, Any]
    answer: Answer


@dataclass(frozen=True)
class Session:
    """The requests of a session of one client, in order."""

    name: str
    api: str
    requests: list[Sent]
    is_own: bool = False


@dataclass(frozen=True)
class Block:
    """A piece of a prompt as Anthropic's cache sees it. `identity` has no `cache_control`."""

    identity: str
    tokens: int
    is_breakpoint: bool = False
    kind: str = ""


class Anthropic:
    """Anthropic's cache. `read` gives (input tokens, those read from the cache) of one request after the other."""

    def __init__(self) -> None:
        self._entries: dict[int, int] = {}

    def read(self, fields: dict[str, Any]) -> tuple[int, int]:
        found = list(anthropic_blocks(fields))
        prefixes, sizes = [0], [0]
        for block in found:
            prefixes.append(hash((prefixes[-1], block.identity)))
            sizes.append(sizes[-1] + block.tokens)
        marked = [end for end, block in enumerate(found, 1) if block.is_breakpoint]
        if fields.get("cache_control") and found and len(found) not in marked:
            marked.append(len(found))
        marked = marked[-MAX_BREAKPOINTS:]
        hits = [end for start in marked for end in looked_at(found, start) if prefixes[end] in self._entries]
        for end in marked:
            if sizes[end] >= MIN_TOKENS:
                self._entries[prefixes[end]] = sizes[end]
        return sizes[-1], sizes[max(hits, default=0)]


def looked_at(blocks: list[Block], start: int) -> Iterator[int]:
    """The ends of the prefixes at which an entry is looked for, from the breakpoint backwards."""
    positions, end = 0, start
    while end > 0 and positions < LOOKBACK:
        yield end
        kind = blocks[end - 1].kind
        positions += not (kind in _RUNS and end > 1 and blocks[end - 2].kind == kind)
        end -= 1


def anthropic_blocks(fields: dict[str, Any]) -> Iterator[Block]:
    """The blocks of a request: tools, system, messages."""
    for tool in fields.get("tools") or []:
        yield block("tool", tool)
    for part in parts(fields.get("system") or []):
        yield block("system", part)
    for message in fields["messages"]:
        for part in parts(message["content"]):
            yield block(message["role"], part)


def block(role: str, value: dict[str, Any]) -> Block:
    plain = json.dumps(without_marks(value), ensure_ascii=False)
    return Block(f"{role} {plain}", size(plain), "cache_control" in value, value.get("type", ""))


def parts(content: Any) -> list[dict[str, Any]]:
    """A text as Anthropic reads it: the same as a list with one part. Clients send empty lists, too."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_marks(inner) for key, inner in value.items() if key != "cache_control"}
    return [without_marks(inner) for inner in value] if isinstance(value, list) else value


class OpenAI:
    """OpenAI's cache. `read` gives (input tokens, those read from the cache) of one request after the other."""

    def __init__(self) -> None:
        self._earlier: list[str] = []

    def read(self, fields: dict[str, Any]) -> tuple[int, int]:
        text = openai_text(fields)
        common = max((same_beginning(text, earlier) for earlier in self._earlier), default=0)
        self._earlier.append(text)
        cached = size(text[:common])
        return size(text), cached - cached % STEP_TOKENS if cached >= MIN_TOKENS else 0


def openai_text(fields: dict[str, Any]) -> str:
    """A request as one text, in the order in which OpenAI's cache sees it: tools, then messages."""
    pieces = [json.dumps(tool, ensure_ascii=False) for tool in fields.get("tools") or []]
    for message in [*parts_of_instructions(fields), *messages_of(fields)]:
        rest = {key: value for key, value in message.items() if key not in ("content", "role")}
        content = message.get("content")
        texts = content if isinstance(content, list) else [content]
        shown = [str(part["text"]) if isinstance(part, dict) and "text" in part else json.dumps(part) for part in texts]
        pieces.append(f"{message.get('role')}: {'|'.join(shown)}{json.dumps(rest, ensure_ascii=False) if rest else ''}")
    return "\n".join(pieces)


def parts_of_instructions(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "system", "content": fields["instructions"]}] if fields.get("instructions") else []


def messages_of(fields: dict[str, Any]) -> list[dict[str, Any]]:
    given = fields.get("messages", fields.get("input")) or []
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def same_beginning(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def size(text: str) -> int:
    """The estimated tokens of a text; what was cut from a recording counts, too."""
    return tokens(text) + sum(int(found) for found in _CUT.findall(text)) // 4


def words(count: int) -> str:
    """So many words of no language, about a token and a half each."""
    return " ".join(
        "".join(RANDOM.choice("bdfgklmnprst") + RANDOM.choice("aeiou") for _ in range(3)) for _ in range(count)
    )


def own_sessions(questions: list[str]) -> Iterator[Session]:
    """One session, as four clients send it: of Anthropic's with a mark that moves on with each request, and one for the
    whole request; of OpenAI's with texts, and with parts."""
    tools = [(words(1), words(60)) for _ in range(15)]
    instructions = words(1_500)
    rounds = [[(words(8), words(250)) for _ in range(ROUNDS - 1)] for _ in questions]
    replies = [words(80) for _ in questions]
    for name, api in (("marked", ANTHROPIC), ("automatic", ANTHROPIC), ("texts", OPENAI), ("parts", OPENAI)):
        requests, said = [], list[dict[str, Any]]()
        for number, question in enumerate(questions):
            said.append({"role": "user", "content": question if name != "parts" else parts(question)})
            for called, result in [*rounds[number], ("", "")]:
                answer = Answer(calls=[Call("look", {"at": called})]) if called else Answer(replies[number])
                requests.append(Sent(PATHS[api], [], request(name, tools, instructions, said), answer))
                at = f"call_{len(requests)}"
                said += spoken(api, answer, at) + (answered(api, at, result) if called else [])
        yield Session(f"5 questions, {name}", api, requests, is_own=True)


def request(name: str, tools: list[tuple[str, str]], instructions: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    """The request of a client of this name for what was said so far."""
    if name in ("texts", "parts"):
        functions = [{"type": "function", "function": {"name": tool, "description": text}} for tool, text in tools]
        return {"model": "m", "tools": functions, "messages": [{"role": "system", "content": instructions}, *said]}
    mark = {"cache_control": {"type": "ephemeral"}}
    described = [{"name": tool, "description": text, "input_schema": {"type": "object"}} for tool, text in tools]
    fields: dict[str, Any] = {"model": "m", "max_tokens": 100, "tools": described, "system": instructions}
    if name == "automatic":
        return fields | mark | {"messages": [*said]}
    *before, last = said
    last = last | {"content": [*parts(last["content"])[:-1], parts(last["content"])[-1] | mark]}
    return fields | {"system": [parts(instructions)[0] | mark], "messages": [*before, last]}


def spoken(api: str, answer: Answer, at: str) -> list[dict[str, Any]]:
    """The message that the model's answer becomes."""
    if api == ANTHROPIC:
        calls = [{"type": "tool_use", "id": at, "name": call.name, "input": call.arguments} for call in answer.calls]
        return [{"role": "assistant", "content": calls or parts(answer.text)}]
    functions = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in answer.calls]
    calls = [{"id": at, "type": "function", "function": function} for function in functions]
    return [{"role": "assistant", "content": answer.text or None} | ({"tool_calls": calls} if calls else {})]


def answered(api: str, at: str, result: str) -> list[dict[str, Any]]:
    """The message with a tool's result."""
    if api == ANTHROPIC:
        return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": at, "content": result}]}]
    return [{"role": "tool", "tool_call_id": at, "content": result}]


def recorded_sessions() -> Iterator[Session]:
    """The sessions of real clients, without what they asked of no model."""
    for file in sorted(RECORDED.glob("*/*.jsonl")):
        found = [each for each in recording.read(file) if each.answer and isinstance(each.body, dict)]
        requests = [Sent(each.path, each.headers, each.body, each.answer) for each in found if each.answer]
        api = ANTHROPIC if door(found[0].path) == MESSAGES else OPENAI
        yield Session(f"{file.parent.name} {file.stem}", api, requests)


def through_proxy(session: Session, address: str, token: str, provider: ScriptedServer) -> list[dict[str, Any]]:
    """The requests of a session as the provider gets them."""
    got = []
    with httpx.Client(base_url=address, timeout=60) as client:
        for number, sent in enumerate(session.requests, 1):

            def answer(received: Received, sent: Sent = sent, number: int = number) -> Reply:
                return say(received, sent.answer, number)

            provider.script = [answer]
            provider.received.clear()
            headers = [(name, value.replace("KEY", token)) for name, value in sent.headers]
            headers = headers or [("Authorization", f"Bearer {token}"), ("Content-Type", "application/json")]
            content = json.dumps(sent.fields, ensure_ascii=False).encode()
            response = client.post(sent.path, headers=headers, content=content)
            assert response.status_code == 200, response.text
            told = response.headers["x-vault-memory"]  # a passage of a moment ago may have no vector yet
            assert "degraded" not in told or told.startswith("degraded; embedding: "), told
            got.append(provider.received[-1].fields)
    return got


def read_tokens(session: Session, requests: list[dict[str, Any]]) -> tuple[int, int]:
    """(input tokens, those not read from the cache) of all requests."""
    cache = Anthropic() if session.api == ANTHROPIC else OpenAI()
    read = [cache.read(fields) for fields in requests]
    total = sum(all_tokens for all_tokens, _ in read)
    return total, total - sum(cached for _, cached in read)


def share(counts: list[tuple[int, int]]) -> float:
    """The share that was not read from the cache, of the tokens of all."""
    return sum(uncached for _, uncached in counts) / max(1, sum(total for total, _ in counts))


def lines_of_notes(vault: Vault, count: int) -> list[str]:
    """Questions that the notes have much to say to."""
    text = (vault.root / "memory" / "alice" / "notes" / "0.md").read_text(encoding="utf-8")
    found = [line for line in text.split("\n") if line.endswith((".", "。"))]
    return [f"What do you know about {line}?" for line in found[:: len(found) // count][:count]]


def main() -> None:
    """Send all sessions, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", nargs="*", metavar="SESSION", help="beginnings of names; all without one")
    parser.add_argument("--chunks", type=int, default=300)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name, ScriptedServer() as provider:
        vault = make_vault(Path(name) / "vault", options.chunks)
        token = new_user_token(vault, "alice")
        found = [*own_sessions(lines_of_notes(vault, QUESTIONS)), *recorded_sessions()]
        found = [each for each in found if each.name.startswith(tuple(options.sessions or [""]))]
        serve = [sys.executable, "-m", "vault_memory", "--vault", str(vault.root), "serve"]
        settings = {"UPSTREAM_BASE_URL": f"{provider.url}/v1", "UPSTREAM_ANTHROPIC_URL": f"{provider.url}/v1"}
        settings |= {"SERVE_PORT": "0", "SERVE_RATE": "100000", "PROXY_MEMORY_TIMEOUT_MS": "20000"}
        server = Running(*serve, **{f"VAULT_MEMORY_{key}": value for key, value in settings.items()})
        try:
            proxied = {each.name: through_proxy(each, server.url, token, provider) for each in found}
        finally:
            server.end()
    counts = {
        each.name: (
            read_tokens(each, [sent.fields for sent in each.requests]),
            read_tokens(each, proxied[each.name]),
        )
        for each in found
    }
    print(f"{'session':<36}{'requests':>9}{'tokens':>10}{'memory':>9}{'direct':>9}{'proxy':>9}   not from the cache")
    for each in found:
        direct, proxy = counts[each.name]
        shares = f"{share([direct]):>9.3f}{share([proxy]):>9.3f}"
        print(f"{each.name:<36}{len(each.requests):>9}{direct[0]:>10}{proxy[0] - direct[0]:>9}{shares}")
    figures = {}
    for key, apis in (("uncached", (ANTHROPIC, OPENAI)), (ANTHROPIC, (ANTHROPIC,)), (OPENAI, (OPENAI,))):
        own = [counts[each.name] for each in found if each.is_own and each.api in apis]
        figures[f"{key}_direct"] = round(share([direct for direct, _ in own]), 4)
        figures[f"{key}_proxy"] = round(share([proxy for _, proxy in own]), 4)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
