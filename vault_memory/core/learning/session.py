"""The context of a session: what a learner is at, kept for a short time, never longer than its bounds.

The contexts of one user are one value of the short-term store, by session id, the last updated last: so they are
bounded together, and a user who gets another id takes them along. A session that no user is named for is a value of its
own, of the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vault_memory.core import recent
from vault_memory.core.text import one_line

SESSION_TTL_S = 172_800
"""A session that is not updated for two days is over."""
MAX_INTENTS = 20
MAX_MESSAGE_CHARS = 1_000
MAX_BYTES = 24_000
"""Of one user's contexts; of more the oldest make room. The store's files take twice as much, and less than 64 kB."""


@dataclass(frozen=True, kw_only=True)
class SessionContext:
    """`recent_intents` are the last 20, the newest last; of `last_user_message` the first 1,000 characters are kept."""

    session_id: str
    current_topic: str | None = None
    recent_intents: tuple[str, ...] = ()
    last_artifact: str | None = None
    last_user_message: str = ""
    updated_at: datetime | None = None

    def as_dict(self) -> dict[str, Any]:
        """The context as JSON shows it; the time is ISO 8601 with its offset."""
        return {
            "session_id": self.session_id,
            "current_topic": self.current_topic,
            "recent_intents": list(self.recent_intents),
            "last_artifact": self.last_artifact,
            "last_user_message": self.last_user_message,
            "updated_at": self.updated_at.isoformat(timespec="seconds") if self.updated_at else None,
        }


def went_on(
    context: SessionContext,
    at: datetime,
    intent: str | None = None,
    topic: str | None = None,
    artifact: str | None = None,
    message: str | None = None,
) -> SessionContext:
    """The context after a step; what the step does not name stays."""
    return SessionContext(
        session_id=context.session_id,
        current_topic=topic or context.current_topic,
        recent_intents=(*context.recent_intents, *([intent] if intent else ()))[-MAX_INTENTS:],
        last_artifact=artifact or context.last_artifact,
        last_user_message=context.last_user_message
        if message is None
        else one_line(message[: 4 * MAX_MESSAGE_CHARS])[:MAX_MESSAGE_CHARS],
        updated_at=at,
    )


def sessions_key(owner: str, session_id: str) -> str:
    """The key in the short-term store of an owner's contexts; `owner` is a user id, "" for nobody's."""
    return f"sessions:{owner}" if owner else f"session:{session_id}"


def context_in(kept: str | None, session_id: str, now: datetime) -> SessionContext | None:
    """The context of a session in a value of the store; None for one that is not known, or over."""
    stored = _going_on(kept, now).get(session_id)
    return None if stored is None else _context_of(session_id, stored)


def with_context(kept: str | None, context: SessionContext, now: datetime) -> str:
    """A value of the store with this context as its last one, without those that are over or have no room."""
    others = _going_on(kept, now)
    others.pop(context.session_id, None)
    size, room = 0, dict[str, Any]()
    for name, each in reversed([*others.items(), (context.session_id, context.as_dict())]):
        size += len(recent.encoded({name: each}).encode("utf-8"))
        if room and size > MAX_BYTES:
            break
        room[name] = each
    return recent.encoded(dict(reversed(room.items())))


def _going_on(kept: str | None, now: datetime) -> dict[str, Any]:
    return {name: each for name, each in (recent.decoded(kept) or {}).items() if _is_going_on(each, now)}


def _is_going_on(context: Any, now: datetime) -> bool:
    try:
        return bool((now - datetime.fromisoformat(context["updated_at"])).total_seconds() < SESSION_TTL_S)
    except (KeyError, TypeError, ValueError):
        return False


def _context_of(session_id: str, stored: Mapping[str, Any]) -> SessionContext:
    """The context that a store has kept, as `as_dict` shows it; what is of another form counts as absent."""
    intents = stored.get("recent_intents")
    try:
        at = datetime.fromisoformat(str(stored.get("updated_at")))
    except ValueError:
        at = None
    return SessionContext(
        session_id=session_id,
        current_topic=_text(stored.get("current_topic")),
        recent_intents=tuple(each for each in intents if isinstance(each, str)) if isinstance(intents, list) else (),
        last_artifact=_text(stored.get("last_artifact")),
        last_user_message=_text(stored.get("last_user_message")) or "",
        updated_at=at,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
