"""Which turns of a day's record are to be forgotten, and the record without their words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, tzinfo
from typing import Any

from vault_memory.core.forgetting.sought import Sought, SoughtTurn
from vault_memory.core.notes import journal


def turns_in(data: bytes, source: str, sought: Sought, zone: tzinfo) -> dict[str, SoughtTurn]:
    """The turns of a day's record (`conversations/2026-01-30.jsonl`) that are sought, by their source: all of those in
    a line of which the texts stand, or that are named. A line that is no record counts as one. Times are given in the
    person's `zone`."""
    lines = data.split(b"\n")
    rows: dict[int, dict[str, Any] | None] = {}
    names, strays = set[tuple[str, str]](), list[int]()
    for number, line in enumerate(lines, 1):
        if not line.strip() or not _may_be(line, f"{source}:{number}", sought):
            continue
        row = rows[number] = journal.row_of(line)
        if row is None:
            strays += [number] if sought.is_all or sought.stand_in(line.decode("utf-8", "replace")) else []
        elif not journal.is_forgotten(row) and _is_sought(row, f"{source}:{number}", sought):
            names.add(journal.name_of(row))
    found = {f"{source}:{number}": SoughtTurn((number,), "", "", "", None) for number in strays}
    of_name: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
    times = {created_at.encode() for _, created_at in names}
    for number, line in enumerate(lines, 1):
        if names and any(at in line for at in times):
            row = rows[number] if number in rows else journal.row_of(line)
            if row and journal.name_of(row) in names:
                of_name.setdefault(journal.name_of(row), []).append((number, row))
    for (conversation_id, created_at), named in of_name.items():
        first = next((each for each in named if not journal.is_reply(each[1])), named[0])
        words = str(first[1].get("user_message") or "")
        others = tuple(number for number, _ in named if number != first[0])
        found[f"{source}:{first[0]}"] = SoughtTurn(
            (first[0], *others), conversation_id, created_at, words, _time(created_at, zone)
        )
    return found


def without_turns(data: bytes, turns: Collection[SoughtTurn], at: datetime) -> bytes:
    """A day's record in which these turns have no words any more; a line that is no record becomes empty. `at` is when
    they are forgotten."""
    names = {(turn.conversation_id, turn.created_at) for turn in turns if turn.created_at}
    times = {created_at.encode() for _, created_at in names}
    strays = {number for turn in turns if not turn.created_at for number in turn.lines}
    found = data.split(b"\n")
    for number, line in enumerate(found, 1):
        if not line.strip() or not (number in strays or any(each in line for each in times)):
            continue
        row = journal.row_of(line)
        if row is None:
            found[number - 1] = b"" if number in strays else line
        elif journal.name_of(row) in names and not journal.is_forgotten(row):
            found[number - 1] = journal.forgotten(row, at).encode("utf-8", "replace")
    return b"\n".join(found)


def _may_be(line: bytes, place: str, sought: Sought) -> bool:
    """False for a line of which a quick look shows that it is none; to read all of a record takes long."""
    if sought.is_all or sought.since or place in sought.turns or b"\\u" in line:
        return True
    return sought.may_stand_in(line.decode("utf-8", "replace"))


def _is_sought(row: Mapping[str, Any], place: str, sought: Sought) -> bool:
    if sought.is_all or place in sought.turns:
        return True
    if place in sought.spared:
        return False
    return sought.is_since(_time(str(row.get("created_at")), None), place) or sought.stand_in(_said(row))


def _said(row: Mapping[str, Any]) -> str:
    """All that a line says in words."""
    texts = [row.get(name) for name in ("user_message", "assistant_message", "context")]
    return "\n\n".join([*(str(each) for each in texts if each), journal.reflection_line(row.get("reflection"))])


def _time(text: str, zone: tzinfo | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(zone)
    except (ValueError, OverflowError):
        return None
