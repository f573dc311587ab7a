"""What a learner masters: LEARNING.md and its text, the rule by which a quiz changes a mastery, the context of a
session, and the summary of both that an intent router gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.learning.event import ARTIFACTS, DIFFICULTIES, Event, checked, read_event
    from vault_memory.core.learning.mastery import LEVELS, updated
    from vault_memory.core.learning.profile import MAX_VISITED, LearningProfile, Topic, learned
    from vault_memory.core.learning.session import (
        SESSION_TTL_S,
        SessionContext,
        context_in,
        sessions_key,
        went_on,
        with_context,
    )
    from vault_memory.core.learning.sheet import MAX_TOPICS, decode, lines_since, read, with_learning
    from vault_memory.core.learning.summary import MemorySummary, summarized

__all__ = [
    "ARTIFACTS",
    "DIFFICULTIES",
    "Event",
    "LEVELS",
    "LearningProfile",
    "MAX_TOPICS",
    "MAX_VISITED",
    "MemorySummary",
    "SESSION_TTL_S",
    "SessionContext",
    "Topic",
    "checked",
    "context_in",
    "decode",
    "learned",
    "lines_since",
    "read",
    "read_event",
    "sessions_key",
    "summarized",
    "updated",
    "went_on",
    "with_context",
    "with_learning",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ARTIFACTS": "event",
        "DIFFICULTIES": "event",
        "Event": "event",
        "LEVELS": "mastery",
        "LearningProfile": "profile",
        "MAX_TOPICS": "sheet",
        "MAX_VISITED": "profile",
        "MemorySummary": "summary",
        "SESSION_TTL_S": "session",
        "SessionContext": "session",
        "Topic": "profile",
        "checked": "event",
        "context_in": "session",
        "decode": "sheet",
        "learned": "profile",
        "lines_since": "sheet",
        "read": "sheet",
        "read_event": "event",
        "sessions_key": "session",
        "summarized": "summary",
        "updated": "mastery",
        "went_on": "session",
        "with_context": "session",
        "with_learning": "sheet",
    },
)
