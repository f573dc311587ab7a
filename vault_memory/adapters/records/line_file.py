"""A file of lines, such as a conversation record, read from its end: it may be long, and what is wanted is new."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vault_memory.adapters import files

BLOCK_BYTES = 256 << 10
"""So much is in memory at a time, and the line that is being read."""


def lines_from_end(path: Path) -> Iterator[tuple[int, bytes]]:
    """(number, line) of each line of a file, the last one first; none if there is no file. The first line is 1.

    What follows the last line break is a line, even if it is empty. Raises what `files.read` raises.
    """
    try:
        file = files.opened(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    with file:
        size = os.fstat(file.fileno()).st_size  # what is appended meanwhile is not looked at
        starts = range(0, size, BLOCK_BYTES)
        number = 1 + sum(file.read(min(BLOCK_BYTES, size - start)).count(b"\n") for start in starts)
        pieces: list[bytes] = []  # of one line, the last piece first
        for start in reversed(starts):
            file.seek(start)
            *lines, piece = file.read(min(BLOCK_BYTES, size - start)).split(b"\n")
            pieces.append(piece)
            while lines:
                yield number, _joined(pieces)
                number, pieces = number - 1, [lines.pop()]
        yield number, _joined(pieces)


def _joined(pieces: list[bytes]) -> bytes:
    return b"".join(reversed(pieces)).removesuffix(b"\r")
