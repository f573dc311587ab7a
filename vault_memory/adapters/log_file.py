"""A log that never grows beyond a few files: `daemon.jsonl`, and older ones as `daemon.jsonl.1` and so on."""

from __future__ import annotations

import os
from pathlib import Path

MOST_BYTES = 1_000_000
OLDER = 4


class LogFile:
    """A log of lines at `path`. Opened anew for each line: it may be deleted or moved away at any time."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        self.path, self.most_bytes = path, most_bytes

    def write(self, line: str) -> None:
        """Append a line, after moving a full file out of the way. Raises `OSError`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab", buffering=0) as file:
            file.write(line.encode("utf-8", "replace") + b"\n")
            is_full = file.tell() >= self.most_bytes
        if is_full:
            for number in range(OLDER, 0, -1):
                newer = self.path if number == 1 else self._older(number - 1)
                if newer.exists():
                    os.replace(newer, self._older(number))

    def _older(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
