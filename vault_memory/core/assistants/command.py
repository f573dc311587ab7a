"""How an assistant calls this program: the words that `install` writes, and how they are known again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath

NAME = "vault-memory"
"""Of the program, and of our entry in each configuration."""
_BY_PYTHON = ("-P", "-m", "vault_memory")


@dataclass(frozen=True)
class Command:
    """How this program is called for a vault and a user of it; `options` are those that a person has added to those of
    the server."""

    program: tuple[str, ...]
    vault: str
    user: str
    options: tuple[str, ...] = ()

    @property
    def server(self) -> tuple[str, ...]:
        """The words that start the MCP server."""
        return (*self.program, "--vault", self.vault, "mcp", "--user", self.user, *self.options)

    def hook(self, client: str) -> str:
        """The line for a shell that a hook runs. Its exit code is always 0: 2 would keep the person's words from the
        model."""
        return f"{shlex.join(self.hook_words(client))} 2>/dev/null || true"

    def hook_words(self, client: str) -> tuple[str, ...]:
        """The words that a hook runs."""
        return (*self.program, "--vault", self.vault, "hook", "event", client, "--user", self.user)


def program_beside(python: PurePath, is_file: Callable[[PurePath], bool]) -> tuple[str, ...]:
    """The words that start this program, whatever the PATH of an assistant is: the script that was installed beside
    that Python, else the Python itself."""
    script = python.with_name(f"{NAME}.exe" if isinstance(python, PureWindowsPath) else NAME)
    return (str(script),) if is_file(script) else (str(python), *_BY_PYTHON)


def server_of(words: Sequence[str]) -> Command | None:
    """The command whose server these words start, as `install` writes them; None if they are others."""
    program, rest = _parted(words)
    if len(rest) < 5 or (rest[2], rest[3]) != ("mcp", "--user") or not _is_ours(program):
        return None
    return Command(program, rest[1], rest[4], rest[5:])


def hook_of(line: object, client: str) -> Command | None:
    """The command whose hook this line runs, sign for sign as `install` writes it; None if it is another one."""
    if not isinstance(line, str):
        return None
    try:
        program, rest = _parted(shlex.split(line))
    except ValueError:  # a quote that nothing closes
        return None
    if len(rest) < 7 or not _is_ours(program):
        return None
    command = Command(program, rest[1], rest[6])
    return command if command.hook(client) == line else None


def _parted(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that start a program, and those from the vault on."""
    at = words.index("--vault") if "--vault" in words else 0
    return tuple(words[:at]), tuple(words[at:])


def _is_ours(program: Sequence[str]) -> bool:
    """Whether these words are some installation of this program, as `program_beside` names it."""
    path = PureWindowsPath(program[0] if program else "")
    if not (path.is_absolute() or PurePosixPath(path.as_posix()).is_absolute()):
        return False
    return tuple(program[1:]) == _BY_PYTHON or (len(program) == 1 and path.name in (NAME, f"{NAME}.exe"))
