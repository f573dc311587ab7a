"""What is left of removed files in an index database: looked for in the tables themselves, table by table, and
overwritten."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from vault_memory.adapters.index.base import Remains, Traces
from vault_memory.adapters.index.database import BUSY_TIMEOUT_MS, rows, value, waiting

READER_MS = 1_000
"""So long is waited for who reads at this moment, before what SQLite keeps beside the database is emptied."""
_LISTED = "(SELECT value FROM json_each(?))"


def traces(db: apsw.Connection, sources: Iterable[str]) -> Traces:
    """See `Index.traces`."""
    asked = tuple(sources)
    sql = f"SELECT chunk_id FROM chunks JOIN files USING(file_id) WHERE source IN {_LISTED}"
    return Traces(asked, tuple(chunk_id for (chunk_id,) in rows(db, sql, (json.dumps(asked),))))


def remains(db: apsw.Connection, gone: Traces) -> Remains:
    """See `Index.remains`. FTS5 keeps a row of `words_docsize` for each text that it can find."""
    sources, ids = json.dumps(gone.sources), json.dumps(gone.chunk_ids)

    def count(where: str, asked: str) -> int:
        return int(value(db, f"SELECT count(*) FROM {where} IN {_LISTED}", (asked,)))

    probes = int(value(db, f"SELECT count(*) FROM probes WHERE {_OF_NO_CHUNK}"))
    return Remains(
        files=count("files WHERE source", sources) + count("chunks WHERE chunk_id", ids),
        words=count("words_docsize WHERE id", ids),
        vectors=count("vectors WHERE chunk_id", ids) + probes,
    )


def holding(db: apsw.Connection, texts: Iterable[str]) -> list[str]:
    """See `Index.holding`."""
    sql = (
        "SELECT DISTINCT source FROM chunks JOIN files USING(file_id)"
        f" WHERE EXISTS (SELECT 1 FROM {_LISTED} WHERE instr(text, value)) ORDER BY source"
    )
    return [source for (source,) in rows(db, sql, (json.dumps([*texts]),))]


def purge(db: apsw.Connection) -> bool:
    """See `Index.purge`. The full text has been compacted: before that its segments hold the words of deleted rows."""
    if value(db, "SELECT 1 FROM meta WHERE key = 'zeroed'") is None:
        db.execute("PRAGMA temp_store=memory").fetchall()  # no copy on another disk
        db.execute("VACUUM")
        db.execute("INSERT INTO meta VALUES('zeroed', 1)")
    db.set_busy_handler(waiting(READER_MS))
    try:
        is_read_elsewhere = value(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.set_busy_handler(waiting(BUSY_TIMEOUT_MS))
    return not is_read_elsewhere


def forget_probes(db: apsw.Connection) -> None:
    """Delete what a model was asked about chunks that are gone; inside the caller's transaction."""
    db.execute(f"DELETE FROM probes WHERE {_OF_NO_CHUNK}")


_OF_NO_CHUNK = "NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.identity = probes.identity)"
