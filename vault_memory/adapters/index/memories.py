"""Typed memories in an index database: which there are, and which are past."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import PurePosixPath

import apsw

from vault_memory.adapters.index.base import MemoryRow
from vault_memory.adapters.index.database import rows, value
from vault_memory.core.layout import ARCHIVE_DIR
from vault_memory.core.memories import read
from vault_memory.core.notes import Document

KIND = "memory"
_FOUND = (
    "SELECT source, memory_id, type, title, importance, created, expires, until FROM memories JOIN files USING(file_id)"
)
_ACTIVE = "(until IS NULL OR until > ?)"


def put(db: apsw.Connection, file_id: int, document: Document) -> None:
    """Replace what is known of the memory in a file; nothing for other kinds."""
    if document.kind != KIND:
        db.execute("DELETE FROM memories WHERE file_id = ?", (file_id,))
        return
    path = PurePosixPath(document.source)
    memory = read(document.meta, "", path.stem)
    created, expires = (each.timestamp() if each else None for each in (memory.created_at, memory.expires_at))
    is_past = path.parts[0] == ARCHIVE_DIR or memory.superseded_by is not None
    row = (memory.id, memory.type, memory.skill_id or "", memory.importance, created or 0.0, expires)
    db.execute(
        "INSERT OR REPLACE INTO memories(file_id, memory_id, type, skill_id, importance, created, expires, until)"
        " VALUES(?,?,?,?,?,?,?,?)",
        (file_id, *row, 0.0 if is_past else expires),
    )


def find(db: apsw.Connection, ids: Collection[str] | None) -> list[MemoryRow]:
    """See `Index.memories`."""
    only = "" if ids is None else " WHERE memory_id IN (SELECT value FROM json_each(:ids))"
    asked = {} if ids is None else {"ids": json.dumps(list(ids))}
    return [MemoryRow(*row) for row in db.execute(f"{_FOUND}{only} ORDER BY created, source", asked)]


def version(db: apsw.Connection) -> int:
    """See `Index.memories_version`."""
    sql = "SELECT group_concat(source || hex(content_hash)) FROM memories JOIN files USING(file_id)"
    return hash(value(db, sql))


def count_active(db: apsw.Connection, at: float) -> int:
    """See `Index.active_memories`."""
    return int(value(db, f"SELECT count(*) FROM memories WHERE {_ACTIVE}", (at,)))


def least(db: apsw.Connection, at: float, limit: int) -> list[MemoryRow]:
    """See `Index.least_memories`."""
    sql = f"{_FOUND} WHERE {_ACTIVE} ORDER BY importance, created, source LIMIT ?"
    return [MemoryRow(*row) for row in rows(db, sql, (at, limit))]
