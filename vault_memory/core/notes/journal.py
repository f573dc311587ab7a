"""The two running accounts that the assistant keeps: the daily log and MEMORY.md.

Both are Markdown with one heading per entry and a bullet per fact, so that a person can read and grep them, and so that a
search returns one entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from vault_memory.core.profile.fields import LOCALES, one_line

REQUEST_CHARS = 150
"""Most characters of a message that an entry quotes; the whole message stands in the conversation record."""
MEMORY_REPLY_CHARS = 100
"""A reply longer than this is a piece of work, and gets an entry in MEMORY.md."""

_REQUEST = ("請求", "请求", "Request")
_SKILL = ("模組", "模块", "Module")
_LEARNED = ("萃取偏好", "提取偏好", "Preferences")
_TASK = ("任務", "任务", "Task")
_RESULT = ("結果", "结果", "Result")
_OUTCOMES = {
    "ok": ("成功", "成功", "success"),
    "failed": ("失敗", "失败", "failure"),
    "unknown": ("完成", "完成", "done"),
}
_MEMORY_TITLE = ("長期記憶", "长期记忆", "Long-term memory")


def daily_entry(at: datetime, request: str, skill: str | None, learned: Sequence[str], locale: str) -> str:
    """One entry of the daily log; `learned` are the summaries of the preferences of this turn."""
    bullets = [(_REQUEST, _shortened(request)), (_SKILL, one_line(skill or "")), (_LEARNED, "；".join(learned))]
    return _entry(f"{at:%H:%M}", bullets, locale)


def memory_entry(at: datetime, request: str, skill: str | None, exit_code: int | None, locale: str) -> str:
    """One entry of MEMORY.md: what was asked, by which module it was done, how it ended."""
    outcome = "unknown" if exit_code is None else "ok" if exit_code == 0 else "failed"
    place = LOCALES.index(locale)
    bullets = [(_TASK, _shortened(request)), (_SKILL, one_line(skill or "")), (_RESULT, _OUTCOMES[outcome][place])]
    return _entry(f"{at:%Y-%m-%d %H:%M}", bullets, locale)


def daily_title(day: date) -> str:
    """First line of a day's log."""
    return f"# {day.isoformat()}\n"


def memory_title(locale: str) -> str:
    """First line of MEMORY.md."""
    return f"# {_MEMORY_TITLE[LOCALES.index(locale)]}\n"


def append(text: str, title: str, entry: str) -> str:
    """The account with an entry added after a blank line; an empty account gets its title first."""
    text = text or title
    return text + ("" if text.endswith("\n") else "\n") + ("" if text.endswith("\n\n") else "\n") + entry


def _entry(heading: str, bullets: Sequence[tuple[tuple[str, str, str], str]], locale: str) -> str:
    place = LOCALES.index(locale)
    colon = ": " if locale == "en" else "："
    lines = [f"- {labels[place]}{colon}{text}" for labels, text in bullets if text]
    return "\n".join([f"## {heading}", *lines]) + "\n"


def _shortened(text: str) -> str:
    line = one_line(text[: 10 * REQUEST_CHARS])
    return line if len(line) <= REQUEST_CHARS else line[:REQUEST_CHARS] + "…"
