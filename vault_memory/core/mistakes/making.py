"""Making a mistake's record: what its values may be."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from vault_memory.core.mistakes.note import ID, OTHER, Mistake, decode, encode
from vault_memory.core.reading import plain_text
from vault_memory.core.text import one_line
from vault_memory.errors import TooLarge, UsageError

MAX_CHARS = 20_000
"""All texts of a mistake together: so much is searched for private facts."""
MAX_NAME_CHARS = 100


def new_mistake(
    mistake_id: str,
    action: str,
    error_type: str,
    at: datetime,
    *,
    user_correction: str = "",
    correct_method: str = "",
    impact: str = "",
    prevention_method: str = "",
    related_rule: str | None = None,
) -> Mistake:
    """A mistake that was made at a time, which has an offset. Raises `UsageError`, which names the value that is
    wrong, `TooLarge`."""
    if not isinstance(mistake_id, str) or len(mistake_id) > MAX_NAME_CHARS or not ID.fullmatch(mistake_id):
        raise UsageError(f"the id of a mistake is like mistake_1769753100000_a1b2c3, not {_shown(mistake_id)}")
    made = Mistake(
        id=mistake_id,
        error_type=_checked_name("error_type", error_type or OTHER),
        action=_checked_text("action", action),
        user_correction=_checked_text("user_correction", user_correction),
        correct_method=_checked_text("correct_method", correct_method),
        impact=_checked_text("impact", impact),
        prevention_method=_checked_text("prevention_method", prevention_method),
        related_rule=_checked_name("related_rule", related_rule) if related_rule else None,
        created_at=at.replace(microsecond=0),
    )
    if not made.action:
        raise UsageError("the action of a mistake is empty: say what was done")
    if (size := sum(len(text) for text in made.texts.values())) > MAX_CHARS:
        raise TooLarge(f"the texts of a mistake have at most {MAX_CHARS:,} characters together, not {size:,}")
    if decode(encode(made)) != made:
        raise UsageError("a text of the mistake holds characters that no note keeps as they are")
    return made


def _checked_text(name: str, text: Any) -> str:
    if not isinstance(text, str):
        raise UsageError(f"{name} is a text, not {_shown(text)}")
    return plain_text(text)


def _checked_name(name: str, value: Any) -> str:
    found = plain_text(value) if isinstance(value, str) else ""
    if not found or len(found) > MAX_NAME_CHARS or found != one_line(found):
        raise UsageError(f"{name} is a text on one line of at most {MAX_NAME_CHARS} characters, not {_shown(value)}")
    return found


def _shown(value: Any) -> str:
    """A wrong value as a message has it."""
    text = repr(value)
    return text if len(text) <= MAX_NAME_CHARS else f"{text[:MAX_NAME_CHARS]}…"
