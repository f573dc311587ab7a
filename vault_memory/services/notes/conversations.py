"""Reading recorded turns: from the files of their days in `conversations/`, and from the archive, where old days are.

A turn's source is its line in the file of its day, wherever that day is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, Protocol

from vault_memory.adapters import files
from vault_memory.adapters.records import archived_day, lines_from_end, month_files, opened_month, put_days
from vault_memory.core import layout, reading
from vault_memory.core.notes import journal
from vault_memory.errors import VaultMemoryError
from vault_memory.services.vault import Vault


class Folders(Protocol):
    """Where the files of a scope are: a vault, or the folders of a benchmark."""

    @property
    def root(self) -> Path: ...

    def folder(self, scope: str) -> Path: ...

    def path(self, scope: str, source: str) -> Path: ...


def turn_at(vault: Vault, user_id: str, source: str) -> dict[str, Any] | None:
    """The record on a line, `conversations/2026-01-30.jsonl:12`, with the replies to it; None if no turn is on that
    line."""
    place = layout.turn_place(source)
    if place is None:
        return None  # a trailer may hold any text; it must not lead into another user's folder
    name, number = place
    lines = reading.lines(read_day(vault, user_id, name))
    at = number - 1
    turn = journal.row_of(lines[at]) if 0 <= at < len(lines) else None
    if turn is None or journal.is_reply(turn) or journal.is_forgotten(turn):
        return None
    later = ((n, journal.row_of(line)) for n, line in enumerate(lines[at + 1 :], at + 2) if _REPLY in line)
    named = [(n, row) for n, row in later if row and journal.is_reply(row) and _is_of(row, turn)]
    return journal.with_replies(turn, named)


def newest_turns(vault: Vault, user_id: str, limit: int, before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(source, record) of the user's last turns with their replies, newest first; lines without a record are skipped,
    and turns that are forgotten.

    With `before` (the source of a turn) only the turns before that one. Of a long record only what is asked for is in
    memory. A month that cannot be read is passed over: `status` names it.
    """
    last_day, _, last = before.rpartition(":")
    for name in _newest_days(vault, user_id, last_day):
        replies: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
        for number, line in _lines_from_end(vault, user_id, name):
            if not limit:
                return
            is_asked = name < last_day or not before or number < int(last)
            row = journal.row_of(line) if is_asked or _REPLY in line else None
            if row and journal.is_reply(row):
                replies.setdefault(journal.name_of(row), []).append((number, row))
            elif row and is_asked and not journal.is_forgotten(row):
                limit -= 1
                yield f"{name}:{number}", journal.with_replies(row, replies.pop(journal.name_of(row), [])[::-1])


def read_day(vault: Folders, user_id: str, source: str) -> bytes:
    """All lines of the record of a day, `conversations/2026-01-30.jsonl`; none where there is none. Nor where the file
    of its month cannot be read, which `status` names: that must not keep a turn from being kept."""
    path = vault.path(user_id, source)
    lines = files.read(path, None)
    if lines is None and (day := layout.recorded_day(source)):
        lines = _archived(vault, user_id, day)
        if lines is None:  # it may have been brought back at this moment
            lines = files.read(path, None)
    return lines or b""


def _archived(vault: Folders, user_id: str, day: date) -> bytes | None:
    with suppress(VaultMemoryError):
        return archived_day(vault.folder(user_id), day, vault.root)
    return None


def bring_back(vault: Vault, user_id: str, source: str) -> None:
    """Make the file of a day that is in the archive again: lines are added to it, and go on with its numbers. Where the
    archive cannot be read they begin anew, and are joined later (`months.united`). The caller holds the records'
    lock."""
    path, home, day = vault.path(user_id, source), vault.folder(user_id), layout.recorded_day(source)
    if day is None or path.exists():
        return
    lines = _archived(vault, user_id, day)
    if lines is not None:
        files.write_private(path, lines, home, within=vault.root)
        with suppress(VaultMemoryError):  # then it is in both, as after a kill
            put_days(home / layout.month_source(day), {}, vault.root, without=[day])


def record_files(vault: Vault, user_id: str) -> list[Path]:
    """The files that hold the user's turns, oldest first: those of the archive's months, then those of days."""
    folder = vault.path(user_id, layout.CONVERSATIONS_DIR)
    days = sorted(folder / name for name in files.names(folder) if name.endswith(".jsonl"))
    return [*(path for _, path in month_files(vault.folder(user_id))), *days]


def file_of(vault: Vault, scope: str, source: str) -> Path:
    """The file in which the lines of a source are: of a day that is in the archive, that of its month."""
    path, day = vault.path(scope, source), layout.recorded_day(source)
    if scope == layout.SHARED or day is None or path.exists():
        return path
    month = vault.path(scope, layout.month_source(day))
    return month if month.exists() else path


def _newest_days(vault: Vault, user_id: str, last: str) -> Iterator[str]:
    """The sources of the user's days up to `last` ("": of all), newest first. A month is opened when it is its turn."""
    by_month: dict[str, set[str]] = {}
    for file in files.names(vault.path(user_id, layout.CONVERSATIONS_DIR)):
        name = f"{layout.CONVERSATIONS_DIR}/{file}"
        if (day := layout.recorded_day(name)) and (not last or name <= last):
            by_month.setdefault(layout.month_source(day), set()).add(name)
    archived = {layout.month_source(month): path for month, path in month_files(vault.folder(user_id))}
    for month in sorted({*by_month, *archived}, reverse=True):
        days = by_month.get(month, set())
        if month in archived and (not last or month <= layout.month_source(layout.recorded_day(last) or date.max)):
            with suppress(OSError, VaultMemoryError), opened_month(archived[month], vault.root) as opened:
                sources = map(layout.conversation_source, opened.days)
                days |= {source for source in sources if not last or source <= last}
        yield from sorted(days, reverse=True)


def _lines_from_end(vault: Vault, user_id: str, source: str) -> Iterator[tuple[int, bytes]]:
    """(number, line) of each line of a day's record, the last one first."""
    number = 0
    for number, line in lines_from_end(vault.path(user_id, source)):
        yield number, line
    if not number:  # there is no such file
        yield from reversed([*enumerate(read_day(vault, user_id, source).split(b"\n"), 1)])


_REPLY = b'"completes"'


def _is_of(reply: dict[str, Any], turn: dict[str, Any]) -> bool:
    return journal.name_of(reply) == journal.name_of(turn)
