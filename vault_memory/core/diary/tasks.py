"""MEMORY.md: an entry for each task, `## 2026-01-30 09:12` with bullets: 任務 (task), 模組 (module), 結果 (result).

A turn with a long reply makes one. A program may report the summary of a task, too, in lines of Markdown: where the
turn of the task has its entry, which does not know how the task ended, only that is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from vault_memory.core import reading
from vault_memory.core.diary.labels import DONE, FAILURE, MODULE, RESULT, SUCCESS, colon, ended, is_same, quoted
from vault_memory.core.notes import entries
from vault_memory.core.profile import LOCALES
from vault_memory.core.text import one_line

MEMORY_REPLY_CHARS = 100
"""A reply longer than this is a piece of work, and gets an entry."""
SAME_TASK = timedelta(minutes=10)
"""An entry of the same request is that of the same task when it is not older than this."""
_TITLE = ("長期記憶", "长期记忆", "Long-term memory")

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


def title(locale: str) -> str:
    """First line of MEMORY.md."""
    return f"# {_TITLE[LOCALES.index(locale)]}\n"


def with_turn(text: str, at: datetime, request: str, skill: str, came: str, locale: str, *, is_reply: bool) -> str:
    """MEMORY.md with the task of a turn: what was asked, by which module it was done, what came of it. With
    `is_reply` an earlier reply to the turn may have broken off: then its entry is there, and only its end changes."""
    column = LOCALES.index(locale)
    facts = [(entries.TASK, quoted(request)), (MODULE, one_line(skill))]
    bullets = [f"- {labels[column]}{colon(locale)}{fact}\n" for labels, fact in facts if fact]
    known = "".join([f"## {at:%Y-%m-%d %H:%M}\n", *bullets, f"- {RESULT[column]}{colon(locale)}"])
    begin = text.rfind(f"{known}{FAILURE[column]}\n") if is_reply else -1
    if begin < 0:
        return entries.appended(text, title(locale), f"{known}{one_line(came)}\n")
    begin += len(known)
    return text[:begin] + one_line(came) + text[begin + len(FAILURE[column]) :]


def without_words(text: str, at: datetime, request: str, told: str) -> str:
    """MEMORY.md in which the task of a turn at this time has these words (`told`) in place of what was asked."""
    for column, locale in enumerate(LOCALES):
        head = f"## {at:%Y-%m-%d %H:%M}\n- {entries.TASK[column]}{colon(locale)}"
        text = text.replace(f"{head}{quoted(request)}\n", f"{head}{told}\n")
    return text


def with_task(text: str, at: datetime, lines: list[str]) -> str:
    """MEMORY.md with a task whose summary has these `bullets`: a new entry, or the outcome in the one it has."""
    request, outcome = told(lines)
    for entry in reversed(list(_ENTRY.finditer(text))) if request else []:
        found = reading.lines(entry[2])
        if not is_same(_value(found, entries.TASK), request) or not _is_new(entry[1], at):
            continue
        column = next((n for n, line in enumerate(_OPEN) if line in found), None)
        if column is None or not outcome:
            return _appended(text, at, lines) if outcome else text
        begin = entry.start(2) + entry[2].index(_OPEN[column])
        line = f"- {RESULT[column]}{colon(LOCALES[column])}{ended(outcome, column)}"
        return text[:begin] + line + text[begin + len(_OPEN[column]) :]
    return _appended(text, at, lines)


def told(lines: list[str]) -> tuple[str, str]:
    """What was asked, and how it ended, by the `bullets` of a summary; "" for what they do not say."""
    return _value(lines, entries.TASK), _value(lines, RESULT)


def completed(text: str) -> int:
    """How many tasks of MEMORY.md have ended well, as far as it says."""
    return sum(map(text.count, _ENDED_WELL))


_OPEN = [f"- {RESULT[n]}{colon(locale)}{DONE[n]}" for n, locale in enumerate(LOCALES)]
"""What an entry says in each locale while nobody has said how its task ended."""
_ENDED_WELL = {
    f"- {RESULT[n]}{colon(locale)}{words[n]}\n" for n, locale in enumerate(LOCALES) for words in (SUCCESS, DONE)
}


def _appended(text: str, at: datetime, lines: list[str]) -> str:
    column = next((n for n, label in enumerate(entries.TASK) if _value(lines, (label,))), 0)
    entry = "\n".join([f"## {at:%Y-%m-%d %H:%M}", *lines]) + "\n"
    return entries.appended(text, title(LOCALES[column]), entry)


def _value(lines: list[str], labels: tuple[str, ...]) -> str:
    found = (match for match in map(_BULLET.fullmatch, lines) if match and match[1] in labels)
    return next((match[2].strip() for match in found), "")


def _is_new(heading: str, at: datetime) -> bool:
    try:
        age = at.replace(tzinfo=None) - datetime.fromisoformat(heading)
    except ValueError:  # a person may write any number
        return False
    return timedelta(minutes=-1) <= age <= SAME_TASK
