"""The last turns at hand for other programs: in the short-term store, which is embedded or Redis. The records hold the
same, and more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.shortterm.context import (
        asks_not_to_be_kept,
        encoding_problem,
        forget_history,
        load_recent_context,
        note_kept_turn,
        removed_keys,
        store_place,
        store_problem,
        store_short_term,
    )

__all__ = [
    "asks_not_to_be_kept",
    "encoding_problem",
    "forget_history",
    "load_recent_context",
    "note_kept_turn",
    "removed_keys",
    "store_place",
    "store_problem",
    "store_short_term",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "asks_not_to_be_kept": "context",
        "encoding_problem": "context",
        "forget_history": "context",
        "load_recent_context": "context",
        "note_kept_turn": "context",
        "removed_keys": "context",
        "store_place": "context",
        "store_problem": "context",
        "store_short_term": "context",
    },
)
