"""What goes into the tables of a long-term store: the fields of a turn, the rows that it makes, and the mapping by
which these find the tables and columns of an organisation, which no code names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.longterm.ddl import ddl
    from vault_memory.core.longterm.mapping import (
        FIELDS,
        KEY,
        NEEDED,
        TABLES,
        Target,
        columns_problem,
        parts,
        tables_problem,
        targets,
    )
    from vault_memory.core.longterm.merging import Merged, has_other_tokens, merged
    from vault_memory.core.longterm.rows import Row, name_of, rows_of

__all__ = [
    "FIELDS",
    "KEY",
    "NEEDED",
    "TABLES",
    "Merged",
    "Row",
    "Target",
    "columns_problem",
    "ddl",
    "has_other_tokens",
    "merged",
    "name_of",
    "parts",
    "rows_of",
    "tables_problem",
    "targets",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "FIELDS": "mapping",
        "KEY": "mapping",
        "Merged": "merging",
        "NEEDED": "mapping",
        "TABLES": "mapping",
        "Row": "rows",
        "Target": "mapping",
        "columns_problem": "mapping",
        "ddl": "ddl",
        "has_other_tokens": "merging",
        "merged": "merging",
        "name_of": "rows",
        "parts": "mapping",
        "rows_of": "rows",
        "tables_problem": "mapping",
        "targets": "mapping",
    },
)
