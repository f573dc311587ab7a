"""What is left of removed files in an index database: looked for in the tables themselves, table by table."""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw

from vault_memory.adapters.index.base import Remains, Traces
from vault_memory.adapters.index.database import rows, value

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


def forget_probes(db: apsw.Connection) -> None:
    """Delete what a model was asked about chunks that are gone; inside the caller's transaction."""
    db.execute(f"DELETE FROM probes WHERE {_OF_NO_CHUNK}")


_OF_NO_CHUNK = "NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.identity = probes.identity)"
