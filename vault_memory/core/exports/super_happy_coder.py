"""Super Happy Coder's records: `conversations/YYYY-MM-DD.jsonl` of a student, a turn on each line.

    {"timestamp": "2026-01-30T14:05:00.123456", "user": "…", "assistant": "…", "backend": "claude"}

A time without an offset is of the student's clock. A backup of each day holds all turns of the last 90, so the same
turn stands in many files; it belongs to the day of its own time. Lines of our own form are read, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Any

from vault_memory.core import layout
from vault_memory.core.exports.messages import IN_THE_FUTURE, MAX_AHEAD, WITHOUT_A_TIME, free_time, time_of
from vault_memory.core.layout import Place
from vault_memory.core.notes import Turn, journal
from vault_memory.core.text import one_line

TWICE = "turns that stand there several times"
BROKEN, EMPTY = "lines that are no JSON object", "turns that say nothing"
_OF_A_LINE = {
    BROKEN: "it is no JSON object",
    EMPTY: "it says nothing",
    WITHOUT_A_TIME: "it has no time",
    IN_THE_FUTURE: "its time is in the future",
}


def kind_of(source: str) -> str | None:
    """What a file of a student's folder is: `profile`, `memory-log`, `daily`, `conversation`; None for what is none of
    these, or is of no day."""
    kind = layout.kind_of(Place("student", source))
    if kind in ("profile", "memory-log"):
        return kind
    return kind if kind in ("daily", "conversation") and layout.day_of(source) else None


class Student:
    """The turns of one student's records, each given once, however often it stands there.

    They become turns of `user_id`; times without an offset are of `zone`. `left_out` counts what is not given, by
    reason.
    """

    def __init__(self, user_id: str, student: str, zone: tzinfo, now: datetime) -> None:
        self.left_out: dict[str, int] = {}
        self._user_id = user_id
        self._student = student
        self._zone = zone
        self._now = now
        self._lines: set[bytes] = set()
        self._known: dict[tuple[str, datetime], set[str | None]] = {}
        self._times: dict[str, set[datetime]] = {}

    def turns(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Turn | tuple[int, str]]:
        """The turns of one record, given its lines with their numbers; of a line that is no turn, number and reason."""
        rows: list[tuple[int, dict[str, Any]]] = []
        for number, line in lines:
            digest = hashlib.sha256(line.strip()).digest()
            if not line.strip():
                continue
            if digest in self._lines:
                self._leave_out(TWICE)
                continue
            self._lines.add(digest)
            row = journal.row_of(line)
            if row is None:
                self._leave_out(BROKEN)
                yield number, _OF_A_LINE[BROKEN]
            else:
                rows.append((number, row))
        for number, row in journal.joined(rows):
            found = self._turn(row)
            if isinstance(found, Turn):
                yield found
                continue
            self._leave_out(found)
            if found in _OF_A_LINE:
                yield number, _OF_A_LINE[found]

    def _turn(self, row: Mapping[str, Any]) -> Turn | str:
        """The turn of a line, or why it is not given."""
        at, said = time_of(row.get("created_at"), self._zone), row.get("user_message")
        if at is None:
            return WITHOUT_A_TIME
        if at - self._now > MAX_AHEAD:
            return IN_THE_FUTURE
        if not (said or row.get("assistant_message")):
            return EMPTY
        named = one_line(row.get("conversation_id") or "")
        conversation = named or f"shc_{self._student}_{at.astimezone(self._zone).date()}"
        known = self._known.setdefault((conversation, at), set())
        if said in known:
            return TWICE
        known.add(said)
        exit_code, reflection = row.get("exit_code"), row.get("reflection")
        return Turn(
            conversation,
            self._user_id,
            free_time(at, self._times.setdefault(conversation, set())),
            said,
            row.get("assistant_message"),
            reflection if isinstance(reflection, dict) else None,
            skill=row.get("skill"),
            backend=row.get("backend"),
            exit_code=exit_code if type(exit_code) is int else None,
            context=row.get("context"),
        )

    def _leave_out(self, reason: str) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
