"""The words of the log and of MEMORY.md in three languages, and how much of a message they quote."""

from __future__ import annotations

from vault_memory.core.profile import LOCALES
from vault_memory.core.text import one_line

MAX_QUOTED_CHARS = 150
"""How much of a message an entry quotes; the conversation record has all of it."""

MODULE = ("模組", "模块", "Module")
RESULT = ("結果", "结果", "Result")
LEARNED = ("萃取偏好", "提取偏好", "Preferences")
REMEMBERED = ("記住", "记住", "Remembered")
SUCCESS, FAILURE, DONE = ("成功", "成功", "success"), ("失敗", "失败", "failure"), ("完成", "完成", "done")
OUTCOMES = (SUCCESS, FAILURE, DONE)


def outcome(exit_code: int | None, locale: str) -> str:
    """How a request ended: success for exit code 0, failure for any other, and «done» where none is known."""
    words = DONE if exit_code is None else SUCCESS if exit_code == 0 else FAILURE
    return words[LOCALES.index(locale)]


def colon(locale: str) -> str:
    """What follows a label."""
    return ": " if locale == "en" else "："


def quoted(text: str, most: int = MAX_QUOTED_CHARS) -> str:
    """The beginning of a text on one line."""
    line = one_line(text[: 10 * most])
    return line if len(line) <= most else line[:most] + "…"


def is_same(one: str, other: str) -> bool:
    """Whether two quotations are of one text: each may be cut, with `…` or without."""
    one, other = one.removesuffix("…"), other.removesuffix("…")
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def ended(words: str, column: int) -> str:
    """An outcome that a program has told, in the language of this column, if it is one of ours."""
    return next((values[column] for values in OUTCOMES if words in values), words)
