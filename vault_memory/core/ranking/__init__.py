"""What follows the index in a search: candidates are scored line by line against the question, words and vectors are
weighed against each other, and the best lines grow into passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.ranking import floor, fusion, passage, probes, rank
    from vault_memory.core.ranking.candidate import Candidate, Candidates, Filter, Knowledge, Spread
    from vault_memory.core.ranking.passage import RECORD

__all__ = [
    "Candidate",
    "Candidates",
    "Filter",
    "Knowledge",
    "RECORD",
    "Spread",
    "floor",
    "fusion",
    "passage",
    "probes",
    "rank",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Candidate": "candidate",
        "Candidates": "candidate",
        "Filter": "candidate",
        "Knowledge": "candidate",
        "RECORD": "passage",
        "Spread": "candidate",
    },
)
