"""How much a memory that bears on a question counts: what the search says of it, and what the memory is by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from vault_memory.core.memories.note import Memory

RELEVANCE, IMPORTANCE, RECENCY, REINFORCEMENT = 0.7, 0.15, 0.1, 0.05
"""The most that each part adds; together 1. What does not answer the question stays behind, however important it is."""
HALF_LIFE = timedelta(days=30)
"""After this time half of the recency is left."""
FULL_COUNT = 31
"""A memory that was recalled so often is reinforced as much as may be; each further time says less than the one
before."""


@dataclass(frozen=True)
class Score:
    """The parts of a score, each of them weighed already; `total` is their sum, 0 to 1."""

    relevance: float
    importance: float
    recency: float
    reinforcement: float

    @property
    def total(self) -> float:
        return self.relevance + self.importance + self.recency + self.reinforcement

    def explained(self) -> dict[str, float]:
        """The parts as people and JSON see them."""
        names = ("relevance", "importance", "recency", "reinforcement")
        return {name: round(getattr(self, name), 4) for name in names}


def score(memory: Memory, relevance: float, at: datetime) -> Score:
    """The score of a memory at a time. `relevance` is that of the search, 0 to 1."""
    age = max((at - memory.created_at) / HALF_LIFE, 0.0) if memory.created_at else math.inf
    used = min(math.log2(1 + memory.access_count) / math.log2(1 + FULL_COUNT), 1.0)
    return Score(RELEVANCE * relevance, IMPORTANCE * memory.importance, RECENCY * 0.5**age, REINFORCEMENT * used)
