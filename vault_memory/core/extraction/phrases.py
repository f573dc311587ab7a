"""The little language of the lexicon files: phrases, a readable part of regular expressions.

A phrase list is text; a comma or a new line ends a phrase, `#` starts a comment line. Inside a phrase
  `…`          is a gap of at most sixteen characters of the same clause,
  `(a|b)`      is one of several; `(a|b)?` and `x?` may be absent; `(a|b)*` stands up to four times, `(a|b)+` at least once,
  `(?=a|b)`    must follow, `(?!a|b)` must not; `.` is any one character; `$` is the end of the clause,
  a blank      also matches a hyphen.
A Latin word is matched as a whole word, Han characters anywhere; case, width and script (Traditional or Simplified) do not
matter. Repetition is bounded, so that no phrase can take more than linear time in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_memory.core.fold import fold

GAP = r"[^,;。!?\n]{0,16}?"
_WORD = "[a-z0-9_]"
_TOKEN = re.compile(r"\(\?[=!]|\)[*+?]| \?|.", re.DOTALL)
_MEANING = {
    "…": GAP,
    " ": r"[ \-]{1,3}",
    " ?": r"[ \-]{0,3}",
    "(": "(?:",
    ")*": "){0,4}",
    ")+": "){1,4}",
    **{token: token for token in ("(?=", "(?!", ")?", ")", "|", "?", ".", "$")},
}


def split(text: str) -> list[str]:
    """The phrases of one list, folded, in order; a comma inside brackets does not end a phrase."""
    phrases, depth, at = [], 0, 0
    lines = "\n".join(line for line in fold(text).splitlines() if not line.lstrip().startswith("#"))
    for place, char in enumerate(f"{lines}\n"):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "\n" or (char == "," and depth == 0):
            phrases.append(lines[at:place].strip())
            at, depth = place + 1, 0
    return [phrase for phrase in phrases if phrase]


def pattern(phrases: Iterable[str]) -> str:
    """One regular expression for any of the phrases, longest first; a list without phrases matches nothing."""
    ordered = sorted(set(phrases), key=len, reverse=True)
    if not ordered:
        return "(?!)"
    alternatives = "|".join(_expression(phrase) for phrase in ordered)
    return f"(?<!{_WORD}(?={_WORD}))(?:{alternatives})(?!(?<={_WORD}){_WORD})"


def compiled(text: str) -> re.Pattern[str]:
    """A matcher for a phrase list as it stands in a lexicon file."""
    return re.compile(pattern(split(text)))


_BESIDE_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?!\?)|(?<=[\u3400-\u9fff][)?]) (?!\?)| (?=\(?[\u3400-\u9fff])")


def _expression(phrase: str) -> str:
    """The regular expression of one phrase. A blank beside Han may be absent: people write «用 dark» and «用dark»."""
    phrase = _BESIDE_HAN.sub(" ?", phrase)
    return "".join(_MEANING.get(token) or re.escape(token) for token in _TOKEN.findall(phrase))
