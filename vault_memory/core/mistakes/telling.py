"""A mistake as a prompt tells it."""

from __future__ import annotations

from vault_memory.core.mistakes.note import Mistake
from vault_memory.core.profile import LOCALES

MAX_TOLD_CHARS = 300
"""How much of each text is told."""
_WORDS = (("正確的方法", "預防", "："), ("正确的方法", "预防", "："), ("Correct method", "Prevention", ": "))
"""By locale: what stands before how it is done rightly, and before how it is prevented."""


def told(mistake: Mistake, locale: str) -> str:
    """A mistake in words: when and of what type it was, what was done, how it is done rightly, how it is prevented.
    `locale` is one of `LOCALES`."""
    right, prevention, colon = _WORDS[LOCALES.index(locale)]
    day = mistake.created_at.date().isoformat() if mistake.created_at else ""
    lines = [f"{' '.join(filter(None, [day, mistake.error_type]))}: {_shortened(mistake.action)}"]
    for label, text in (
        (right, mistake.correct_method or mistake.user_correction),
        (prevention, mistake.prevention_method),
    ):
        lines += [f"{label}{colon}{_shortened(text)}"] if text else []
    return "\n".join(lines)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TOLD_CHARS else text[:MAX_TOLD_CHARS] + "…"
