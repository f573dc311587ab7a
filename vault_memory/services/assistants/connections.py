"""Which assistants are connected, and whether what they would start answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import reading
from vault_memory.core.assistants import ASSISTANTS, command_in
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.assistants.places import is_there, path_of

ANSWER_WAIT_S = 30.0
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "install", "version": "1"}},
}


@dataclass(frozen=True)
class Connection:
    """An assistant: whether it `is_here`, the `command` by which it starts our server (none: it is not connected), the
    `vault` and `user` in that, whether it has our hooks, and what is wrong, "" if nothing is."""

    client: str
    title: str
    is_here: bool
    command: tuple[str, ...] = ()
    vault: str = ""
    user: str = ""
    has_hooks: bool = False
    problem: str = ""


def connections(environ: Mapping[str, str] = os.environ, *, ask: bool = True) -> list[Connection]:
    """All assistants that are known, in the order of the table; with `ask` each server is started and asked."""
    return [_connection(client, environ, ask=ask) for client in ASSISTANTS]


def _connection(client: str, environ: Mapping[str, str], *, ask: bool) -> Connection:
    assistant = ASSISTANTS[client]
    folder = "claude" if client == "claude-code" else assistant.server.folder
    is_here = is_there(folder, environ)
    try:
        command = command_in(client, _text(path_of(assistant.server, environ)))
        hooks = _text(path_of(assistant.hooks, environ)) if assistant.hooks else ""
        has_hooks = bool(hooks) and assistant.hooks is not None and assistant.hooks.parted(hooks) != hooks
    except VaultMemoryError as error:
        return Connection(client, assistant.title, is_here, problem=str(error))
    if not command:
        return Connection(client, assistant.title, is_here, has_hooks=has_hooks)
    named = {word: command[number + 1] for number, word in enumerate(command[:-1]) if word in ("--vault", "--user")}
    problem = _problem(command, environ) if ask else ""
    return Connection(
        client, assistant.title, True, command, named.get("--vault", ""), named.get("--user", ""), has_hooks, problem
    )


def _text(path: Path) -> str:
    try:
        return (files.read(path) or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not in UTF-8") from error


def _problem(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Why a server does not answer `initialize`; "" if it does."""
    asked = json.dumps(_INITIALIZE) + "\n"
    try:
        done = subprocess.run(
            [*command], input=asked.encode(), capture_output=True, timeout=ANSWER_WAIT_S, env={**environ}
        )
    except subprocess.TimeoutExpired:
        return f"it does not answer within {ANSWER_WAIT_S:g} s"
    except OSError as error:
        return f"it cannot be started: {error.strerror or error}"
    for line in reading.lines(done.stdout):
        with suppress(ValueError, TypeError, KeyError):
            if json.loads(line)["result"]["serverInfo"]["name"] == "vault-memory":
                return ""
    told = reading.lines(done.stderr.decode("utf-8", "replace").strip())
    return f"it does not answer: {told[-1][:200] if told else f'exit code {done.returncode}'}"
