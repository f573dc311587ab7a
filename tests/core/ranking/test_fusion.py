from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.notes.document import Segment
from vault_memory.core.ranking import Knowledge, fusion
from vault_memory.core.ranking.candidate import Candidate, Spread
from vault_memory.core.ranking.rank import ScoredSegment

KNOWN = st.one_of(st.none(), st.floats(-3, 60))
SPREADS = st.builds(
    lambda count, mean, deviation, above: Spread(count, mean, deviation, mean + above),
    st.integers(0, 100_000),
    st.floats(-0.5, 0.9),
    st.one_of(st.just(0.0), st.floats(1e-6, 0.3)),  # an index counts in millionths
    st.floats(0, 1),
)
WORDS = st.floats(0, 100)


def candidate(n: int, keyword: float, cosine: float | None) -> Candidate:
    return Candidate(n, f"{n}.md", "note", "", 0, "x", (Segment(1, 0, 1),), ("x",), "", keyword, cosine)


def spread_of(cosines: Sequence[float]) -> Spread:
    mean = sum(cosines) / len(cosines)
    return Spread(len(cosines), mean, (sum((c - mean) ** 2 for c in cosines) / len(cosines)) ** 0.5, max(cosines))


@given(KNOWN, SPREADS, WORDS)
def test_a_weight_is_a_share(known: float | None, spread: Spread, words: float) -> None:
    assert 0 <= fusion.weight(known, spread, words) <= fusion.MAX_WEIGHT


@given(st.floats(-3, 60), st.floats(0, 9), SPREADS, WORDS, st.floats(0, 50), st.floats(0, 1))
def test_what_speaks_for_vectors_never_lowers_their_weight(
    known: float, more: float, spread: Spread, words: float, more_words: float, higher: float
) -> None:
    weight = fusion.weight(known, spread, words)
    assert fusion.weight(known + more, spread, words) >= weight
    assert fusion.weight(known, spread, words + more_words) <= weight
    assert fusion.weight(known, replace(spread, best=spread.best + higher), words) >= weight - 1e-9


@given(st.floats(-3, fusion.NO_KNOWLEDGE), SPREADS, WORDS)
def test_a_model_that_knows_nothing_weighs_nothing(known: float, spread: Spread, words: float) -> None:
    assert fusion.weight(known, spread, words) == 0


def test_a_model_that_knows_much_weighs_most_where_words_know_little() -> None:
    spread = Spread(100, 0.1, 0.1, 0.5)
    little, much = fusion.weight(5.5, spread, 3), fusion.weight(5.5, spread, 30)
    assert much < 0.5 < little
    assert fusion.weight(None, spread, 3) == pytest.approx(fusion.weight(fusion.UNKNOWN_KNOWLEDGE, spread, 3))


@given(st.floats(0.001, 1000), st.floats(-5, 5))
def test_scale_and_shift_of_cosines_change_no_weight(scale: float, shift: float) -> None:
    spread = Spread(400, 0.2, 0.1, 0.6)
    moved = Spread(400, 0.2 * scale + shift, 0.1 * scale, 0.6 * scale + shift)
    assert fusion.weight(3, moved, 9) == pytest.approx(fusion.weight(3, spread, 9), abs=1e-6)


def test_blending_keeps_a_chunk_without_a_vector_at_its_words() -> None:
    segments = [ScoredSegment(candidate(0, 1, None), 0, 2.0, {}), ScoredSegment(candidate(1, 1, 0.0), 0, 2.0, {})]
    fusion.blend(segments, Spread(10, 0.0, 0.1, 0.5), fusion.Weights(0.5, 0.5), 2.0)
    assert [segment.score for segment in segments] == [1.0, 0.5]


def test_a_chunk_in_a_script_that_the_model_does_not_know_is_judged_by_its_words() -> None:
    """An English model and a vault in two languages: the Chinese answer with the words stays before what lies near."""
    spread = Spread(60, 0.1, 0.1, 0.6)
    chinese, english = (
        replace(candidate(n, 1, cosine), text=text) for n, cosine, text in ((0, 0.1, "部署"), (1, 0.6, "x"))
    )
    segments = [ScoredSegment(chinese, 0, 9.0, {}), ScoredSegment(english, 0, 1.0, {})]
    fusion.blend(segments, spread, fusion.weights(Knowledge(5.6, 1.0), False, spread, 9.0), 9.0)
    assert segments[0].score == 1.0 > segments[1].score
    known = fusion.weights(Knowledge(5.6, 5.6), False, spread, 9.0)
    assert known.latin == known.han == fusion.weights(Knowledge(5.6, None), False, spread, 9.0).han


@given(st.floats(0, 1), st.lists(st.tuples(st.floats(0, 50), st.floats(-1, 1)), min_size=1, max_size=9))
def test_scores_stay_between_0_and_1(weight: float, rows: list[tuple[float, float]]) -> None:
    segments = [ScoredSegment(candidate(n, 1, cosine), 0, keyword, {}) for n, (keyword, cosine) in enumerate(rows)]
    spread = spread_of([cosine for _, cosine in rows] + [0.1, -0.1])
    fusion.blend(segments, spread, fusion.Weights(weight, weight), max(keyword for keyword, _ in rows))
    assert all(0 <= segment.score <= 1 for segment in segments)
