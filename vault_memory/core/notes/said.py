"""What was said on a line of a conversation record: each message, with who said it and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from vault_memory.core import reading
from vault_memory.core.notes import journal

USER, ASSISTANT, CONTEXT, REFLECTION = "user", "assistant", "context", "reflection"


class Message(NamedTuple):
    """Something that was said. `role` is `USER`, `ASSISTANT`, `CONTEXT` (a text that came with the message) or
    `REFLECTION`, `time` ISO 8601; both are "" where nobody knows."""

    text: str
    role: str = ""
    time: str = ""


def row_of(line: str) -> dict[str, Any] | None:
    """What a line of a record holds, nothing for a blank one; None if it is no record."""
    if not line.strip():
        return {}
    try:
        row = reading.json_value(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def messages(row: Mapping[str, Any]) -> Iterator[Message]:
    """What was said in one record, the person's message first, what was thought of it last."""
    time = _time(row.get("completed_at") if journal.is_reply(row) else row.get("created_at") or row.get("timestamp"))
    said = (
        (USER, row.get("user_message") or row.get("user")),
        (CONTEXT, row.get("context")),
        (ASSISTANT, row.get("assistant_message") or row.get("assistant")),
        (REFLECTION, journal.labelled_reflection(row.get("reflection"))),
    )
    for role, text in said:
        if isinstance(text, str) and text.strip():
            yield Message(text, role, time)


def goes_on(row: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether a line belongs to the turn of the one before it: a reply may come in a line of its own."""
    return journal.is_reply(row) and journal.name_of(row) == journal.name_of(before)


def _time(value: Any) -> str:
    """A time as ISO 8601 has it; "" for what is none."""
    try:
        return datetime.fromisoformat(value).isoformat() if isinstance(value, str) else ""
    except ValueError:
        return ""
