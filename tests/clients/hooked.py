"""Connect real clients with a vault as a person does (`vault-memory install CLIENT --write`), and talk with them:
against a scripted provider alone, and through `vault-memory serve`, where the same question must still make one turn.

    .venv/bin/python tests/clients/install.py claude-code codex
    .venv/bin/python -m tests.clients.hooked [CLIENT ...]

Prints what is wrong, and ends with one line of JSON: `sessions` and `wrong`.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.clients.install import FOLDER
from tests.clients.provider import Answer, Call
from tests.clients.record import Machine, Script, Session, project
from tests.scripted_http import ScriptedServer
from vault_memory.services.admin import create_vault
from vault_memory.services.admin.access import new_user_token
from vault_memory.services.assistants import heard_hooks
from vault_memory.services.memories import list_memories
from vault_memory.services.notes import newest_turns
from vault_memory.services.profiles import set_preference, user_profile
from vault_memory.services.vault import Vault, open_vault

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from proxy import Running

USER = "alice"
FIRST, SECOND = "I prefer concise answers. Remember my dog.", "以後後端都用 Rust。幫我看 notes.txt"
COMMAND = "/deploy staging"
REPLIES = ["Noted, your dog is Rex.", "好的，之後都用 Rust。"]
QUIET_S = 20.0
Said = Callable[[Machine, dict[str, str]], None]


def claude_code(machine: Machine, environ: dict[str, str]) -> None:
    """Two questions in one session of Claude Code, then what is made short of, and a command."""
    machine.write("project/.claude/commands/deploy.md", "Deploy the project to $ARGUMENTS. I prefer Vue.\n")
    environ = environ | dict.fromkeys(("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"), "1")
    claude = ["claude", "-p", "--allowedTools", "mcp__vault-memory__remember"]
    machine.run(*claude[:2], FIRST, *claude[2:], **environ)
    machine.run(*claude[:2], "-c", SECOND, *claude[2:], **environ)
    machine.run(*claude[:2], "-c", "/compact", *claude[2:], **environ)
    machine.run(*claude[:2], "-c", COMMAND, *claude[2:], **environ)


def codex(machine: Machine, environ: dict[str, str]) -> None:
    """Two questions in one session of Codex, whose new hooks are trusted unseen here."""
    command = ["codex", "exec", "--skip-git-repo-check", "-s", "danger-full-access"]
    command.append("--dangerously-bypass-hook-trust")
    machine.run(*command, FIRST, **environ)
    machine.run(*command, "resume", "--last", SECOND, **environ)


def opencode(machine: Machine, environ: dict[str, str]) -> None:
    """Two questions in one session of opencode."""
    environ = environ | {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    command = ["opencode", "run", "--auto"]
    machine.run(*command, FIRST, **environ)
    machine.run(*command, "-c", SECOND, **environ)


TALKS: dict[str, Said] = {"claude-code": claude_code, "codex": codex, "opencode": opencode}
FACT = {"content": "The dog is called Rex"}
CALLS = {
    "claude-code": [Call("mcp__vault-memory__remember", FACT)],
    # Codex asks its model before the servers of its tools have begun, so that it has to wait first.
    "opencode": [Call("vault-memory_remember", FACT)],
    "codex": [Call("exec_command", {"cmd": "sleep 5"}), Call("remember", FACT, "mcp__vault_memory")],
}


@contextmanager
def answering(root: Path, provider: ScriptedServer, port: int) -> Iterator[None]:
    """`vault-memory serve` of that vault, before that provider, until the end of the block."""
    settings = {"UPSTREAM_BASE_URL": provider.url, "UPSTREAM_ANTHROPIC_URL": provider.url, "SERVE_PORT": str(port)}
    settings["PROXY_MEMORY_TIMEOUT_MS"] = "20000"
    serve = [sys.executable, "-m", "vault_memory", "--vault", str(root), "serve"]
    server = Running(*serve, **{f"VAULT_MEMORY_{key}": value for key, value in settings.items()})
    try:
        yield
    finally:
        server.end()


def hold(client: str, *, by_proxy: bool) -> list[str]:
    """Hold the session of a client; what is wrong of what came of it."""
    with tempfile.TemporaryDirectory(prefix="hooked-") as folder, ScriptedServer() as provider:
        vault = open_vault(create_vault(Path(folder) / "vault").root)
        set_preference(vault, USER, "theme", "dark")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        url = f"http://127.0.0.1:{port}/v1" if by_proxy else ""
        machine = Machine(client, Path(folder) / "home", provider, url, new_user_token(vault, USER))
        project(machine)
        environ = machine.settings().environ
        _connect(vault, machine, client)
        rounds = [Answer("", [call]) for call in CALLS[client]]
        script = Script(
            {
                FIRST: [*rounds, Answer(REPLIES[0])],
                SECOND: [Answer(REPLIES[1])],
                "Deploy the project": [Answer("Deployed.")],
                "detailed summary": [Answer("<summary>They talked of Rust.</summary>")],
            }
        )
        session = Session(provider, script)
        if by_proxy:
            with answering(vault.root, provider, port):
                TALKS[client](machine, environ)
                return _wrong(client, vault, session)
        TALKS[client](machine, environ)
        return _wrong(client, vault, session)


def _connect(vault: Vault, machine: Machine, client: str) -> None:
    command = [sys.executable, "-m", "vault_memory", "--vault", str(vault.root)]
    command += ["install", client, "--user", USER, "--rules", "en", "--write"]
    subprocess.run(command, env=machine.environ(), check=True, capture_output=True)


def _wrong(client: str, vault: Vault, session: Session) -> list[str]:
    wrong = []
    give_up = time.monotonic() + QUIET_S
    while time.monotonic() < give_up:
        turns = [turn for _, turn in newest_turns(vault, USER, 9)][::-1]
        if [str(turn.get("assistant_message") or "")[-5:] for turn in turns[:2]] == [each[-5:] for each in REPLIES]:
            break
        time.sleep(0.2)
    words = [turn.get("user_message") for turn in turns]
    if words != [FIRST, SECOND, *([COMMAND] if client == "claude-code" else [])]:
        wrong.append(f"the turns are {words}")
    replies = [str(turn.get("assistant_message") or "") for turn in turns]
    if not all(said in reply for said, reply in zip(REPLIES, replies, strict=False)):
        wrong.append(f"the replies are {replies}")
    while not _is_learned(known := user_profile(vault, USER).preferences):  # this comes after the reply
        if time.monotonic() > give_up:
            wrong.append(f"the profile is {known}")
            break
        time.sleep(0.2)
    kept = [each.memory.content for each in list_memories(vault, USER)]
    if [each for each in kept if "Rex" in each] != [FACT["content"]]:
        wrong.append("the model's call of the tool has left no memory")
    bodies = [received.body.decode("utf-8", "replace") for received, answer in session.kept if answer]
    for said in (FIRST, SECOND):
        if not any("<vault-memory>" in body for body in bodies if json.dumps(said, ensure_ascii=False)[1:-1] in body):
            wrong.append(f"no memory went with {said!r}")
    heard = heard_hooks(vault.root)
    wrong += [f"hook {each.event}: {each.problem}" for each in heard if each.problem]
    wanted = {"UserPromptSubmit", "Stop", *({"SessionStart"} if client != "opencode" else ())}
    if missing := wanted - {each.event for each in heard}:
        wrong.append(f"never heard: {sorted(missing)}")
    return wrong


def _is_learned(known: Mapping[str, object]) -> bool:
    return known.get("response_style") == "concise" and "Rust" in str(known.get("languages"))


def main(names: list[str]) -> int:
    """Hold the sessions of the named clients, or of all that are installed; 1 if anything is wrong."""
    sessions, problems = 0, 0
    for client in names or [each for each in TALKS if (FOLDER / f"{each}.json").exists()]:
        for by_proxy in (False, True):
            wrong = hold(client, by_proxy=by_proxy)
            print(f"{client} {'through serve' if by_proxy else 'alone'}: {'; '.join(wrong) or 'fine'}")
            sessions, problems = sessions + 1, problems + len(wrong)
    print(json.dumps({"sessions": sessions, "wrong": problems}))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
