"""Typed memories in an index database: which there are, and which are past."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

import apsw

from vault_memory.adapters.index.base import MemoryRow, MemoryText
from vault_memory.adapters.index.database import rows, value
from vault_memory.core.layout import ARCHIVE_DIR
from vault_memory.core.memorable import topics_of
from vault_memory.core.memories import SAMPLED, is_emptied, likeness, read, sketch
from vault_memory.core.notes import Document

KIND = "memory"
_FOUND = (
    "SELECT source, memory_id, type, title, importance, created, expires, until, used, successor"
    " FROM memories JOIN files USING(file_id)"
)
_ACTIVE = "((until IS NULL OR until > 0) AND (until IS NULL OR until > ?))"
"""Not past at a time: the first half as the partial indexes have it, so that SQLite knows that they serve."""
MAX_COMPARED = 32
"""Of so many memories the sketches are compared."""
MAX_OF_A_NUMBER = 32
"""Of the memories with one number of a sketch the newest are looked at: thousands may have a common word."""


def put(db: apsw.Connection, file_id: int, document: Document) -> None:
    """Replace what is known of the memory in a file; nothing for other kinds."""
    db.execute("DELETE FROM memories WHERE file_id = ?", (file_id,))
    if document.kind != KIND:
        return
    path = PurePosixPath(document.source)
    memory = read(document.meta, "", path.stem)
    created, expires = (each.timestamp() if each else None for each in (memory.created_at, memory.expires_at))
    is_archived = path.parts[0] == ARCHIVE_DIR
    content = "" if is_archived else "\n".join(chunk.text for chunk in document.chunks)
    drawn, topics = ([], []) if is_archived else (sketch(content), topics_of(content))
    is_hidden = is_archived or is_emptied(content)
    successor = None if is_archived else memory.superseded_by  # the schema's triggers hide it while that one is there
    row = (
        memory.id,
        memory.type,
        memory.skill_id or "",
        memory.importance,
        created or 0.0,
        expires,
        memory.access_count,
    )
    db.execute(
        "INSERT INTO memories(file_id, memory_id, type, skill_id, importance, created, expires, used, until, sketch,"
        " topics, successor) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
        (file_id, *row, 0.0 if is_hidden else expires, json.dumps(drawn), json.dumps(topics), successor),
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


def over(
    db: apsw.Connection, at: float, most: int, limit: int, spare: int, passing: bool
) -> tuple[int, list[MemoryRow]]:
    """See `Index.memories_over`."""
    if int(value(db, "SELECT value FROM meta WHERE key = 'memories'")) <= most:
        return 0, []  # with the past ones, whose number need not be known
    counted = f"SELECT count(*) FROM (SELECT 1 FROM memories WHERE {_ACTIVE} LIMIT ?)"
    too_many = int(value(db, counted, (at, most + limit))) - most
    if too_many <= 0:
        return 0, []
    only = " AND expires IS NOT NULL AND created > 0" if passing else ""
    sql = f"{_FOUND} WHERE {_ACTIVE}{only} ORDER BY importance, used, created, source LIMIT ?"
    return too_many, [MemoryRow(*row) for row in rows(db, sql, (at, too_many + spare))]


def latest(db: apsw.Connection, at: float, limit: int) -> list[MemoryRow]:
    """See `Index.latest_memories`."""
    sql = f"{_FOUND} WHERE {_ACTIVE} ORDER BY created DESC, source DESC LIMIT ?"
    return [MemoryRow(*row) for row in rows(db, sql, (at, limit))]


def changed(db: apsw.Connection, after_ns: int, limit: int) -> list[tuple[str, int]]:
    """See `Index.changed_memories`."""
    sql = "SELECT source, ctime_ns FROM memories JOIN files USING(file_id) WHERE ctime_ns > ? ORDER BY ctime_ns LIMIT ?"
    return [(source, at_ns) for source, at_ns in rows(db, sql, (after_ns, limit))]


def texts(db: apsw.Connection, at: float) -> list[MemoryText]:
    """See `Index.memory_texts`."""
    words = "title || char(10) || files.tags || char(10) || group_concat(coalesce(text, ''), char(10))"
    joined = "memories JOIN files USING(file_id) LEFT JOIN chunks USING(file_id)"
    sql = (
        f"SELECT source, type, {words}, count(*) FROM {joined}"
        f" WHERE {_ACTIVE} GROUP BY file_id ORDER BY created DESC, source DESC"
    )
    return [MemoryText(source, kind, text, count == 1) for source, kind, text, count in rows(db, sql, (at,))]


def alike(db: apsw.Connection, numbers: Sequence[int], at: float, limit: int) -> list[MemoryRow]:
    """See `Index.alike_memories`."""
    shared: Counter[int] = Counter()
    newest = "SELECT file_id FROM sketches WHERE number = ? ORDER BY file_id DESC LIMIT ?"
    for place, number in enumerate(numbers):
        for (file_id,) in rows(db, newest, (number, MAX_OF_A_NUMBER)):
            shared[file_id] += 1 if place else len(numbers)
    most = [file_id for file_id, _ in sorted(shared.items(), key=lambda each: (-each[1], -each[0]))[:MAX_COMPARED]]
    drawn = f"SELECT sketch FROM memories WHERE file_id = ? AND {_ACTIVE}"
    found = []
    for file_id in most:
        for (held,) in rows(db, drawn, (file_id, at)):
            sketched = json.loads(held)
            if (alike := likeness(numbers, sketched)) >= SAMPLED:
                found.append((sketched[:1] == [*numbers[:1]], alike, file_id))
    best = sorted(found, reverse=True)[:limit]
    return [MemoryRow(*row) for *_, file_id in best for row in rows(db, f"{_FOUND} WHERE file_id = ?", (file_id,))]


def about(db: apsw.Connection, content: str, at: float, limit: int) -> list[MemoryRow]:
    """See `Index.memories_about`."""
    newest = "SELECT file_id FROM sketches WHERE number = ? ORDER BY file_id DESC LIMIT ?"
    numbers = [*sketch(content)[:1], *topics_of(content, is_asked=True)]
    known = {file_id for number in numbers for (file_id,) in rows(db, newest, (number, limit))}
    one = f"{_FOUND} WHERE file_id = ? AND {_ACTIVE}"
    return [MemoryRow(*row) for file_id in sorted(known, reverse=True) for row in rows(db, one, (file_id, at))][:limit]
