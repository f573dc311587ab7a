"""What files are called in an index database: who asks for a note by its name wants that note."""

from __future__ import annotations

import apsw

from vault_memory.adapters.index.database import rows
from vault_memory.adapters.index.vectors import Condition
from vault_memory.core.notes import Document, naming
from vault_memory.core.ranking import BY_ALIAS, BY_NAME

MAX_CALLED = 20
"""So many notes of one name are put before the others."""


def put(db: apsw.Connection, file_id: int, document: Document) -> None:
    """Note the names of a file, in the place of those that it had; inside the caller's transaction."""
    own = naming.own_keys(document.source, document.title)
    others = filter(None, map(naming.key, naming.aliases(document.meta)))
    wanted = {**dict.fromkeys(others, 1), **dict.fromkeys(own, 0)}
    held = dict(rows(db, "SELECT name, is_alias FROM names WHERE file_id = ?", (file_id,)))
    if held == wanted:  # a log grows by each turn
        return
    db.execute("DELETE FROM names WHERE file_id = ?", (file_id,))
    db.executemany("INSERT INTO names VALUES(?,?,?)", ((name, file_id, is_alias) for name, is_alias in wanted.items()))


def called(db: apsw.Connection, name: str, only: Condition) -> dict[int, int]:
    """The first chunks of the notes that are called so, each with how: `BY_NAME` or `BY_ALIAS`."""
    if not name:
        return {}
    sql = (
        "SELECT chunk_id, is_alias FROM names JOIN chunks USING(file_id) JOIN files USING(file_id)"
        f" WHERE name = ? AND position = 0 {only.on('chunk_id')} ORDER BY is_alias, source LIMIT ?"
    )
    found = rows(db, sql, (name, *only.values, MAX_CALLED))
    return {chunk_id: BY_ALIAS if is_alias else BY_NAME for chunk_id, is_alias in found}
