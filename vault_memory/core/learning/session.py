"""The context of a session: what a learner is at, kept for a short time, never longer than its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vault_memory.core.text import one_line

MAX_INTENTS = 20
MAX_MESSAGE_CHARS = 1_000


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


def read_context(session_id: str, stored: Mapping[str, Any]) -> SessionContext:
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
