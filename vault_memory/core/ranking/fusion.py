"""How much vectors count beside words, decided for each query.

A fixed weight is wrong for most queries: vectors deserve nothing in a language their model does not know, little where
they only repeat the words, and most where the model understands. The quality of a model is not known, but words and
vectors are two witnesses: where both point to the same chunk far more often than chance, and words alone are not right
more often, the vectors are good. None of these signs depends on a model's scale of cosines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from vault_memory.core.ranking.candidate import Candidate, Spread
from vault_memory.core.ranking.rank import ScoredSegment

MAX_WEIGHT = 0.7
"""The weight of vectors that can be trusted entirely; words still choose the line inside a chunk."""
MIN_AGREEMENT, FULL_AGREEMENT = 0.3, 0.8
"""Agreement, as a share of how sure words are: above the first vectors earn a weight, at the second all of it."""
REPEAT_LOSS = 1.5
"""What agreement loses when vectors raise everything that words found instead of one chunk: they repeat the words."""
MIN_STANDING_OUT = 0.65
"""A best cosine that stands out more than this counts even against words."""
VOTERS = 5
"""The nearest vector is looked for in this many best chunks by words."""
CURRENT_VOTES, DOUBT_VOTES, MAX_REMEMBERED = 5, 3, 50
"""The current query counts as 5 earlier ones, beside 3 imagined ones without agreement; 50 are remembered."""


class Trust:
    """How far vectors can be trusted, for each space and script; a process learns it from its queries."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, bool], tuple[int, float, float]] = {}

    def weight(self, space: str, is_han: bool, chunks: Sequence[Candidate], spread: Spread | None) -> float:
        """The weight, 0 to `MAX_WEIGHT`, that the vectors of `space` deserve for a query; the query is remembered."""
        if spread is None or spread.count < 2 or spread.deviation == 0:
            return 0.0
        voters = sorted(
            (c for c in chunks if c.keyword > 0 and c.cosine is not None), key=lambda c: (-c.keyword, c.source)
        )
        if not voters:
            return MAX_WEIGHT  # words found nothing
        agreed, sure = agreement(voters[:VOTERS], spread), sureness(voters)
        count, agreed_before, sure_before = self._seen.get((space, is_han), (0, 0.0, 0.0))
        seen = min(count + 1, MAX_REMEMBERED)  # of two threads at once one may lose its vote
        agreed_after = agreed_before + (agreed - agreed_before) / seen
        self._seen[space, is_han] = (seen, agreed_after, sure_before + (sure - sure_before) / seen)
        agreed = (count * agreed_before + CURRENT_VOTES * agreed) / (count + CURRENT_VOTES + DOUBT_VOTES)
        sure = (count * sure_before + CURRENT_VOTES * sure) / (count + CURRENT_VOTES)
        share = (agreed / max(sure, 0.1) - MIN_AGREEMENT) / (FULL_AGREEMENT - MIN_AGREEMENT)
        earned = MAX_WEIGHT * _between(0, share, 1)
        return min(MAX_WEIGHT, earned + 2 * max(0.0, standing_out(spread) - MIN_STANDING_OUT))


def blend(scored: Sequence[ScoredSegment], spread: Spread | None, weight: float) -> None:
    """Set each segment's score, 0 to 1: `weight` times the nearness of its chunk, the rest from its words. A chunk that
    has no vector yet is judged by its words alone."""
    best = max((segment.keyword for segment in scored), default=0.0) or 1.0
    near: dict[int, float] = {}
    if spread is not None and spread.deviation:
        chunks = {segment.candidate.chunk_id: segment.candidate.cosine for segment in scored}
        near = {chunk_id: nearness(cosine, spread) for chunk_id, cosine in chunks.items() if cosine is not None}
    for segment in scored:
        words = segment.keyword / best
        cosine = near.get(segment.candidate.chunk_id)
        segment.score = words if cosine is None else (1 - weight) * words + weight * cosine


def nearness(cosine: float, spread: Spread) -> float:
    """A cosine between 0 (no nearer than the average of the index) and 1 (the nearest)."""
    reach = spread.best - spread.mean
    return _between(0, (cosine - spread.mean) / reach, 1) if reach > 0 else 0.0


def standing_out(spread: Spread) -> float:
    """By what share the best cosine lies further above the mean than the best of as many random ones would (about
    sqrt(2 ln n) standard deviations, the expected maximum of n normal draws). Below 0 where nothing stands out."""
    chance = math.sqrt(2 * math.log(spread.count))
    return (spread.best - spread.mean) / spread.deviation / chance - 1


def agreement(voters: Sequence[Candidate], spread: Spread) -> float:
    """How far vectors agree with words: 1 if the nearest is among words' best chunks, less if the others are near too;
    below 0 where it is not, which brings the mean of random vectors to 0."""
    heights = sorted((((c.cosine or 0.0) - spread.mean) / spread.deviation for c in voters), reverse=True)
    best = (spread.best - spread.mean) / spread.deviation
    chance = min(len(voters) / spread.count, 0.99)
    if heights[0] < best - 1e-6 or best <= 0:
        return -chance / (1 - chance)
    rest = sum(heights[1:]) / (len(heights) - 1) / best if len(heights) > 1 else 0.0
    return 1 - REPEAT_LOSS * _between(0, rest, 1)


def sureness(voters: Sequence[Candidate]) -> float:
    """How far the best chunk by words stands above those after the first `VOTERS`, 0 to 1: how likely it is right.

    Measured: .5 where words have the answer among their best five for .75 of the questions, .9 where for all.
    """
    after = [c.keyword for c in voters[VOTERS : 2 * VOTERS]]
    return 1 - sum(after) / len(after) / voters[0].keyword if after else 1.0


def _between(low: float, value: float, high: float) -> float:
    return max(low, min(high, value))
