"""What another program delivers as a turn, brought into the one form of a conversation record: which fields there are,
what may stand in them, what must not be missing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from vault_memory.core import reading
from vault_memory.errors import TooLarge, UsageError

MAX_TEXT_CHARS = 2_000_000
"""Of one text of a turn: as much as the chat proxy reads of a request."""
_FIRST_TIME, _LAST_TIME = datetime(1, 1, 2), datetime(9999, 12, 31)
_KINDS = {
    type(None): "nothing",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "a list",
}


def normalized(payload: Mapping[str, Any], now: datetime, zone: tzinfo) -> dict[str, Any]:
    """The turn in a payload, with each field of a record that every turn has: {conversation_id, user_id, user_message,
    assistant_message, reflection, cid, created_at}; and skill, backend, exit_code and context, where it has them. Other
    fields are left out. What is normalized already stays as it is.

    `reflection` is {summary, causes} or None (see `reflection_of`), `created_at` an ISO time with an offset: `now` if
    there is none, of `zone` if it has no offset. Raises `UsageError`, which names the field, for a missing
    conversation_id or user_id and for a value of another type; `TooLarge` for a text of more than `MAX_TEXT_CHARS`.
    """
    if not isinstance(payload, Mapping):
        raise UsageError(f"a turn must be an object with conversation_id and user_id, not {_kind(payload)}")
    ids = {name: _text(name, payload.get(name)) or "" for name in ("conversation_id", "user_id")}
    if missing := [name for name, value in ids.items() if not value.strip()]:
        raise UsageError(f"the turn has no {' and no '.join(missing)}: every turn names its conversation and its user")
    said = {name: _text(name, payload.get(name)) for name in ("user_message", "assistant_message")}
    record = {
        **ids,
        **said,
        "reflection": reflection_of(payload.get("reflection")),
        "cid": _text("cid", payload.get("cid")),
        "created_at": _time(payload.get("created_at"), now, zone).isoformat(),
    }
    further: dict[str, Any] = {name: _text(name, payload.get(name)) for name in ("skill", "backend", "context")}
    further["exit_code"] = _whole_number("exit_code", payload.get("exit_code"))
    return record | {name: value for name, value in further.items() if value is not None}


def reflection_of(value: object) -> dict[str, Any] | None:
    """A reflection as {"summary": text, "causes": [text, …]}: from such an object, from its JSON, or from plain text,
    which is the summary. None where it says nothing. Raises `UsageError` for anything else."""
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, str):
        value = {"summary": value}
    if not value and isinstance(value, (Mapping, type(None))):
        return None
    if not isinstance(value, Mapping) or not value.keys() & {"summary", "causes"}:
        raise UsageError(f"reflection must be a text, or an object with summary and causes, not {_kind(value)}")
    causes = value.get("causes") or []
    if not isinstance(causes, (list, tuple)):
        causes = [causes]
    summary = _text("reflection.summary", value.get("summary")) or ""
    told = [text for each in causes if (text := _text("each of reflection.causes", each)) and text.strip()]
    return {"summary": summary, "causes": told} if summary.strip() or told else None


def kept_reflection(value: object) -> dict[str, Any] | None:
    """The reflection in a line of a record; None for what is none, as a person or another program may write there."""
    try:
        return reflection_of(value)
    except UsageError:
        return None


def said_texts(turn: Mapping[str, Any]) -> list[str]:
    """The texts of a turn, or of a part of one."""
    reflection = turn.get("reflection")
    return [
        *(value for name, value in turn.items() if isinstance(value, str) and name not in ("user_id", "created_at")),
        *([json.dumps(reflection, ensure_ascii=False)] if isinstance(reflection, Mapping) else []),
    ]


def check_time(at: datetime) -> datetime:
    """The time of a turn. Raises `UsageError` for one that is in no calendar when it is told in another zone."""
    if not _FIRST_TIME <= at.replace(tzinfo=None) < _LAST_TIME:
        raise UsageError(
            f"created_at {at.isoformat()} is in no calendar of some zones: give a day of 0001-01-02 to 9999-12-30"
        )
    return at


def _time(value: object, now: datetime, zone: tzinfo) -> datetime:
    if value is None or value == "":
        return now
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        shown = f"{value!r:.60}" if isinstance(value, str) else _kind(value)
        raise UsageError(f"created_at must be a time such as 2026-01-30T09:12:00+08:00, not {shown}") from None
    check_time(at)
    return at.replace(tzinfo=zone) if at.utcoffset() is None else at


def _text(name: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{name} must be a text, not {_kind(value)}")
    if value and len(value) > MAX_TEXT_CHARS:
        raise TooLarge(
            f"{name} has {len(value):,} characters, and one text of a turn at most {MAX_TEXT_CHARS:,}: shorten it, or "
            "save it as a note in the vault and name that"
        )
    return value if value is None else str(reading.without_surrogates(value))


def _whole_number(name: str, value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise UsageError(f"{name} must be a whole number, not {_kind(value)}")
    return value


def _read(text: str) -> object:
    """What a column of text holds: JSON of an object, of a text or of null; else the text itself."""
    try:
        value = reading.json_value(text)
    except ValueError:
        return text
    return value if isinstance(value, (dict, str, type(None))) else text


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}")
