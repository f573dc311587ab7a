"""Merge three states of a journal (a daily log, MEMORY.md) by its entries.

An entry is a heading `## …` and the lines below it; what a person wrote there belongs to it. It is the same entry
wherever it stands: a merge sorts the entries of two machines into each other, and to a comparison by line an entry
before which others have been put is gone here and new there.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_memory.core.notes import note
from vault_memory.core.notes.line_merge import Merged, carried_lines, merge_lines, split_lines

_TIME = re.compile(r"## ((?:\d{4}-\d\d-\d\d )?\d\d:\d\d)\b", re.ASCII)
_START = -1
"""In place of the number of an entry: the text before the first one."""

_Combine = Callable[[str | None, str, str], Merged]


def merge_journal(base: str | None, ours: str, theirs: str) -> Merged:
    """Three-way merge by entries: each is there once, or as often as the side has it that has it more often.

    What only one side has, or changed, is taken; an entry that both changed is merged by its lines. Each side's entries
    keep their order, and new ones stand in the order of time. `base` is None when both sides made the file.
    `merge_journal(b, x, b)` and `merge_journal(b, x, x)` are x.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    return _united(base, ours, theirs, merge_lines)


def carry_entries(old: str, new: str, text: str) -> str:
    """`text` with the change that leads from `old` to `new`, and without conflict blocks (`carried_lines`)."""
    return _united(old, text, new, _carried).text


def _carried(base: str | None, ours: str, theirs: str) -> Merged:
    if ours in (base, theirs):
        return Merged(theirs)
    return Merged("".join(carried_lines(*(split_lines(text) for text in (base or "", theirs, ours)))))


@dataclass
class _Entry:
    """One entry in three states; a state is empty where the entry is not there. New on both sides, it began as the
    shorter text, which the longer one holds."""

    base: str = ""
    ours: str = ""
    theirs: str = ""


def _united(base: str | None, ours: str, theirs: str, combine: _Combine) -> Merged:
    (old_lead, old), (own_lead, own), (other_lead, other) = (_parted(text) for text in (base or "", ours, theirs))
    entries, own_order, other_order = _matched(old, own, other)
    lead = combine(None if base is None else old_lead, own_lead, other_lead)
    merged = [combine(entry.base, entry.ours, entry.theirs) for entry in entries]
    texts = [each.text for each in merged]
    ordered = _in_order(own_order, other_order, texts, len(old))
    lines = split_lines(lead.text + "".join(texts[number] for number in ordered))
    conflicts = lead.conflicts + sum(each.conflicts for each in merged)
    return Merged("".join(lines[:-1] if lines[-1:] == ["\n"] else lines), conflicts=conflicts)


def _matched(old: list[str], own: list[str], other: list[str]) -> tuple[list[_Entry], list[int], list[int]]:
    """All entries, those of `old` first, and the numbers of those that each side has, in its order."""
    entries = [_Entry(text) for text in old]

    def numbered(side: list[str], twins: dict[int, int]) -> list[int]:
        """The numbers of a side's entries: those of their twins, and the next ones for new entries."""
        numbers = []
        for at in range(len(side)):
            if at not in twins:
                entries.append(_Entry())
            numbers.append(twins.get(at, len(entries) - 1))
        return numbers

    own_twins, other_twins = _twins(old, own), _twins(old, other)
    ours = numbered(own, own_twins)
    new, other_new = (
        [at for at in range(len(side)) if at not in twins] for side, twins in ((own, own_twins), (other, other_twins))
    )
    for place, twin in _paired([own[at] for at in new], [other[at] for at in other_new]).items():
        mine, yours = new[twin], other_new[place]
        if _holds(own[mine], other[yours]):
            other_twins[yours] = ours[mine]
            entries[ours[mine]].base = min(own[mine], other[yours], key=len)
    theirs = numbered(other, other_twins)
    for number, text in zip(ours, own, strict=True):
        entries[number].ours = text
    for number, text in zip(theirs, other, strict=True):
        entries[number].theirs = text
    return entries, ours, theirs


def _parted(text: str) -> tuple[str, list[str]]:
    """What stands before the first entry, and the entries. The last one ends with one more blank line, as the others
    do."""
    if not text:
        return "", []
    lines = [*split_lines(text), "\n"]
    undecided = {number for first, last in note.conflicts_in(text) for number in range(first - 1, last)}
    starts = [at for at, line in enumerate(lines) if line.startswith("## ") and at not in undecided]
    ends = [*starts[1:], len(lines)]
    parts = ["".join(lines[start:end]) for start, end in zip(starts, ends, strict=True)] if starts else []
    return "".join(lines[: starts[0]] if starts else lines), parts


def _name(entry: str) -> Hashable:
    """What an entry keeps when a person writes below it: its heading and its first line, which quotes the request."""
    return tuple(entry.split("\n", 2)[:2])


def _paired(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Places in `new` with those of the same entries in `old`: first the equal ones, then those of one name."""
    pairs: dict[int, int] = {}
    for same in (str, _name):
        taken = set(pairs.values())
        free: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for at, entry in enumerate(old):
            if at not in taken:
                free[same(entry)].append(at)
        for at, entry in enumerate(new):
            if at not in pairs and free[same(entry)]:
                pairs[at] = free[same(entry)].popleft()
    return pairs


def _twins(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The same with the entries before a change. One whose name was changed is known by a line that no other has, else
    by the entry before it."""
    pairs = _paired(old, new)
    taken = set(pairs.values())
    places = _places_of_lines(old, taken)
    for line, at in _places_of_lines(new, pairs).items():
        place = places.get(line)
        if at is not None and place is not None and at not in pairs and place not in taken:
            pairs[at] = place
            taken.add(place)
    for at in range(len(new)):
        before = pairs.get(at - 1) if at else _START
        if at not in pairs and before is not None and before + 1 < len(old) and before + 1 not in taken:
            pairs[at] = before + 1
            taken.add(before + 1)
    return pairs


def _places_of_lines(entries: Sequence[str], known: Container[int]) -> dict[str, int | None]:
    """Each line below the headings of the entries that are not `known`, and the one of them that has it; None: several
    have it."""
    places: dict[str, int | None] = {}
    for at, entry in enumerate(entries):
        if at not in known:
            for line in dict.fromkeys(filter(str.strip, entry.split("\n")[1:])):
                places[line] = None if line in places else at
    return places


def _holds(one: str, other: str) -> bool:
    """Whether one of two entries has all lines of the other, in their order."""
    short, long = sorted((one, other), key=len)
    rest = iter(long.split("\n"))
    return all(line in rest for line in short.split("\n"))


def _in_order(ours: list[int], theirs: list[int], texts: Sequence[str], old: int) -> Iterator[int]:
    """The numbers of all entries. Those that both sides have stand as in ours, or as in theirs if these alone were
    moved (numbers below `old` rise in the base); after each of them what either side has there, by time."""
    both = set(ours) & set(theirs)
    first, second = ours, theirs
    if _rises(ours, both, old) and not _rises(theirs, both, old):
        first, second = theirs, ours
    runs, other_runs = _runs(first, both), _runs(second, both)
    for number, run in runs.items():
        if number != _START:
            yield number
        groups = (_groups(each, texts) for each in (run, other_runs[number]))
        for _, group in heapq.merge(*groups, key=lambda pair: pair[0]):
            yield from group


def _rises(numbers: Iterable[int], both: set[int], old: int) -> bool:
    known = [number for number in numbers if number in both and number < old]
    return known == sorted(known)


def _runs(numbers: Iterable[int], both: set[int]) -> dict[int, list[int]]:
    """What follows each entry that both sides have, up to the next such one."""
    runs: dict[int, list[int]] = {_START: []}
    at = _START
    for number in numbers:
        if number in both:
            at = number
            runs[at] = []
        else:
            runs[at].append(number)
    return runs


def _groups(run: Iterable[int], texts: Sequence[str]) -> list[tuple[tuple[str, str], list[int]]]:
    """The entries of a run, each with those below it whose heading has no time, by time and text."""
    groups: list[tuple[tuple[str, str], list[int]]] = []
    for number in run:
        time = _TIME.match(texts[number])
        if time or not groups:
            groups.append(((time[1] if time else "", texts[number]), []))
        groups[-1][1].append(number)
    return groups
