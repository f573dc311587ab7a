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
                older = [name, *(f"{name}.{n}" for n in range(1, MAX_OLD_FILES + 1))]
                for newer, old in reversed(list(zip(older[:-1], older[1:], strict=True))):
                    with contextlib.suppress(FileNotFoundError):
                        folder.replace(newer, old)
