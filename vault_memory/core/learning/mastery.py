"""The rule by which a quiz changes the mastery of its topic.

The score of a topic, 0 to 1, is a moving average of the correct rates, in which a harder quiz counts for more. Each
mastery has a band of scores, and the bands overlap: a mastery stays while the score is in its band, and one quiz moves
it by one step at most. So one bad quiz makes nobody weak who was strong.
"""

from __future__ import annotations

from collections.abc import Mapping

LEVELS = ("weak", "medium", "strong")
PACE = 0.4
"""How far a hard quiz pulls the score to its correct rate."""
WEIGHTS: Mapping[str, float] = {"easy": 0.6, "medium": 0.8, "hard": 1.0}
UNKNOWN_DIFFICULTY = "medium"
FIRST = "medium"
"""What a topic is taken for before its first quiz."""
BANDS: Mapping[str, tuple[float, float]] = {"weak": (0.0, 0.45), "medium": (0.35, 0.75), "strong": (0.6, 1.0)}
"""Below the first number a mastery falls, from the second on it rises."""
MIDDLES: Mapping[str, float] = {"weak": 0.2, "medium": 0.5, "strong": 0.85}
"""The score of a mastery that a person has set."""


def updated(level: str | None, score: float | None, correct_rate: float, difficulty: str | None) -> tuple[str, float]:
    """The mastery and score of a topic after a quiz; `level` and `score` are those before, None where there are none.

    A score that is outside the band of its mastery says that a person has set the mastery: theirs is where the quiz
    goes on from. `correct_rate` is 0 to 1, `difficulty` one of `WEIGHTS`, None if unknown.
    """
    level = level or FIRST
    low, high = BANDS[level]
    before = score if score is not None and low <= score <= high else MIDDLES[level]
    weight = PACE * WEIGHTS[difficulty or UNKNOWN_DIFFICULTY]
    after = round(before + weight * (correct_rate - before), 2)
    at = LEVELS.index(level)
    if after < low:
        at -= 1
    elif after >= high and at + 1 < len(LEVELS):
        at += 1
    return LEVELS[at], after
