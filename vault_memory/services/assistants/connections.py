"""Which assistants are connected, and whether what they would start answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from vault_memory.adapters import files
from vault_memory.core import reading
from vault_memory.core.assistants import ASSISTANTS, command_in
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.assistants.places import is_there, path_of

ANSWER_WAIT_S = 10.0
_MAX_ANSWER_BYTES = 256 * 1024
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


def connections(
    environ: Mapping[str, str] = os.environ, *, ask: bool = True, wait_s: float = ANSWER_WAIT_S
) -> list[Connection]:
    """All assistants that are known, in the order of the table. With `ask` their servers are started and asked, all at
    once, and have so many seconds to answer."""
    with ThreadPoolExecutor(len(ASSISTANTS)) as threads:
        return [*threads.map(lambda client: _connection(client, environ, wait_s if ask else 0.0), ASSISTANTS)]


def _connection(client: str, environ: Mapping[str, str], wait_s: float) -> Connection:
    assistant = ASSISTANTS[client]
    folder = "claude" if client == "claude-code" else assistant.server.folder
    is_here = is_there(folder, environ)
    try:
        command = command_in(client, _text(path_of(assistant.server, environ)))
        hooks = _text(path_of(assistant.hooks, environ)) if assistant.hooks else ""
        has_hooks = bool(hooks) and assistant.hooks is not None and assistant.hooks.ours.holds(hooks)
    except VaultMemoryError as error:
        return Connection(client, assistant.title, is_here, problem=str(error))
    if not command:
        return Connection(client, assistant.title, is_here, has_hooks=has_hooks)
    named = {word: command[number + 1] for number, word in enumerate(command[:-1]) if word in ("--vault", "--user")}
    problem = _problem(command, environ, wait_s) if wait_s else ""
    return Connection(
        client, assistant.title, True, command, named.get("--vault", ""), named.get("--user", ""), has_hooks, problem
    )


def _text(path: Path) -> str:
    try:
        return (files.read(path) or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not in UTF-8") from error


def _problem(command: Sequence[str], environ: Mapping[str, str], wait_s: float) -> str:
    """Why a server does not answer `initialize`; "" if it does. No more is read than an answer is long."""
    with TemporaryFile() as asked:
        asked.write(json.dumps(_INITIALIZE).encode() + b"\n")
        asked.seek(0)
        try:
            process = subprocess.Popen(
                [*command],
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**environ},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # the latter: a word with a NUL
            return f"it cannot be started: {getattr(error, 'strerror', None) or error}"
    began = time.monotonic()
    deadline = threading.Timer(wait_s, _kill, [process])
    deadline.start()
    with process:
        answer = _read(process.stdout)
        if len(answer) < _MAX_ANSWER_BYTES:
            process.wait()
        is_late = time.monotonic() - began >= wait_s
        deadline.cancel()
        _kill(process)
        told = reading.lines(_read(process.stderr).decode("utf-8", "replace").strip())
    for line in reading.lines(answer):
        with suppress(ValueError, TypeError, KeyError):
            if json.loads(line)["result"]["serverInfo"]["name"] == "vault-memory":
                return ""
    if len(answer) == _MAX_ANSWER_BYTES:
        return "it does not answer: what it says is none"
    if is_late:
        return f"it does not answer within {wait_s:g} s"
    return f"it does not answer: {told[-1][:200] if told else f'exit code {process.returncode}'}"


def _read(pipe: IO[bytes] | None) -> bytes:
    return pipe.read(_MAX_ANSWER_BYTES) if pipe else b""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a server and what it has started: that holds its pipes."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
