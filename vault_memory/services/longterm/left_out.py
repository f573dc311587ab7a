"""Turns that come in pieces, and of which the question asks that they be left out: no piece of them is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from vault_memory.core import layout, reading
from vault_memory.core.longterm import name_of
from vault_memory.core.notes import journal
from vault_memory.services.longterm.waiting import is_to_be_sent
from vault_memory.services.notes import read_day
from vault_memory.services.vault import Vault

Name = tuple[str, str, str]
"""The user's id, the conversation_id and the time of a turn."""


def whole_name(turn: Mapping[str, Any]) -> Name:
    """By this a turn of a user is known."""
    return turn["user_id"], *name_of(turn)


def names_left_out(vault: Vault, turns: Sequence[Mapping[str, Any]]) -> set[Name]:
    """The names of those turns of which a piece asks to be left out, among these or in the record."""
    asking = {whole_name(turn) for turn in turns if not is_to_be_sent(vault, turn)}
    days = {(turn["user_id"], _day(turn["created_at"])) for turn in turns if not turn.get("user_message")}
    for user_id, source in days:
        asking |= {whole_name(row) for row in _recorded(vault, user_id, source) if not is_to_be_sent(vault, row)}
    return asking


def _day(created_at: str) -> str:
    return layout.conversation_source(datetime.fromisoformat(created_at).astimezone().date())


def _recorded(vault: Vault, user_id: str, source: str) -> Iterator[Mapping[str, Any]]:
    for line in reading.lines(read_day(vault, user_id, source)):
        row = journal.row_of(line)
        if row and not journal.is_reply(row) and not journal.is_forgotten(row):
            yield {**row, "user_id": user_id}
