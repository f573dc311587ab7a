"""A log of limited size: `daemon.jsonl`, and older files `daemon.jsonl.1`, `daemon.jsonl.2` and so on."""

from __future__ import annotations

import os
from pathlib import Path

MAX_BYTES = 1_000_000
MAX_OLD_FILES = 4


class LogFile:
    """A log of lines at `path`. It is opened for each line, because it may be deleted or moved away at any time."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path, self.max_bytes = path, max_bytes

    def write(self, line: str) -> None:
        """Append a line; then rename a full file, and the next line starts a new one. Raises `OSError`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8", "replace") + b"\n")
            is_full = file.tell() >= self.max_bytes
        if is_full:
            for number in range(MAX_OLD_FILES, 0, -1):
                newer = self.path if number == 1 else self._older(number - 1)
                if newer.exists():
                    os.replace(newer, self._older(number))

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
