"""Merge three states of USER.md: the lines of fields by key, their lists by member, notes by note, the rest by line.

The fields' lines become marks, which no longer differ when the lines around them are merged (`line_merge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault_memory.core.merging.line_merge import (
    Clash,
    Merged,
    Newer,
    base_lines,
    carried_lines,
    merged_lines,
    split_lines,
)
from vault_memory.core.profile import FIELDS, NOTE, FieldLine, Item, Profile
from vault_memory.core.text import comparable


def merge_profile(base: str | None, ours: str, theirs: str, newer: Newer | None = None) -> Merged:
    """Merge two USER.md: the lines of fields by key, their lists by member, notes by note, all other lines by line.

    By key are merged the lines that the fields are read from, where they stand in their own sections. They are merged
    first, and then no longer differ when the lines are merged. A second line with a label is text like any other.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    one, other = split_lines(ours), split_lines(theirs)
    states = [_State.of(lines) for lines in (base_lines(base, one, other), one, other)]
    fields, clashes = _merge_fields(states, newer)
    old, one, other = (state.marked(fields, gone) for state, gone in zip(states, _settled_notes(states), strict=True))
    merged, conflicts = merged_lines(old, one, other)
    lines = list(merged) if conflicts else list(_once(merged, fields))
    return Merged(_with_fields(lines, fields).text, tuple(clashes), conflicts)


def carry_values(before: str, after: str, onto: str, *, yields: bool = False) -> str:
    """By key, as `merge_profile` does it: the fields' lines are marks while the other lines are carried.

    Of two values for a field that has one, the change's is taken, or with `yields` that of `onto`. A value that is
    removed is removed where it stands, and not another one in its place.
    """
    states = [_State.of(split_lines(each)) for each in (before, after, onto)]
    old, new, text = states
    fields: dict[str, _MergedField] = {}
    for key, row in FIELDS.items():
        if key == NOTE or not all(field.is_at_home for state in states if (field := state.field(key))):
            continue
        was, now, there = (state.items(key) for state in states)
        items: Sequence[Item]
        if was == now:
            fields[key] = _MergedField(there, text.text(key))
            continue
        if row.form != "scalar":
            items = _merge_members(was, now, there)
        elif there not in (was, now) and (yields or not now):
            if new.field(key) is None:
                continue  # the removed line is text, and so is another one here
            items = there
        else:
            items = now
        fields[key] = _MergedField(items, _field_text((old, text, new), key, items))
    made_twice = (set(new.notes.values()) & set(text.notes.values())) - set(old.lines)
    marked = (old.marked(fields, set()), new.marked(fields, made_twice), text.marked(fields, set()))
    return _with_fields(list(_once(carried_lines(*marked), fields)), fields).text


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


def _with_fields(lines: Sequence[str], fields: Mapping[str, _MergedField]) -> Profile:
    """The profile whose marks are replaced by the fields' lines."""
    profile = Profile.parse("".join(fields[line].text if line in fields else line for line in lines))
    for key, field in fields.items():
        if field.items and key not in lines:  # one side removed the line, the other's new value is kept
            profile = profile.with_new_line(key, field.items)
    return profile


def _once(lines: Iterable[str], fields: Mapping[str, _MergedField]) -> Iterator[str]:
    """The lines, and each mark only where it stands first: a field is one line, also if both sides made it."""
    seen: set[str] = set()
    for line in lines:
        if line not in seen:
            yield line
        if line in fields:
            seen.add(line)


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
