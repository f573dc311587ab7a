"""What a program tells of a learner's step: its intent, topic and artifact, and how a quiz went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_memory.core.text import normalize, one_line
from vault_memory.errors import UsageError

ARTIFACTS = ("quiz", "explanation", "notes", "flashcards")
"""What a learner may prefer to get."""
DIFFICULTIES = ("easy", "medium", "hard")
MAX_NAME_CHARS = 200
"""Of a topic, an intent, an artifact, a session's id."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One step. `intent` is what was asked for (quiz, homework_help, a name of your own), `topic` a whole text such as
    微积分-极限, `artifact` what was made (quiz_set), `correct_rate` 0 to 1."""

    intent: str
    topic: str | None = None
    artifact: str | None = None
    difficulty: str | None = None
    correct_rate: float | None = None


def read_event(payload: Any) -> Event:
    """The event in a program's JSON: {intent, topic, artifact, metadata: {difficulty, correct_rate}}; all but `intent`
    may be missing or None, and other fields are left out. Raises `UsageError`, which names the field that is wrong."""
    if not isinstance(payload, Mapping):
        raise UsageError(f"event: an object such as {{'intent': 'quiz'}} is wanted, not {_shown(payload)}")
    metadata = payload.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise UsageError(f"event.metadata: an object is wanted, not {_shown(metadata)}")
    difficulty = metadata.get("difficulty")
    if difficulty is not None and difficulty not in DIFFICULTIES:
        raise UsageError(f"event.metadata.difficulty: one of {', '.join(DIFFICULTIES)}, not {_shown(difficulty)}")
    rate = metadata.get("correct_rate")
    is_number = isinstance(rate, int | float) and not isinstance(rate, bool)
    if rate is not None and not (is_number and 0 <= rate <= 1):
        raise UsageError(f"event.metadata.correct_rate: a number from 0 to 1, not {_shown(rate)}")
    intent = checked("event.intent", payload.get("intent"))
    if intent is None:
        raise UsageError("event.intent is missing: say what was asked for, such as quiz or homework_help")
    return Event(
        intent=intent,
        topic=checked("event.topic", payload.get("topic")),
        artifact=checked("event.artifact", payload.get("artifact")),
        difficulty=difficulty,
        correct_rate=None if rate is None else float(rate),
    )


def checked(field: str, value: Any) -> str | None:
    """A name on one line; None where there is none or only blanks. Raises `UsageError` for anything else than a text,
    and for more than 200 characters."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise UsageError(f"{field}: a text is wanted, not {_shown(value)}")
    if len(value) > MAX_NAME_CHARS:
        raise UsageError(f"{field} has {len(value):,} characters, and at most {MAX_NAME_CHARS} are kept: shorten it")
    return one_line(normalize("NFC", value)) or None


def _shown(value: Any) -> str:
    return repr(value)[:60]
