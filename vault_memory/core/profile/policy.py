"""Preferences: what a turn signals, and what that changes in a profile.

A *signal* is what the person was heard to say; a *change* is what it did to USER.md; *evidence* is the record of every
signal in feedback.jsonl. The merge policy here is the only judge between them:

- an observed mention fills an empty field or joins a list, and never replaces a different value;
- an adjustment replaces a value that is not strong; against a strong one it takes one from its count;
- an explicit statement, and the person's own hand, replace any value;
- a value that explicit statements or adjustments have named three times is strong;
- in a list that is kept newest first, what is named again comes to the front.

What USER.md says wins over what the evidence counts: a person who deletes the mark of a strong preference has spoken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from vault_memory.core.profile.fields import FIELDS, NOTE, clean, comparable, same
from vault_memory.core.profile.profile import Profile

Op = Literal["set", "add", "remove"]
ChangeOp = Literal["set", "add", "remove", "strengthen", "weaken", "restore"]
Strength = Literal["explicit", "adjustment", "observed", "manual"]

STRONG_AFTER = 3
"""How often a value must have been named before it is strong."""


@dataclass(frozen=True)
class Signal:
    """One preference heard in one turn.

    `op` is `set` or `remove` for a scalar key and `add` or `remove` for a list or free-text key. `quote` is the clause
    that carried it, as the person wrote it (already redacted), for the commit's `Reason:`.
    """

    key: str
    op: Op
    value: str
    strength: Strength
    quote: str = ""


@dataclass(frozen=True)
class Change:
    """One change of one key, and the whole profile right after it. `old` and `new` are empty where there is no value.

    `undoes` is the commit that a restoration takes back, if it takes back one.
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

    `current` is the value that stands in the profile once the signal is in (for a list: the member it speaks of, empty
    if it is not there) and `count` how often that value has been named since it came in.
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
        """Whether the current value is strong, and so the person's default."""
        return bool(self.current) and self.count >= STRONG_AFTER and FIELDS[self.key].form != "text"

    def row(self) -> dict[str, Any]:
        """The fields of its line in feedback.jsonl."""
        return asdict(self) | {"suggested_default": self.suggested_default}


def merge(
    profile: Profile, signals: Iterable[Signal], counts: Mapping[tuple[str, str], int]
) -> tuple[list[Change], list[Evidence]]:
    """Apply signals in order; return the changes of the profile and the evidence to append.

    `counts` is what `counts_in` found. A signal with an unknown key, or a value that is not valid for it, is dropped: it
    comes from a machine, and a wrong line in the profile costs more than a missing one.
    """
    changes: list[Change] = []
    evidence: list[Evidence] = []
    known = dict(counts)
    for signal in signals:
        row = FIELDS.get(signal.key)
        value = clean(signal.value, "scalar" if signal.key == NOTE or row is None else row.form)
        if row is None or not value or (signal.op != "remove" and row.values and value not in row.values):
            continue
        change, count = _judge(profile, replace(signal, value=value), known)
        if change:
            changes.append(change)
            profile = change.profile
        current = _standing(profile, signal.key, value)
        known[signal.key, comparable(current or value)] = count
        applied = change is not None and change.op in ("set", "add", "remove")
        evidence.append(Evidence(signal.key, signal.op, value, signal.strength, applied, current, count, signal.quote))
    return changes, evidence


def counts_in(rows_newest_first: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """How often each standing value has been named, from the lines of feedback.jsonl: {(key, comparable value): n}.

    Of a scalar only the newest line speaks; a value that has been replaced starts again at nothing.
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


def _judge(profile: Profile, signal: Signal, counts: Mapping[tuple[str, str], int]) -> tuple[Change | None, int]:
    """The one change that a signal makes, if any, and the count of the value that stands afterwards."""
    key, value, form = signal.key, signal.value, FIELDS[signal.key].form
    current = _standing(profile, key, value)
    strong = bool(current) and profile.is_strong(key, current)
    count = _count(counts, key, current, strong)
    named = 1 if signal.strength != "observed" else 0

    def change(op: ChangeOp, old: str, new: str, after: Profile) -> Change:
        return Change(key, op, old, new, signal.strength, signal.quote, after)

    agrees = bool(current) and same(current, value)
    if agrees and signal.op != "remove":
        count += named
        if named and count >= STRONG_AFTER and not strong and form != "text":
            return change("strengthen", current, current, profile.put(key, current, strong=True)), count
        after = profile.put(key, current, strong=strong) if FIELDS[key].bound else profile
        return (None if after == profile else change("add", current, current, after)), count
    if current and signal.strength == "observed":
        return None, count
    if strong and signal.strength == "adjustment":
        count -= 1
        if count < STRONG_AFTER:
            return change("weaken", current, current, profile.put(key, current, strong=False)), count
        return None, count
    if signal.op == "remove":
        return (change("remove", current, "", profile.without(key, current)), 0) if agrees else (None, count)
    after = profile.put(key, value)
    return (
        (None, count)
        if after == profile
        else (change("set" if form == "scalar" else "add", current, value, after), named)
    )


def _standing(profile: Profile, key: str, value: str) -> str:
    """What a signal for `value` meets: a scalar's value, or the equal member of a list; empty if there is none."""
    members = [item.value for item in profile.items(key)]
    if FIELDS[key].form == "scalar":
        return members[0] if members else ""
    return next((member for member in members if same(member, value)), "")


def _count(counts: Mapping[tuple[str, str], int], key: str, value: str, strong: bool) -> int:
    count = counts.get((key, comparable(value)), 0)
    if strong:
        return max(count, STRONG_AFTER)
    return 0 if count >= STRONG_AFTER else count  # the person deleted the mark
