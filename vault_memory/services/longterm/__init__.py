"""Turns in an organisation's own tables: what is recorded waits in the outbox, and a job sends it from there. Also what
is wrong with the mapping, and what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.longterm.check import CheckedTable, check_long_term, long_term_fault, tables_ddl
    from vault_memory.services.longterm.flush import ROUND_S, Flushed, flush_long_term, persist_long_term
    from vault_memory.services.longterm.rows import Dropped, Holds, count_rows, drop_rows, moment_of, said_in, told_at
    from vault_memory.services.longterm.since import note_memories_again, note_since, rename_noted
    from vault_memory.services.longterm.waiting import (
        LongTermState,
        long_term_problem,
        long_term_state,
        note_for_long_term,
        rename_waiting,
    )

__all__ = [
    "ROUND_S",
    "CheckedTable",
    "Dropped",
    "Flushed",
    "Holds",
    "LongTermState",
    "check_long_term",
    "count_rows",
    "drop_rows",
    "flush_long_term",
    "long_term_fault",
    "long_term_problem",
    "long_term_state",
    "moment_of",
    "note_for_long_term",
    "note_memories_again",
    "note_since",
    "persist_long_term",
    "rename_noted",
    "rename_waiting",
    "said_in",
    "tables_ddl",
    "told_at",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ROUND_S": "flush",
        "CheckedTable": "check",
        "Dropped": "rows",
        "Flushed": "flush",
        "Holds": "rows",
        "LongTermState": "waiting",
        "check_long_term": "check",
        "count_rows": "rows",
        "drop_rows": "rows",
        "flush_long_term": "flush",
        "long_term_fault": "check",
        "long_term_problem": "waiting",
        "long_term_state": "waiting",
        "moment_of": "rows",
        "note_for_long_term": "waiting",
        "note_memories_again": "since",
        "note_since": "since",
        "rename_noted": "since",
        "persist_long_term": "flush",
        "rename_waiting": "waiting",
        "said_in": "rows",
        "tables_ddl": "check",
        "told_at": "rows",
    },
)
