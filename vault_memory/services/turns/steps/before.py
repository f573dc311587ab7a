"""The conversation of a turn, and the turn before it there."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import NamedTuple

from vault_memory.core.notes import Turn, journal
from vault_memory.services.notes import read_day
from vault_memory.services.turns.steps.markers import line_digest
from vault_memory.services.turns.validate import UNNAMED
from vault_memory.services.vault import Vault


class TurnBefore(NamedTuple):
    """The turn before another: its line in the record, its time, and its message."""

    source: str
    at: datetime
    words: str


def turn_before(vault: Vault, turn: Turn, source: str) -> TurnBefore | None:
    """The turn before this one in its conversation, of the same day; None if there is none. Turns whose conversations
    nobody has named follow one another."""
    name, _, number = source.rpartition(":")
    record = journal.DayRecord(read_day(vault, turn.user_id, name))
    mine = digest_of_conversation(turn)
    for before, row in record.before(int(number)):
        conversation_id = str(row.get("conversation_id"))
        if conversation_id == turn.conversation_id or not (mine or _conversation_of(conversation_id)):
            with contextlib.suppress(TypeError, ValueError):
                at = datetime.fromisoformat(row["created_at"])
                return TurnBefore(f"{name}:{before}", at, str(row.get("user_message") or ""))
            return None
    return None


def digest_of_conversation(turn: Turn) -> str:
    """What tells the turn's conversation from others in the evidence; "" if nobody has named it."""
    return _conversation_of(turn.conversation_id)


def _conversation_of(conversation_id: str) -> str:
    return "" if UNNAMED.fullmatch(conversation_id) else line_digest(conversation_id.encode())
