"""Private facts: health, religion, family, sexuality, money, addresses, birthdays, telephone numbers."""

from __future__ import annotations

from collections.abc import Mapping


def private_spans(text: str) -> list[tuple[int, int, str]]:
    """(start, end, category) of each sentence that tells a private fact; offsets into `text`."""
    return []


def is_private(clause: str) -> bool:
    """Whether the clause tells a private fact."""
    return bool(private_spans(clause))


def without_private(text: str) -> tuple[str, Mapping[str, int]]:
    """The text with each private sentence replaced by `[private]`, and how many of each category were."""
    return text, {}
