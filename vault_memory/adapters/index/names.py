"""What files are called in an index database: who asks for a note by its name wants that note."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

import apsw

from vault_memory.adapters.index.base import Ties
from vault_memory.adapters.index.database import rows
from vault_memory.adapters.index.vectors import Condition
from vault_memory.core.notes import Document, naming
from vault_memory.core.ranking import BY_ALIAS, BY_NAME, BY_TITLE

MAX_CALLED = 20
"""So many notes of one name are put before the others."""


def put(db: apsw.Connection, file_id: int, document: Document) -> None:
    """Note the names of a file, in the place of those that it had; inside the caller's transaction."""
    ways = (
        (BY_ALIAS, naming.aliases(document.meta)),
        (BY_TITLE, (document.title,)),
        (BY_NAME, naming.own_names(document.source, document.meta)),
    )
    wanted = {key: how for how, called in ways for name in called if (key := naming.key(name))}
    held = dict(rows(db, "SELECT name, how FROM names WHERE file_id = ?", (file_id,)))
    if held == wanted:  # a log grows by each turn
        return
    db.execute("DELETE FROM names WHERE file_id = ?", (file_id,))
    db.executemany("INSERT INTO names VALUES(?,?,?)", ((name, file_id, how) for name, how in wanted.items()))


def sources(db: apsw.Connection, name: str) -> list[tuple[str, int]]:
    """See `Index.called`."""
    found = "SELECT source, how FROM names JOIN files USING(file_id) WHERE name = ?"
    return rows(db, f"{found} ORDER BY how DESC, source LIMIT ?", (name, MAX_CALLED)) if name else []


def ties(db: apsw.Connection, source: str) -> Ties:
    """See `Index.ties`."""
    own = rows(db, "SELECT name FROM names JOIN files USING(file_id) WHERE source = ?", (source,))
    found = rows(db, "SELECT links, tags FROM files WHERE source = ?", (source,))
    links, tags = found[0] if found else ("", "")
    return Ties(tuple(name for (name,) in own), _each(links), _each(tags))


def linking(db: apsw.Connection, called: Collection[str]) -> list[str]:
    """See `Index.linking`."""
    return [source for source, _ in _holding(db, "links", called)]


def tagged(db: apsw.Connection, tags: Collection[str]) -> dict[str, tuple[str, ...]]:
    """See `Index.tagged`."""
    return dict(_holding(db, "tags", tags))


def best_of(db: apsw.Connection, cosines: Mapping[int, float]) -> dict[str, float]:
    """The best cosine of each note of these chunks."""
    found = "SELECT source, chunk_id FROM chunks JOIN files USING(file_id)"
    asked = json.dumps([*cosines])
    best: dict[str, float] = {}
    for source, chunk_id in rows(db, f"{found} WHERE chunk_id IN (SELECT value FROM json_each(?))", (asked,)):
        best[source] = max(best.get(source, -1.0), cosines[chunk_id])
    return best


def _holding(db: apsw.Connection, column: str, texts: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The source of each file in whose list one of these stands, and the list. A note may have 10,000 aliases: all
    lists are read once."""
    wanted = set(texts)
    found = rows(db, f"SELECT source, {column} FROM files WHERE {column} <> '' ORDER BY source") if wanted else []
    lists = ((source, _each(listed)) for source, listed in found)
    return [(source, each) for source, each in lists if not wanted.isdisjoint(each)]


def _each(listed: str) -> tuple[str, ...]:
    return tuple(filter(None, listed.split("\n")))


def called(db: apsw.Connection, name: str, only: Condition) -> dict[int, int]:
    """The first chunks of the notes that are called so, each with how (`BY_NAME`, `BY_TITLE`, `BY_ALIAS`)."""
    if not name:
        return {}
    sql = (
        "SELECT chunk_id, how FROM names JOIN chunks USING(file_id) JOIN files USING(file_id)"
        f" WHERE name = ? AND position = 0 {only.on('chunk_id')} ORDER BY how DESC, source LIMIT ?"
    )
    return dict(rows(db, sql, (name, *only.values, MAX_CALLED)))
