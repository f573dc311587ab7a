"""Which lines two texts have in common, in order: difflib's answer for short texts, in little time for any.

difflib takes the square of the number of lines, and the cube if they repeat. So it gets short stretches only: a longer
one is first cut at the lines that stand once in both texts (as in a patience diff). What is still long then has no such
line and counts as different; a merge keeps both texts of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

MAX_PAIRS = 10_000
"""Lines of one stretch times lines of the other that difflib compares."""
MAX_ROUNDS = 4
"""How often a stretch is cut at its unique lines; each round takes as long as reading the stretch."""

Match = tuple[int, int, int]
"""A run of equal lines: start in one text, start in the other, length."""


def matches(one: Sequence[str], other: Sequence[str], rounds: int = MAX_ROUNDS) -> Iterator[Match]:
    """The runs of equal lines, in order."""
    head, tail = ends(one, other)
    if head:
        yield 0, 0, head
    for start, twin, size in _inside(one[head : len(one) - tail], other[head : len(other) - tail], rounds):
        yield head + start, head + twin, size
    if tail:
        yield len(one) - tail, len(other) - tail, tail


def ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts share at their beginning, and then at their end."""
    shortest = min(len(one), len(other))
    head = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    tail = next((at for at in range(shortest - head) if one[-1 - at] != other[-1 - at]), shortest - head)
    return head, tail


def _inside(one: Sequence[str], other: Sequence[str], rounds: int) -> Iterator[Match]:
    if len(one) * len(other) <= 1:
        return  # one line each, and `matches` has cut off what is equal: most of the stretches of a long text
    if len(one) * len(other) <= MAX_PAIRS:
        blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        yield from ((block.a, block.b, block.size) for block in blocks if block.size)
        return
    anchors = _anchors(one, other) if rounds else []
    if not anchors:
        return
    i = j = 0
    for at, twin in [*anchors, (len(one), len(other))]:
        for start, start_of_twin, size in matches(one[i:at], other[j:twin], rounds - 1):
            yield i + start, j + start_of_twin, size
        if at < len(one):
            yield at, twin, 1
        i, j = at + 1, twin + 1


def _anchors(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that stand once in each text, as (place in one, place in the other): as many as keep their order."""
    once, counts = Counter(one), Counter(other)
    places = {line: at for at, line in enumerate(other) if counts[line] == once[line] == 1}
    pairs = [(at, places[line]) for at, line in enumerate(one) if line in places]
    # The longest run of rising places: for each length, where the lowest last place so far is, and what came before it.
    lowest: list[int] = []
    holders: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(lowest, place)
        before.append(holders[length - 1] if length else -1)
        lowest[length : length + 1] = [place]
        holders[length : length + 1] = [number]
    kept = []
    number = holders[-1] if holders else -1
    while number >= 0:
        kept.append(pairs[number])
        number = before[number]
    return kept[::-1]
