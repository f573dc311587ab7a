"""Merge three states of a file: what both sides began with, ours, and theirs. Nobody's words are lost.

Where the sides changed different things there is nothing to decide: a profile is merged by key, its lists by member, a
journal by entry, records by line, and all other text by line. Where both changed the same lines, both texts stay, in a
block that a person understands (`note.conflict_block`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from vault_memory.core import layout, reading
from vault_memory.core.notes import note
from vault_memory.core.notes.matching import ends, matches
from vault_memory.core.profile import FIELDS, Item, Profile
from vault_memory.core.text import comparable

Side = Literal["ours", "theirs"]
Newer = Callable[[str], Side]
"""Which side changed a key of the profile last."""


@dataclass(frozen=True)
class Clash:
    """A key of the profile that both sides changed: the newer side's value is kept, the older side's is replaced."""

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


def merge_file(
    path: PurePosixPath, base: bytes | None, ours: bytes, theirs: bytes, newer: Newer | None = None
) -> Merged | None:
    """Merge a file by its kind (`path` is vault-relative); None if it cannot be merged, so that both must be kept.

    `base` is None when both sides made the file. `newer` decides between two values of one key; without it they become
    a conflict. Bytes that are not UTF-8 pass through (`surrogateescape`).
    """
    old, one, other = (
        None if data is None else data.decode("utf-8", "surrogateescape") for data in (base, ours, theirs)
    )
    assert one is not None and other is not None
    place = layout.place_of(path)
    if path.suffix == ".jsonl":
        return merge_jsonl(old, one, other)
    if place is None or path.suffix != ".md":
        return None
    kind = layout.kind_of(place)
    if kind == "profile":
        return merge_profile(old, one, other, newer)
    return merge_lines(old, one, other, journal=kind in ("daily", "memory-log"))


def carry_over(path: PurePosixPath, before: bytes | None, after: bytes, onto: bytes) -> bytes:
    """`onto` with the change that leads from `before` to `after`, and with nothing else of the two.

    A merge may keep lines that only `before` and `after` have; here they stay out. They are somebody's who has not
    committed them. A profile is changed by key, everything else by line; for what is not text the result is `after`.
    A change that is there already is not made twice.
    """
    if onto in (before, after) or b"\0" in after or b"\0" in onto:
        return after
    old, new, text = ("" if data is None else data.decode("utf-8", "surrogateescape") for data in (before, after, onto))
    if before is None:
        old = "".join(_common(_lines(new), _lines(text)))
    place = layout.place_of(path)
    if place is not None and layout.kind_of(place) == "profile":
        return _carry_values(old, new, text).encode("utf-8", "surrogateescape")
    return _carry_lines(old, new, text).encode("utf-8", "surrogateescape")


def _carry_values(before: str, after: str, onto: str) -> str:
    """By key: the three texts are given the values of the outcome, so that only other lines still differ."""
    old, new, text = (Profile.parse(each) for each in (before, after, onto))
    values = {}
    for key, row in FIELDS.items():
        was, now, there = old.items(key), new.items(key), text.items(key)
        changed = list(now) if row.form == "scalar" else _merge_members(was, now, there)
        values[key] = list(there) if was == now else changed
    carried = _carry_lines(*(_with(profile, values).text for profile in (old, new, text)))
    return _with(Profile.parse(carried), values).text


def _carry_lines(before: str, after: str, onto: str) -> str:
    old, new, text = _lines(before), _lines(after), _lines(onto)
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
    return "".join(out + text[done:])


def _holds(lines: list[str], run: list[str]) -> bool:
    return any(lines[at : at + len(run)] == run for at in range(len(lines) - len(run) + 1))


def merge_lines(base: str | None, ours: str, theirs: str, *, journal: bool = False) -> Merged:
    """Three-way merge by lines; what both sides add at one place is kept, ours first (a `journal`: by its headings).

    `merge_lines(b, x, b)` and `merge_lines(b, x, x)` are x.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    one, other = _lines(ours), _lines(theirs)
    old = _common(one, other) if base is None else _lines(base)
    out: list[str] = []
    conflicts = 0
    for was, mine, yours in _regions(old, one, other):
        text, count = _settle(was, mine, yours, journal)
        out += text
        conflicts += count
    return Merged("".join(out), conflicts=conflicts)


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


def merge_profile(base: str | None, ours: str, theirs: str, newer: Newer | None = None) -> Merged:
    """Merge two USER.md by key, their lists by member and all other lines by line.

    First all three texts are given the merged values, so that the lines of fields no longer differ; then the lines are
    merged.
    """
    one, other = Profile.parse(ours), Profile.parse(theirs)
    old = Profile.parse("".join(_common(_lines(ours), _lines(theirs))) if base is None else base)
    clashes: list[Clash] = []
    values: dict[str, list[Item]] = {}
    for key, row in FIELDS.items():
        was, mine, yours = old.items(key), one.items(key), other.items(key)
        if mine == yours or yours == was:
            values[key] = list(mine)
        elif mine == was:
            values[key] = list(yours)
        elif row.form != "scalar":
            values[key] = _merge_members(was, mine, yours)
        elif newer is not None:
            side = newer(key)
            kept, older = (mine, yours) if side == "ours" else (yours, mine)
            values[key] = list(kept)
            clashes.append(Clash(key, _shown(kept), _shown(older), side))
    merged = merge_lines(*(_with(profile, values).text for profile in (old, one, other)))
    text = merged.text if merged.conflicts else _with(Profile.parse(merged.text), values).text
    return Merged(text, tuple(clashes), merged.conflicts)


def _lines(text: str) -> list[str]:
    """The lines with their line breaks; a last line without one gets one."""
    return [line + "\n" for line in text.removesuffix("\n").split("\n")] if text else []


def _common(ours: list[str], theirs: list[str]) -> list[str]:
    """The lines that both texts share, in place of a common ancestor."""
    return [line for start, _, size in matches(ours, theirs) for line in ours[start : start + size]]


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


def _settle(base: list[str], ours: list[str], theirs: list[str], journal: bool) -> tuple[list[str], int]:
    """One region: its merged lines, and how many conflict blocks are among them."""
    if ours == theirs or theirs == base:
        return ours, 0
    if ours == base:
        return theirs, 0
    if len(base) == len(ours) == len(theirs) > 1:
        # Neighbouring lines, each changed by one side only, are no conflict.
        parts = [_settle([b], [o], [t], journal) for b, o, t in zip(base, ours, theirs, strict=True)]
        return [line for lines, _ in parts for line in lines], sum(count for _, count in parts)
    if journal and not base:
        return _by_heading(ours, theirs), 0
    head, tail = ends(ours, theirs)
    first, last = ours[:head], ours[len(ours) - tail :]
    ours, theirs = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    if not base:
        return [*first, *ours, *theirs, *last], 0
    return [*first, *note.conflict_block(ours, theirs), *last], 1


def _by_heading(ours: list[str], theirs: list[str]) -> list[str]:
    """The entries of both sides in the order of their headings (`## 14:05`, `## 2026-01-30 14:05`), equal ones once."""
    lead: dict[str, None] = {}
    entries: list[list[str]] = []
    for lines in (ours, theirs):
        before: list[str] = []
        current = before
        for line in lines:
            if line.startswith("## "):
                current = []
                entries.append(current)
            current.append(line)
        lead |= dict.fromkeys(before)
    tail = "\n" if entries and (ours[-1], theirs[-1]).count("\n") else ""
    ordered = sorted({"".join(entry).rstrip("\n") + "\n" for entry in entries})
    return [*lead, *_lines("\n".join(ordered) + tail)]


def _created_at(line: str) -> str:
    """When a record was made, in a form that sorts; empty if it does not say."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(reading.json_value(line)["created_at"])
        return moment.astimezone(UTC).isoformat(timespec="microseconds")
    except (ValueError, TypeError, KeyError, OverflowError):  # the year 0001 has no time before it
        return ""


def _merge_members(base: Sequence[Item], ours: Sequence[Item], theirs: Sequence[Item]) -> list[Item]:
    """Members of a list: what either side added is kept, what either removed is gone; likewise marks of strength."""
    old, one, other = ({comparable(item.value): item for item in items} for items in (base, ours, theirs))
    kept = [
        _member(old.get(name), item, other.get(name)) for name, item in one.items() if name in other or name not in old
    ]
    return kept + [item for name, item in other.items() if name not in one and name not in old]


def _member(was: Item | None, mine: Item, yours: Item | None) -> Item:
    return yours if yours is not None and mine == was else mine


def _with(profile: Profile, values: dict[str, list[Item]]) -> Profile:
    for key, items in values.items():
        profile = profile.with_items(key, items)
    return profile


def _shown(items: Iterable[Item]) -> str:
    return "、".join(item.value for item in items)
