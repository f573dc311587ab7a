"""The little language of the lexicon files: phrases instead of regular expressions.

A phrase list is text; a comma or a new line ends a phrase, `#` starts a comment. Inside a phrase
  `…`      is a gap of at most twelve characters of the same clause,
  `(a|b)`  is one of several, `(a|b)?` one or none,
  a blank  also matches a hyphen.
A Latin word is matched as a whole word, Han characters anywhere; case, width and script (Traditional or Simplified) do not
matter. No phrase can be written that takes more than linear time in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_memory.core.fold import fold

_LATIN = re.compile(r"[a-z0-9]")
GAP = r"[^,;。!?\n]{0,12}?"


def split(text: str) -> list[str]:
    """The phrases of one list, folded, in order."""
    lines = (line.partition("#")[0] if not line.lstrip().startswith("#") else "" for line in fold(text).splitlines())
    return [phrase.strip() for line in lines for phrase in line.split(",") if phrase.strip()]


def pattern(phrases: Iterable[str]) -> str:
    """One regular expression for any of the phrases, longest first; a list without phrases matches nothing."""
    ordered = sorted(set(phrases), key=len, reverse=True)
    latin = [_expression(phrase) for phrase in ordered if _LATIN.match(phrase.lstrip("("))]
    other = [_expression(phrase) for phrase in ordered if not _LATIN.match(phrase.lstrip("("))]
    branches = []
    if latin:
        branches.append(rf"(?<![a-z0-9_])(?:{'|'.join(latin)})")
    if other:
        branches.append("|".join(other))
    return f"(?:{'|'.join(branches)})" if branches else "(?!)"


def compiled(text: str) -> re.Pattern[str]:
    """A matcher for a phrase list as it stands in a lexicon file."""
    return re.compile(pattern(split(text)))


def _expression(phrase: str) -> str:
    body = "".join(_piece(char) for char in phrase)
    ends_latin = _LATIN.match(phrase.rstrip(")?|")[-1:])
    return body + (r"(?![a-z0-9_])" if ends_latin else "")


def _piece(char: str) -> str:
    if char == "…":
        return GAP
    if char == " ":
        return r"[ \-]{1,3}"
    if char == "(":
        return "(?:"
    return char if char in ")|?" else re.escape(char)
