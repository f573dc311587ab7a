"""What follows the index in a search: candidates are scored line by line against the question, words and vectors are
weighed against each other, and the best lines grow into passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.ranking import floor, fusion, passage, rank
    from vault_memory.core.ranking.candidate import Candidate, Candidates, Filter, Spread
    from vault_memory.core.ranking.fusion import Trust
    from vault_memory.core.ranking.passage import RECORD

__all__ = [
    "Candidate",
    "Candidates",
    "Filter",
    "RECORD",
    "Spread",
    "Trust",
    "floor",
    "fusion",
    "passage",
    "rank",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Candidate": "candidate",
        "Candidates": "candidate",
        "Filter": "candidate",
        "RECORD": "passage",
        "Spread": "candidate",
        "Trust": "fusion",
    },
)
