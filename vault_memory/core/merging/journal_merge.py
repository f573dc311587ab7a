"""Merge three states of a journal (a daily log, MEMORY.md) by its entries, and an entry of a log by its requests.

An entry is a heading `## …` and the lines below it; what a person wrote there belongs to it. It is the same entry
wherever it stands: a merge sorts the entries of two machines into each other, and to a comparison by line an entry
before which others have been put is gone here and new there. So it is with the requests in an entry, where a
conversation went on on both machines: `_Parts` says how either is told apart.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from vault_memory.core.merging.line_merge import Merged, carried_lines, common_lines, merge_lines, split_lines
from vault_memory.core.notes import entries

_TIME = re.compile(r"(?:## |- )((?:\d{4}-\d\d-\d\d )?\d\d:\d\d)\b", re.ASCII)
_FACT = re.compile(f"{entries.CAME}|{entries.PART}")
_START = -1
"""In place of the number of a part: the text before the first one."""

_Combine = Callable[[str | None, str, str], Merged]


def merge_journal(base: str | None, ours: str, theirs: str) -> Merged:
    """Three-way merge by entries: each is there once, or as often as the side has it that has it more often.

    What only one side has, or changed, is taken; an entry that both changed is merged by its requests, and what else is
    in it by its lines. Each side's entries and requests keep their order, and new ones stand in the order of time.
    `base` is None when both sides made the file. `merge_journal(b, x, b)` and `merge_journal(b, x, x)` are x.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    return _merged(base, ours, theirs, merge_lines)


def lead_of(text: str) -> str:
    """What stands before the first entry of a journal: its title."""
    return _in_entries(text)[0]


def carry_entries(old: str, new: str, text: str) -> str:
    """`text` with the change that leads from `old` to `new`, and without conflict blocks (`carried_lines`)."""
    return _merged(old, text, new, _carried).text


def _carried(base: str | None, ours: str, theirs: str) -> Merged:
    if ours in (base, theirs):
        return Merged(theirs)
    return Merged("".join(carried_lines(*(split_lines(text) for text in (base or "", theirs, ours)))))


def _merged(base: str | None, ours: str, theirs: str, combine: _Combine) -> Merged:
    """A journal. Its last entry ends with one more blank line meanwhile, as the others do."""
    old, one, other = ("".join([*split_lines(text), "\n"]) if text else "" for text in (base or "", ours, theirs))
    merged = _united(_ENTRIES, None if base is None else old, one, other, partial(_merged_entry, combine))
    lines = split_lines(merged.text)
    return Merged("".join(lines[:-1] if lines[-1:] == ["\n"] else lines), conflicts=merged.conflicts)


def _merged_entry(combine: _Combine, base: str | None, ours: str, theirs: str) -> Merged:
    """An entry, by its requests if there are any."""
    if not _has_requests(ours) and not _has_requests(theirs):
        return combine(base, ours, theirs)
    if ours in (base, theirs):
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    old, one, other = (text and text.rstrip("\n") + "\n" for text in (base or "", ours, theirs))
    merged = _united(_REQUESTS, old, one, other, partial(_merged_request, combine))
    heading = (ours or theirs).partition("\n")[0]
    if merged.text.startswith("- ") and heading.startswith(entries.HEADING):  # all the others were taken out
        merged = Merged(f"{heading}\n{merged.text}", conflicts=merged.conflicts)
    end = max(ours[len(one) :], theirs[len(other) :], key=len)
    return Merged(merged.text and merged.text + end, conflicts=merged.conflicts)


def _merged_request(combine: _Combine, base: str | None, ours: str, theirs: str) -> Merged:
    """A request, and what a person wrote below it: while one is written, more may become known of the other."""
    if not (base and ours and theirs):
        return combine(base, ours, theirs)
    lines, rests = zip(*(text.split("\n", 1) for text in (base, ours, theirs)), strict=True)
    line, rest = combine(*(f"{line}\n" for line in lines)), combine(*rests)
    return Merged(line.text + rest.text, conflicts=line.conflicts + rest.conflicts)


@dataclass(frozen=True)
class _Parts:
    """How the parts of a text are told apart: what stands before the first one, and the parts; by what each is known,
    the surest first; and what one that is new on both sides began as (None: they are two).

    `is_known_by_place` says whether one may be known by what stands before it alone, where all its lines are others.
    """

    parted: Callable[[str], tuple[str, list[str]]]
    names: tuple[Callable[[str], Hashable], ...]
    beginning: Callable[[str, str], str | None]
    is_known_by_place: Callable[[str], bool]


@dataclass
class _Part:
    """One part in three states; a state is empty where the part is not there. New on both sides, its base is what it
    began as."""

    base: str = ""
    ours: str = ""
    theirs: str = ""


def _united(kind: _Parts, base: str | None, ours: str, theirs: str, combine: _Combine) -> Merged:
    (old_lead, old), (own_lead, own), (other_lead, other) = (kind.parted(text) for text in (base or "", ours, theirs))
    parts, own_order, other_order = _matched(kind, old, own, other)
    lead = combine(None if base is None else old_lead, own_lead, other_lead)
    merged = [combine(part.base, part.ours, part.theirs) for part in parts]
    texts = [each.text for each in merged]
    ordered = _in_order(own_order, other_order, texts, len(old))
    conflicts = lead.conflicts + sum(each.conflicts for each in merged)
    return Merged(lead.text + "".join(texts[number] for number in ordered), conflicts=conflicts)


def _matched(
    kind: _Parts, old: list[str], own: list[str], other: list[str]
) -> tuple[list[_Part], list[int], list[int]]:
    """All parts, those of `old` first, and the numbers of those that each side has, in its order."""
    parts = [_Part(text) for text in old]

    def numbered(side: list[str], twins: dict[int, int]) -> list[int]:
        """The numbers of a side's parts: those of their twins, and the next ones for new parts."""
        numbers = []
        for at in range(len(side)):
            if at not in twins:
                parts.append(_Part())
            numbers.append(twins.get(at, len(parts) - 1))
        return numbers

    own_twins, other_twins = _twins(kind, old, own), _twins(kind, old, other)
    ours = numbered(own, own_twins)
    new, other_new = (
        [at for at in range(len(side)) if at not in twins] for side, twins in ((own, own_twins), (other, other_twins))
    )
    for place, twin in _paired(kind.names, [own[at] for at in new], [other[at] for at in other_new]).items():
        mine, yours = new[twin], other_new[place]
        beginning = kind.beginning(own[mine], other[yours])
        if beginning is not None:
            other_twins[yours] = ours[mine]
            parts[ours[mine]].base = beginning
    theirs = numbered(other, other_twins)
    for number, text in zip(ours, own, strict=True):
        parts[number].ours = text
    for number, text in zip(theirs, other, strict=True):
        parts[number].theirs = text
    return parts, ours, theirs


# What a journal consists of, and an entry --------------------------------------------------------------------------


def _in_entries(text: str) -> tuple[str, list[str]]:
    lines = split_lines(text)
    parts = entries.entries_of(lines, entries.undecided(text))
    lead = lines[: parts[0].start] if parts else lines
    return "".join(lead), ["".join(lines[part.start : part.stop]) for part in parts]


def _in_requests(text: str) -> tuple[str, list[str]]:
    """What a person wrote between the requests, and below none of them, is a part of its own."""
    lines, left_out = split_lines(text), entries.undecided(text)
    begins = [at for at, line in enumerate(lines) if at not in left_out and entries.request_in(line)]
    cuts = sorted({*begins, *(entries.item_end(lines, at) for at in begins), len(lines)})
    parts = ["".join(lines[start:end]) for start, end in pairwise(cuts)]
    return "".join(lines[: cuts[0]]), parts


def _has_requests(entry: str) -> bool:
    return any(map(entries.request_in, entry.split("\n")))


def _entry_name(entry: str) -> Hashable:
    """What an entry keeps when it grows, and when a person writes into it: its heading and its first request."""
    return entry.partition("\n")[0], _request_name(_first_of(entry))


def _entry_place(entry: str) -> Hashable:
    """What it keeps when a person words its first request anew."""
    return entry.partition("\n")[0], _request_place(_first_of(entry))


def _first_of(entry: str) -> str:
    """The first request of an entry, also below a person's words; where there is none, the line below its heading."""
    lines = entry.split("\n")[1:]
    return next(filter(entries.request_in, lines), lines[0] if lines else "")


def _request_name(text: str) -> Hashable:
    """What a request keeps when more is known of it; of other lines the first."""
    line = text.partition("\n")[0]
    request = entries.request_in(line)
    return (request.time, request.words, request.source) if request else line


def _request_place(text: str) -> Hashable:
    """What a request keeps when a person words it anew."""
    request = entries.request_in(text.partition("\n")[0])
    return (request.time, request.source) if request else text


def _entrys_beginning(one: str, other: str) -> str | None:
    short, long = sorted((one, other), key=len)
    if _holds(long.split("\n"), short.split("\n")):
        return short
    return "" if _has_requests(one) else None  # both have the request; it has grown on both


def _requests_beginning(one: str, other: str) -> str | None:
    (first, rest), (other_first, other_rest) = ((lines[0], lines[1:]) for lines in map(split_lines, (one, other)))
    short, long = sorted((first, other_first), key=len)
    if not _holds(_FACT.split(long), _FACT.split(short)):
        return None
    return short + "".join(common_lines(rest, other_rest))


_ENTRIES = _Parts(
    _in_entries, (str, _entry_name, _entry_place), _entrys_beginning, lambda entry: not _has_requests(entry)
)
_REQUESTS = _Parts(_in_requests, (str, _request_name, _request_place), _requests_beginning, lambda _: False)


# Which parts are the same ------------------------------------------------------------------------------------------


def _paired(names: Iterable[Callable[[str], Hashable]], old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Places in `new` with those of the same parts in `old`: first the equal ones, then those of one name."""
    pairs: dict[int, int] = {}
    for name in names:
        taken = set(pairs.values())
        free: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for at, part in enumerate(old):
            if at not in taken:
                free[name(part)].append(at)
        for at, part in enumerate(new):
            if at not in pairs and free[name(part)]:
                pairs[at] = free[name(part)].popleft()
    return pairs


def _twins(kind: _Parts, old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """The same with the parts before a change. An entry whose name was changed is known by a line that no other has,
    else by the entry before it."""
    pairs = _paired(kind.names, old, new)
    taken = set(pairs.values())
    places = _places_of_lines(old, taken)
    for line, at in _places_of_lines(new, pairs).items():
        place = places.get(line)
        if at is not None and place is not None and at not in pairs and place not in taken:
            pairs[at] = place
            taken.add(place)
    for at in range(len(new)):
        before = pairs.get(at - 1) if at else _START
        place = None if at in pairs or before is None or before + 1 == len(old) else before + 1
        if place is not None and place not in taken and all(map(kind.is_known_by_place, (old[place], new[at]))):
            pairs[at] = place
            taken.add(place)
    return pairs


def _places_of_lines(parts: Sequence[str], known: Container[int]) -> dict[str, int | None]:
    """Each line below the headings of the entries that are not `known`, and the one of them that has it; None: several
    have it."""
    places: dict[str, int | None] = {}
    for at, part in enumerate(parts):
        if at not in known:
            for line in dict.fromkeys(filter(str.strip, part.split("\n")[1:])):
                places[line] = None if line in places else at
    return places


def _holds(long: Iterable[str], short: Iterable[str]) -> bool:
    """Whether the longer has all of the shorter, in its order."""
    rest = iter(long)
    return all(each in rest for each in short)


# Their order -------------------------------------------------------------------------------------------------------


def _in_order(ours: list[int], theirs: list[int], texts: Sequence[str], old: int) -> Iterator[int]:
    """The numbers of all parts. Those that both sides have stand as in ours, or as in theirs if these alone were
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
    """What follows each part that both sides have, up to the next such one."""
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
    """The parts of a run, each with those below it that begin with no time, by time and text."""
    groups: list[tuple[tuple[str, str], list[int]]] = []
    for number in run:
        time = _TIME.match(texts[number])
        if time or not groups:
            groups.append(((time[1] if time else "", texts[number]), []))
        groups[-1][1].append(number)
    return groups
