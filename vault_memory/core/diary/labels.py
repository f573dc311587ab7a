"""The words of the log and of MEMORY.md in three languages, and how much of a message they quote."""

from __future__ import annotations

import re

from vault_memory.core.profile import LOCALES
from vault_memory.core.text import one_line, tokens

MAX_QUOTED_CHARS = 150
"""How much of a message an entry quotes; the conversation record has all of it."""
MAX_GIST_CHARS = 80
"""How much of an answer a log tells; of Chinese half of it says as much."""
_LEAST_GIST_CHARS, _LEAST_GIST_HAN = 16, 6
"""A shorter beginning, such as «Sure!» or 好的。, tells nothing yet: the next sentence is told with it."""
_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_MARKS = re.compile(r"^[ \t]*(?:#{1,6} |[-*+>] |\d+[.)] )+|\*\*|__|`", re.MULTILINE)
_SENTENCE_END = re.compile(r"[。！？!?…]+|[.:：](?=\s|$)|\n\n")

MODULE = ("模組", "模块", "Module")
RESULT = ("結果", "结果", "Result")
LEARNED = ("萃取偏好", "提取偏好", "Preferences")
SUCCESS, FAILURE, DONE = ("成功", "成功", "success"), ("失敗", "失败", "failure"), ("完成", "完成", "done")
OUTCOMES = (SUCCESS, FAILURE, DONE)


def outcome(exit_code: int | None, locale: str) -> str:
    """How a request ended: success for exit code 0, failure for any other, and «done» where none is known."""
    words = DONE if exit_code is None else SUCCESS if exit_code == 0 else FAILURE
    return words[LOCALES.index(locale)]


def answered(exit_code: int | None, said: str, locale: str) -> str:
    """What came of a request, for its line in the log: how its program ended, and the `gist` of the answer."""
    if exit_code is None:
        return said or outcome(None, locale)
    return outcome(exit_code, locale) + (colon(locale) + said if said else "")


def gist(reply: str) -> str:
    """The first words of an answer that say something, without code and Markdown's signs; "" where there are none."""
    text = _MARKS.sub("", _FENCED.sub(" ", reply[: 40 * MAX_GIST_CHARS])).strip()
    end = 0
    for found in _SENTENCE_END.finditer(text):
        end = found.end()
        if _says_something(text[:end]):
            break
    else:
        end = len(text)
    said = one_line(text[:end]).rstrip(":：").replace(" → ", " -> ").replace(" · ", " - ")
    return quoted(said, MAX_GIST_CHARS // 2 if tokens.is_han(said) else MAX_GIST_CHARS) if _says_something(said) else ""


def _says_something(text: str) -> bool:
    return len(text) >= (_LEAST_GIST_HAN if tokens.is_han(text) else _LEAST_GIST_CHARS)


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


def how_it_ended(came: str) -> bool:
    """Whether what came of a request says how it ended, and not only that it did, or what was answered."""
    first = re.split("：|: ", came, maxsplit=1)[0]
    return any(part in SUCCESS + FAILURE for part in (first, came.rpartition(" → ")[2]))
