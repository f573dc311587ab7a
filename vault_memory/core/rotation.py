"""What of a log goes into the archive when its year is over: the entries of MEMORY.md, and the lines of feedback.jsonl.

Each piece is moved byte for byte. The lines are evidence, and the newest of them count: so those of the years in the
archive, and then those of the file, are in the order in which they were written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from vault_memory.core import layout, reading

_DATED = re.compile(rb"## ([0-9]{4})-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}\b")


class Rotated(NamedTuple):
    """A log without what is `moved`: the pieces of each earlier year, in their order."""

    kept: bytes
    moved: Mapping[int, list[bytes]]


LOGS = (layout.MEMORY_LOG, layout.FEEDBACK)


def rotated(log: str, text: bytes, year: int, newest: int | None = None) -> Rotated:
    """The text of a log, one of `LOGS`, without what is from before `year`; `newest` is the newest year of that log in
    the archive."""
    return entries(text, year) if log == layout.MEMORY_LOG else lines(text, year, newest)


def with_pieces(log: str, archived: bytes | None, text: bytes, year: int, pieces: list[bytes]) -> bytes:
    """The archive of a year with more pieces of a log, whose text was `text`."""
    if log == layout.FEEDBACK:
        return with_lines(archived, pieces)
    return with_entries(archived, _title(text, year), pieces)


def _title(log: bytes, year: int) -> bytes:
    """The first line of an archive of MEMORY.md: that of the log, in its language, with the year."""
    first = reading.lines(log)[0]
    return first + f" {year}\n".encode() if first.startswith(b"# ") else f"# {year}\n".encode()


def entries(log: bytes, year: int) -> Rotated:
    """MEMORY.md without the entries from before `year`. An entry is its heading and all lines below it, up to the next
    one; what stands before the first, and a section of a person's whose heading is no time, stay. The blank line before
    an entry at the end goes with it: the one above it, last now, is what it was before anything stood below it."""
    kept: list[bytes] = []
    moved: dict[int, list[bytes]] = {}
    last = kept
    for piece in _entries(log):
        match = _DATED.match(piece)
        last = moved.setdefault(int(match[1]), []) if match and int(match[1]) < year else kept
        last.append(piece)
    if last is not kept and kept and kept[-1].endswith(b"\n\n"):
        kept[-1] = kept[-1][:-1]
        last[-1] = b"\n" + last[-1]
    return Rotated(b"".join(kept), moved)


def _entries(log: bytes) -> Iterator[bytes]:
    piece: list[bytes] = []
    for line in reading.lines(log, keep_ends=True):
        if line.startswith(b"## ") and piece:
            yield b"".join(piece)
            piece = []
        piece.append(line)
    if piece:
        yield b"".join(piece)


def lines(log: bytes, year: int, newest: int | None = None) -> Rotated:
    """feedback.jsonl without its lines up to the first of `year`; `newest` is the newest year in the archive.

    A line belongs to the year in which it was written: that of its `created_at`, but to none before that of the line
    above it. One that says no time, or a later one than `year`, belongs to that of the line above.
    """
    moved: dict[int, list[bytes]] = {}
    found = reading.lines(log, keep_ends=True)
    of_line = newest
    waiting: list[bytes] = []  # lines above the first that says a time
    for at, line in enumerate(found):
        said = _year_in(line)
        if said is not None and said <= year:
            of_line = max(said, of_line or 0)
        if of_line is not None and of_line >= year:
            return Rotated(b"".join([*waiting, *found[at:]]), moved)
        if of_line is None:
            waiting.append(line)
            continue
        moved.setdefault(of_line, []).extend([*waiting, line])
        waiting = []
    return Rotated(b"".join(waiting), moved)


def _year_in(line: bytes) -> int | None:
    try:
        return datetime.fromisoformat(reading.json_value(line)["created_at"]).year
    except (ValueError, TypeError, KeyError):
        return None


def with_entries(archived: bytes | None, title: bytes, pieces: list[bytes]) -> bytes:
    """The archive of a year, which begins with `title`, with more entries; one that it has already is not added."""
    text = archived or title
    known = {piece.strip() for piece in _entries(text)}
    for piece in pieces:
        if piece.strip() not in known:
            text = text.rstrip(b"\n") + b"\n\n" + piece.strip(b"\n") + b"\n" if text else piece
    return text


def with_lines(archived: bytes | None, pieces: list[bytes]) -> bytes:
    """The same of lines. Two machines may have moved the same."""
    text = archived or b""
    known = set(reading.lines(text))
    new = [piece for piece in pieces if piece.rstrip(b"\r\n") not in known]
    gap = b"" if text.endswith(b"\n") or not text else b"\n"
    return text + gap + b"".join(piece if piece.endswith(b"\n") else piece + b"\n" for piece in new)
