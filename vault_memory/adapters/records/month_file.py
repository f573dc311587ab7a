"""The archive's files of conversation, `archive/conversations/2026-01.jsonl.gz`: which days they hold, a day's lines,
and how days come in and go out (`core.months` is their format).

A file is replaced as a whole, durably, and read back before a caller may remove what it has put there. Whoever writes
holds the lock of the user's records; readers hold none, and see the file before or after.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import BinaryIO

from vault_memory.adapters import files
from vault_memory.core import layout, months
from vault_memory.errors import ForeignFile, VaultMemoryError, in_command

MAX_BYTES = 500_000_000
"""Of a file, which is written as a whole; a larger one is not read."""


class MonthFile:
    """A month's file, open for reading; `days` are in their order. It stays as it is while it is open: it is never
    written in place.

    Of a file that another program has packed anew all lines are in memory. Its making, and `lines`, raise
    `VaultMemoryError` where it cannot be read.
    """

    def __init__(self, path: Path, file: BinaryIO, month: date) -> None:
        self._path, self._file = path, file
        self._size = os.fstat(file.fileno()).st_size
        if self._size > MAX_BYTES:
            raise self._unreadable(ValueError(f"it has more than {MAX_BYTES:,} bytes"))
        self._members: dict[date, months.Member] = {}
        self._trailers: dict[date, bytes] = {}
        self._texts: dict[date, bytes] | None = None
        if not self._follow_headers(month):
            self._texts = self._read_through(month)
            self._trailers = {day: months.trailer_of(lines) for day, lines in self._texts.items()}

    @property
    def days(self) -> list[date]:
        return [*self._trailers]

    def stamp(self, day: date) -> tuple[int, int]:
        """How many bytes a day of `days` has, and a number that is another one where they are."""
        crc, size = months.TRAILER.unpack(self._trailers[day])
        return size, crc

    def lines(self, day: date, limit: int | None = None) -> bytes | None:
        """A day's lines, no more than `limit` bytes of them; None for a day that is not in the file."""
        if day not in self._trailers:
            return None
        if self._texts is not None:
            return self._texts[day][:limit]
        try:
            return months.unpacked(self.member(day), limit)
        except ValueError as error:
            raise self._unreadable(error) from error

    def member(self, day: date) -> bytes:
        """A day of `days` as it is packed."""
        if self._texts is not None:
            return months.packed(day, self._texts[day])
        found = self._members[day]
        return self._read(found.start, found.end - found.start)

    def _follow_headers(self, month: date) -> bool:
        """Find the members, from header to header; False where one of them is not ours, or out of its order."""
        at, last, head = 0, date.min, self._read(0, months.HEADER_BYTES)
        while at < self._size:
            member = months.member_at(at, head)
            if not member or member.day <= last or member.day.replace(day=1) != month or member.end > self._size:
                return False
            tail = self._read(member.end - months.TRAILER.size, months.TRAILER.size + months.HEADER_BYTES)
            self._members[member.day] = member
            self._trailers[member.day], head = tail[: months.TRAILER.size], tail[months.TRAILER.size :]
            at, last = member.end, member.day
        return True

    def _read_through(self, month: date) -> dict[date, bytes]:
        try:
            return months.days_of(self._read(0, self._size), month)
        except ValueError as error:
            raise self._unreadable(error) from error

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)

    def _unreadable(self, why: ValueError) -> VaultMemoryError:
        return VaultMemoryError(f"{self._path} cannot be read: {why}: put it back from a backup, or move it away")


def month_files(home: Path) -> list[tuple[date, Path]]:
    """The files of the user whose folder is `home`, each with the first day of its month; oldest first. Those that a
    person has unpacked, too, which nobody can open here."""
    folder = home / layout.ARCHIVED_RECORDS
    found = ((layout.month_of(name), folder / name) for name in files.names(folder))
    return sorted((month, path) for month, path in found if month)


@contextlib.contextmanager
def opened_month(path: Path, above: Path) -> Iterator[MonthFile]:
    """The file of a month, reached from the folder `above` without a link.

    Raises `FileNotFoundError` or `NotADirectoryError` where there is none, `ForeignFile` for a link and for what is no
    file, and `VaultMemoryError` where it cannot be read, or a person has unpacked it.
    """
    month = layout.month_of(path.name)
    if month is None:
        raise FileNotFoundError(path)
    _refuse_unpacked(path)
    try:
        file = files.opened_below(path, above)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ForeignFile(
                f"{path} is a link, or in a linked folder, and is not read: put it there itself"
            ) from error
        raise VaultMemoryError(f"{path} cannot be read ({error.strerror}): give yourself access to it") from error
    with file:
        yield MonthFile(path, file, month)


def _refuse_unpacked(path: Path) -> None:
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    if os.path.lexists(plain):
        raise VaultMemoryError(f"{plain} is unpacked, and waits for `gzip {in_command(plain)}`: then it is read again")


def archived_day(home: Path, day: date, above: Path, limit: int | None = None) -> bytes | None:
    """The lines of a day that is in the archive, no more than `limit` bytes of them; None where it is not, or where
    something that is not ours is in its place. Raises `VaultMemoryError` where it cannot be read."""
    try:
        with opened_month(home / layout.month_source(day), above) as month:
            return month.lines(day, limit)
    except (FileNotFoundError, NotADirectoryError, ForeignFile):
        return None


def rewrite_month(path: Path, change: Callable[[bytes], bytes], above: Path) -> bool:
    """Bring the lines of each day of a month's file to what `change` makes of them; whether any is another one then.
    Raises what `opened_month` raises, and `Unwritable`."""
    with opened_month(path, above) as old:
        before = {day: old.lines(day) or b"" for day in old.days}
    after = {day: change(lines) for day, lines in before.items()}
    if after == before:
        return False
    content = b"".join(months.packed(day, after[day]) for day in sorted(after))
    files.write_private(path, content, path.parent.parent, within=above)
    return True


def put_days(path: Path, days: Mapping[date, bytes], above: Path, *, without: Sequence[date] = ()) -> None:
    """Bring the lines of days into their month's file, or take days out of it; make it, or remove it when it is empty.

    Of a day that is there already both are kept (`months.united`). When this returns each of them can be read there.
    Raises `VaultMemoryError`, and `Unwritable`, with the old file in its place, or a new one in which all of them are.
    """
    _refuse_unpacked(path)
    members: dict[date, bytes] = {}
    wanted = {day: months.ended(lines) for day, lines in days.items()}
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), opened_month(path, above) as old:
        members = {day: old.member(day) for day in old.days if day not in without}
        wanted |= {day: months.united(old.lines(day) or b"", lines) for day, lines in days.items()}
    members |= {day: months.packed(day, lines) for day, lines in wanted.items()}
    content = b"".join(members[day] for day in sorted(members))
    if len(content) > MAX_BYTES or any(len(lines) > months.MAX_DAY_BYTES for lines in wanted.values()):
        raise VaultMemoryError(f"{path} would be too large to be read: the days stay files of their own")
    archive = path.parent.parent  # others may read it: what rotates by year is there, too
    if not members:
        files.remove_private(path, archive, above)
        return
    files.write_private(path, content, archive, within=above)
    with opened_month(path, above) as new:
        if new.days != sorted(members) or any(new.lines(day) != lines for day, lines in wanted.items()):
            raise VaultMemoryError(f"{path} does not hold what was written to it: is the disk failing?")
