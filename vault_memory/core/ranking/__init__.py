"""What follows the index in a search: candidates are scored line by line against the question, words and vectors are
weighed against each other, and the best lines grow into passages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.ranking import excerpt, floor, fusion, passage, probes, rank
    from vault_memory.core.ranking.candidate import (
        AS_TYPED,
        BY_ALIAS,
        BY_NAME,
        BY_TITLE,
        NOT_CALLED,
        Candidate,
        Candidates,
        Filter,
        Knowledge,
        Spread,
        together,
    )
    from vault_memory.core.ranking.excerpt import Excerpt
    from vault_memory.core.ranking.passage import RECORD

__all__ = [
    "AS_TYPED",
    "BY_ALIAS",
    "BY_NAME",
    "BY_TITLE",
    "Candidate",
    "Candidates",
    "Excerpt",
    "Filter",
    "Knowledge",
    "NOT_CALLED",
    "RECORD",
    "Spread",
    "excerpt",
    "floor",
    "fusion",
    "passage",
    "probes",
    "rank",
    "together",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "AS_TYPED": "candidate",
        "BY_ALIAS": "candidate",
        "BY_NAME": "candidate",
        "BY_TITLE": "candidate",
        "Candidate": "candidate",
        "Candidates": "candidate",
        "Excerpt": "excerpt",
        "Filter": "candidate",
        "Knowledge": "candidate",
        "NOT_CALLED": "candidate",
        "RECORD": "passage",
        "Spread": "candidate",
        "together": "candidate",
    },
)
