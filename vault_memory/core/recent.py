"""What the short-term store holds of turns: keys, how long they live, and the form of their values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_memory.core import reading

CONTEXT_TTL_S = 172_800
"""The last turn of a conversation, unless the settings say otherwise."""
HISTORY_TTL_S = 7_776_000
"""The turns of a user, from the last one on: 90 days."""
MOST_TURNS, MOST_PENDING = 1_000, 10_000
"""How many of the newest the list of a user holds, and that of the turns which nobody has taken yet. All are in the
records."""
PENDING_KEY = "pending:list"
_CLOCKS_DIFFER_S = 300.0
"""So far apart the clocks of two machines may be."""
_CONTEXT = {"current_topic", "recent_intents", "last_artifact", "last_user_message", "updated_at"}
"""What each context of a session has, besides its id."""


def context_key(conversation_id: str) -> str:
    """The key of the last turn of a conversation."""
    return f"conv:{conversation_id}:latest"


def history_key(user_id: str) -> str:
    """The key of the list of a user's turns."""
    return f"conversation:{user_id}"


def context_value(turn: Mapping[str, Any], token_data: Mapping[str, Any]) -> dict[str, Any]:
    """The last turn as programs read it: {user_msg, assistant_msg, reflection, token_data, user_id, ts}; `ts` is the
    turn's time in whole Unix seconds."""
    return {
        "user_msg": turn.get("user_message"),
        "assistant_msg": turn.get("assistant_message"),
        "reflection": turn.get("reflection"),
        "token_data": token_data,
        "user_id": turn["user_id"],
        "ts": int(datetime.fromisoformat(turn["created_at"]).timestamp()),
    }


def history_entry(turn: Mapping[str, Any]) -> dict[str, str]:
    """A turn in the form of the history: {timestamp, user, assistant, backend}."""
    names = {"timestamp": "created_at", "user": "user_message", "assistant": "assistant_message", "backend": "backend"}
    return {name: str(turn.get(field) or "") for name, field in names.items()}


def encoded(value: Mapping[str, Any]) -> str:
    """A value as the JSON in the store; a half of a pair of surrogates becomes `�`."""
    return str(reading.without_surrogates(json.dumps(value, ensure_ascii=False)))


def decoded(text: str | None) -> dict[str, Any] | None:
    """The value of a JSON text in the store; None where there is none, or another program has written something
    else."""
    if text is None:
        return None
    try:
        value = reading.json_value(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def is_ours(key: str, text: str) -> bool:
    """Whether a value of a key of the store, or a value of its list, has the form that we write there."""
    value = decoded(text)
    if value is None:
        return False
    if key.startswith("conv:"):
        return "user_msg" in value and isinstance(value.get("ts"), (int, float))
    if key.startswith("conversation:"):
        return {"user", "assistant"} <= value.keys()
    if key == PENDING_KEY:
        return "conversation_id" in value
    return bool(value) and all(_is_context(session, each) for session, each in value.items())


def _is_context(session: str, value: Any) -> bool:
    """Whether a value is the context of a session: any program has objects of objects under `session:…`."""
    return isinstance(value, dict) and value.get("session_id") == session and value.keys() >= _CONTEXT


def owner(key: str, text: str) -> str:
    """The user whose a value of a key is, or a value of its list; "" where none is named."""
    kind, _, name = key.partition(":")
    return name if kind in ("conversation", "sessions") else str((decoded(text) or {}).get("user_id") or "")


def said_after(key: str, text: str, at: float) -> str | None:
    """What of a value of a key, or of its list, was said after a time (Unix seconds): all of it or None, of sessions
    those that were updated since. What tells no time was before: all that we write tells one, the last turn of a
    conversation in whole seconds, so of one second all was."""
    value = decoded(text) or {}
    if not key.startswith(("session:", "sessions:")):
        ts = value.get("ts")
        told = ts if isinstance(ts, (int, float)) else _moment(str(value.get("created_at") or value.get("timestamp")))
        return text if told > at else None
    later = {
        name: each
        for name, each in value.items()
        if isinstance(each, dict) and _moment(str(each.get("updated_at"))) > at
    }
    return text if later == value else encoded(later) if later else None


def later(old: str | None, new: Mapping[str, Any], now: float) -> str:
    """Of two last turns of a conversation the later one: turns may be delivered in any order. One that is there with a
    time after `now` (Unix seconds) is of a wrong clock, and would stay for ever."""
    ts = (decoded(old) or {}).get("ts")
    is_older = isinstance(ts, (int, float)) and new["ts"] < ts <= now + _CLOCKS_DIFFER_S
    return old if is_older and old is not None else encoded(new)


def later_value(key: str, there: str | None, ours: str, now: float) -> str:
    """The value of a key that two machines have written: of a conversation the later turn, of sessions all of both,
    each as it was updated last; a time after `now` (Unix seconds) does not count."""
    one, other = decoded(there), decoded(ours)
    if one is None or other is None:
        return ours
    if key.startswith("conv:"):
        return later(there, other, now) if isinstance(other.get("ts"), (int, float)) else ours
    both = {**one, **{name: _updated_last(one.get(name), each, now) for name, each in other.items()}}
    return encoded(both)


def _updated_last(one: Any, other: Any, now: float) -> Any:
    times = [str(each.get("updated_at") or "") if isinstance(each, dict) else "" for each in (one, other)]
    return one if _moment(times[1]) < _moment(times[0]) <= now + _CLOCKS_DIFFER_S else other


def _moment(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return 0.0
