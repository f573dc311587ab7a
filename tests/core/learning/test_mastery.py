"""C5: the rule by which a quiz changes a mastery."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.learning import DIFFICULTIES, LEVELS, updated

rates = st.floats(0, 1)
difficulties = st.sampled_from([*DIFFICULTIES, None])


def after(quizzes: list[tuple[float, str | None]], level: str | None = None, score: float | None = None) -> list[str]:
    found = []
    for rate, difficulty in quizzes:
        level, score = updated(level, score, rate, difficulty)
        found.append(level)
    return found


@pytest.mark.parametrize(
    ("quizzes", "levels"),
    [
        ([(0.4, "easy")], ["medium"]),
        ([(1.0, "hard")] * 3, ["medium", "strong", "strong"]),
        ([(1.0, "easy")] * 4, ["medium", "medium", "strong", "strong"]),
        ([(0.0, "hard")] * 2, ["weak", "weak"]),
        ([(0.0, "hard"), (1.0, "hard"), (1.0, "hard")], ["weak", "medium", "strong"]),
        ([(1.0, "hard"), (1.0, "hard"), (0.0, "hard"), (1.0, "hard")], ["medium", "strong", "medium", "medium"]),
    ],
)
def test_mastery_follows_the_quizzes(quizzes: list[tuple[float, str | None]], levels: list[str]) -> None:
    """C5: a moving average, weighted by difficulty."""
    assert after(quizzes) == levels


@given(st.lists(st.tuples(rates, difficulties), max_size=30), rates, difficulties)
def test_one_quiz_moves_by_one_step_at_most(
    quizzes: list[tuple[float, str | None]], rate: float, difficulty: str | None
) -> None:
    """C5: one bad quiz makes nobody weak who was strong, one good one nobody strong who was weak."""
    level: str | None = None
    score: float | None = None
    for each in [*quizzes, (rate, difficulty)]:
        before = level or "medium"
        level, score = updated(level, score, *each)
        assert abs(LEVELS.index(level) - LEVELS.index(before)) <= 1
        assert 0 <= score <= 1


def test_a_mastery_does_not_flicker_at_its_border() -> None:
    level, score = "medium", 0.74
    found = after([(0.9, "easy"), (0.6, "easy")] * 4, level, score)
    assert set(found[1:]) == {"strong"}


@pytest.mark.parametrize(("level", "rate", "wanted"), [("strong", 0.7, "strong"), ("weak", 0.5, "weak")])
def test_what_a_person_has_set_is_where_a_quiz_goes_on(level: str, rate: float, wanted: str) -> None:
    """C1: the score that does not fit is not the person's."""
    assert updated(level, 0.4 if level == "strong" else 0.9, rate, "medium")[0] == wanted
    assert updated(level, None, rate, "medium")[0] == wanted


@given(st.sampled_from(LEVELS), rates, difficulties)
def test_harder_counts_for_more(level: str, rate: float, difficulty: str | None) -> None:
    starts = {"weak": 0.2, "medium": 0.5, "strong": 0.85}
    moved = [abs(updated(level, None, rate, each)[1] - starts[level]) for each in DIFFICULTIES]
    assert moved == sorted(moved)
    assert updated(level, None, rate, None) == updated(level, None, rate, "medium")
