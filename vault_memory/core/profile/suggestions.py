"""Suggestions: what was neither surely a preference nor surely none waits until it is heard again, or the person says.

One is a line of feedback.jsonl with `suggestion`: "open", or "dismissed" once the person has said no. It has no count,
and is no evidence for a value. The lines after it tell what has become of it: a change of its value closes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal, cast

from vault_memory.core.profile.evidence import Row
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.profile.policy import Op, Signal, Strength, subject
from vault_memory.core.profile.profile import Profile
from vault_memory.core.text import comparable, same

MAX_SUGGESTIONS = 100
"""So many of the newest lines with suggestions are looked at."""
_SIGNS = {"set": "=", "add": "+=", "remove": "-="}
SuggestionState = Literal["open", "dismissed"]
DISMISSED = b'"suggestion": "dismissed"'
"""Stands in each line with which the person has said no."""


@dataclass(frozen=True)
class Suggestion:
    """A signal that waits. `conversation` names the one in which it was heard ("": nobody has named it); `source` is
    the turn's line, and `created_at` its time as ISO has it, both empty before it is written."""

    key: str
    op: Op
    value: str
    strength: Strength
    quote: str = ""
    conversation: str = ""
    suggestion: SuggestionState = "open"
    source: str = ""
    created_at: str = ""

    @property
    def id(self) -> str:
        """Six letters and digits, the same for the same value of the same key however often it is heard."""
        return hashlib.sha256("\0".join(_value(self)).encode()).hexdigest()[:6]

    def row(self) -> dict[str, Any]:
        """The JSON object for its line in feedback.jsonl, without `source` and `created_at`."""
        names = ("key", "op", "value", "strength", "suggestion", "conversation", "quote")
        return {name: getattr(self, name) for name in names} | {"applied": False}

    def summary(self) -> str:
        """`theme = dark`, `languages += Python`, `tools -= Docker`."""
        return f"{self.key} {_SIGNS[self.op]} {self.value}"


def waiting(
    rows_newest_first: Iterable[Row], profile: Profile, is_offered: Callable[[str, str], bool]
) -> list[Suggestion]:
    """The suggestions that are open, newest first: of a scalar the newest only, and none that the profile follows
    already, that the person dismissed, that a later change of its value has closed, or that does not fit its field: we
    never wrote that one. `is_offered` tells whether a key can have a value."""
    found = []
    closed: set[tuple[str, str]] = set()
    dismissed: set[tuple[str, str, str]] = set()
    looked_at = 0
    for row in rows_newest_first:
        if not row.suggestion:
            if row.value and (row.applied or same(row.value, row.current)):
                closed.add(subject(row.key, row.value))
            continue
        each = _read(row, is_offered)
        if each is None:
            continue
        if (looked_at := looked_at + 1) > MAX_SUGGESTIONS:
            break
        about = subject(each.key, each.value)
        if each.suggestion == "dismissed":
            dismissed.add(_value(each))
        elif about not in closed and _value(each) not in dismissed:
            closed.add(about)
            if not _is_followed(profile, each):
                found.append(each)
    return found


def dismissed_values(rows: Iterable[Row]) -> set[tuple[str, str, str]]:
    """What the person has dismissed: (key, op, comparable value)."""
    return {(row.key, row.op, comparable(row.value)) for row in rows if row.suggestion == "dismissed"}


def heard(
    signals: Sequence[Signal],
    profile: Profile,
    open_ones: Sequence[Suggestion],
    dismissed: set[tuple[str, str, str]],
    conversation: str,
    day: date,
) -> tuple[list[Signal], list[Suggestion]]:
    """The signals that count now, and the suggestions to keep.

    An unsure signal counts when the same was heard before on another `day`, or in another `conversation` that has a
    name. It is left out beside a sure one about the same, when the person dismissed it, or the profile follows it.
    """
    counting = [signal for signal in signals if not signal.is_suggestion]
    about = {subject(signal.key, signal.cleaned()) for signal in counting}
    kept: list[Suggestion] = []
    for signal in signals:
        row, value = FIELDS.get(signal.key), signal.cleaned()
        if not signal.is_suggestion or signal.is_late or row is None or not value:
            continue
        if row.values and value not in row.values:
            continue
        new = Suggestion(signal.key, signal.op, value, signal.strength, signal.quote, conversation)
        if _value(new) in dismissed or _is_followed(profile, new) or subject(new.key, value) in about:
            continue
        about.add(subject(new.key, value))
        before = next((each for each in open_ones if each.id == new.id), None)
        if before is None:
            kept.append(new)
        elif _day(before) != day or (conversation and before.conversation and conversation != before.conversation):
            counting.append(replace(signal, is_suggestion=False))
    return counting, kept


def dismissal(open_one: Suggestion) -> Suggestion:
    """The line that says no to a suggestion."""
    return replace(open_one, suggestion="dismissed", quote="", conversation="")


def _read(row: Row, is_offered: Callable[[str, str], bool]) -> Suggestion | None:
    """The suggestion of a row; None where it is none that we write."""
    is_scalar = FIELDS[row.key].form == "scalar"
    if row.op not in ("remove", "set" if is_scalar else "add") or not row.strength or not row.suggestion:
        return None
    op, strength = cast(Op, row.op), cast(Strength, row.strength)
    if row.value != Signal(row.key, op, row.value, strength).cleaned() or not is_offered(row.key, row.value):
        return None
    at = row.created_at if row.at else ""
    return Suggestion(row.key, op, row.value, strength, row.quote, row.conversation, row.suggestion, row.source, at)


def _value(each: Suggestion) -> tuple[str, str, str]:
    return each.key, each.op, comparable(each.value)


def _is_followed(profile: Profile, each: Suggestion) -> bool:
    """Whether the profile is as the suggestion wants it."""
    is_there = any(item.comparable == comparable(each.value) for item in profile.items(each.key))
    return is_there is (each.op != "remove")


def _day(each: Suggestion) -> date | None:
    try:
        return datetime.fromisoformat(each.created_at).date()
    except ValueError:
        return None
