"""Vectors in an index: int8, one table, the nearest found by an exact scan.

The first search of a process scans with sqlite-vec's distance function (10,000 x 256: 7 ms, nothing to load). A process
that searches again is long-lived: it keeps a float32 matrix, 4 to 6 times faster, and reads only what was added since.
"""

from __future__ import annotations

import math
import threading
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from vault_memory.adapters.embedding import Vector
from vault_memory.adapters.index import database
from vault_memory.adapters.index.base import Space
from vault_memory.adapters.index.database import at_once, rows, value
from vault_memory.core.ranking import Spread
from vault_memory.errors import EndpointError

if TYPE_CHECKING:
    import numpy

PLAIN_PYTHON_VECTORS = 8
"""Up to this many vectors are packed in plain Python: to import numpy would take longer."""
STEPS = 1 << 20
"""Cosines are counted in steps of this part where they are summed."""


def space_id(db: apsw.Connection, name: str, dimension: int) -> int:
    """The id of a space, made when it is new. Raises `EndpointError` when it holds vectors of another dimension."""
    found = rows(db, "SELECT space_id, dimension FROM spaces WHERE name = ?", (name,))
    if found and found[0][1] == dimension:
        return int(found[0][0])
    if found and value(db, "SELECT 1 FROM vectors WHERE space_id = ? LIMIT 1", (found[0][0],)):
        raise EndpointError(
            f"the embedding model gave {dimension} dimensions, the index holds {found[0][1]} of {name}: "
            "another model has taken its name; `vault-memory reindex`, then `vault-memory embedding use`, begins anew"
        )
    with db:
        drop(db, name)
        db.execute("INSERT INTO spaces(name, dimension, embedded_to) VALUES(?, ?, 0)", (name, dimension))
    return db.last_insert_rowid()


def spaces(db: apsw.Connection) -> dict[str, Space]:
    """The spaces of an index by name, oldest first."""
    chunks = value(db, "SELECT value FROM meta WHERE key = 'chunks'")
    held = rows(db, "SELECT name, dimension FROM spaces ORDER BY space_id")
    waiting = {name: pending(db, name) for name, _ in held}
    return {name: Space(dimension, chunks - waiting[name], waiting[name]) for name, dimension in held}


_PENDING = """
    FROM chunks c JOIN files f USING(file_id)
    WHERE c.chunk_id > ifnull((SELECT embedded_to FROM spaces WHERE name = ?1), 0)
    AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.chunk_id
      AND v.space_id = (SELECT space_id FROM spaces WHERE name = ?1))
"""


def pending(db: apsw.Connection, space: str) -> int:
    """How many chunks have no vector in a space."""
    return int(value(db, f"SELECT count(*) {_PENDING}", (space,)))


def waiting(db: apsw.Connection, space: str, limit: int) -> list[tuple[int, str, str, str]]:
    """The first chunks without a vector: id, title of the file, heading path, text."""
    sql = f"SELECT c.chunk_id, f.title, c.heading, c.text {_PENDING} ORDER BY c.chunk_id LIMIT ?2"
    return rows(db, sql, (space, limit))


def drop(db: apsw.Connection, space: str) -> None:
    """Forget a space and its vectors."""
    with db:
        for table in ("vectors", "probes"):
            sql = f"DELETE FROM {table} WHERE space_id IN (SELECT space_id FROM spaces WHERE name = ?)"
            db.execute(sql, (space,))
        db.execute("DELETE FROM spaces WHERE name = ?", (space,))


def add(db: apsw.Connection, space: int, chunk_ids: Sequence[int], embeddings: Sequence[bytes]) -> None:
    """Store vectors of the chunks that were `waiting`, if they still exist; inside the caller's transaction."""
    db.executemany(
        "INSERT OR REPLACE INTO vectors(space_id, chunk_id, embedding)"
        " SELECT ?, chunk_id, ? FROM chunks WHERE chunk_id = ?",
        ((space, embedding, chunk_id) for chunk_id, embedding in zip(chunk_ids, embeddings, strict=True)),
    )
    db.execute("UPDATE spaces SET embedded_to = max(embedded_to, ?) WHERE space_id = ?", (chunk_ids[-1], space))


def packed(found: Sequence[Vector], count: int, dimension: int) -> list[bytes]:
    """Vectors as they are stored. Raises `EndpointError` when there are too few, or one is short, zero or no number."""
    if len(found) != count:
        raise EndpointError(f"the embedding model gave {len(found)} vectors for {count} texts: nothing was stored")
    if count <= PLAIN_PYTHON_VECTORS:
        return [quantised(vector, dimension) for vector in found]
    return [row.tobytes() for row in _quantised_rows(found, dimension)]


def _quantised_rows(found: Sequence[Vector], dimension: int) -> numpy.ndarray[Any, Any]:
    """The same bytes as `quantised` for each vector: the size of a batch must not change them."""
    import numpy

    for vector in found:
        if len(vector) != dimension:
            raise _other_length(len(vector), dimension)
    matrix = numpy.asarray(found, numpy.float64)
    largest = numpy.abs(matrix).max(axis=1, keepdims=True)
    if not numpy.isfinite(largest).all() or not largest.all():
        raise _no_direction()
    packed: numpy.ndarray[Any, Any] = numpy.rint(matrix * 127 / largest).astype(numpy.int8)
    return packed


def quantised(vector: Vector, dimension: int) -> bytes:
    """A vector as int8, its largest number 127. Cosines do not see the scale, and change by less than .005."""
    if len(vector) != dimension:
        raise _other_length(len(vector), dimension)
    vector = [float(x) for x in vector]
    largest = max(map(abs, vector))
    if not (0 < largest < math.inf) or not math.isfinite(sum(vector)):
        raise _no_direction()
    return array("b", [round(x * 127 / largest) for x in vector]).tobytes()


def _other_length(length: int, dimension: int) -> EndpointError:
    return EndpointError(f"the embedding model gave {length} dimensions instead of {dimension}: check its name")


def _no_direction() -> EndpointError:
    return EndpointError("the embedding model gave a vector of zeros or of no numbers: nothing was stored")


class Nearest(NamedTuple):
    """Cosines by chunk id, and the spread of those of all chunks."""

    cosines: dict[int, float]
    spread: Spread | None


class NearestVectors:
    """The nearest vectors of a query, by SQL at first and by a matrix from the second search on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches = 0
        self._made = ""
        self._matrices: dict[str, _Matrix] = {}

    def search(
        self, db: apsw.Connection, space: str, vector: Vector, also: Sequence[int], only: Condition, limit: int
    ) -> Nearest:
        """Cosines of the `limit` nearest chunks (0: none) that `only` lets through, and of the chunks `also`."""
        held = {name: rest for name, *rest in rows(db, "SELECT name, space_id, dimension FROM spaces")}
        if space not in held:
            return Nearest({}, None)
        space_id, dimension = held[space]
        self._searches += 1
        if database.vec_library() and (self._searches == 1 or (only.sql and not only.is_excluding)):
            return _scan(db, space_id, quantised(vector, dimension), also, only, limit)
        made = str(value(db, "SELECT max(value) FROM meta WHERE key = 'made'"))
        with self._lock:
            if made != self._made:  # the index was deleted and made anew: its ids are other chunks
                self._made, self._matrices = made, {}
            for gone in self._matrices.keys() - held.keys():
                del self._matrices[gone]
            matrix = self._matrices.get(space)
            if matrix is None or matrix.dimension != dimension:  # another model took the name
                matrix = self._matrices[space] = _Matrix(dimension)
            matrix.refresh(db, space_id)
            return matrix.nearest(db, vector, also, only, limit)  # a refresh meanwhile would move the rows


class Condition(NamedTuple):
    """An SQL query of the chunk ids that may answer, and its values; empty lets all through. `is_excluding`: of the few
    that may not."""

    sql: str = ""
    values: tuple[object, ...] = ()
    is_excluding: bool = False

    def on(self, column: str) -> str:
        """The test to append to a WHERE clause."""
        return f"AND {column} {'NOT ' * self.is_excluding}IN ({self.sql})" if self.sql else ""


def _scan(db: apsw.Connection, space: int, query: bytes, also: Sequence[int], only: Condition, limit: int) -> Nearest:
    cosine = "1 - vec_distance_cosine(vec_int8(embedding), vec_int8(?)) AS cosine"
    step = f"CAST(cosine * {STEPS} AS INTEGER)"
    found = rows(
        db,
        f"WITH every AS MATERIALIZED (SELECT chunk_id, {cosine} FROM vectors WHERE space_id = ?)"
        " SELECT chunk_id, cosine, count, total, squares, best"
        f" FROM (SELECT count(*) AS count, sum({step}) AS total, sum({step} * {step}) AS squares, max(cosine) AS best"
        " FROM every)"
        f" LEFT JOIN (SELECT * FROM every WHERE true {only.on('chunk_id')} ORDER BY cosine DESC, chunk_id LIMIT ?)",
        (query, space, *only.values, limit),
    )
    count, total, squares, best = found[0][2:]
    if not count:
        return Nearest({}, None)
    ids = ",".join(map(str, also))
    filled = rows(
        db, f"SELECT chunk_id, {cosine} FROM vectors WHERE space_id = ? AND chunk_id IN ({ids})", (query, space)
    )
    nearest = found if found[0][0] is not None else []  # the filter lets none through, or none is wanted
    return Nearest({row[0]: row[1] for row in (*nearest, *filled)}, _spread(count, total, squares, best))


def mean(db: apsw.Connection, space: str, source: str) -> Vector | None:
    """The mean of the vectors of a file in a space; None where it has none."""
    found = rows(
        db,
        "SELECT embedding FROM vectors JOIN spaces USING(space_id) JOIN chunks USING(chunk_id)"
        " JOIN files USING(file_id) WHERE name = ? AND source = ? ORDER BY position",
        (space, source),
    )
    sums = [sum(each) for each in zip(*(array("b", packed) for (packed,) in found), strict=True)]
    return [total / len(found) for total in sums] if any(sums) else None


def _spread(count: int, total: int, squares: int, best: float) -> Spread:
    """The spread of `count` cosines from the sum of their `STEPS` and the sum of the squares of these. They are whole
    numbers: their sums do not depend on the order."""
    deviation = math.sqrt(max(0, count * squares - total * total)) / count
    return Spread(count, total / count / STEPS, deviation / STEPS, best)


class _Matrix:
    """All vectors of one space in memory, with the chunk id of each row. The cosines are those of `_scan`, to the last
    bit: a server must not answer otherwise than a command does.

    Each turn of a chat adds a few rows and drops one, so the arrays have room for more: to copy them would take longer
    than all else that a search does."""

    def __init__(self, dimension: int) -> None:
        import numpy

        self.dimension = dimension
        self.last = 0
        self.rows: numpy.ndarray[Any, Any] = numpy.empty((0, dimension), numpy.float32)
        self.lengths: numpy.ndarray[Any, Any] = numpy.empty(0, numpy.float64)
        self.ids: numpy.ndarray[Any, Any] = numpy.empty(0, numpy.int64)
        self._with_room = (self.rows, self.lengths, self.ids)
        self._order: numpy.ndarray[Any, Any] = numpy.empty(0, numpy.int64)
        self._sorted_ids = self.ids

    def refresh(self, db: apsw.Connection, space: int) -> None:
        """Read what was added since the last search, and drop what is gone."""
        newest = value(db, "SELECT max(sequence) FROM vectors") or 0
        live = value(db, "SELECT count(*) FROM vectors WHERE space_id = ?", (space,))
        if newest == self.last and live == len(self.rows):
            return
        if newest < self.last:
            self.__init__(self.dimension)  # type: ignore[misc]
        new = rows(
            db, "SELECT chunk_id, embedding FROM vectors WHERE space_id = ? AND sequence > ?", (space, self.last)
        )
        self.last = newest
        if new:
            self._add([row[0] for row in new], b"".join(row[1] for row in new))
        if live != len(self.rows):
            self._keep(at_once(db, "SELECT json_group_array(chunk_id) FROM vectors WHERE space_id = ?", (space,)))

    def _add(self, ids: Sequence[int], embeddings: bytes) -> None:
        import numpy

        before = len(self.rows)
        self._resize(before + len(ids))
        fresh = self.rows[before:]
        fresh[:] = numpy.frombuffer(embeddings, numpy.int8).reshape(len(ids), self.dimension)
        self.lengths[before:] = numpy.sqrt(numpy.einsum("ij,ij->i", fresh, fresh).astype(numpy.float64))
        self.ids[before:] = ids
        self._sort()

    def _keep(self, ids: Sequence[int]) -> None:
        """Drop all rows but the latest of each of these chunks; the last rows fill the gaps."""
        import numpy

        is_kept = numpy.zeros(len(self.rows), numpy.bool_)
        is_kept[self._rows_of(ids)] = True
        count = int(is_kept.sum())
        gaps, moved = numpy.flatnonzero(~is_kept[:count]), count + numpy.flatnonzero(is_kept[count:])
        for held in (self.rows, self.lengths, self.ids):
            held[gaps] = held[moved]
        self._resize(count)
        self._sort()

    def _resize(self, count: int) -> None:
        """Have `count` rows, the first of them as they are; a copy has room for an eighth more."""
        import numpy

        if not count <= len(self._with_room[0]) <= 2 * count:
            kept = min(count, len(self.rows))
            copies = []
            for held in self._with_room:
                copies.append(numpy.empty((count + count // 8, *held.shape[1:]), held.dtype))
                copies[-1][:kept] = held[:kept]
            self._with_room = (copies[0], copies[1], copies[2])
        self.rows, self.lengths, self.ids = (held[:count] for held in self._with_room)

    def _sort(self) -> None:
        import numpy

        self._order = numpy.argsort(self.ids, kind="stable")  # the latest of one chunk is the last
        self._sorted_ids = self.ids[self._order]

    def nearest(self, db: apsw.Connection, vector: Vector, also: Sequence[int], only: Condition, limit: int) -> Nearest:
        import numpy

        if not len(self.rows):
            return Nearest({}, None)
        asked = _quantised_rows([vector], self.dimension)[0].astype(numpy.float32)
        products = (self.rows @ asked).astype(numpy.float64)  # of whole numbers below 2**24: exact in any order
        distances = 1 - products / (self.lengths * numpy.sqrt(numpy.float64(asked @ asked)))
        cosines = 1 - distances.astype(numpy.float32).astype(numpy.float64)  # sqlite-vec gives a distance as float32
        steps = (cosines * STEPS).astype(numpy.int64)
        spread = _spread(len(cosines), int(steps.sum()), int((steps * steps).sum()), float(cosines.max()))
        wanted = self._rows_of(also)
        if limit:
            allowed = numpy.arange(len(cosines))
            if only.sql:
                named = [row[0] for row in rows(db, only.sql, only.values)]
                allowed = numpy.flatnonzero(numpy.isin(self.ids, named, invert=only.is_excluding))
            if len(allowed) > limit:
                least = numpy.partition(cosines[allowed], -limit)[-limit]
                allowed = allowed[cosines[allowed] >= least]
                allowed = allowed[numpy.lexsort((self.ids[allowed], -cosines[allowed]))[:limit]]
            wanted = numpy.concatenate([allowed, wanted])
        return Nearest(dict(zip(self.ids[wanted].tolist(), cosines[wanted].tolist(), strict=True)), spread)

    def _rows_of(self, chunk_ids: Sequence[int]) -> numpy.ndarray[Any, Any]:
        """The rows of these chunks, of those that have one."""
        import numpy

        asked = numpy.array(chunk_ids, numpy.int64)
        at = numpy.searchsorted(self._sorted_ids, asked, side="right") - 1
        found: numpy.ndarray[Any, Any] = self._order[at[(at >= 0) & (self._sorted_ids[at] == asked)]]
        return found
