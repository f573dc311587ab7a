"""From scored segments to passages: the best segment grows to its neighbours; what is repeated is one hit.

An entry that turns have written (a conversation in a daily log, a task in MEMORY.md) is one passage, with its heading.
What stands in a note and in the conversation record is shown as it stands in the note, which a person reads; of what a
turn has written, an entry or a memory, the record is shown, for that has the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vault_memory.core import memories
from vault_memory.core.notes import entries
from vault_memory.core.ranking.rank import ScoredSegment
from vault_memory.core.text import tokens

GROWTH = ((0.85, 500), (0.8, 500), (0.7, 600), (0.3, 700), (0.0, 900))
"""For each rank (the last for all further ones): a neighbour joins while its score is at least this share of the seed's
and the passage stays under this many characters."""
SHORT_SHARE, SHORT_MIN_SCORE = 0.4, 0.5
"""A passage of up to this share of those characters says too little: a neighbour joins for this share of the score."""
HAN_CHARS_SHARE = 0.33
"""Chinese says as much in this share of the characters."""
MAX_GAP_LINES = 4
"""To the next segment: a passage goes over a blank line, a heading and another, not over a row of empty fields."""
RECORD = "conversation"
"""The kind of the raw record: a line for each turn, question and answer."""
MEMORY = "memory"
"""The kind of a typed memory."""


@dataclass
class Passage:
    """Segments `first` to `last` (positions in the scored list), grown from `seed`. `repeated_at` lists where else the
    same stands, and `score` is that of the best of all. An entry has a heading before the first one, which is
    `heading_lines` lines above it."""

    seed: ScoredSegment
    first: int
    last: int
    score: float
    repeated_at: list[str] = field(default_factory=list)
    heading_lines: int = 0


def build(scored: Sequence[ScoredSegment], count: int) -> list[Passage]:
    """The `count` best passages, best first. `scored` is in the order of files and lines; its `score` decides."""
    negated = [-segment.score for segment in scored]
    answering = (i for i, score in enumerate(negated) if score < 0 and scored[i].may_answer)
    order = sorted(answering, key=negated.__getitem__)  # of equals the first
    said = [i for i in order if scored[i].candidate.kind == RECORD and scored[i].own_terms]
    outside_records = [i for i in order if scored[i].candidate.kind != RECORD]
    used: set[int] = set()
    passages: list[Passage] = []
    for best in order:
        if len(passages) == count:
            break
        if best in used:
            continue
        seed = best
        if scored[best].candidate.kind == RECORD:
            noted = (
                i for i in outside_records if _says_the_same(scored[best], scored[i]) and not _is_of_a_turn(scored, i)
            )
            seed = next(noted, best)
        elif _is_of_a_turn(scored, best):
            twins = (i for i in said if _says_the_same(scored[i], scored[best]))
            seed = max(twins, key=lambda i: len(scored[i].stems), default=best)
        twin = next((p for p in passages if _repeats(best, p, scored) or p.first <= seed <= p.last), None)
        if twin:
            used.update(_told_with(best, scored))
            twin.repeated_at.append(_location(scored[best]))
            continue
        if seed in used:
            continue
        share, cap = GROWTH[min(len(passages), len(GROWTH) - 1)]
        passage = _grown(scored, seed, used, share, cap)
        used.update(range(passage.first, passage.last + 1))
        if scored[seed].candidate.called:  # who asks for a note by its name gets its beginning, once
            used.update(_of_chunk(scored, seed))
        if seed != best:
            used.update(_told_with(best, scored))
            passage.repeated_at.append(_location(scored[best]))
            passage.score = scored[best].score
        passages.append(passage)
    return passages


def opening(scored: Sequence[ScoredSegment]) -> Passage:
    """How a note begins, for who asked for no words; `scored` are the segments of its first chunk."""
    return _grown(scored, 0, set(), *GROWTH[-1])


def _of_chunk(scored: Sequence[ScoredSegment], at: int) -> range:
    """The segments of the chunk of one."""
    first = at - scored[at].number
    return range(first, first + len(scored[at].candidate.segments))


def _told_with(best: int, scored: Sequence[ScoredSegment]) -> list[int]:
    """A segment that is not shown, and those of its entry, or of its line of a record, without a term: only their
    neighbour gave them a score."""
    if entry := _entry(scored, best):
        first, last = entry.first, entry.last
    elif scored[best].candidate.kind == RECORD:
        first, last = _of_one_line(scored, best)
    else:
        return [best]
    return [i for i in range(first, last + 1) if i == best or not scored[i].own_terms]


def _of_one_line(scored: Sequence[ScoredSegment], at: int) -> tuple[int, int]:
    first = last = at
    while first and _is_adjacent(scored, first, first - 1) and scored[first - 1].line == scored[at].line:
        first -= 1
    while _is_adjacent(scored, last, last + 1) and scored[last + 1].line == scored[at].line:
        last += 1
    return first, last


def _grown(scored: Sequence[ScoredSegment], seed: int, used: set[int], share: float, cap: int) -> Passage:
    best = scored[seed]
    if entry := _entry(scored, seed):
        return entry
    if tokens.is_han(best.text):
        cap = int(cap * HAN_CHARS_SHARE)
    first = last = seed
    size = best.length
    while True:
        sides = [i for i in (first - 1, last + 1) if _is_adjacent(scored, seed, i) and i not in used]
        if best.candidate.kind == RECORD and best.own_terms:  # what was said before and after is another turn
            sides = [i for i in sides if scored[i].line == best.line]
        sides = [i for i in sides if _may_join(scored[i], best, size, share, cap)]
        if not sides:
            break
        side = max(sides, key=lambda i: scored[i].score)
        first, last = min(first, side), max(last, side)
        size += scored[side].length
    if best.candidate.kind == RECORD:
        first, last = _with_its_turn(scored, seed, first, last, used, cap)
    return Passage(best, first, last, best.score)


def _with_its_turn(
    scored: Sequence[ScoredSegment], seed: int, first: int, last: int, used: set[int], cap: int
) -> tuple[int, int]:
    """`first` and `last` of a passage of a record, with what was said on the seed's line and, where that is one
    message, on the line behind it, which may have the answer: as far as the passage stays under `cap` characters."""
    size = sum(segment.length for segment in scored[first : last + 1])
    line = scored[seed].line
    begin, end = _of_one_line(scored, seed)
    chunk = scored[seed].candidate
    said = chunk.text[chunk.segments[scored[begin].number].start : chunk.segments[scored[end].number].end]

    def joins(at: int, to: int) -> bool:
        is_near = _is_adjacent(scored, seed, at) and at not in used and line <= scored[at].line <= to
        return is_near and size + scored[at].length <= cap

    for to in (line,) if "\n" in said else (line, line + 1):
        grown = -1
        while grown != size:
            grown = size
            if joins(last + 1, to):
                last += 1
                size += scored[last].length
            if joins(first - 1, to):
                first -= 1
                size += scored[first].length
    return first, last


def _may_join(segment: ScoredSegment, best: ScoredSegment, size: int, share: float, cap: int) -> bool:
    """Whether a neighbour's score and length let it join a passage of `size` characters."""
    size += segment.length
    wanted = min(share, SHORT_MIN_SCORE) if size <= SHORT_SHARE * cap else share
    return size <= cap and segment.score >= wanted * best.score


def _is_adjacent(scored: Sequence[ScoredSegment], seed: int, other: int) -> bool:
    """Whether segment `other` continues the passage around the seed: the same file, and no wide gap before it."""
    if not 0 <= other < len(scored) or scored[other].candidate.source != scored[seed].candidate.source:
        return False
    segment, before = scored[other], scored[other - (1 if other > seed else -1)]
    is_next_chunk = abs(segment.candidate.position - before.candidate.position) <= 1
    return is_next_chunk and abs(segment.line - before.line) <= MAX_GAP_LINES and not _entry(scored, other)


def _is_of_a_turn(scored: Sequence[ScoredSegment], at: int) -> bool:
    """Whether a turn has written what a segment is of beside its record: an entry of a log, or a memory."""
    return memories.is_said(scored[at].candidate.source) or _entry(scored, at) is not None


def _entry(scored: Sequence[ScoredSegment], at: int) -> Passage | None:
    """The entry that a segment is of, as far as it is in one chunk; None if no turn has written it."""
    chunk = scored[at].candidate
    if chunk.kind not in entries.KINDS:
        return None
    first = last = at
    while (above := _heading_above(scored[first])) is None and scored[first].number:
        first -= 1
    while last + 1 < len(scored) and scored[last + 1].candidate is chunk and _heading_above(scored[last + 1]) is None:
        last += 1
    begin = chunk.segments[scored[first].number].start
    if not entries.is_of_a_turn(chunk.text[begin:].partition("\n")[0]):
        return None
    return Passage(scored[at], first, last, scored[at].score, heading_lines=above or 0)


def _heading_above(segment: ScoredSegment) -> int | None:
    """How many lines above a segment the heading stands below which it is the first; None: it is not."""
    chunk, number = segment.candidate, segment.number
    end = chunk.segments[number - 1].end if number else 0
    lines = chunk.text[end : chunk.segments[number].end].split("\n")[::-1]
    return next((at for at, line in enumerate(lines) if line.startswith(entries.HEADING)), None)


def _location(segment: ScoredSegment) -> str:
    return f"{segment.candidate.source}:{segment.line}"


def _repeats(number: int, passage: Passage, scored: Sequence[ScoredSegment]) -> bool:
    """Whether a segment of another file says what a passage says already."""
    if scored[number].candidate.source == passage.seed.candidate.source:
        return False
    return any(_says_the_same(scored[number], scored[i]) for i in range(passage.first, passage.last + 1))


def _says_the_same(one: ScoredSegment, other: ScoredSegment) -> bool:
    """Whether the words of one stand within the other: a log's line holds what was said, and who said it. The same
    words on two days are two things, and two memories are two: one may say only more than the other, or its contrary.
    What holds all of a memory may say it; what a memory holds and says more of does not."""
    days = {one.candidate.day, other.candidate.day} - {""}
    a, b = one.candidate.stems[one.number], other.candidate.stems[other.number]  # asked some 500 times a search
    if len(days) > 1 or not (a and b):
        return False
    is_memory, other_is = (each.candidate.kind == MEMORY for each in (one, other))
    if is_memory and other_is:
        return False
    return (a in b and not other_is) or (b in a and not is_memory) or a == b
