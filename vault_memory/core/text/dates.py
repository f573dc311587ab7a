"""Dates said in words, made into tokens that a question and a note share: "May 8th 2023", 2023年5月8日, 2023-05-08.

A token begins with a private-use character, so that no text can spell one. The day 2023-05-08 has four: the day, the day
of any year (05-08), the month (2023-05) and the month of any year (05).
"""

from __future__ import annotations

import re
from datetime import date

MARK = "\ue000"

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}
_NAME = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"((?:19|20)\d\d)\b"

# Each pattern with the groups that hold (year, month, day); 0 where it has none.
_FORMS: list[tuple[re.Pattern[str], tuple[int, int, int]]] = [
    (re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"), (1, 2, 3)),
    (re.compile(r"((?:19|20)\d\d)\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*[日号號])?"), (1, 2, 3)),
    (re.compile(r"(?<![\d年])(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]?"), (0, 1, 2)),
    (re.compile(rf"\b{_NAME}\s+(?:the\s+)?{_DAY}(?!:)(?:\s*,?\s*{_YEAR})?", re.I), (3, 1, 2)),
    (re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_NAME}(?:\s*,?\s*{_YEAR})?", re.I), (3, 2, 1)),
    (re.compile(rf"\b{_NAME}\s*,?\s*(?:of\s+)?{_YEAR}", re.I), (2, 1, 0)),
    (re.compile(r"\b[io]n (" + "|".join(name.title() for name in _MONTHS if name != "sep") + r")\b"), (0, 1, 0)),
    (re.compile(r"(?<![\d年个個])(\d{1,2})\s*月(?![\d\s]*[\d日号號])"), (0, 1, 0)),
]
_WITHOUT_DIGITS = [form for form in _FORMS if form[1] == (0, 1, 0) and r"\d" not in form[0].pattern]
_DIGIT = re.compile(r"\d")


def of_day(day: date) -> list[str]:
    """The tokens of a note that is of one day."""
    return _tokens(day.year, day.month, day.day)


def mentions(text: str) -> list[str]:
    """The tokens of the dates that a text names, each once, the most exact of each mention first."""
    forms = _FORMS if _DIGIT.search(text) else _WITHOUT_DIGITS
    found: dict[str, None] = {}
    taken: list[tuple[int, int]] = []
    for pattern, (year, month, day) in forms:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            tokens = _tokens(*(_number(match[group]) if group else 0 for group in (year, month, day)))
            if tokens:
                taken.append(match.span())
                found.update(dict.fromkeys(tokens))
    return list(found)


def _number(text: str | None) -> int:
    if not text:
        return 0
    return int(text) if text.isdigit() else _MONTHS[text.lower()]


def _tokens(year: int, month: int, day: int) -> list[str]:
    if not 1 <= month <= 12 or not 0 <= day <= 31:
        return []
    tokens = []
    if year and day:
        tokens.append(f"{MARK}{year:04}{month:02}{day:02}")
    if day:
        tokens.append(f"{MARK}d{month:02}{day:02}")
    if year:
        tokens.append(f"{MARK}{year:04}{month:02}")
    return [*tokens, f"{MARK}m{month:02}"]
