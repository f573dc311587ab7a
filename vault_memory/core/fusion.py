"""Words and vectors weighed against each other, for each query anew.

A fixed weight is wrong on most queries: vectors deserve nothing in a language their model does not know, a third on facts in
chats, and nearly all where a question shares no word with what it looks for. Two signs tell how far to trust them, and
neither depends on a model's scale of cosines: whether the chunks that words found best lie high among all vectors, in this
query and in earlier ones of the same process, and whether the best vector stands out further than chance would have it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vault_memory.core.candidate import Candidate, Spread
from vault_memory.core.rank import Scored

MOST = 0.95
"""The weight of vectors that can be trusted entirely; words still choose the line inside a chunk."""
AGREED = 0.3
"""What agreement alone earns: a model that only repeats the words agrees as well as one that understands them."""
BEYOND = 0.8
"""How far a best cosine must stand out to be believed against all words."""
VOTERS = 5
"""Of how many chunks, the best by words, the place among the vectors is looked at."""
THIS, DOUBT, MEMORY = 5, 5, 50
"""The agreement of this query counts as so many earlier ones, beside so many imagined ones without any; and how many
earlier ones are remembered."""


class Trust:
    """What one process has learnt of how far an index's vectors can be trusted, for each space and script of the query."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, bool], tuple[int, float]] = {}

    def weight(self, space: str, han: bool, found: Sequence[Candidate], spread: Spread | None) -> float:
        """The weight that the vectors of `space` deserve for a query (`han`: a Chinese one), 0 to `MOST`; it is learnt from."""
        if spread is None or spread.count < 2 or spread.deviation == 0:
            return 0.0
        now = agreement(found, spread)
        count, mean = self._seen.get((space, han), (0, 0.0))
        seen = min(count + 1, MEMORY)
        self._seen[space, han] = (seen, mean + (now - mean) / seen)  # of two threads at once one may lose its vote
        agreed = _between(0, (count * mean + THIS * now) / (count + THIS + DOUBT), 1)
        out = standing_out(spread)
        earned = min(AGREED, 2 * AGREED * agreed) + _between(0, out, 1) * min(1.0, 4 * agreed)
        return _between(0, earned + 2 * max(0.0, out - BEYOND), MOST)


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


def agreement(found: Sequence[Candidate], spread: Spread) -> float:
    """How high the chunks that words found best lie among the vectors: half their mean height in standard deviations."""
    voters = sorted((c for c in found if c.keyword > 0 and c.cosine is not None), key=lambda c: (-c.keyword, c.source))
    heights = [((c.cosine or 0.0) - spread.mean) / spread.deviation for c in voters[:VOTERS]]
    return sum(heights) / len(heights) / 2 if heights else 0.0


def _between(low: float, value: float, high: float) -> float:
    return max(low, min(high, value))
