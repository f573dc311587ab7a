"""The long-term store: turns wait in an outbox on this disk, and go from there into tables of a PostgreSQL, such as
Supabase's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.longterm.outbox import Outbox, Waiting, WaitingCounts
    from vault_memory.adapters.longterm.postgres import PostgresStore
    from vault_memory.adapters.longterm.table import RowsKept, Table, Written

__all__ = ["Outbox", "PostgresStore", "RowsKept", "Table", "Waiting", "WaitingCounts", "Written"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Outbox": "outbox",
        "PostgresStore": "postgres",
        "RowsKept": "table",
        "Table": "table",
        "Waiting": "outbox",
        "WaitingCounts": "outbox",
        "Written": "table",
    },
)
