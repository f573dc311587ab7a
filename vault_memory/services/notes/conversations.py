"""Reading recorded turns from `conversations/`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.line_file import lines_from_end
from vault_memory.core import layout, reading
from vault_memory.core.notes import parse_line
from vault_memory.services.vault import Vault


def turn_at(vault: Vault, user_id: str, source: str) -> dict[str, Any] | None:
    """The record on a line, `conversations/2026-01-30.jsonl:12`; None if there is none on that line."""
    name, _, number = source.rpartition(":")
    if not (name.startswith("conversations/") and layout.day_of(name) and re.fullmatch(r"[0-9]{1,9}", number)):
        return None  # a trailer may hold any text; it must not lead into another user's folder
    lines = reading.lines(files.read(vault.path(user_id, name), None) or b"")
    return _turn(lines[int(number) - 1]) if 0 < int(number) <= len(lines) else None


def newest_turns(vault: Vault, user_id: str, limit: int, before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """(source, record) of the user's last turns, newest first; lines without a record are skipped.

    With `before` (the source of a turn) only the turns before that one. Of a long record only what is asked for is in
    memory.
    """
    last_day, _, last = before.rpartition(":")
    days = sorted((n for n in files.names(vault.path(user_id, "conversations")) if n.endswith(".jsonl")), reverse=True)
    for name in (f"conversations/{day}" for day in days if layout.day_of(f"conversations/{day}")):
        if before and name > last_day:
            continue
        for number, line in lines_from_end(vault.path(user_id, name)):
            if not limit:
                return
            if (name < last_day or not before or number < int(last)) and (turn := _turn(line)):
                limit -= 1
                yield f"{name}:{number}", turn


def _turn(line: bytes) -> dict[str, Any] | None:
    try:
        return parse_line(line.decode("utf-8", "replace"))
    except ValueError:
        return None
