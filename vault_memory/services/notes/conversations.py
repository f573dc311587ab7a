"""Reading recorded turns from `conversations/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.line_file import lines_from_end
from vault_memory.core import layout, reading
from vault_memory.core.notes import journal
from vault_memory.services.vault import Vault


def turn_at(vault: Vault, user_id: str, source: str) -> dict[str, Any] | None:
    """The record on a line, `conversations/2026-01-30.jsonl:12`, with the replies to it; None if no turn is on that
    line."""
    place = layout.turn_place(source)
    if place is None:
        return None  # a trailer may hold any text; it must not lead into another user's folder
    name, number = place
    lines = reading.lines(files.read(vault.path(user_id, name), None) or b"")
    at = number - 1
    turn = journal.row_of(lines[at]) if 0 <= at < len(lines) else None
    if turn is None or journal.is_reply(turn):
        return None
    later = ((n, journal.row_of(line)) for n, line in enumerate(lines[at + 1 :], at + 2) if _REPLY in line)
    named = [(n, row) for n, row in later if row and journal.is_reply(row) and _is_of(row, turn)]
    return journal.with_replies(turn, named)


def newest_turns(vault: Vault, user_id: str, limit: int, before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(source, record) of the user's last turns with their replies, newest first; lines without a record are skipped.

    With `before` (the source of a turn) only the turns before that one. Of a long record only what is asked for is in
    memory.
    """
    last_day, _, last = before.rpartition(":")
    days = sorted((n for n in files.names(vault.path(user_id, "conversations")) if n.endswith(".jsonl")), reverse=True)
    for name in (f"conversations/{day}" for day in days if layout.day_of(f"conversations/{day}")):
        if before and name > last_day:
            continue
        replies: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
        for number, line in lines_from_end(vault.path(user_id, name)):
            if not limit:
                return
            is_asked = name < last_day or not before or number < int(last)
            row = journal.row_of(line) if is_asked or _REPLY in line else None
            if row and journal.is_reply(row):
                replies.setdefault(journal.name_of(row), []).append((number, row))
            elif row and is_asked:
                limit -= 1
                yield f"{name}:{number}", journal.with_replies(row, replies.pop(journal.name_of(row), [])[::-1])


_REPLY = b'"completes"'


def _is_of(reply: dict[str, Any], turn: dict[str, Any]) -> bool:
    return journal.name_of(reply) == journal.name_of(turn)
