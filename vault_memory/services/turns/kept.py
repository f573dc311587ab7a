"""A day's conversation record as its lines are: which turn a line is of, and whether a turn is there already.

No line is ever rewritten, and the record alone says what is known of a turn: any process may go on with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from vault_memory.core.notes import journal

Row = tuple[int, dict[str, Any]]


@dataclass(frozen=True)
class KeptTurn:
    """A turn of a record, with the number of its line, and the replies that follow it."""

    number: int
    row: Mapping[str, Any]
    replies: tuple[Row, ...]

    @property
    def is_complete(self) -> bool:
        """Whether there is a whole reply, so that nothing is added to it."""
        return self.row.get("assistant_message") is not None or any(
            row.get("exit_code") == 0 for _, row in self.replies
        )

    @property
    def last_at(self) -> datetime:
        """When its newest line was written, as far as it says so."""
        newest = self.replies[-1][1].get("completed_at") if self.replies else self.row.get("created_at")
        try:
            return datetime.fromisoformat(str(newest)).astimezone()
        except (ValueError, OverflowError):
            return datetime.fromtimestamp(0).astimezone()

    @property
    def joined(self) -> dict[str, Any]:
        """The turn with its replies."""
        return journal.with_replies(self.row, self.replies)


class DayRecord:
    """The lines of one day's record."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def at(self, number: int) -> KeptTurn | None:
        """The turn on a line, or the one to which that line replies, with the replies up to it; None: there is none."""
        row = self._row(number)
        if row is None or not journal.is_reply(row):
            return self._turn(number, row) if row else None
        named = self._named(row)
        asked = [(n, each) for n, each in named if n < number and not journal.is_reply(each)][-1:]
        return next((self._turn(n, each, number) for n, each in asked), None)

    def with_name(self, conversation_id: str, created_at: str) -> KeptTurn | None:
        """The newest turn of this name."""
        named = self._named({"conversation_id": conversation_id, "created_at": created_at})
        asked = [(n, row) for n, row in named if not journal.is_reply(row)][-1:]
        return next((self._turn(n, row) for n, row in asked), None)

    def with_request(self, conversation_id: str, request: str) -> KeptTurn | None:
        """The newest turn of a request in a conversation."""
        asked = [(n, row) for n, row in self._holding(request) if row.get("request") == request]
        own = [(n, row) for n, row in asked if str(row.get("conversation_id")) == conversation_id][-1:]
        return next((self._turn(n, row) for n, row in own), None)

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")

    def _row(self, number: int) -> dict[str, Any] | None:
        try:
            return journal.parse_line(self._lines[number - 1].decode()) if 0 < number <= len(self._lines) else None
        except ValueError:
            return None

    def _turn(self, number: int, row: Mapping[str, Any], last: int | None = None) -> KeptTurn:
        named = self._named(row)
        following = [each for each in named if number < each[0] <= (last or each[0]) and journal.is_reply(each[1])]
        return KeptTurn(number, row, tuple(following))

    def _named(self, row: Mapping[str, Any]) -> list[Row]:
        name = journal.name_of(row)
        return [(number, each) for number, each in self._holding(name[1]) if journal.name_of(each) == name]

    def _holding(self, text: str) -> Iterator[Row]:
        needle = json.dumps(text, ensure_ascii=False).encode()
        if needle in self._data:
            for number, line in enumerate(self._lines, 1):
                if needle in line and (row := self._row(number)):
                    yield number, row
