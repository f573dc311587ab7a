"""The search index: one SQLite database per scope with full text and vectors. It is derived and may be deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.index.base import FileState, Index, MemoryRow, Remains, Space, Stats, Traces
    from vault_memory.adapters.index.database import remove_index, vec_library
    from vault_memory.adapters.index.sqlite import SqliteIndex

__all__ = [
    "FileState",
    "Index",
    "MemoryRow",
    "Remains",
    "Space",
    "SqliteIndex",
    "Stats",
    "Traces",
    "remove_index",
    "vec_library",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "FileState": "base",
        "Index": "base",
        "MemoryRow": "base",
        "Remains": "base",
        "Space": "base",
        "SqliteIndex": "sqlite",
        "Stats": "base",
        "Traces": "base",
        "remove_index": "database",
        "vec_library": "database",
    },
)
