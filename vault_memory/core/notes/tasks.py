"""The summary of a task that a program reports for MEMORY.md: lines of Markdown, `- 任務：…`, `- 模組：…`, `- 結果：…`.

The turn of the task may have its entry already, which does not know how the task ended: then only that is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from vault_memory.core import reading
from vault_memory.core.notes import journal
from vault_memory.core.profile import LOCALES
from vault_memory.core.text import one_line

SAME_TASK = timedelta(minutes=10)
"""An entry of the same request is that of the same task when it is not older than this."""

_ENTRY = re.compile(r"^## (\d{4}-\d\d-\d\d \d\d:\d\d)\n((?:(?!## ).*\n?)*)", re.MULTILINE)
_LABEL = re.compile(r"(?:- )?([^：:\n]{1,20}(?:：|: ?))?(.*)", re.DOTALL)
_BULLET = re.compile(r"- ([^：:\n]{1,20})[：:] ?(.*)")


def bullets(summary: str, kept: Callable[[str], str]) -> list[str]:
    """The lines of a summary, one for each of its bullets; those without a value (`None`) are left out. `kept` gives
    what may be kept of a value."""
    found = []
    for part in re.split(r"\n(?=- )", summary.strip()):
        label, value = _LABEL.match(part).groups()  # type: ignore[union-attr]  # it matches every text
        if (value := kept(one_line(value))) not in ("", "None"):
            found.append(f"- {label or ''}{value}")
    return found


def with_task(text: str, at: datetime, lines: list[str]) -> str:
    """MEMORY.md with a task whose summary has these `bullets`: a new entry, or the outcome in the one it has."""
    request, outcome = _value(lines, journal.TASK), _value(lines, journal.RESULT)
    for entry in reversed(list(_ENTRY.finditer(text))) if request else []:
        found = reading.lines(entry[2])
        if not _is_same(_value(found, journal.TASK), request) or not _is_new(entry[1], at):
            continue
        label, ended = next(((label, end) for label, end in _OPEN if f"- {label}{end}" in found), ("", ""))
        if not label or outcome is None:
            return text if outcome is None else _appended(text, at, lines)
        column = journal.RESULT.index(label.rstrip("：: "))
        known = next((values[column] for values in journal.OUTCOMES.values() if outcome in values), outcome)
        begin = entry.start(2) + entry[2].index(f"- {label}{ended}")
        return f"{text[:begin]}- {label}{known}{text[begin + len(f'- {label}{ended}') :]}"
    return _appended(text, at, lines)


_OPEN = [
    (label + (": " if locale == "en" else "："), ended)
    for label, ended, locale in zip(journal.RESULT, journal.OUTCOMES["unknown"], LOCALES, strict=True)
]
"""What an entry says in each locale while nobody has said how its task ended."""


def _appended(text: str, at: datetime, lines: list[str]) -> str:
    column = next((n for n, label in enumerate(journal.TASK) if _value(lines, (label,))), 0)
    entry = "\n".join([f"## {at:%Y-%m-%d %H:%M}", *lines]) + "\n"
    return journal.append(text, journal.memory_title(LOCALES[column]), entry)


def _value(lines: list[str], labels: tuple[str, ...]) -> str | None:
    found = (match for match in map(_BULLET.fullmatch, lines) if match and match[1] in labels)
    return next((match[2].strip() for match in found), None)


def _is_same(one: str | None, other: str | None) -> bool:
    """Whether two quotations are of one request: each may be cut, with `…` or without."""
    one, other = (one or "").removesuffix("…"), (other or "").removesuffix("…")
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _is_new(heading: str, at: datetime) -> bool:
    try:
        age = at.replace(tzinfo=None) - datetime.fromisoformat(heading)
    except ValueError:  # a person may write any number
        return False
    return timedelta(minutes=-1) <= age <= SAME_TASK
