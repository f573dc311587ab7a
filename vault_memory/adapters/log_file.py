"""A log of limited size: `daemon.jsonl`, and older files `daemon.jsonl.1`, `daemon.jsonl.2` and so on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from vault_memory.adapters import files, private

MAX_BYTES = 1_000_000
MAX_OLD_FILES = 4


class LogFile:
    """A private log of lines at `path`, below a folder that is trusted (None: its own).

    It is opened for each line, because it may be deleted or moved away at any time.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES, below: Path | None = None) -> None:
        self.path, self.max_bytes, self._below = path, max_bytes, below

    def write(self, line: str) -> None:
        """Append a line; then rename a full file, and the next line starts a new one.

        Raises `OSError`, or `ForeignFile` for a link.
        """
        name = self.path.name
        with private.folder_of(self.path, self._below, make=True) as folder:
            number = folder.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                files.write_all(number, line.encode("utf-8", "replace") + b"\n")
                is_full = os.fstat(number).st_size >= self.max_bytes
            finally:
                os.close(number)
            if is_full:
                older = _names(name)
                for newer, old in reversed(list(zip(older[:-1], older[1:], strict=True))):
                    with contextlib.suppress(FileNotFoundError):
                        folder.replace(newer, old)


class LogReader:
    """Reads such a log: its `last` lines, and then those that are `new`, in whichever file they are by then."""

    def __init__(self, path: Path, below: Path | None = None) -> None:
        self.path, self._below = path, below
        self._read_to: tuple[int, int] = (0, 0)
        """The inode number of the newest file that was read, and how many bytes of it were."""

    def last(self, count: int) -> list[str]:
        """The newest lines, the oldest of them first. Raises `ForeignFile` for a link."""
        lines: list[str] = []
        for older, name in enumerate(_names(self.path.name)):
            inode, found, size = self._lines(name)
            if not older:
                self._read_to = (inode, size)
            lines = [*found, *lines]
            if len(lines) >= count:
                break
        return lines[-count:] if count else []

    def new(self) -> list[str]:
        """The lines that have come since the last look. Raises `ForeignFile` for a link."""
        inode, read_bytes = self._read_to
        come: list[str] = []
        for older, name in enumerate(_names(self.path.name)):
            this, found, size = self._lines(name, inode, read_bytes)
            if not older:
                self._read_to, newest = (this, size), found
            come = [*found, *come]
            if this == inode:
                return come
            if not inode:  # there was no log, so there is no older file
                break
        return newest  # the log was deleted and begun anew

    def _lines(self, name: str, inode: int = 0, start: int = 0) -> tuple[int, list[str], int]:
        """The inode number of a file (0: there is none), its whole lines, and where they end; of the file `inode` those
        from `start` on."""
        try:
            with private.folder_of(self.path, self._below) as folder:
                number = folder.open(name, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError):
            return 0, [], 0
        with os.fdopen(number, "rb") as file:
            status = os.fstat(number)
            start = start if status.st_ino == inode and start <= status.st_size else 0
            file.seek(start)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        return status.st_ino, whole.decode("utf-8", "replace").split("\n")[:-1], start + len(whole)


def _names(name: str) -> list[str]:
    """The names of a log's files, the newest first."""
    return [name, *(f"{name}.{n}" for n in range(1, MAX_OLD_FILES + 1))]
