"""Preferences: what a turn signals, and what that changes in a profile.

A *signal* is what the person was heard to say; a *change* is what it did to USER.md. Signals come from extraction, from a
recorded adjustment or from `pref set`; the merge policy here is the only judge between them and the profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Op = Literal["set", "add", "remove"]
Strength = Literal["explicit", "adjustment", "observed", "manual"]


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
