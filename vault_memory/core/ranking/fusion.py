"""How much vectors count beside words, decided for each query from the index and the question alone.

The same index and question give the same weight in every process. What a model knows of an index is measured once,
with the index's own sentences (`probes`); most of the weight follows from that, because the best weight differs far
more between indexes than between the questions of one. Each question then moves it a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from vault_memory.core.ranking.candidate import NOT_CALLED, Knowledge, Spread
from vault_memory.core.ranking.rank import ScoredSegment
from vault_memory.core.text import tokens

MAX_WEIGHT = 0.9
"""Words still choose the line inside a chunk."""
NO_KNOWLEDGE, FULL_KNOWLEDGE = 1.0, 6.0
"""The knowledge (see `probes.knowledge`) up to which vectors count nothing, and from which they count all.

Measured with all-MiniLM-L6-v2: 1.3 to 2.3 on Chinese, which it hardly knows, 2.8 to 3.1 on the chats of one person,
4.6 on encyclopedic text, 5.6 on chats about many things. Random vectors have 0, give or take 0.2."""
UNKNOWN_KNOWLEDGE = 3.5
"""Taken where an index holds too little text in the script of a question to measure it."""
STANDING_OUT_FACTOR = 0.5
"""How much more vectors count when their best cosine stands out by as much again as chance would let it."""
USUAL_KEYWORD, KEYWORD_FACTOR = 7.0, 0.03
"""How much less vectors count for each point that the best line's score by words is above the usual."""


def weight(knowledge: float | None, spread: Spread | None, keyword: float) -> float:
    """The vectors' share of the score, 0 to `MAX_WEIGHT`.

    `knowledge` is what the model knows of the index in the script of the question (None: not measured), `spread` that
    of the index's cosines, `keyword` the best line's score by words. More of the first, a best cosine that stands out
    further, or less found by words never lower it.
    """
    if spread is None or spread.count < 2 or spread.deviation == 0:
        return 0.0
    known = UNKNOWN_KNOWLEDGE if knowledge is None else knowledge
    share = _between(0, (known - NO_KNOWLEDGE) / (FULL_KNOWLEDGE - NO_KNOWLEDGE), 1)
    asked = 1 + STANDING_OUT_FACTOR * standing_out(spread) + KEYWORD_FACTOR * (USUAL_KEYWORD - keyword)
    return _between(0, share * asked, MAX_WEIGHT)


class Weights(NamedTuple):
    """The vectors' share of the score for chunks in Latin script, and for those in Chinese."""

    latin: float
    han: float

    def of(self, text: str) -> float:
        """The share for a chunk with this text."""
        if self.latin == self.han:
            return self.latin
        return self.han if tokens.is_han(text) else self.latin


def weights(known: Knowledge, is_han: bool, spread: Spread | None, keyword: float) -> Weights:
    """The weights for a question in Chinese or not: a chunk whose script the model knows less than the question's is
    judged by what the model knows of that, for its nearness to the question says no more than this."""
    asked = weight(known.of(is_han), spread, keyword)
    own = (known.latin, known.han)
    return Weights(*(asked if each is None else min(asked, weight(each, spread, keyword)) for each in own))


def blend(
    scored: Sequence[ScoredSegment], spread: Spread | None, weights: Weights, best: float, called: float = NOT_CALLED
) -> None:
    """Set each segment's score, 0 to 1: its weight times the nearness of its chunk, the rest from its words, of which
    `best` is the most that any segment has. A chunk that has no vector yet is judged by its words alone.

    `called` is the most of all chunks: where the question is the name of a note, all scores make room for it above."""
    best = best or 1.0
    near: dict[int, tuple[float, float]] = {}
    if spread is not None and spread.deviation:
        chunks = {segment.candidate.chunk_id: segment.candidate for segment in scored}
        near = {
            chunk_id: (weights.of(chunk.text), nearness(chunk.cosine, spread))
            for chunk_id, chunk in chunks.items()
            if chunk.cosine is not None
        }
    for segment in scored:
        share, height = near.get(segment.candidate.chunk_id, (0.0, 0.0))
        score = (1 - share) * (segment.keyword / best) + share * height
        segment.score = (segment.candidate.called + score) / (called + 1)


def nearness(cosine: float, spread: Spread) -> float:
    """A cosine between 0 (no nearer than the average of the index) and 1 (the nearest)."""
    reach = spread.best - spread.mean
    return _between(0, (cosine - spread.mean) / reach, 1) if reach > 0 else 0.0


def standing_out(spread: Spread) -> float:
    """By what share the best cosine lies further above the mean than the best of as many random ones would (about
    sqrt(2 ln n) standard deviations, the expected maximum of n normal draws). Below 0 where nothing stands out."""
    chance = math.sqrt(2 * math.log(spread.count))
    return (spread.best - spread.mean) / spread.deviation / chance - 1


def _between(low: float, value: float, high: float) -> float:
    return max(low, min(high, value))
