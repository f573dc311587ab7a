"""Turns that come in pieces, and of which the question asks that they be left out: no piece of them is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.core import layout, reading
from vault_memory.core.extraction import asks_to_be_left_out
from vault_memory.core.longterm import name_of
from vault_memory.core.notes import journal
from vault_memory.services.notes import read_day
from vault_memory.services.vault import Vault

Name = tuple[str, str, str]
"""The user's id, the conversation_id and the time of a turn."""

_MAX_SEARCHED_CHARS = 20_000
_KNOWN_FOR = timedelta(days=30)
"""So long after its question a piece of a turn may come."""


def whole_name(turn: Mapping[str, Any]) -> Name:
    """By this a turn of a user is known."""
    return turn["user_id"], *name_of(turn)


def names_left_out(vault: Vault, turns: Sequence[Mapping[str, Any]]) -> set[Name]:
    """The names of those turns of which a piece asks to be left out: among these, in the record, or in a call before.
    It is noted, for pieces that come later, and what waits of them goes. Raises what the outbox raises."""
    known = _state(vault).read()
    names = {whole_name(turn) for turn in turns}
    asking = {whole_name(turn) for turn in turns if _asks(vault, turn)}
    answers = [turn for turn in turns if not turn.get("user_message")]
    days = {
        (turn["user_id"], source)
        for turn in answers
        for source in layout.sources_about(datetime.fromisoformat(turn["created_at"]))
    }
    for user_id, source in days:
        asking |= {whole_name(row) for row in _recorded(vault, user_id, source) if _asks(vault, row)} & names
    if new := {name for name in asking if _mark(name) not in known}:
        _note(vault, new)
        vault.outbox.drop(lambda user_id, text: whole_name(json.loads(text) | {"user_id": user_id}) in new)
    return asking | {name for name in names if _mark(name) in known}


def _asks(vault: Vault, turn: Mapping[str, Any]) -> bool:
    message = str(turn.get("user_message") or "")[:_MAX_SEARCHED_CHARS]
    return asks_to_be_left_out(message, vault.lexicon())


def _state(vault: Vault) -> StateFile:
    """The marks of turns that are left out, each with the time (Unix seconds) when that was asked."""
    return StateFile(vault.root, "long-term-left-out")


def _mark(name: Name) -> str:
    """It says nothing of the turn. A user may have another id by the time when the next piece comes."""
    return hashlib.sha256(json.dumps(name[1:]).encode()).hexdigest()[:32]


def _note(vault: Vault, names: Iterable[Name]) -> None:
    now = vault.now().timestamp()

    def changed(known: dict[str, Any]) -> dict[str, Any]:
        kept = {
            mark: at
            for mark, at in known.items()
            if isinstance(at, (int, float)) and at > now - _KNOWN_FOR.total_seconds()
        }
        return kept | {_mark(name): now for name in names}

    _state(vault).update(changed)


def _recorded(vault: Vault, user_id: str, source: str) -> Iterator[Mapping[str, Any]]:
    for line in reading.lines(read_day(vault, user_id, source)):
        row = journal.row_of(line)
        if row and not journal.is_reply(row) and not journal.is_forgotten(row):
            yield {**row, "user_id": user_id}
