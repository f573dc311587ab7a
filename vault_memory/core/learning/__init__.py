"""What a learner masters: LEARNING.md and its text, the rule by which a quiz changes a mastery, the context of a
session, and the summary of both that an intent router gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.learning.event import ARTIFACTS, DIFFICULTIES, Event, checked, read_event
    from vault_memory.core.learning.mastery import LEVELS, updated
    from vault_memory.core.learning.profile import LearningProfile, Topic, learned
    from vault_memory.core.learning.session import SessionContext, read_context, went_on
    from vault_memory.core.learning.sheet import MAX_TOPICS, decode, read, with_learning
    from vault_memory.core.learning.summary import MemorySummary, summarized

__all__ = [
    "ARTIFACTS",
    "DIFFICULTIES",
    "Event",
    "LEVELS",
    "LearningProfile",
    "MAX_TOPICS",
    "MemorySummary",
    "SessionContext",
    "Topic",
    "checked",
    "decode",
    "learned",
    "read",
    "read_context",
    "read_event",
    "summarized",
    "updated",
    "went_on",
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
        "MemorySummary": "summary",
        "SessionContext": "session",
        "Topic": "profile",
        "checked": "event",
        "decode": "sheet",
        "learned": "profile",
        "read": "sheet",
        "read_context": "session",
        "read_event": "event",
        "summarized": "summary",
        "updated": "mastery",
        "went_on": "session",
        "with_learning": "sheet",
    },
)
