"""What stays of conversations: memories out of one that has ended, its summary, and proposals for the profile out of
memories that are often needed. By a language model if one is configured, else by rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.distilling.consolidate import Consolidated, consolidate_to_profile
    from vault_memory.services.distilling.end import IDLE, Ended, end_conversation, end_idle_conversations
    from vault_memory.services.distilling.extract import Extraction, extract_from_conversation

__all__ = [
    "Consolidated",
    "Ended",
    "Extraction",
    "IDLE",
    "consolidate_to_profile",
    "end_conversation",
    "end_idle_conversations",
    "extract_from_conversation",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Consolidated": "consolidate",
        "Ended": "end",
        "Extraction": "extract",
        "IDLE": "end",
        "consolidate_to_profile": "consolidate",
        "end_conversation": "end",
        "end_idle_conversations": "end",
        "extract_from_conversation": "extract",
    },
)
