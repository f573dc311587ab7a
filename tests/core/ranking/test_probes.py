from __future__ import annotations

import random

import pytest

from vault_memory.core.notes.document import Segment
from vault_memory.core.ranking import probes


def probe(*lines: str) -> str:
    text, segments = "", []
    for number, line in enumerate(lines, 1):
        segments.append(Segment(number, len(text), len(text) + len(line)))
        text += line + "\n"
    return probes.probe(text, segments)


@pytest.mark.parametrize(
    ("lines", "asked"),
    [
        (("Hello.", "one two three four five six seven eight"), "one three five seven"),
        (("我喜歡暗色主題而不喜歡亮色的主題",), "我喜 色主 不喜 色的"),
        (("too short to ask",), ""),
        ((), ""),
    ],
    ids=["English", "Chinese", "short", "empty"],
)
def test_every_second_word_of_the_longest_line_asks_for_its_chunk(lines: tuple[str, ...], asked: str) -> None:
    assert probe(*lines) == asked


def test_a_long_line_asks_with_its_beginning() -> None:
    assert len(probe("word " * 10_000)) <= probes.MAX_CHARS


def rows(own: float, count: int = 32) -> list[list[float]]:
    """Normal cosines, those of the probes' own chunks `own` deviations higher."""
    rng = random.Random(1)
    return [[rng.gauss(own if i == j else 0, 1) for j in range(count)] for i in range(count)]


def test_knowledge_is_how_far_the_own_chunk_lies_above_the_others() -> None:
    known = [probes.knowledge(rows(own)) for own in (0, 2, 5)]
    assert known == pytest.approx([0, 2, 5], abs=0.5)


def test_a_model_s_scale_and_shift_do_not_count() -> None:
    moved = [[cosine * 0.01 + 0.8 for cosine in row] for row in rows(3)]
    assert probes.knowledge(moved) == probes.knowledge(rows(3))


def test_few_probes_say_nothing_and_one_direction_says_0() -> None:
    assert probes.knowledge(rows(3, probes.MIN_PROBES - 1)) is None and probes.knowledge([]) is None
    assert probes.knowledge([[0.5] * 9] * 9) == 0
