"""Measuring what a model knows of an index: a sample of its chunks is asked for by probes, and each script is judged.

The sample is those chunks whose identities, which are hashes, are the smallest: a function of the content alone. An
index that grew is judged like one that is built at once, and most of the sample stays when chunks come and go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import apsw

from vault_memory.adapters.index.database import rows, value
from vault_memory.adapters.index.outgoing import OutgoingTexts
from vault_memory.adapters.index.words import segments_of
from vault_memory.core.ranking import Knowledge, probes
from vault_memory.core.text import tokens

MAX_LOOKED_AT = 512
"""Chunks among which the sample is looked for: a script with few of them is not judged, and an index of any size costs
the same."""
_FIRST = "SELECT DISTINCT identity FROM chunks ORDER BY identity LIMIT ?"


class Probe(NamedTuple):
    """A chunk of the sample by its identity, the text that asks for it, and its script."""

    identity: bytes
    text: str
    is_han: bool


def state(db: apsw.Connection) -> bytes:
    """The hash of all that a judgement depends on beside the model: it is made again when this changes."""
    return hashlib.sha256(b"".join(identity for (identity,) in rows(db, _FIRST, (MAX_LOOKED_AT,)))).digest()


def is_judged(db: apsw.Connection, space: str) -> bool:
    """Whether what a space says of its model is about the index as it is."""
    return bool(value(db, "SELECT judged FROM spaces WHERE name = ?", (space,)) == state(db))


def sample(db: apsw.Connection, outgoing: OutgoingTexts | None = None) -> list[Probe]:
    """Up to `probes.MAX_PROBES` chunks of each script; none of a script with fewer than `probes.MIN_PROBES`.

    `outgoing`: probes are sent away; then no chunk with a secret or a private fact is asked for. In half of its words
    nobody would find these any more."""
    found: dict[bool, list[Probe]] = {False: [], True: []}
    columns = "identity, min(chunk_id), text, units"
    sql = f"SELECT {columns} FROM chunks WHERE identity IN ({_FIRST}) GROUP BY identity ORDER BY identity"
    for identity, chunk_id, text, packed in rows(db, sql, (MAX_LOOKED_AT,)):
        of_script = found[tokens.is_han(text)]
        asked = probes.probe(text, segments_of(packed)) if len(of_script) < probes.MAX_PROBES else ""
        if asked and (outgoing is None or outgoing.may_go(db, chunk_id, text)):
            of_script.append(Probe(identity, asked, tokens.is_han(text)))
    return [each for of_script in found.values() if len(of_script) >= probes.MIN_PROBES for each in of_script]


def unasked(db: apsw.Connection, space: str, asked: Sequence[Probe]) -> list[Probe]:
    """Those of a sample whose probe has no vector in a space yet."""
    held = _held(db, value(db, "SELECT space_id FROM spaces WHERE name = ?", (space,)))
    return [each for each in asked if each.identity not in held]


def judge(db: apsw.Connection, space_id: int, asked: Sequence[Probe], new: Mapping[bytes, bytes]) -> None:
    """Store the vectors of new probes, forget those that left the sample, and note what the model knows; inside the
    caller's transaction."""
    embeddings = {**_held(db, space_id), **new}
    db.execute("DELETE FROM probes WHERE space_id = ?", (space_id,))
    kept = [(space_id, each.identity, embeddings[each.identity]) for each in asked if each.identity in embeddings]
    db.executemany("INSERT INTO probes VALUES(?, ?, ?)", kept)
    known = [
        probes.knowledge(_cosines(db, space_id, [p for p in asked if p.is_han == is_han])) for is_han in (False, True)
    ]
    db.execute("UPDATE spaces SET judged = ?, latin = ?, han = ? WHERE space_id = ?", (state(db), *known, space_id))


def knowledge(db: apsw.Connection, space: str) -> Knowledge:
    """What the model of a space knows of the index."""
    found = rows(db, "SELECT latin, han FROM spaces WHERE name = ?", (space,))
    return Knowledge(*found[0]) if found else Knowledge()


def _held(db: apsw.Connection, space_id: int) -> dict[bytes, bytes]:
    return dict(rows(db, "SELECT identity, embedding FROM probes WHERE space_id = ?", (space_id,)))


def _cosines(db: apsw.Connection, space_id: int, asked: Sequence[Probe]) -> list[list[float]]:
    """The cosines of each probe with the chunk of each, of those that have both vectors."""
    import numpy

    sql = (
        "SELECT p.embedding, v.embedding FROM probes p JOIN chunks c USING(identity)"
        " JOIN vectors v ON v.chunk_id = c.chunk_id AND v.space_id = p.space_id"
        " WHERE p.space_id = ? AND p.identity = ? LIMIT 1"
    )
    pairs = [pair for each in asked for pair in rows(db, sql, (space_id, each.identity))]
    if not pairs:
        return []
    ours, theirs = (
        numpy.array([numpy.frombuffer(pair[at], numpy.int8) for pair in pairs], numpy.float64) for at in (0, 1)
    )
    lengths = numpy.linalg.norm(ours, axis=1)[:, None] * numpy.linalg.norm(theirs, axis=1)
    found: list[list[float]] = (ours @ theirs.T / lengths).tolist()
    return found
