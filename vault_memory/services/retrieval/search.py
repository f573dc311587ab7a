"""Search a user's memory by words and by meaning."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, Protocol, get_args

from vault_memory.adapters.embedding.base import OFFLINE, Embedder, Vector
from vault_memory.adapters.index.base import Index
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.core.ranking import fusion, passage, rank
from vault_memory.core.ranking.candidate import Candidates, Filter
from vault_memory.core.text import dates, tokens
from vault_memory.errors import UsageError
from vault_memory.services.indexing.spaces import QueryVectors

Mode = Literal["hybrid", "vector", "keyword"]
MAX_TOP_K = 100
QUERY_CHARS = 2_000
"""What is read of a query; its first words say what it is about."""
CANDIDATES = 32
"""Chunks that each of words and vectors may bring."""
VECTOR_MODE = 0.99
"""By vectors alone words still choose the line inside a chunk."""
OFFLINE_WEIGHT = 0.05
"""Measured: hashed words repeat what keywords know, and more weight takes from Chinese what it gives to English."""
_SCOPES: dict[str, Callable[[str], list[str]]] = {
    "user": lambda user_id: [user_id],
    "shared": lambda user_id: [layout.SHARED],
    "all": lambda user_id: [user_id, layout.SHARED],
}


class Searched(Protocol):
    """What a search needs: a vault, or the folders of a benchmark."""

    @property
    def config(self) -> Config: ...

    @property
    def embedder(self) -> Embedder: ...

    @property
    def trust(self) -> fusion.Trust: ...

    def former_embedder(self, space: str) -> Embedder | None: ...

    def index(self, scope: str) -> Index: ...


@dataclass(frozen=True)
class Hit:
    """A passage that answers: `line_range` is (first, last), 1-based and inclusive; `score` is between 0 and 1.

    `explain` holds the parts of the score and why the passage was found.
    """

    content: str
    source: str
    line_range: tuple[int, int]
    score: float
    kind: str
    scope: str
    explain: Mapping[str, Any]


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first; `degraded` says in words what could not be used."""

    hits: list[Hit]
    degraded: list[str]


def search(
    vault: Searched,
    user_id: str,
    query: str,
    top_k: int = 5,
    mode: Mode = "hybrid",
    scope: str = "user",
    kinds: tuple[str, ...] = (),
    since: date | None = None,
    until: date | None = None,
    tags: tuple[str, ...] = (),
) -> SearchResult:
    """The `top_k` (1 to 100) passages that answer `query` best; none for a query without words. Raises `UsageError`."""
    if not 1 <= top_k <= MAX_TOP_K:
        raise UsageError(f"top_k must be 1 to {MAX_TOP_K}, not {top_k}")
    scopes = _SCOPES.get(scope)
    if scopes is None:
        raise UsageError(f"scope must be one of {', '.join(_SCOPES)}, not {scope!r}")
    if mode not in get_args(Mode):
        raise UsageError(f"mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
    asked = tokens.query(query[:QUERY_CHARS])
    if not asked.find:
        return SearchResult([], [])
    only = Filter(tuple(kinds), since, until, tuple(tags))
    vectors = QueryVectors(vault, query[:QUERY_CHARS])
    hits: list[Hit] = []
    for name in scopes(user_id):
        hits.extend(_search_scope(vault, name, query, asked, vectors, only, mode, top_k))
    hits.sort(key=lambda hit: -hit.score)
    return SearchResult(hits[:top_k], vectors.degraded)


def _search_scope(
    vault: Searched,
    scope: str,
    text: str,
    asked: tokens.Query,
    vectors: QueryVectors,
    only: Filter,
    mode: Mode,
    top_k: int,
) -> list[Hit]:
    index = vault.index(scope)
    vector = None if mode == "keyword" else vectors.of(index)
    lexical = mode == "hybrid" and vector is not None and _is_lexical(vault, vector[0])
    found = index.search(asked, vector, only, max(CANDIDATES, top_k), bring=not lexical)
    weight = OFFLINE_WEIGHT if lexical else _weight(vault, mode, vault.trust, text, vector, found)
    scored = rank.units(text, asked, found)
    fusion.blend(scored, found.spread, weight)
    space = vector[0] if vector else None
    return [_hit(scope, best, scored, space, weight) for best in passage.build(scored, top_k)]


def _is_fixed(vault: Searched, space: str) -> bool:
    return vault.config.search_weight == "fixed" and space == vault.embedder.space


def _is_lexical(vault: Searched, space: str) -> bool:
    """Whether vectors know so little more than words that they only tell apart what words found."""
    return space.startswith(OFFLINE) and not _is_fixed(vault, space)


def _weight(
    vault: Searched, mode: Mode, trust: fusion.Trust, query: str, vector: tuple[str, Vector] | None, found: Candidates
) -> float:
    """The vectors' share of the score."""
    if vector is None or found.spread is None:
        return 0.0
    if mode == "vector":
        return VECTOR_MODE
    if _is_fixed(vault, vector[0]):
        return vault.config.search_vector_weight
    return trust.weight(vector[0], tokens.is_han(query), found.chunks, found.spread)


def _hit(scope: str, best: passage.Passage, scored: list[rank.Scored], space: str | None, weight: float) -> Hit:
    units = scored[best.first : best.last + 1]
    seed, candidate = best.seed, best.seed.candidate
    cosine = candidate.cosine
    return Hit(
        content=_content(units),
        source=candidate.source,
        line_range=(units[0].line, units[-1].line),
        score=round(best.score, 6),
        kind=candidate.kind,
        scope=scope,
        explain={
            "keyword": round(seed.keyword, 4),
            "vector": None if cosine is None else round(cosine, 4),
            "weight": round(weight, 3),
            "space": None if cosine is None else space,
            "terms": [term for term in seed.own if not term.startswith(dates.MARK)],
            "collapsed": best.collapsed,
        },
    )


def _content(units: list[rank.Scored]) -> str:
    """The passage's text: each chunk's part as it stands in the file."""
    pieces = []
    for candidate, group in itertools.groupby(units, key=lambda unit: unit.candidate):
        part = list(group)
        pieces.append(candidate.text[candidate.units[part[0].at].start : candidate.units[part[-1].at].end])
    return "\n".join(pieces)
