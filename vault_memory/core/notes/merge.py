"""Merge three states of a file: what both sides began with, ours, and theirs. Nobody's words are lost.

Where the sides changed different things there is nothing to decide: a profile is merged by key, its lists by member, a
journal by entry, records by line, and all other text by line. Where both changed the same lines, both texts stay, in a
block that a person understands (`note.conflict_block`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from vault_memory.core import layout, reading
from vault_memory.core.notes import note
from vault_memory.core.notes.matching import ends, matches
from vault_memory.core.profile import FIELDS, NOTE, FieldLine, Item, Profile
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
    return "".join(_carried(*(_lines(each) for each in (old, new, text)))).encode("utf-8", "surrogateescape")


def _carry_values(before: str, after: str, onto: str) -> str:
    """By key, as `merge_profile` does it: the fields' lines are marks while the other lines are carried."""
    states = [_State.of(_lines(each)) for each in (before, after, onto)]
    old, new, text = states
    fields: dict[str, _MergedField] = {}
    for key, row in FIELDS.items():
        if key == NOTE or not all(field.is_at_home for state in states if (field := state.field(key))):
            continue
        was, now, there = (state.items(key) for state in states)
        if was == now:
            fields[key] = _MergedField(there, text.text(key))
        else:
            items = now if row.form == "scalar" else _merge_members(was, now, there)
            fields[key] = _MergedField(items, _field_text((old, text, new), key, items))
    made_twice = (set(new.notes.values()) & set(text.notes.values())) - set(old.lines)
    lines = list(
        _once(_carried(old.marked(fields, set()), new.marked(fields, made_twice), text.marked(fields, set())), fields)
    )
    return _with_fields(lines, fields).text


def _with_fields(lines: Sequence[str], fields: Mapping[str, _MergedField]) -> Profile:
    """The profile whose marks are replaced by the fields' lines."""
    profile = Profile.parse("".join(fields[line].text if line in fields else line for line in lines))
    for key, field in fields.items():
        if field.items and key not in lines:  # one side removed the line, the other's new value is kept
            profile = profile.with_new_line(key, field.items)
    return profile


def _carried(old: list[str], new: list[str], text: list[str]) -> list[str]:
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


def merge_lines(base: str | None, ours: str, theirs: str, *, journal: bool = False) -> Merged:
    """Three-way merge by lines; what both sides add at one place is kept, ours first (a `journal`: by its headings).

    `merge_lines(b, x, b)` and `merge_lines(b, x, x)` are x.
    """
    if ours == theirs or theirs == base:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    one, other = _lines(ours), _lines(theirs)
    merged, conflicts = _merged(_common(one, other) if base is None else _lines(base), one, other, journal)
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


def merge_profile(base: str | None, ours: str, theirs: str, newer: Newer | None = None) -> Merged:
    """Merge two USER.md: the lines of fields by key, their lists by member, notes by note, all other lines by line.

    By key are merged the lines that the fields are read from, where they stand in their own sections. They are merged
    first, and then no longer differ when the lines are merged. A second line with a label is text like any other.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    one, other = _lines(ours), _lines(theirs)
    states = [_State.of(lines) for lines in (_common(one, other) if base is None else _lines(base), one, other)]
    fields, clashes = _merge_fields(states, newer)
    old, one, other = (state.marked(fields, gone) for state, gone in zip(states, _settled_notes(states), strict=True))
    merged, conflicts = _merged(old, one, other)
    lines = list(merged) if conflicts else list(_once(merged, fields))
    return Merged(_with_fields(lines, fields).text, tuple(clashes), conflicts)


@dataclass(frozen=True)
class _State:
    """One of the three states of a profile: its lines, each with its line break, and what is read from them."""

    lines: list[str]
    profile: Profile

    @classmethod
    def of(cls, lines: list[str]) -> _State:
        return cls(lines, Profile.parse("".join(lines)))

    def field(self, key: str) -> FieldLine | None:
        return self.profile.line_of(key)

    def items(self, key: str) -> tuple[Item, ...]:
        field = self.field(key)
        return field.items if field else ()

    def text(self, key: str) -> str:
        """The line of a field; empty if there is none."""
        field = self.field(key)
        return self.lines[field.index] if field else ""

    @property
    def notes(self) -> dict[int, str]:
        """The lines of the notes, by their index."""
        return {line.index: self.lines[line.index] for line in self.profile.note_lines if line.items}

    def marked(self, fields: Iterable[str], gone: set[str]) -> list[str]:
        """The lines without the notes in `gone`, and with the key in place of each field's line: a mark, which differs
        from every line because it has no line break."""
        marks = {field.index: key for key in fields if (field := self.field(key))}
        left_out = {index for index, note in self.notes.items() if note in gone}
        return [marks.get(at, line) for at, line in enumerate(self.lines) if at not in left_out]


@dataclass(frozen=True)
class _MergedField:
    """The values of a field after the merge, and the line that holds them."""

    items: Sequence[Item]
    text: str


def _merge_fields(states: Sequence[_State], newer: Newer | None) -> tuple[dict[str, _MergedField], list[Clash]]:
    """The fields that are merged by key. One that both sides changed, without ages, is not: its lines clash."""
    fields: dict[str, _MergedField] = {}
    clashes: list[Clash] = []
    for key, row in FIELDS.items():
        found = [field for state in states if (field := state.field(key))]
        if key == NOTE or not found or not all(field.is_at_home for field in found):
            continue
        was, mine, yours = (state.items(key) for state in states)
        if mine == yours or yours == was:
            items: Sequence[Item] = mine
        elif mine == was:
            items = yours
        elif row.form != "scalar":
            items = _merge_members(was, mine, yours)
        elif newer is not None:
            side = newer(key)
            items, older = (mine, yours) if side == "ours" else (yours, mine)
            clashes.append(Clash(key, _shown(items), _shown(older), side))
        else:
            continue
        fields[key] = _MergedField(items, _field_text(states, key, items))
    return fields, clashes


def _field_text(states: Sequence[_State], key: str, items: Sequence[Item]) -> str:
    """A line for a field: as the side wrote it that has these values, ours first if it changed the line."""
    base, ours, theirs = states
    sides = (theirs, ours, base) if ours.text(key) in ("", base.text(key)) else (ours, theirs, base)
    for side in sides:
        if (text := side.text(key)) and list(side.items(key)) == list(items):
            return text
    writer = next(side for side in sides if side.text(key))
    field = writer.field(key)
    assert field
    return writer.profile.line_with(field, items)


def _settled_notes(states: Sequence[_State]) -> list[set[str]]:
    """For each state, the notes that are left out: those that a side removed, and of theirs those that ours has too."""
    old, mine, yours = (set(state.notes.values()) for state in states)
    base, ours, theirs = (set(state.lines) for state in states)
    removed = (old - ours) | (old - theirs)
    return [removed, removed, removed | ((mine & yours) - base)]


def _once(lines: Iterable[str], fields: Mapping[str, _MergedField]) -> Iterator[str]:
    """The lines, and each mark only where it stands first: a field is one line, also if both sides made it."""
    seen: set[str] = set()
    for line in lines:
        if line not in seen:
            yield line
        if line in fields:
            seen.add(line)


def _merged(base: list[str], ours: list[str], theirs: list[str], journal: bool = False) -> tuple[list[str], int]:
    """The merged lines, and how many conflict blocks are among them."""
    out: list[str] = []
    conflicts = 0
    for was, mine, yours in _regions(base, ours, theirs):
        lines, count = _settle(was, mine, yours, journal)
        out += lines
        conflicts += count
    return out, conflicts


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
    """The entries of both sides in the order of their headings (`## 14:05`, `## 2026-01-30 14:05`); equal ones as often
    as the side has them that has more of them."""
    lead: dict[str, None] = {}
    entries: Counter[str] = Counter()
    for lines in (ours, theirs):
        before: list[str] = []
        found: list[list[str]] = []
        for line in lines:
            if line.startswith("## "):
                found.append([])
            (found[-1] if found else before).append(line)
        lead |= dict.fromkeys(before)
        entries |= Counter("".join(entry).rstrip("\n") + "\n" for entry in found)
    tail = "\n" if entries and (ours[-1], theirs[-1]).count("\n") else ""
    ordered = sorted(entries.elements())
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


def _shown(items: Iterable[Item]) -> str:
    return "、".join(item.value for item in items)
