from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.notes.document import Segment
from vault_memory.core.ranking import fusion
from vault_memory.core.ranking.candidate import Candidate, Spread
from vault_memory.core.ranking.rank import ScoredSegment


def candidate(n: int, keyword: float, cosine: float | None) -> Candidate:
    return Candidate(n, f"{n}.md", "note", "", 0, "x", (Segment(1, 0, 1),), ("x",), "", keyword, cosine)


def spread_of(cosines: Sequence[float]) -> Spread:
    mean = sum(cosines) / len(cosines)
    return Spread(len(cosines), mean, (sum((c - mean) ** 2 for c in cosines) / len(cosines)) ** 0.5, max(cosines))


def asked(gold: float, rng: random.Random, raised: int = 1) -> tuple[list[Candidate], Spread]:
    """A query among 400 chunks with normal cosines; those of the words' best, or of so many, lie `gold` deviations
    higher."""
    cosines = [rng.gauss(0, 1) for _ in range(400)]
    for n in range(raised):
        cosines[n] += gold
    return [candidate(n, 10.0 - n, c) for n, c in enumerate(cosines[:30])], spread_of(cosines)


def weight_after(gold: float, queries: int = 30, raised: int = 1) -> float:
    rng, trust = random.Random(3), fusion.Trust()
    return [trust.weight("s", False, *asked(gold, rng, raised)) for _ in range(queries)][-1]


def test_random_vectors_earn_nothing() -> None:
    assert weight_after(0.0) < 0.05


def test_the_better_vectors_agree_the_more_they_weigh() -> None:
    weights = [weight_after(gold) for gold in (0.0, 2.0, 4.0, 9.0)]
    assert weights == sorted(weights) and weights[-1] == fusion.MAX_WEIGHT and weights[1] < weights[2]


def test_vectors_that_repeat_the_words_earn_less() -> None:
    assert weight_after(5.0, raised=30) < 0.1 < weight_after(5.0)


def test_where_words_are_sure_vectors_must_agree_oftener() -> None:
    found, spread = asked(6.0, random.Random(5))
    others, elsewhere = asked(6.0, random.Random(6))
    others = [candidate(n, c.keyword, -1.0) for n, c in enumerate(others)]  # what words found lies far from the nearest
    weights = []
    for share in (0.9, 0.1):  # what the chunks after the first have of its score
        trust = fusion.Trust()
        for n in range(40):
            chunks, over = (found, spread) if n % 2 else (others, elsewhere)
            scored = [candidate(c.chunk_id, 10.0 if not c.chunk_id else 10.0 * share, c.cosine) for c in chunks]
            weights.append(trust.weight("s", False, scored, over))
    assert weights[39] > weights[79]


def test_what_no_word_finds_is_found_by_its_vector() -> None:
    chunks, spread = asked(2.0, random.Random(7))
    assert fusion.Trust().weight("s", False, [candidate(3, 0.0, 0.9)], spread) == fusion.MAX_WEIGHT


def test_what_one_script_earned_the_other_has_not() -> None:
    rng, trust = random.Random(3), fusion.Trust()
    for _ in range(40):
        good = trust.weight("s", False, *asked(6.0, rng))
    assert trust.weight("s", True, *asked(0.0, rng)) < 0.1 < good


@given(st.floats(0.001, 1000), st.floats(-5, 5))
def test_scale_and_shift_of_cosines_change_no_weight(scale: float, shift: float) -> None:
    rng = random.Random(4)
    found, spread = asked(2.0, rng)
    moved = [candidate(c.chunk_id, c.keyword, (c.cosine or 0) * scale + shift) for c in found]
    other = Spread(spread.count, spread.mean * scale + shift, spread.deviation * scale, spread.best * scale + shift)
    assert fusion.Trust().weight("s", False, moved, other) == pytest.approx(
        fusion.Trust().weight("s", False, found, spread), abs=1e-6
    )


def test_blending_keeps_a_chunk_without_a_vector_at_its_words() -> None:
    segments = [ScoredSegment(candidate(0, 1, None), 0, 2.0, {}), ScoredSegment(candidate(1, 1, 0.0), 0, 2.0, {})]
    fusion.blend(segments, Spread(10, 0.0, 0.1, 0.5), 0.5)
    assert [segment.score for segment in segments] == [1.0, 0.5]


@given(st.floats(0, 1), st.lists(st.tuples(st.floats(0, 50), st.floats(-1, 1)), min_size=1, max_size=9))
def test_scores_stay_between_0_and_1(weight: float, rows: list[tuple[float, float]]) -> None:
    segments = [ScoredSegment(candidate(n, 1, cosine), 0, keyword, {}) for n, (keyword, cosine) in enumerate(rows)]
    fusion.blend(segments, spread_of([cosine for _, cosine in rows] + [0.1, -0.1]), weight)
    assert all(0 <= segment.score <= 1 for segment in segments)
