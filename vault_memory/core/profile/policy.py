"""Preferences: what a turn signals, and what that changes in a profile.

A *signal* is one preference in what the person said; a *change* is its effect on USER.md; *evidence* is the record of
each signal in feedback.jsonl (`evidence.py`). `merge` decides which changes the signals make:

- an observed mention fills an empty field or is added to a list; it never replaces a different value;
- an adjustment replaces a value that is not strong; it takes one from the count of a strong one;
- an explicit statement replaces any value, and so does the person's own edit;
- a signal that is older than the last change of its value changes nothing;
- a value that explicit statements or adjustments named three times is strong (never in a text list);
- in a list that is kept newest first, a member that is named again comes to the front.

USER.md wins over the evidence: when a person deletes the mark of a strong preference, it is no longer strong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vault_memory.core.profile.evidence import STRONG_AFTER, Evidence
from vault_memory.core.profile.fields import FIELDS, NOTE
from vault_memory.core.profile.profile import Item, Profile, canonical, clean, with_value, without_value
from vault_memory.core.text import comparable, same

Op = Literal["set", "add", "remove"]
ChangeOp = Literal["set", "add", "remove", "strengthen", "weaken", "restore"]
Strength = Literal["explicit", "adjustment", "observed", "manual"]

MAX_VERSIONS_BYTES = 8_000_000
"""Of a profile in the commits of one write, each of which holds all of it: 200 times 40 kB, or 13 times 600 kB."""


@dataclass(frozen=True)
class Signal:
    """One preference in one turn.

    `op` is `set` or `remove` for a scalar key, `add` or `remove` for a list. `quote` is the clause that expresses it,
    in the person's words (already redacted), for the `Reason:` of the commit. `is_late`: somebody has changed the value
    since it was said. `is_suggestion`: it is neither surely a preference nor surely none (`suggestions.py`).
    """

    key: str
    op: Op
    value: str
    strength: Strength
    quote: str = ""
    is_late: bool = False
    is_suggestion: bool = False

    def cleaned(self) -> str:
        """The value as the profile holds it; empty if it cannot."""
        row = FIELDS.get(self.key)
        if row is None:
            return clean(self.value)
        return canonical(self.key, clean(self.value, "scalar" if self.key == NOTE else row.form))


@dataclass(frozen=True)
class Change:
    """One change of one key, and its values after it. `old` and `new` are empty where there is no value.

    `undoes` is the commit that a restoration takes back, if any.
    """

    key: str
    op: ChangeOp
    old: str
    new: str
    strength: Strength
    quote: str
    items: tuple[Item, ...]
    undoes: str = ""

    def summary(self) -> str:
        """`theme = dark`, `languages += Python`, `tools -= Docker`, `theme = dark (strong)`."""
        if self.op == "strengthen":
            return f"{self.key} = {self.new} (strong)"
        if self.op == "weaken":
            return f"{self.key} = {self.new} (no longer strong)"
        if self.op == "restore":
            return f"{self.key} = {self.new or '(nothing)'} (restored)"
        if self.op == "remove":
            return f"{self.key} -= {self.old}"
        return f"{self.key} {'+=' if self.op == 'add' else '='} {self.new}"


def merge(
    profile: Profile, signals: Iterable[Signal], counts: Mapping[tuple[str, str], int]
) -> tuple[list[Change], list[Evidence]]:
    """Apply signals in order; return the changes of the profile and the evidence to append.

    `counts` comes from `counts_in`. A signal with an unknown key or an invalid value is dropped: a program made it, and
    a wrong line in the profile costs more than a missing one.
    """
    changes: list[Change] = []
    evidence: list[Evidence] = []
    known = dict(counts)
    state: dict[str, tuple[Item, ...]] = {}
    for signal in signals:
        row = FIELDS.get(signal.key)
        value = signal.cleaned()
        if row is None or not value or (signal.op != "remove" and row.values and value not in row.values):
            continue
        if row.key not in state:
            state[row.key] = profile.items(row.key)
        change, count = _apply_signal(state[row.key], replace(signal, value=value), known)
        if change:
            changes.append(change)
            state[row.key] = change.items
        current = _current_value(state[row.key], signal.key, value)
        known[signal.key, comparable(current or value)] = count
        applied = change is not None and change.op in ("set", "add", "remove")
        evidence.append(Evidence(signal.key, signal.op, value, signal.strength, applied, current, count, signal.quote))
    return changes, evidence


def changes_between(old: Profile, new: Profile, most: int | None = None) -> list[Change]:
    """A manual change for each preference that differs between two states of a profile, in the order of the fields.

    A caller may name how many there may be at `most`: if there are more, it gets none.
    """
    changes: list[Change] = []
    differences = {
        key: list(_value_changes(old.items(key), new.items(key), scalar=row.form == "scalar"))
        for key, row in FIELDS.items()
    }
    if most is not None and sum(map(len, differences.values())) > most:
        return []
    for key, rows in differences.items():
        state = old.items(key)
        for op, before, after in rows:
            others = [item for item in state if item != before]
            state = (*others, after) if after else tuple(others)
            old_value, new_value = (item.value if item else "" for item in (before, after))
            changes.append(Change(key, op, old_value, new_value, "manual", "", state))
    return changes


def subject(key: str, value: str) -> tuple[str, str]:
    """What a change of a value is a change of: the key, or that member of its list."""
    is_scalar = key in FIELDS and FIELDS[key].form == "scalar"
    return key, "" if is_scalar else comparable(value)


def changed(profile: Profile, changes: Iterable[Change]) -> Profile:
    """The profile after all of the changes."""
    for key, items in {change.key: change.items for change in changes}.items():
        profile = profile.with_items(key, items)
    return profile


def versions(profile: Profile, changes: Sequence[Change]) -> list[bytes]:
    """The profile after each of the changes, as its file holds it.

    Only that after the last one, if together they have more than `MAX_VERSIONS_BYTES`.
    """
    found = [profile.encode()]
    state, size = profile, len(found[0]) * len(changes)  # of a long profile not one is made in vain
    for change in changes:
        if size > MAX_VERSIONS_BYTES:
            break
        state = state.with_items(change.key, change.items)
        found.append(state.encode())
        size += len(found[-1]) - len(found[0])
    else:
        return found[1:]
    return [changed(profile, changes).encode()]


def taken_back(key: str, before: Profile, after: Profile, now: Profile) -> list[Item]:
    """The values of a key without what the change from `before` to `after` did to them. A value that somebody has
    changed or removed since stays as it is now."""
    old, new, items = (list(profile.items(key)) for profile in (before, after, now))
    if FIELDS[key].form == "scalar":
        return old if items == new else items
    for _, was, became in _value_changes(old, new, scalar=False):
        if became in items:
            at = items.index(became)
            items[at : at + 1] = [was] if was else []
        elif was and not became and was.value not in [item.value for item in items]:
            items.insert(old.index(was), was)
    return items


def _value_changes(
    old_items: Sequence[Item], new_items: Sequence[Item], *, scalar: bool
) -> Iterator[tuple[ChangeOp, Item | None, Item | None]]:
    """The change of each value: (operation, the item before, the item after)."""
    if scalar and old_items and new_items and old_items[0].value != new_items[0].value:
        yield "set", old_items[0], new_items[0]
        return
    old, new = {item.value: item for item in old_items}, {item.value: item for item in new_items}
    for value, item in old.items():
        if value not in new:
            yield "remove", item, None
        elif new[value].strong != item.strong:
            yield "strengthen" if new[value].strong else "weaken", item, new[value]
    for value, item in new.items():
        if value not in old:
            yield "set" if scalar else "add", None, item


def _apply_signal(
    items: tuple[Item, ...], signal: Signal, counts: Mapping[tuple[str, str], int]
) -> tuple[Change | None, int]:
    """The one change that a signal makes to the values of its key, if any, and how often the value after it counts."""
    key, value, form = signal.key, signal.value, FIELDS[signal.key].form
    current = _current_value(items, key, value)
    strong = bool(current) and any(item.strong and item.comparable == comparable(current) for item in items)
    count = _count(counts, key, current, strong)
    if signal.is_late and (signal.op == "remove" or not (current and same(current, value))):
        return None, count
    named = 1 if signal.strength != "observed" else 0

    def change(op: ChangeOp, old: str, new: str, after: Sequence[Item]) -> Change:
        return Change(key, op, old, new, signal.strength, signal.quote, tuple(after))

    is_equal = bool(current) and same(current, value)
    if is_equal and signal.op != "remove":
        count += named
        if named and count >= STRONG_AFTER and not strong and form != "text":
            return change("strengthen", current, current, with_value(key, items, current, strong=True)), count
        after = with_value(key, items, current, strong=strong) if FIELDS[key].max_items else [*items]
        return (None if after == [*items] else change("add", current, current, after)), count
    if current and signal.strength == "observed":
        return None, count
    if strong and signal.strength == "adjustment":
        count -= 1
        if count < STRONG_AFTER:
            return change("weaken", current, current, with_value(key, items, current)), count
        return None, count
    if signal.op == "remove":
        return (change("remove", current, "", without_value(items, current)), 0) if is_equal else (None, count)
    after = with_value(key, items, value)
    return (
        (None, count)
        if after == [*items]
        else (change("set" if form == "scalar" else "add", current, value, after), named)
    )


def _current_value(items: Sequence[Item], key: str, value: str) -> str:
    """The value to compare a signal's value with: the scalar, or the equal member of a list; empty if there is none."""
    if FIELDS[key].form == "scalar":
        return items[0].value if items else ""
    wanted = comparable(value)
    return next((item.value for item in items if item.comparable == wanted), "")


def _count(counts: Mapping[tuple[str, str], int], key: str, value: str, strong: bool) -> int:
    count = counts.get((key, comparable(value)), 0)
    if strong:
        return max(count, STRONG_AFTER)
    return 0 if count >= STRONG_AFTER else count  # the person deleted the mark
