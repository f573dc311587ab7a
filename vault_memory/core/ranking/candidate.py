"""What an index hands to ranking: a chunk that may hold the answer, with its units' words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from vault_memory.core.notes.document import Unit


@dataclass(frozen=True)
class Filter:
    """Which notes may answer; `tags` asks for all of them, `since` and `until` (inclusive) for notes of a day between."""

    kinds: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """One chunk. `stems` holds the words of each unit (see `tokens.stems`), `head` those of title, headings and day;
    `sections` the words of further headings, each with the number of the first unit below it.

    `keyword` is its BM25 (higher is better, 0 when no word matched), `cosine` that of its vector and the query's, None
    when it has none.
    """

    chunk_id: int
    source: str
    kind: str
    day: str
    position: int
    text: str
    units: Sequence[Unit]
    stems: Sequence[str]
    head: str
    keyword: float
    cosine: float | None
    sections: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Spread:
    """How the cosines of a whole index lie for one query: their number, mean and standard deviation, and the best."""

    count: int
    mean: float
    deviation: float
    best: float


@dataclass(frozen=True)
class Candidates:
    """What an index found: the chunks, in how many of all `total` chunks each term stands, and how the cosines lie (None
    when no vectors were asked or held)."""

    chunks: list[Candidate]
    frequency: dict[str, int]
    total: int
    spread: Spread | None = None
