"""Merge three states of a note with front matter: its properties by key, lists by member, and its body by line.

Conflict marks in front matter would make every property unreadable, so a property that both sides changed is decided:
by the side that is newer, or, where it only tells of a record's use, by a rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vault_memory.core.merging.line_merge import (
    Clash,
    Merged,
    Newer,
    base_lines,
    merge_lines,
    merged_lines,
    split_lines,
)
from vault_memory.core.notes import note

COUNTS = frozenset({"access_count"})
LATEST = frozenset({"last_accessed_at", "reinforced_at", "expires_at"})
USES = COUNTS | LATEST | {"said_on"}
"""The properties of a record that its use changes, and not a person: a count of both sides is added up, of two times
the later one counts, and days are united."""

ORIGIN = frozenset({"id", "created_at"})
"""What a record was made with. Where both sides made it, those of the one that is older stay."""

FRONT = "the front matter"
"""The name of the clash over front matter that cannot be read on one side."""

_KEY = re.compile(r"^([^\s#:-][^:\n]*):(?=\s)", re.MULTILINE)


def merge_note(
    base: str | None, ours: str, theirs: str, newer: Newer | None = None, *, has_uses: bool = False
) -> Merged:
    """Merge two notes; with `has_uses`, those of a record, the properties in `USES` and `ORIGIN` by their rules. Of
    another property that both sides changed the newer side's value stays, ours without `newer`; each is named in
    `clashes`. Front matter that cannot be read is a property itself."""
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    old, one, other = None if base is None else _Parts.of(base), _Parts.of(ours), _Parts.of(theirs)
    front, clashes = _merged_front(old, one, other, newer, has_uses)
    body = merge_lines(old.body if old else None, one.body, other.body)
    return Merged(front + body.text, clashes, body.conflicts)


def is_mere_use(before: str, after: str) -> bool:
    """Whether two states of a record differ in nothing but the properties in `USES`."""
    old, new = _Parts.of(before), _Parts.of(after)
    try:
        metas = [{key: value for key, value in each.meta.items() if key not in USES} for each in (old, new)]
    except ValueError:
        return False
    return old.body.strip() == new.body.strip() and metas[0] == metas[1]


@dataclass(frozen=True)
class _Parts:
    """A note: the line that opens its front matter, the YAML, the line that closes it, and the body."""

    opening: str
    yaml: str
    closing: str
    body: str

    @classmethod
    def of(cls, text: str) -> _Parts:
        block = note.split_front_matter(text.removeprefix("\ufeff"))
        if block is None:
            return cls("", "", "", text)
        yaml, body = block
        start, end = text.index("\n") + 1, len(text) - len(body)
        return cls(text[:start], yaml, text[start + len(yaml) : end], body)

    @property
    def front(self) -> str:
        return self.opening + self.yaml + self.closing

    @cached_property
    def meta(self) -> Mapping[str, Any]:
        """Raises `ValueError` for front matter that cannot be read."""
        return note.load_yaml(self.yaml)


def _merged_front(
    base: _Parts | None, ours: _Parts, theirs: _Parts, newer: Newer | None, has_uses: bool
) -> tuple[str, tuple[Clash, ...]]:
    """The front matter with the lines around it, and what was decided in it. Where a side's cannot be read, it is one
    property: what a person has begun to write there is not torn up."""
    if ours.front == theirs.front or (base and theirs.front == base.front):
        return ours.front, ()
    if base and ours.front == base.front:
        return theirs.front, ()
    try:
        meta, clashes = _merged_properties(base.meta if base else {}, ours.meta, theirs.meta, newer, has_uses)
    except ValueError:
        side = newer(FRONT) if newer else "ours"
        return (ours if side == "ours" else theirs).front, (Clash(FRONT, "the newer one", "one", side),)
    shape = ours if ours.yaml else theirs
    yaml = _merged_yaml(base.yaml if base else None, ours.yaml, theirs.yaml) or shape.yaml
    written = note.load_yaml(yaml)
    changes = {key: meta.get(key) for key in {**written, **meta} if written.get(key) != meta.get(key)}
    return note.with_meta(f"{shape.opening}{yaml}{shape.closing}", changes), clashes


def _merged_properties(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], newer: Newer | None, has_uses: bool
) -> tuple[dict[str, Any], tuple[Clash, ...]]:
    merged: dict[str, Any] = {}
    clashes: list[Clash] = []
    for key in {**ours, **theirs}:
        was: Any = base.get(key)
        mine: Any = ours.get(key)
        yours: Any = theirs.get(key)
        if yours == was:
            value = mine
        elif mine == was:
            value = yours
        elif has_uses and key in COUNTS and all(map(_is_count, (was, mine, yours))):
            value = max(0, mine + yours - was)  # also of equal ones: each side has counted its own
        elif mine == yours:
            value = mine
        elif has_uses and key in ORIGIN and was is None:
            value = yours if _made(theirs) < _made(ours) else mine
        elif has_uses and key in COUNTS and _is_count(mine) and _is_count(yours):
            value = max(mine, yours)
        elif isinstance(mine, list) and isinstance(yours, list):
            value = _members(was if isinstance(was, list) else [], mine, yours)
        elif has_uses and key in LATEST and None in (mine, yours):
            value = None  # without an end it is permanent
        elif has_uses and key in LATEST and (one := note.moment(mine)) and (other := note.moment(yours)):
            value = mine if one >= other else yours
        else:
            side = newer(key) if newer else "ours"
            value, lost = (mine, yours) if side == "ours" else (yours, mine)
            clashes.append(Clash(key, _shown(value), _shown(lost), side))
        if value is not None:
            merged[key] = value
    return merged, tuple(clashes)


def _members(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """What either side added is kept, what either removed is gone."""
    kept = [each for each in ours if each in theirs or each not in base]
    return kept + [each for each in theirs if each not in ours and each not in base]


def _merged_yaml(base: str | None, ours: str, theirs: str) -> str:
    """The lines of both, comments too; "" where they cannot be put together, or would name a key twice."""
    one, other = split_lines(ours), split_lines(theirs)
    lines, conflicts = merged_lines(base_lines(base, one, other), one, other)
    yaml = "".join(lines)
    if conflicts or any(count > 1 for count in Counter(_KEY.findall(yaml)).values()):
        return ""
    try:
        note.load_yaml(yaml)
    except ValueError:
        return ""
    return yaml


def _made(record: Mapping[str, Any]) -> tuple[bool, float, str]:
    """What records are put in order by, the oldest first; the id says to the millisecond when one was made."""
    at = note.moment(record.get("created_at"))
    return at is None, at.timestamp() if at else 0.0, str(record.get("id"))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
