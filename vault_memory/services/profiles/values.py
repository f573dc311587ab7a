"""What a value of a field may be when a program, a turn or a command gives it.

What a person writes into USER.md stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from vault_memory.config import is_zone
from vault_memory.core.profile import FIELDS, LANGUAGE, language_tag


def value_problem(key: str, value: str) -> str:
    """Why a field cannot have a value, and what it can have; "" where it can."""
    row = FIELDS.get(key)
    if row is None:
        return f"{key!r} is not a key of the profile; the keys are {', '.join(FIELDS)}"
    if row.values and value not in row.values:
        return f"{key} must be {_one_of(row.values)}, not {value!r}"
    if key == LANGUAGE and not language_tag(value):
        return f"{key} must be a tag of BCP-47 such as zh-TW, en or pt-BR, or a language's name, not {value!r}"
    if key == "timezone" and not is_zone(value):
        return f"{key} must be an IANA time zone such as Asia/Taipei, Europe/Berlin or UTC, not {value!r}"
    if key == "joined" and not _is_day(value):
        return f"{key} must be a day such as 2026-01-30, not {value!r}"
    return ""


def is_offered(key: str, value: str) -> bool:
    """Whether a suggestion may name this value. What is left of bytes that are no text is none."""
    return bool(value) and "\ufffd" not in value and not value_problem(key, value)


def _one_of(values: Sequence[str]) -> str:
    """`dark, light or auto`"""
    return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
