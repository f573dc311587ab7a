"""The mapping: which table of a database each logical table is, and which column each field of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TABLES = ("conversations", "memories")
"""The logical tables: every turn, and what was reflected on a turn. One that is not mapped is not written."""
FIELDS = {
    "conversation_id": "text",
    "user_id": "text",
    "user_message": "text",
    "assistant_message": "text",
    "text_cache": "text",
    "reflection": "jsonb",
    "token_data": "jsonb",
    "cid": "text",
    "created_at": "timestamptz",
}
"""The fields of a row, each with the type of column that suits it. `text_cache` is both texts of a turn in one."""
KEY = ("conversation_id", "created_at")
"""By these a row is known: delivered again, it is the same."""
NEEDED = ("conversation_id", "user_id", "created_at")
MAX_NAME_BYTES = 63
"""PostgreSQL cuts a longer name, and would find another column."""
_NO_TEXT = ("user_message", "assistant_message", "text_cache")
"""Fields that a row of `memories` does not have."""


@dataclass(frozen=True)
class Target:
    """A table of the database, and its column for each field that is written there."""

    logical: str
    table: str
    columns: Mapping[str, str]


def targets(tables: Mapping[str, str], columns_map: Mapping[str, str]) -> list[Target]:
    """The tables to write, in the order of `TABLES`."""
    left_out = {"conversations": (), "memories": _NO_TEXT}
    return [
        Target(
            logical,
            tables[logical],
            {field: columns_map[field] for field in FIELDS if field in columns_map and field not in left_out[logical]},
        )
        for logical in TABLES
        if logical in tables
    ]


def parts(table: str) -> list[str]:
    """A table's name as PostgreSQL has it: [table], or [schema, table] of `schema.table`."""
    return table.split(".")


def tables_problem(tables: Mapping[str, str]) -> str | None:
    """What is wrong with a map from logical tables to tables, None for nothing."""
    if unknown := [name for name in tables if name not in TABLES]:
        return f"maps {', '.join(TABLES)} to tables, and knows no {unknown[0]!r}"
    for logical, table in tables.items():
        names = parts(table)
        if len(names) > 2 or not all(map(_is_name, names)):
            return f"must name a table, or a schema.table, for {logical}, not {table!r}"
    return _twice(tables)


def columns_problem(columns: Mapping[str, str]) -> str | None:
    """What is wrong with a map from fields to columns, None for nothing."""
    if unknown := [name for name in columns if name not in FIELDS]:
        return f"maps {', '.join(FIELDS)} to columns, and knows no {unknown[0]!r}"
    for field, column in columns.items():
        if not _is_name(column):
            return f"must name a column of at most {MAX_NAME_BYTES} bytes for {field}, not {column!r}"
    if columns and (lacking := [name for name in NEEDED if name not in columns]):
        return f"lacks {', '.join(lacking)}, which every row needs"
    return _twice(columns)


def _is_name(name: str) -> bool:
    size = len(name.encode("utf-8", "surrogatepass"))
    return 0 < size <= MAX_NAME_BYTES and name.isprintable()


def _twice(names: Mapping[str, str]) -> str | None:
    seen: dict[str, str] = {}
    for name, value in names.items():
        if value in seen:
            return f"maps both {seen[value]} and {name} to {value!r}: each needs one of its own"
        seen[value] = name
    return None
