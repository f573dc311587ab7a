"""SQL for a person to run: tables as the mapping names them, where there are none yet. It is shown, never run."""

from __future__ import annotations

from vault_memory.core.longterm.mapping import FIELDS, KEY, NEEDED, Target, parts


def ddl(target: Target) -> str:
    """The statement that makes a table of this mapping, with the unique key; and, in a comment, the one that gives the
    key to a table that is there."""
    lines = [
        f"  {_quoted(column)} {FIELDS[field]}{' NOT NULL' if field in NEEDED else ''}"
        for field, column in target.columns.items()
    ]
    table = ".".join(map(_quoted, parts(target.table)))
    made = ",\n".join([*lines, f"  {_unique(target)}"])
    return (
        f"-- {target.logical}\nCREATE TABLE {table} (\n{made}\n);\n"
        f"-- If the table is there without a unique key: ALTER TABLE {table} ADD {_unique(target)};"
    )


def _unique(target: Target) -> str:
    return f"UNIQUE ({', '.join(_quoted(target.columns[field]) for field in KEY)})"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
