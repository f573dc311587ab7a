"""A month of conversation in one file, `2026-01.jsonl.gz`: the records of its days, a member of gzip for each, in the
order of the days.

`zcat` and `zgrep` read the members as one text, the lines of the days byte for byte. The header of a member holds the
name of the day's file and the length of the member. So one day is found and read without unpacking the others, and a
line keeps the number that it has in its day. The same days give the same bytes.
"""

from __future__ import annotations

import calendar
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from vault_memory.core import reading

MAX_DAY_BYTES = 200_000_000
"""Of a day's lines; a longer day stays a file of its own. It bounds what a few bytes of gzip can take of memory."""
MAX_FOREIGN_BYTES = 500_000_000
"""Of all lines of a month that another program has packed: of such a file all is unpacked to find one day."""

MAX_MEMBERS = 10_000
"""Of such a file; a month has 31 days."""

_BLOCK_BYTES = 4096
_NOT_ZERO = re.compile(rb"[^\0]")
_GZIP = zlib.MAX_WBITS | 16
_BEGIN = b"\x1f\x8b\x08\x0c"
"""A member of gzip that has a field for programs, and a name."""
_FIELD = b"VM"
_HEADER = struct.Struct("<4sIBBH2sHQ16sx")
"""What it begins with, time (0), level, system, length of all fields, our field with its length: that of the member,
and the name of the day's file, which ends with a zero byte."""
_SYSTEM = 255  # unknown: the same bytes on all of them
HEADER_BYTES = _HEADER.size
TRAILER = struct.Struct("<II")
"""What it ends with: the CRC-32 of its lines, and how many bytes they have."""


class Member(NamedTuple):
    """A day in a month's file: its bytes from `start` to `end`."""

    day: date
    start: int
    end: int


def packed(day: date, lines: bytes) -> bytes:
    """The member of a day."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = compressor.compress(lines) + compressor.flush()
    size = HEADER_BYTES + len(body) + TRAILER.size
    head = _HEADER.pack(_BEGIN, 0, 2, _SYSTEM, 12, _FIELD, 8, size, f"{day.isoformat()}.jsonl".encode())
    return head + body + trailer_of(lines)


def trailer_of(lines: bytes) -> bytes:
    """The end of a day's member, which differs where the lines do."""
    return TRAILER.pack(zlib.crc32(lines), len(lines) & 0xFFFFFFFF)


def member_at(start: int, head: bytes) -> Member | None:
    """The member whose header `head` begins with; None for one that another program has made."""
    if len(head) < HEADER_BYTES:
        return None
    begin, _, _, _, _, field, _, size, name = _HEADER.unpack(head[:HEADER_BYTES])
    if begin != _BEGIN or field != _FIELD or not name.endswith(b".jsonl") or size < HEADER_BYTES + TRAILER.size:
        return None
    try:
        return Member(date.fromisoformat(name[:10].decode("ascii")), start, start + size)
    except ValueError:
        return None


def unpacked(member: bytes, limit: int | None = None) -> bytes:
    """The lines of a member; no more than `limit` bytes of them. Raises `ValueError` where it is damaged, or holds more
    than `MAX_DAY_BYTES` and no limit is given."""
    decoder = zlib.decompressobj(_GZIP)
    try:
        lines = decoder.decompress(member, MAX_DAY_BYTES + 1 if limit is None else limit)
    except zlib.error as error:
        raise ValueError(f"it is damaged ({error})") from error
    if limit is None and len(lines) > MAX_DAY_BYTES:
        raise _too_long()
    if not decoder.eof and (limit is None or len(lines) < limit):
        raise ValueError("it is cut")
    return lines


def _too_long() -> ValueError:
    return ValueError(f"a day in it has more than {MAX_DAY_BYTES:,} bytes")


def days_of(data: bytes, month: date) -> dict[date, bytes]:
    """The lines of each day of any month's file, also of one that another program has packed anew; `month` is its first
    day. Without a day in its header a member's lines are those of the days that their `created_at` begins with, within
    this month; a line that has none belongs to the day of the line before. Raises `ValueError` as `unpacked` does.
    """
    days: dict[date, list[bytes]] = {}
    for known, text in _members(data):
        if known and known.day.replace(day=1) == month:
            days.setdefault(known.day, []).append(text)
            continue
        day = month
        for line in reading.lines(text, keep_ends=True):
            day = _day_in(line, month) or day
            days.setdefault(day, []).append(line)
    joined = {day: b"".join(map(ended, days[day])) for day in sorted(days)}
    if any(len(lines) > MAX_DAY_BYTES for lines in joined.values()):
        raise _too_long()
    return joined


def _members(data: bytes) -> Iterator[tuple[Member | None, bytes]]:
    """Each member of a file, with what it holds; None for one that another program has made."""
    at, room, count = 0, MAX_FOREIGN_BYTES, 0
    while begin := _NOT_ZERO.search(data, at):  # zeros may fill up the last block
        at = begin.start()
        known, decoder, pieces = member_at(at, data[at : at + HEADER_BYTES]), zlib.decompressobj(_GZIP), list[bytes]()
        while not decoder.eof:
            block = data[at : at + _BLOCK_BYTES]
            try:
                pieces.append(decoder.decompress(block))
            except zlib.error as error:
                raise ValueError(f"it is damaged ({error})") from error
            if not block:
                raise ValueError("it is cut")
            at += len(block) - len(decoder.unused_data)
            room -= len(pieces[-1])
            if room < 0:
                raise ValueError(f"it holds more than {MAX_FOREIGN_BYTES:,} bytes")
        if (count := count + 1) > MAX_MEMBERS:
            raise ValueError(f"it has more than {MAX_MEMBERS:,} members")
        yield known, b"".join(pieces)


def _day_in(line: bytes, month: date) -> date | None:
    """The day with which the time of a record begins, in the month that begins with `month`; None: it says none."""
    try:
        row = reading.json_value(line)
        at = date.fromisoformat(str(row.get("created_at") or row.get("timestamp"))[:10])
    except (ValueError, AttributeError):
        return None
    return min(max(at, month), last_day(month))


def last_day(month: date) -> date:
    """The last day of the month that begins with `month`."""
    return month.replace(day=calendar.monthrange(month.year, month.month)[1])


def ended(lines: bytes) -> bytes:
    """The lines with the line break that the last one may lack: another day's follow."""
    return lines if not lines or lines.endswith(b"\n") else lines + b"\n"


def united(archived: bytes, lines: bytes) -> bytes:
    """The lines of a day whose file has some, while others are `archived`: another program has made the file anew, or
    its lines were archived and it could not be removed. The archived lines keep their numbers; none is there twice."""
    lines = ended(lines)
    if lines.startswith(archived):
        return lines
    known = Counter(reading.lines(archived, keep_ends=True))
    new = []
    for line in reading.lines(lines, keep_ends=True):
        if known[line] > 0:
            known[line] -= 1
        else:
            new.append(line)
    return ended(archived) + b"".join(new)
