"""Words and vectors weighed against each other, for each query anew.

A fixed weight is wrong on most queries: vectors deserve nothing in a language their model does not know, little where they only
repeat the words, and most where a model understands. Nobody tells how good a model is, but words and vectors are two
witnesses: where both point to the same chunk far more often than chance, and words would be right no oftener, the vectors
are good. None of the signs depends on a model's scale of cosines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vault_memory.core.ranking.candidate import Candidate, Spread
from vault_memory.core.ranking.rank import Scored

MOST = 0.7
"""The weight of vectors that can be trusted entirely; words still choose the line inside a chunk."""
LEAST, FULL = 0.3, 0.8
"""Agreement, as a share of how sure words are, from which vectors earn a weight, and at which they have earned all of it."""
REPEATS = 1.5
"""What agreement loses when the vectors raise all that words found, and not one chunk of it: they repeat the words."""
BEYOND = 0.65
"""How far a best cosine must stand out to be believed against all words."""
VOTERS = 5
"""In how many chunks, the best by words, the nearest vector is looked for."""
THIS, DOUBT, MEMORY = 5, 3, 50
"""This query counts as so many earlier ones, beside so many imagined ones without agreement; and how many earlier ones are
remembered."""


class Trust:
    """What one process has learnt of how far an index's vectors can be trusted, for each space and script of the query."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, bool], tuple[int, float, float]] = {}

    def weight(self, space: str, han: bool, found: Sequence[Candidate], spread: Spread | None) -> float:
        """The weight that the vectors of `space` deserve for a query (`han`: a Chinese one), 0 to `MOST`; it is learnt from."""
        if spread is None or spread.count < 2 or spread.deviation == 0:
            return 0.0
        voters = sorted(
            (c for c in found if c.keyword > 0 and c.cosine is not None), key=lambda c: (-c.keyword, c.source)
        )
        if not voters:
            return MOST  # there is no other witness
        agreed, sure = agreement(voters[:VOTERS], spread), sureness(voters)
        count, agreed_before, sure_before = self._seen.get((space, han), (0, 0.0, 0.0))
        seen = min(count + 1, MEMORY)  # of two threads at once one may lose its vote
        self._seen[space, han] = (
            seen, agreed_before + (agreed - agreed_before) / seen, sure_before + (sure - sure_before) / seen
        )  # fmt: skip
        agreed = (count * agreed_before + THIS * agreed) / (count + THIS + DOUBT)
        sure = (count * sure_before + THIS * sure) / (count + THIS)
        earned = MOST * _between(0, (agreed / max(sure, 0.1) - LEAST) / (FULL - LEAST), 1)
        return min(MOST, earned + 2 * max(0.0, standing_out(spread) - BEYOND))


def blend(scored: Sequence[Scored], spread: Spread | None, weight: float) -> None:
    """Set each unit's score, 0 to 1: `weight` of its chunk's cosine, the rest of its words. A chunk whose vector is still
    to come is judged by its words alone."""
    best = max((unit.keyword for unit in scored), default=0.0) or 1.0
    near: dict[int, float] = {}
    if spread is not None and spread.deviation:
        chunks = {unit.candidate.chunk_id: unit.candidate.cosine for unit in scored}
        near = {chunk_id: nearness(cosine, spread) for chunk_id, cosine in chunks.items() if cosine is not None}
    for unit in scored:
        words = unit.keyword / best
        cosine = near.get(unit.candidate.chunk_id)
        unit.score = words if cosine is None else (1 - weight) * words + weight * cosine


def nearness(cosine: float, spread: Spread) -> float:
    """A cosine between 0 (no nearer than the average of the index) and 1 (the nearest)."""
    reach = spread.best - spread.mean
    return _between(0, (cosine - spread.mean) / reach, 1) if reach > 0 else 0.0


def standing_out(spread: Spread) -> float:
    """By what share the best cosine lies further above the mean than the best of so many random ones (about
    sqrt(2 ln n) standard deviations, the expected maximum of n normal draws). Below 0 where nothing stands out."""
    chance = math.sqrt(2 * math.log(spread.count))
    return (spread.best - spread.mean) / spread.deviation / chance - 1


def agreement(voters: Sequence[Candidate], spread: Spread) -> float:
    """Whether the nearest vector is among the chunks that words found best: 1, less as far as the others lie near as well;
    below 0 where it is not, so that chance comes to 0."""
    heights = sorted((((c.cosine or 0.0) - spread.mean) / spread.deviation for c in voters), reverse=True)
    best = (spread.best - spread.mean) / spread.deviation
    chance = min(len(voters) / spread.count, 0.99)
    if heights[0] < best - 1e-6 or best <= 0:
        return -chance / (1 - chance)
    rest = sum(heights[1:]) / (len(heights) - 1) / best if len(heights) > 1 else 0.0
    return 1 - REPEATS * _between(0, rest, 1)


def sureness(voters: Sequence[Candidate]) -> float:
    """How far the best chunk by words stands above those after the first `VOTERS`, 0 to 1: the more, the likelier it is right.

    Measured: .5 where words have the answer among their best five in .75 of the questions, .9 where in all.
    """
    after = [c.keyword for c in voters[VOTERS : 2 * VOTERS]]
    return 1 - sum(after) / len(after) / voters[0].keyword if after else 1.0


def _between(low: float, value: float, high: float) -> float:
    return max(low, min(high, value))
