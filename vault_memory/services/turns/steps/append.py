"""A turn becomes a line of the conversation record of its day, unless it is there already."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.notes import Turn, journal
from vault_memory.services.notes import bring_back, read_day
from vault_memory.services.turns.steps.markers import Line, Marker, line_digest, marked, next_marker, strike_off
from vault_memory.services.vault import Vault

RETRY_S = 600.0
"""A client's same request within this time is a retry; later, the person has said the same again."""
MAX_AHEAD = timedelta(days=1)
"""How much later than our clock a turn may be without a word about it: clocks and zones differ."""


class InRecord(NamedTuple):
    """A turn that was in a record already, and that record."""

    source: str
    kept: journal.KeptTurn


def append_turn(
    vault: Vault, turn: Turn, as_of: int, at: datetime, held: contextlib.ExitStack, *, is_named: bool, goes_on: bool
) -> tuple[Turn, Line, Marker] | InRecord | None:
    """Append the turn to the conversation record of its day; return it with its line and its marker, which is then
    `held`; or where it is, if it is in a record already. None, and nothing is done, if the user got another id
    meanwhile."""
    conversation = layout.conversation_source(at.date())
    with vault.record_lock(turn.user_id):
        if vault.id_now(turn.user_id, as_of)[0] != turn.user_id:
            return None
        vault.new_user(turn.user_id)
        days = [conversation]
        if (turn.request or is_named) and at.date() > date.min:  # a client's loop of tools goes on over midnight
            days.append(layout.conversation_source(at.date() - timedelta(days=1)))
        if is_named and not turn.request and at.date() < date.max:  # a turn may have come when the zone was another
            days.append(layout.conversation_source(at.date() + timedelta(days=1)))
        records = [(name, journal.DayRecord(read_day(vault, turn.user_id, name))) for name in days]
        found = ((name, _kept(vault, turn, record, is_named=is_named, goes_on=goes_on)) for name, record in records)
        for name, kept in found:
            if kept:
                return InRecord(name, kept)
        while records[0][1].with_name(turn.conversation_id, turn.created_at.isoformat()):
            turn = replace(turn, created_at=turn.created_at + timedelta(microseconds=1))
        line = turn.line().encode()
        bring_back(vault, turn.user_id, conversation)
        marker = next_marker(vault, turn.user_id, at.date(), line_digest(line))
        number = append_line(vault, turn.user_id, conversation, line, marker, held)
    return turn, Line(f"{conversation}:{number}", marker.digest), marker


def _kept(
    vault: Vault, turn: Turn, record: journal.DayRecord, *, is_named: bool, goes_on: bool
) -> journal.KeptTurn | None:
    """The turn of a day's record that is the same."""
    if turn.request:
        asked = record.with_request(turn.conversation_id, turn.request)
        is_retry = asked is not None and vault.now() - asked.last_at <= timedelta(seconds=RETRY_S)
        return asked if is_retry or goes_on else None
    named = list(_named(turn, record)) if is_named else []
    same = [each for each in named if each.row.get("user_message") == turn.user_message]
    gone = [each for each in named if journal.is_forgotten(each.row)]  # which words it had nobody can tell
    return next(iter([*same, *gone]), None)


def _named(turn: Turn, record: journal.DayRecord) -> Iterator[journal.KeptTurn]:
    """The turns that were delivered under a turn's name: each with other words has got the next free microsecond."""
    at = turn.created_at
    while kept := record.with_name(turn.conversation_id, at.isoformat()):
        yield kept
        at += timedelta(microseconds=1)


def append_line(
    vault: Vault, user_id: str, source: str, line: bytes, marker: Marker | None, held: contextlib.ExitStack
) -> int:
    """Append a line to a record and return its number; its marker, if it has one, is then `held`. The caller holds the
    records' lock."""
    home = vault.path(user_id, ".")
    if marker is None:
        return files.append_line(home / source, line, below=home, within=vault.root)
    held.enter_context(marked(vault, user_id, marker, make=True))
    try:
        old = replace(marker, digest="")  # a killed writer of an earlier version; its line is this turn's now
        if not (vault.unlearned(user_id) / old.name).is_symlink():  # that is nobody's marker: `doctor` names it
            strike_off(vault, user_id, old)
        return files.append_line(home / source, line, below=home, within=vault.root)
    except BaseException:
        strike_off(vault, user_id, marker)
        raise


def filed_at(vault: Vault, turn: Turn) -> datetime:
    """The time by which a turn has its place in the records and logs: among those of today, if it is of the future.
    There it would be the newest one for years."""
    return vault.now() if in_the_future(vault, turn) else turn.created_at.astimezone()


def in_the_future(vault: Vault, turn: Turn) -> str:
    if turn.created_at.astimezone() - vault.now() < MAX_AHEAD:
        return ""
    return (
        f"created_at {turn.created_at.isoformat()} is in the future by the clock of this machine: the turn is kept "
        "among those of today"
    )
