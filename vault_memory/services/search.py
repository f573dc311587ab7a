"""Search a user's memory by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

from vault_memory.core import layout, passage, rank, tokens
from vault_memory.core.candidate import Filter
from vault_memory.errors import UsageError

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault

Mode = Literal["hybrid", "vector", "keyword"]
MAX_TOP_K = 100


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
    vault: Vault,
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
    terms = tokens.query(query)
    if not terms:
        return SearchResult([], [])
    hits = []
    for name in {"user": [user_id], "shared": [layout.SHARED], "all": [user_id, layout.SHARED]}[scope]:
        found = vault.index(name).search(terms, None, Filter(tuple(kinds), since, until, tuple(tags)), 24)
        scored = rank.units(query, terms, found)
        for unit in scored:
            unit.score = unit.keyword
        for best in passage.build(scored, top_k):
            first, last = scored[best.first], scored[best.last]
            content = _content(scored[best.first : best.last + 1])
            explain = {"keyword": best.seed.keyword, "terms": list(best.seed.matched), "collapsed": best.collapsed}
            hits.append(
                Hit(
                    content,
                    best.seed.candidate.source,
                    (first.line, last.line),
                    best.seed.score,
                    best.seed.candidate.kind,
                    name,
                    explain,
                )
            )
    hits.sort(key=lambda hit: -hit.score)
    return SearchResult(hits[:top_k], [])


def _content(units: list[rank.Scored]) -> str:
    pieces = []
    at = 0
    while at < len(units):
        end = at
        while end + 1 < len(units) and units[end + 1].candidate is units[at].candidate:
            end += 1
        candidate = units[at].candidate
        pieces.append(candidate.text[candidate.units[units[at].at].start : candidate.units[units[end].at].end])
        at = end + 1
    return "\n".join(pieces)
