"""Preferences: what a turn signals, and what that changes in a profile.

A *signal* is one preference in what the person said; a *change* is its effect on USER.md; *evidence* is the record of
each signal in feedback.jsonl. `merge` decides which changes the signals make:

- an observed mention fills an empty field or is added to a list; it never replaces a different value;
- an adjustment replaces a value that is not strong; it takes one from the count of a strong one;
- an explicit statement replaces any value, and so does the person's own edit;
- a value that explicit statements or adjustments named three times is strong (never in a text list);
- in a list that is kept newest first, a member that is named again comes to the front.

USER.md wins over the evidence: when a person deletes the mark of a strong preference, it is no longer strong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from vault_memory.core.profile.fields import FIELDS, NOTE
from vault_memory.core.profile.profile import Item, Profile, clean
from vault_memory.core.text import comparable, same

Op = Literal["set", "add", "remove"]
ChangeOp = Literal["set", "add", "remove", "strengthen", "weaken", "restore"]
Strength = Literal["explicit", "adjustment", "observed", "manual"]

STRONG_AFTER = 3
"""A value that has been named this often is strong."""


@dataclass(frozen=True)
class Signal:
    """One preference in one turn.

    `op` is `set` or `remove` for a scalar key, `add` or `remove` for a list. `quote` is the clause that expresses it,
    in the person's words (already redacted), for the `Reason:` of the commit.
    """

    key: str
    op: Op
    value: str
    strength: Strength
    quote: str = ""


@dataclass(frozen=True)
class Change:
    """One change of one key, and the whole profile after it. `old` and `new` are empty where there is no value.

    `undoes` is the commit that a restoration takes back, if any.
    """

    key: str
    op: ChangeOp
    old: str
    new: str
    strength: Strength
    quote: str
    profile: Profile
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


@dataclass(frozen=True)
class Evidence:
    """One signal as feedback.jsonl keeps it.

    `current` is the value in the profile after the signal (for a list: the member that the signal names, empty if it is
    not there). `count` says how often that value has been named since it was added.
    """

    key: str
    op: str
    value: str
    strength: str
    applied: bool
    current: str
    count: int
    quote: str = ""

    @property
    def suggested_default(self) -> bool:
        """Whether the current value is strong, which makes it the person's default."""
        return bool(self.current) and self.count >= STRONG_AFTER and FIELDS[self.key].form != "text"

    def row(self) -> dict[str, Any]:
        """The JSON object for its line in feedback.jsonl."""
        return asdict(self) | {"suggested_default": self.suggested_default}


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
    for signal in signals:
        row = FIELDS.get(signal.key)
        value = clean(signal.value, "scalar" if signal.key == NOTE or row is None else row.form)
        if row is None or not value or (signal.op != "remove" and row.values and value not in row.values):
            continue
        change, count = _apply_signal(profile, replace(signal, value=value), known)
        if change:
            changes.append(change)
            profile = change.profile
        current = _current_value(profile, signal.key, value)
        known[signal.key, comparable(current or value)] = count
        applied = change is not None and change.op in ("set", "add", "remove")
        evidence.append(Evidence(signal.key, signal.op, value, signal.strength, applied, current, count, signal.quote))
    return changes, evidence


def changes_between(old: Profile, new: Profile, most: int | None = None) -> list[Change]:
    """A manual change for each preference that differs between two states of a profile, in the order of the fields.

    Each holds a whole profile, so a caller may name how many there may be at `most`: if there are more, it gets none.
    """
    changes: list[Change] = []
    state = old
    differences = {
        key: list(_value_changes(old.items(key), new.items(key), scalar=row.form == "scalar"))
        for key, row in FIELDS.items()
    }
    if most is not None and sum(map(len, differences.values())) > most:
        return []
    for key, rows in differences.items():
        for op, before, after in rows:
            others = [item for item in state.items(key) if item != before]
            state = state.with_items(key, [*others, after] if after else others)
            old_value, new_value = (item.value if item else "" for item in (before, after))
            changes.append(Change(key, op, old_value, new_value, "manual", "", state))
    return changes


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


def counts_in(rows_newest_first: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """How often each current value has been named, from the lines of feedback.jsonl: {(key, comparable value): n}.

    For a scalar only the newest line counts; a value that was replaced starts again at zero.
    """
    counts: dict[tuple[str, str], int] = {}
    closed: set[str] = set()
    for row in rows_newest_first:
        key, value, count = row.get("key"), row.get("current") or row.get("value"), row.get("count")
        if key not in FIELDS or key in closed or not isinstance(value, str) or not isinstance(count, int):
            continue
        if FIELDS[key].form == "scalar":
            closed.add(key)
        counts.setdefault((key, comparable(value)), count)
    return counts


def _apply_signal(profile: Profile, signal: Signal, counts: Mapping[tuple[str, str], int]) -> tuple[Change | None, int]:
    """The one change that a signal makes, if any, and the count of the current value after it."""
    key, value, form = signal.key, signal.value, FIELDS[signal.key].form
    current = _current_value(profile, key, value)
    strong = bool(current) and profile.is_strong(key, current)
    count = _count(counts, key, current, strong)
    named = 1 if signal.strength != "observed" else 0

    def change(op: ChangeOp, old: str, new: str, after: Profile) -> Change:
        return Change(key, op, old, new, signal.strength, signal.quote, after)

    is_equal = bool(current) and same(current, value)
    if is_equal and signal.op != "remove":
        count += named
        if named and count >= STRONG_AFTER and not strong and form != "text":
            return change("strengthen", current, current, profile.put(key, current, strong=True)), count
        after = profile.put(key, current, strong=strong) if FIELDS[key].max_items else profile
        return (None if after == profile else change("add", current, current, after)), count
    if current and signal.strength == "observed":
        return None, count
    if strong and signal.strength == "adjustment":
        count -= 1
        if count < STRONG_AFTER:
            return change("weaken", current, current, profile.put(key, current, strong=False)), count
        return None, count
    if signal.op == "remove":
        return (change("remove", current, "", profile.without(key, current)), 0) if is_equal else (None, count)
    after = profile.put(key, value)
    return (
        (None, count)
        if after == profile
        else (change("set" if form == "scalar" else "add", current, value, after), named)
    )


def _current_value(profile: Profile, key: str, value: str) -> str:
    """The value to compare a signal's value with: the scalar, or the equal member of a list; empty if there is none."""
    members = [item.value for item in profile.items(key)]
    if FIELDS[key].form == "scalar":
        return members[0] if members else ""
    return next((member for member in members if same(member, value)), "")


def _count(counts: Mapping[tuple[str, str], int], key: str, value: str, strong: bool) -> int:
    count = counts.get((key, comparable(value)), 0)
    if strong:
        return max(count, STRONG_AFTER)
    return 0 if count >= STRONG_AFTER else count  # the person deleted the mark
