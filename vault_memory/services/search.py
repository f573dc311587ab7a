"""Search a user's memory by words and by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
