"""Adjustments: what a person wants done otherwise, told by a program that knows it for one (the design's FeedbackCollector).

They take the road of every turn: the words are kept, the same merge decides, each change is a commit. Repeated three times
they make a preference strong.
"""

from __future__ import annotations

from vault_memory.adapters.history import ASSISTANT
from vault_memory.core.extraction import Lexicon, extract, load_lexicon, redact
from vault_memory.core.profile.fields import FIELDS
from vault_memory.core.profile.policy import Change, Evidence, Signal
from vault_memory.services.profiles.profile_files import ProfileFiles, change_profile
from vault_memory.services.turns.record_turn import record_turn
from vault_memory.services.vault import Vault


def classify_adjustment(text: str) -> str | None:
    """The preference that an adjustment aims at, `theme` for 「改暗色主題」; None if it aims at none."""
    return next(iter(extract_params(text)), None)


def extract_params(text: str) -> dict[str, str]:
    """What an adjustment asks for: preference → value, `{"theme": "dark"}`."""
    return {signal.key: signal.value for signal in _wishes(text, load_lexicon()) if signal.op == "set"}


def record_adjustment(vault: Vault, student_id: str, text: str, skill: str | None = None) -> list[Change]:
    """Keep an adjustment and learn from it; return what it changed in the profile. Raises what `record_turn` raises.

    It is recorded as a turn, so a program that also records the person's message with `record_turn` must not do both.
    """
    recorded = record_turn(vault, student_id, text, skill=skill)
    wishes = [s for s in _wishes(redact(text).text, vault.lexicon()) if s.strength == "adjustment"]
    if not recorded.source or not wishes:
        return list(recorded.changes)

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        return state.merge([] if state.heard_in(recorded.source) else wishes)

    changes, _ = change_profile(vault, student_id, decide, ASSISTANT, recorded.source)
    return [*recorded.changes, *changes]


def _wishes(text: str, lexicon: Lexicon) -> list[Signal]:
    """The wishes of an adjustment for one of the scalar preferences. A bare `暗色` is one here: the caller says so."""
    for said in (text, f"改成{text}"):
        wishes = [s for s in extract(said, "", {}, lexicon) if FIELDS[s.key].form == "scalar"]
        if wishes:
            return wishes
    return []
