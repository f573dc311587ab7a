"""Merge three texts by their lines: whatever is no profile, and the text of a profile around its fields.

Where the sides changed different lines there is nothing to decide: records are united, all other text is merged in its
order. Where both changed the same lines, both texts stay, in a block that a person understands
(`note.conflict_block`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from vault_memory.core import reading
from vault_memory.core.merging.matching import ends, matches
from vault_memory.core.notes import note

_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
Side = Literal["ours", "theirs"]
Newer = Callable[[str], Side]
"""Which side changed a key of the profile, or a property of a note, last."""


@dataclass(frozen=True)
class Clash:
    """A key of the profile, or a property of a note, that both sides changed: the newer side's value is kept, the older
    side's is replaced."""

    key: str
    kept: str
    older: str
    kept_side: Side


@dataclass(frozen=True)
class Merged:
    """The outcome: `clashes` were decided by age, `conflicts` counts the blocks that a person must decide."""

    text: str
    clashes: tuple[Clash, ...] = ()
    conflicts: int = 0


def merge_lines(base: str | None, ours: str, theirs: str) -> Merged:
    """Three-way merge by lines; what both sides add at one place is kept, ours first.

    `merge_lines(b, x, b)` and `merge_lines(b, x, x)` are x.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    one, other = split_lines(ours), split_lines(theirs)
    merged, conflicts = merged_lines(base_lines(base, one, other), one, other)
    return Merged("".join(merged), conflicts=conflicts)


def merge_jsonl(base: str | None, ours: str, theirs: str) -> Merged:
    """Union of records, one to a line: what either side added is there once, what either removed is gone.

    New records of both sides go to the end, by their `created_at` where all of them have one.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    old, one, other = (reading.lines(text) for text in (base or "", ours, theirs))
    removed = Counter(old) - Counter(other)
    kept = []
    for line in one:
        if removed[line] > 0:
            removed[line] -= 1
        else:
            kept.append(line)
    known = set(old)
    here = known.union(one)
    added = [line for line in other if line not in here]
    end = max((at for at, line in enumerate(kept) if line in known), default=-1) + 1
    tail = kept[end:] + added
    times = [_created_at(line) for line in tail]
    if all(times):
        tail = [line for _, line in sorted(zip(times, tail, strict=True), key=lambda pair: pair[0] or "")]
    return Merged("".join(line + "\n" for line in kept[:end] + tail))


def _created_at(line: str) -> str:
    """When a record was made, in a form that sorts; empty if it does not say."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(reading.json_value(line)["created_at"])
        return moment.astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, TypeError, KeyError, OverflowError):  # the year 0001 has no time before it
        return ""


def merged_lines(base: list[str], ours: list[str], theirs: list[str]) -> tuple[list[str], int]:
    """The merged lines, and how many conflict blocks are among them."""
    out: list[str] = []
    conflicts = 0
    for was, mine, yours in _regions(base, ours, theirs):
        lines, count = _settle(was, mine, yours)
        out += lines
        conflicts += count
    return out, conflicts


def _regions(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """Cut the three texts at the lines that all of them share; the pieces, in order, make up each text."""
    mine, yours = list(matches(base, ours)), list(matches(base, theirs))
    at = (0, 0, 0)
    i = j = 0
    while i < len(mine) and j < len(yours):
        (base_i, ours_i, size_i), (base_j, theirs_j, size_j) = mine[i], yours[j]
        start, end = max(base_i, base_j), min(base_i + size_i, base_j + size_j)
        if start < end:
            sync = (start, ours_i + start - base_i, theirs_j + start - base_j)
            yield base[at[0] : sync[0]], ours[at[1] : sync[1]], theirs[at[2] : sync[2]]
            shared = base[start:end]
            yield shared, shared, shared
            at = (end, sync[1] + end - start, sync[2] + end - start)
        if base_i + size_i < base_j + size_j:
            i += 1
        else:
            j += 1
    yield base[at[0] :], ours[at[1] :], theirs[at[2] :]


def _settle(base: list[str], ours: list[str], theirs: list[str]) -> tuple[list[str], int]:
    """One region: its merged lines, and how many conflict blocks are among them."""
    if ours == theirs or theirs == base:
        return ours, 0
    if ours == base:
        return theirs, 0
    if len(base) == len(ours) == len(theirs) > 1:
        # Neighbouring lines, each changed by one side only, are no conflict.
        parts = [_settle([b], [o], [t]) for b, o, t in zip(base, ours, theirs, strict=True)]
        return [line for lines, _ in parts for line in lines], sum(count for _, count in parts)
    head, tail = ends(ours, theirs)
    first, last = ours[:head], ours[len(ours) - tail :]
    ours, theirs = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    if not base:
        (mine, my_sections), (yours, your_sections) = _at_heading(ours), _at_heading(theirs)
        return [*first, *mine, *yours, *my_sections, *your_sections, *last], 0
    return [*first, *note.conflict_block(ours, theirs), *last], 1


def _at_heading(lines: list[str]) -> tuple[list[str], list[str]]:
    """Lines before the first heading, which belong to the section in which they stand, and the rest: what one side adds
    to a section must not come into one that the other side begins behind it."""
    fence = ""
    for at, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and _HEADING.match(line):
            while at and not lines[at - 1].strip():
                at -= 1
            return lines[:at], lines[at:]
    return lines, []


def carried_lines(old: list[str], new: list[str], text: list[str]) -> list[str]:
    """The lines of `text` with the change that leads from `old` to `new`."""
    place = {start + n: twin + n for start, twin, size in matches(old, text) for n in range(size)}
    placed = list(place)  # rises, and so do the places
    out: list[str] = []
    done = at = new_at = 0
    for start, new_start, size in [*matches(old, new), (len(old), len(new), 0)]:
        removed, added = {place[n] for n in range(at, start) if n in place}, new[new_at:new_start]
        if removed or added:
            first, last = bisect_left(placed, at), bisect_left(placed, start)
            begin = place[placed[first - 1]] + 1 if first else 0
            end = place[placed[last]] if last < len(placed) else len(text)
            out += text[done:begin]
            kept = [line for n, line in enumerate(text[begin:end], begin) if n not in removed]
            out += kept if _holds(kept, added) else [*kept, *added]
            done = end
        at, new_at = start + size, new_start + size
    return out + text[done:]


def _holds(lines: list[str], run: list[str]) -> bool:
    return any(lines[at : at + len(run)] == run for at in range(len(lines) - len(run) + 1))


def split_lines(text: str) -> list[str]:
    """The lines with their line breaks; a last line without one gets one."""
    return [line + "\n" for line in text.removesuffix("\n").split("\n")] if text else []


def base_lines(base: str | None, ours: list[str], theirs: list[str]) -> list[str]:
    """The lines that both sides began with; those that they share where both made the file."""
    return common_lines(ours, theirs) if base is None else split_lines(base)


def common_lines(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines that both texts share, in place of a common ancestor."""
    return [line for start, _, size in matches(ours, theirs) for line in ours[start : start + size]]
