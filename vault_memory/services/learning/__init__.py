"""A user's learning: the profile in LEARNING.md, the context of a session, and the summary of both for an intent
router. No model is asked in any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.learning.profile import Learned, learning_profile, update_user
    from vault_memory.services.learning.sessions import (
        rename_sessions,
        session_context,
        update_session,
    )
    from vault_memory.services.learning.summary import memory_summary

__all__ = [
    "Learned",
    "learning_profile",
    "memory_summary",
    "rename_sessions",
    "session_context",
    "update_session",
    "update_user",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Learned": "profile",
        "learning_profile": "profile",
        "memory_summary": "summary",
        "rename_sessions": "sessions",
        "session_context": "sessions",
        "update_session": "sessions",
        "update_user": "profile",
    },
)
