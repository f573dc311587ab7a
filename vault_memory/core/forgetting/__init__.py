"""What a person asks to be forgotten, by a text, a key, a turn or a day: what of each file goes then, and which
turns of the record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.forgetting.record import turns_in, without_turns
    from vault_memory.core.forgetting.sought import Sought, SoughtTurn, Wish
    from vault_memory.core.forgetting.taking import Taken, of_evidence, of_profile, shown, taken_out, unsupported
    from vault_memory.core.forgetting.words import EVERYTHING, may_be_forgotten, means_everything, words_of

__all__ = [
    "EVERYTHING",
    "Sought",
    "SoughtTurn",
    "Taken",
    "Wish",
    "may_be_forgotten",
    "means_everything",
    "of_evidence",
    "of_profile",
    "shown",
    "taken_out",
    "turns_in",
    "unsupported",
    "without_turns",
    "words_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "EVERYTHING": "words",
        "Sought": "sought",
        "SoughtTurn": "sought",
        "Taken": "taking",
        "Wish": "sought",
        "may_be_forgotten": "words",
        "means_everything": "words",
        "words_of": "words",
        "of_evidence": "taking",
        "of_profile": "taking",
        "shown": "taking",
        "taken_out": "taking",
        "turns_in": "record",
        "unsupported": "taking",
        "without_turns": "record",
    },
)
