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
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

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
    lines = (line for line in fold(text).splitlines() if not line.lstrip().startswith("#"))
    pieces = (piece for line in lines for piece in (_pieces(line) if "(" in line else line.split(",")))
    return [phrase for piece in pieces if (phrase := piece.strip())]


def _pieces(line: str) -> Iterator[str]:
    """A line cut at its commas; those inside brackets belong to a phrase."""
    held = ""
    for piece in line.split(","):
        held = f"{held},{piece}" if held else piece
        if held.count("(") <= held.count(")"):
            yield held
            held = ""
    if held:
        yield held


def pattern(phrases: Iterable[str]) -> str:
    """One regular expression for any of the phrases, longest first; a list without phrases matches nothing."""
    ordered = sorted(set(phrases), key=len, reverse=True)
    if not ordered:
        return "(?!)"
    alternatives = "|".join(_expression(phrase) for phrase in ordered)
    return f"(?<!{_WORD}(?={_WORD}))(?:{alternatives})(?!(?<={_WORD}){_WORD})"


class Matcher:
    """One phrase list, asked like a compiled pattern.

    Compiling a whole list takes milliseconds, and a message meets few of its phrases. So only the phrases are compiled whose
    longest fixed part stands in the text, until a list has met so many different texts that all of it is worth it.
    """

    WORTH_IT = 24
    """Different selections of phrases after which the whole list is compiled; 24 cost about as much."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._compiled: dict[tuple[tuple[str, ...], str], re.Pattern[str]] = {}

    def search(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        found = self._for(text)
        return found.search(text, pos, endpos) if found else None

    def match(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        found = self._for(text)
        return found.match(text, pos, endpos) if found else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        found = self._for(text)
        return found.finditer(text) if found else iter(())

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        found = self._for(text)
        return found.sub(by, text) if found else text

    def ends(self, text: str, gap: int) -> bool:
        """Whether a phrase ends the text, up to `gap` characters of the same clause before its end."""
        found = self._for(text, rf"[^,;]{{0,{gap}}}$")
        return bool(found and found.search(text))

    @cached_property
    def pattern(self) -> str:
        """The whole list as one regular expression."""
        return pattern(phrase for phrase, _ in self._phrases)

    @cached_property
    def _phrases(self) -> list[tuple[str, str]]:
        """Each phrase with its longest fixed part, which must stand in a text for the phrase to match."""
        return [(phrase, max(_FIXED.split(_OPTIONAL.sub("|", phrase)), key=len)) for phrase in split(self._text)]

    def _for(self, text: str, tail: str = "") -> re.Pattern[str] | None:
        whole = self._compiled.get(((), tail))
        if whole:
            return whole
        live = tuple(phrase for phrase, fixed in self._phrases if fixed in text)
        if not live:
            return None
        found = self._compiled.get((live, tail))
        if found is None:
            if len(self._compiled) >= self.WORTH_IT:
                found = self._compiled[(), tail] = re.compile(self.pattern + tail)
            else:
                found = self._compiled[live, tail] = re.compile(pattern(live) + tail)
        return found


_OPTIONAL = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[*+?]?|.\?")
"""Groups (up to three deep) and characters that may be absent: no fixed part of a phrase."""
_FIXED = re.compile(r"[|…. $\-?]+|(?<=[\u3400-\u9fff])(?=[a-z])|(?<=[a-z])(?=[\u3400-\u9fff])")


def compiled(text: str) -> Matcher:
    """A matcher for a phrase list as it stands in a lexicon file."""
    return Matcher(text)


_BESIDE_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?!\?)|(?<=[\u3400-\u9fff][)?]) (?!\?)| (?=\(?[\u3400-\u9fff])")


def _expression(phrase: str) -> str:
    """The regular expression of one phrase. A blank beside Han may be absent: people write «用 dark» and «用dark»."""
    phrase = _BESIDE_HAN.sub(" ?", phrase)
    return "".join(_MEANING.get(token) or re.escape(token) for token in _TOKEN.findall(phrase))
