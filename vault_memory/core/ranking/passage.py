"""From scored units to passages: the best unit, grown to its neighbours while they help, and one hit per said thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vault_memory.core.ranking.rank import Scored
from vault_memory.core.text import tokens

GROW = ((0.85, 500), (0.8, 500), (0.7, 600), (0.3, 700), (0.0, 900))
"""For each rank (the last for all further): a neighbour joins while its score is at least this share of the seed's, and the
passage stays under this many characters."""
SHORT, WELCOME = 0.4, 0.5
"""Up to this share of those characters a passage says too little: a neighbour joins for this share of the seed's score."""
HAN = 0.33
"""Chinese says as much in this share of the characters."""
GAP = 4
"""Lines from one unit to the next that a passage goes over: a blank line, a heading and another; not a row of empty fields."""
NEARBY = 8
"""How far the units of one record are looked for."""
RECORD = "conversation"
"""The kind of note nobody reads when the same words stand in a log."""


@dataclass
class Passage:
    """Units `first` to `last` (positions in the scored list), grown from `seed`; `collapsed` repeat it elsewhere, and `score`
    is that of the best of all."""

    seed: Scored
    first: int
    last: int
    score: float
    collapsed: list[str] = field(default_factory=list)


def build(scored: Sequence[Scored], count: int) -> list[Passage]:
    """The `count` best passages, best first. `scored` is in the order of files and lines; its `score` decides."""
    worth = [-unit.score for unit in scored]
    order = sorted((i for i, score in enumerate(worth) if score < 0), key=worth.__getitem__)  # of equal ones the first
    read = [i for i in order if scored[i].candidate.kind != RECORD]
    used: set[int] = set()
    passages: list[Passage] = []
    for found in order:
        if len(passages) == count:
            break
        if found in used:
            continue
        seed = found
        if scored[found].candidate.kind == RECORD:
            seed = next((i for i in read if _same(scored[found], scored[i])), found)
        twin = next((p for p in passages if _repeats(found, p, scored) or p.first <= seed <= p.last), None)
        if twin:
            used.update(_echoes(found, scored))
            twin.collapsed.append(_name(scored[found]))
            continue
        if seed in used:
            continue
        share, cap = GROW[min(len(passages), len(GROW) - 1)]
        passage = _grown(scored, seed, used, share, cap)
        used.update(range(passage.first, passage.last + 1))
        if seed != found:
            used.update(_echoes(found, scored))
            passage.collapsed.append(_name(scored[found]))
            passage.score = scored[found].score
        passages.append(passage)
    return passages


def _echoes(found: int, scored: Sequence[Scored]) -> list[int]:
    """A unit and those of its line that were only found for standing beside it."""
    place = (scored[found].candidate.chunk_id, scored[found].line)
    near = range(max(0, found - NEARBY), min(len(scored), found + NEARBY + 1))
    return [
        i for i in near if i == found or ((scored[i].candidate.chunk_id, scored[i].line) == place and not scored[i].own)
    ]


def _grown(scored: Sequence[Scored], seed: int, used: set[int], share: float, cap: int) -> Passage:
    best = scored[seed]
    if tokens.is_han(best.text):
        cap = int(cap * HAN)
    first = last = seed
    size = best.length
    while True:
        sides = [i for i in (first - 1, last + 1) if _joins(scored, seed, i) and i not in used]
        sides = [i for i in sides if _is_worth(scored[i], best, size, share, cap)]
        if not sides:
            return Passage(best, first, last, best.score)
        side = max(sides, key=lambda i: scored[i].score)
        first, last = min(first, side), max(last, side)
        size += scored[side].length


def _is_worth(unit: Scored, best: Scored, size: int, share: float, cap: int) -> bool:
    """Whether a neighbour may join a passage of `size` characters."""
    size += unit.length
    wanted = min(share, WELCOME) if size <= SHORT * cap else share
    return size <= cap and unit.score >= wanted * best.score


def _joins(scored: Sequence[Scored], seed: int, other: int) -> bool:
    if not 0 <= other < len(scored) or scored[other].candidate.source != scored[seed].candidate.source:
        return False
    unit, before = scored[other], scored[other - (1 if other > seed else -1)]
    return abs(unit.candidate.position - before.candidate.position) <= 1 and abs(unit.line - before.line) <= GAP


def _name(unit: Scored) -> str:
    return f"{unit.candidate.source}:{unit.line}"


def _repeats(found: int, passage: Passage, scored: Sequence[Scored]) -> bool:
    """Whether a unit of another file says what a passage says already."""
    if scored[found].candidate.source == passage.seed.candidate.source:
        return False
    return any(_same(scored[found], scored[i]) for i in range(passage.first, passage.last + 1))


def _same(one: Scored, other: Scored) -> bool:
    """Whether the words of one stand within the other, as a log's line holds what was said and who said it."""
    days = {one.candidate.day, other.candidate.day} - {""}
    a, b = one.candidate.stems[one.at], other.candidate.stems[other.at]
    return len(days) < 2 and bool(a and b) and (a in b or b in a)
