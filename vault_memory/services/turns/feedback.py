"""Adjustments: a program reports that a person wants something done differently (the design's FeedbackCollector).

An adjustment is recorded as a turn: its words are kept, the same policy applies, each change is a commit. The same
adjustment three times makes a preference strong.
"""

from __future__ import annotations

from vault_memory.adapters.history import ASSISTANT
from vault_memory.core.extraction import Lexicon, extract_by_rules, load_lexicon
from vault_memory.core.privacy import redact
from vault_memory.core.profile import FIELDS, Change, Evidence, Signal
from vault_memory.services.profiles import ProfileFiles, change_profile
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault


def classify_adjustment(text: str) -> str | None:
    """The key of the preference in an adjustment, `theme` for 「改暗色主題」; None if there is none."""
    return next(iter(extract_params(text)), None)


def extract_params(text: str) -> dict[str, str]:
    """What an adjustment asks for, as key → value: `{"theme": "dark"}`."""
    return {signal.key: signal.value for signal in _wishes(text, load_lexicon()) if signal.op == "set"}


def record_adjustment(vault: Vault, student_id: str, text: str, skill: str | None = None) -> list[Change]:
    """Record an adjustment and learn from it; return what it changed in the profile. Raises what `record_turn` raises.

    It is recorded as a turn: a program must not record the same message with `record_turn` too.
    """
    recorded = record_turn(vault, student_id, text, skill=skill)
    wishes = [s for s in _wishes(redact(text).text, vault.lexicon()) if s.strength == "adjustment"]
    if not recorded.source or not wishes:
        return list(recorded.changes)

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence]]:
        return state.merge([] if state.evidence_of(recorded.source) else wishes)

    written = change_profile(vault, student_id, decide, ASSISTANT, recorded.source)
    return [*recorded.changes, *written.result]


def _wishes(text: str, lexicon: Lexicon) -> list[Signal]:
    """The wishes for scalar preferences in an adjustment; a single word (`暗色`) is one too, as the caller says so.

    The caller has judged already that it is one: the rules alone are asked.
    """
    for sentence in (text, f"改成{text}"):
        wishes = [s for s in extract_by_rules(sentence, "", {}, lexicon) if FIELDS[s.key].form == "scalar"]
        if wishes:
            return wishes
    return []
