"""Turns that nothing was learned from yet: a marker stands for each, in a file beside the records."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from vault_memory.adapters import files
from vault_memory.adapters.private import folder_of
from vault_memory.core import layout, payload
from vault_memory.core.notes import Turn, journal
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault

_MARKER = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.([0-9]{1,15})(?:\.([0-9a-f]{8}))?")
WAIT_S = 3.0
"""How long a turn waits in all for another writer of its user's files, and for turns before it to be learned from; then
it is only kept, since a person waits. A commit of many files holds them for a second or two on a busy machine."""


class Line(NamedTuple):
    """A turn's line in the conversation record: where it is on this machine (`conversations/2026-01-30.jsonl:12`), and
    the beginning of the hash of its bytes."""

    source: str
    digest: str


def line_digest(line: bytes) -> str:
    """It is short, so that nobody who reads the history can tell by it which words a turn held that git does not."""
    return hashlib.sha256(line).hexdigest()[:8]


@dataclass(frozen=True, order=True)
class Marker:
    """A turn by the day of its record, the byte at which its line began, and the digest of the line.

    The empty file `conversations/.unlearned/DAY.OFFSET.DIGEST` stands for it until it is learned from. The byte gives
    the order; the digest names the turn, also when lines of another machine were merged into the record. It is "" in a
    marker of an earlier version. The file is made before the line, so no kill comes between. Who learns from the turn
    holds its lock; a marker that nobody holds is of a turn that could not be learned from at that time.
    """

    day: date
    offset: int
    digest: str = ""

    @property
    def name(self) -> str:
        return f"{self.day.isoformat()}.{self.offset}{'.' if self.digest else ''}{self.digest}"


@contextlib.contextmanager
def marked(vault: Vault, user_id: str, marker: Marker, *, make: bool = False) -> Iterator[None]:
    """Hold a marker; `make` it for a new turn, with its folder, and the user's, if they are not there.

    Raises `Busy` when somebody learns from that turn now, or the folder is gone: the user has another id by now. Of a
    new turn nobody can, but one whose writer was killed before its line may have left that marker: who looks at it is
    waited for."""
    home = vault.root / layout.user_dir(user_id)
    path = vault.unlearned(user_id) / marker.name
    with files.lock(path, WAIT_S if make else 0, home, vault.root, make=make, in_line=False):
        yield


def strike_off(vault: Vault, user_id: str, marker: Marker) -> None:
    """The turn is learned from, or is not in the record. The caller holds the marker."""
    untouched_file(vault, user_id, marker).unlink(missing_ok=True)
    (vault.unlearned(user_id) / marker.name).unlink(missing_ok=True)


def untouched_file(vault: Vault, user_id: str, marker: Marker) -> Path:
    """A file beside a marker while nobody has begun to learn from the turn: it is not looked for in the history."""
    return vault.unlearned(user_id) / f"{marker.name}.kept"


def set_untouched(vault: Vault, user_id: str, marker: Marker) -> None:
    path, home = untouched_file(vault, user_id, marker), vault.root / layout.user_dir(user_id)
    with folder_of(path, home, within=vault.root) as folder:
        os.close(folder.open(path.name, os.O_WRONLY | os.O_CREAT))


def markers(vault: Vault, user_id: str) -> list[Marker]:
    """The user's markers, in the order of their turns."""
    found = []
    for match in filter(None, map(_MARKER.fullmatch, files.names(vault.unlearned(user_id)))):
        with contextlib.suppress(ValueError):  # no day of a calendar: no marker of ours
            found.append(Marker(date.fromisoformat(match[1]), int(match[2]), match[3] or ""))
    return sorted(found)


def turns_waiting(vault: Vault, user_id: str) -> int:
    """How many of the user's messages, and of the replies to them, wait to be learned from."""
    folder = vault.unlearned(user_id)
    return sum(not files.is_locked(folder / marker.name) for marker in markers(vault, user_id))


def next_marker(vault: Vault, user_id: str, day: date, digest: str) -> Marker:
    """The marker of a line that is now appended to a day's record. The caller holds the records' lock."""
    path = vault.path(user_id, layout.conversation_source(day))
    return Marker(day, path.stat().st_size if path.exists() else 0, digest)


def turn_of(vault: Vault, user_id: str, marker: Marker) -> tuple[Line, Turn, bool] | None:
    """The line and the turn of a marker, and whether the line is a reply to that turn; None if it is not in the
    record."""
    source = layout.conversation_source(marker.day)
    data = files.read(vault.path(user_id, source), None) or b""
    begin = _begin_of(data, marker)
    line, ended, _ = data[begin:].partition(b"\n")
    number = data.count(b"\n", 0, begin) + 1
    try:
        kept = journal.DayRecord(data).at(number) if ended else None
        if kept is None:
            return None
        row = kept.joined if kept.number < number else kept.row
        known = {name: row[name] for name in Turn.__dataclass_fields__ if name in row}
        known |= {"conversation_id": str(row["conversation_id"]), "user_id": user_id}
        turn = Turn(**known | {"created_at": payload.check_time(datetime.fromisoformat(row["created_at"]))})
    except (ValueError, KeyError, TypeError, UsageError):
        return None
    return Line(f"{source}:{kept.number}", line_digest(line)), turn, kept.number < number


def _begin_of(data: bytes, marker: Marker) -> int:
    """The byte of a record at which the line of a marker begins; the record's end if it is not there."""
    begin = len(data) - len(data[marker.offset :].lstrip(b"\n"))
    if not marker.digest or line_digest(data[begin:].partition(b"\n")[0]) == marker.digest:
        return begin
    lines = re.finditer(rb"[^\n]+", data)
    return next((line.start() for line in lines if line_digest(line[0]) == marker.digest), len(data))
