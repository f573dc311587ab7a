"""How changes become commits: durable intents, a plan of commits on top of HEAD, their publication, and recovery of
what git or a crash took away. Services use `History`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.history.copies import copy_beside
    from vault_memory.adapters.history.history import History
    from vault_memory.adapters.history.model import (
        ASSISTANT,
        WAITING_DIR,
        Author,
        Draft,
        FileChange,
        Flushed,
        HistoryState,
    )

__all__ = [
    "ASSISTANT",
    "Author",
    "Draft",
    "FileChange",
    "Flushed",
    "History",
    "HistoryState",
    "WAITING_DIR",
    "copy_beside",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ASSISTANT": "model",
        "Author": "model",
        "Draft": "model",
        "FileChange": "model",
        "Flushed": "model",
        "History": "history",
        "HistoryState": "model",
        "WAITING_DIR": "model",
        "copy_beside": "copies",
    },
)
