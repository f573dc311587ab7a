from __future__ import annotations

import json
import shlex
from pathlib import PurePath, PurePosixPath, PureWindowsPath

import pytest

from vault_memory.core.assistants import ASSISTANTS, Command, command_in, program_beside

PYTHONS: list[tuple[PurePath, str]] = [
    (PureWindowsPath(r"C:\Users\Ann Lee\pipx\venvs\vault-memory\Scripts\python.exe"), "vault-memory.exe"),
    (PureWindowsPath(r"C:\Python 3.12\python3.12.exe"), "vault-memory.exe"),
    (PurePosixPath("/home/ann lee/.venv/bin/python3.12"), "vault-memory"),
]


@pytest.mark.parametrize(("python", "script"), PYTHONS)
def test_a_program_is_the_script_beside_its_python(python: PurePath, script: str) -> None:
    beside = python.with_name(script)
    assert program_beside(python, lambda path: path == beside) == (str(beside),)
    assert program_beside(python, lambda _: False) == (str(python), "-P", "-m", "vault_memory")


@pytest.mark.parametrize("client", [*ASSISTANTS])
@pytest.mark.parametrize(("python", "script"), PYTHONS)
def test_blanks_and_backslashes_of_a_path_come_through(client: str, python: PurePath, script: str) -> None:
    """Claude Code runs hooks on Windows by Git Bash, so the quotes of a POSIX shell are right there, too."""
    program = program_beside(python, lambda _: True)
    command = Command(program, str(python.with_name("my vault")), "alice")
    assert command_in(client, ASSISTANTS[client].server.merged("", command)) == command.server
    line = command.hook(client)
    assert shlex.split(line.removesuffix(" 2>/dev/null || true")) == [*command.hook_words(client)]
    if (hooks := ASSISTANTS[client].hooks) is not None:
        written = hooks.merged("", command)
        assert all(json.dumps(word, ensure_ascii=False)[1:-1] in written for word in program)
