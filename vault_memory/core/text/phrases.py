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
from typing import Any, Generic, TypeVar, cast

from vault_memory.core.text.fold import fold

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
    """One regular expression for any of the phrases, longest first; a list without phrases matches nothing.

    Phrases that begin with the same character share a branch, and the others are tried only where one of their first
    characters stands: at most places of a text only a few of hundreds of phrases are looked at.
    """
    ordered = sorted(dict.fromkeys(phrases), key=len, reverse=True)
    if not ordered:
        return "(?!)"
    branches: dict[str, list[str]] = {}
    free = []
    for phrase in ordered:
        if phrase[0] in "(….$ " or phrase[1:2] == "?":
            free.append(phrase)
        else:
            branches.setdefault(phrase[0], []).append(_expression(phrase).removeprefix(re.escape(phrase[0])))
    alternatives = [f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in branches.items()]
    if free:
        alternatives.append(f"{_opening(free)}(?:{'|'.join(map(_expression, free))})")
    return f"(?<!{_WORD}(?={_WORD}))(?:{'|'.join(alternatives)})(?!(?<={_WORD}){_WORD})"


def _opening(phrases: list[str]) -> str:
    """What must follow where one of the phrases begins: one of their first characters, if those are certain."""
    firsts, open_ = set[str](), False
    for phrase in phrases:
        chars, unsure = _firsts(iter(_PARTS.findall(phrase)))
        firsts, open_ = firsts | chars, open_ or unsure
    return "" if open_ else f"(?=[{''.join(map(re.escape, sorted(firsts)))}])"


def _firsts(parts: Iterator[str]) -> tuple[set[str], bool]:
    """The characters a phrase or group can begin with, and whether it may begin otherwise. Takes the parts to its end."""
    found: set[str] = set()
    otherwise, begun = False, False
    for part in parts:
        if part in ("(", "(?=", "(?!"):
            inner, unsure = _firsts(parts)
            if part == "(" and not begun:
                found, begun = found | inner, not unsure
        elif part == "|" or part[0] == ")":
            otherwise, begun = otherwise or not begun, False
            if part[0] == ")":
                return found, otherwise or part[1:] in ("?", "*")
        elif not begun and part[0] in "….$":
            otherwise = begun = True
        elif not begun:
            found |= {" ", "-"} if part[0] in " -" else {part[0]}
            begun = not (len(part) == 2 and part[1] == "?")
    return found, otherwise or not begun


T = TypeVar("T")


class _Lazy:
    def __init__(self, expression: str, flags: int) -> None:
        self._written = expression, flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        self._compiled = self._compiled or re.compile(*self._written)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazily(expression: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when first used: most messages meet few of the rules."""
    return cast(re.Pattern[str], _Lazy(expression, flags))


class Selection(Generic[T]):
    """Compiles, of many alternatives, those that can match a text.

    Compiling a whole list takes milliseconds, and a message meets few of its phrases. So only those are compiled that have
    what they need in the text, until a list has been asked so often that all of it is worth it.
    """

    WORTH_IT = 24
    """Different selections after which the whole list is compiled; 24 cost about as much."""
    OFTEN = 120
    """Texts after which it is compiled in any case: to choose takes longer than to search."""

    def __init__(
        self, parts: Iterable[tuple[T, tuple[str, ...]]], build: Callable[[Iterable[T]], re.Pattern[str]]
    ) -> None:
        """`parts`: each alternative with strings of which one stands in whatever it matches (none: unknown)."""
        self._parts: list[T] = []
        self._needs: list[tuple[str, int]] = []
        for place, (part, needed) in enumerate(parts):
            self._parts.append(part)
            self._needs += [(need, place) for need in needed or ("",)]
        self._build = build
        self._compiled: dict[frozenset[int], re.Pattern[str]] = {}
        self.whole: re.Pattern[str] | None = None
        """All alternatives as one expression, once that is worth it."""
        self._asked = 0

    def pattern(self, text: str) -> re.Pattern[str] | None:
        """What to search the text with; None if nothing can match."""
        if self.whole:
            return self.whole
        self._asked += 1
        if self._asked > self.OFTEN or len(self._compiled) > self.WORTH_IT:
            self._compiled.clear()
            self.whole = self._build(self._parts)
            return self.whole
        live = frozenset([place for need, place in self._needs if need in text])
        if not live:
            return None
        found = self._compiled.get(live)
        if found is None:
            found = self._compiled[live] = self._build(self._parts[place] for place in sorted(live))
        return found


class Matcher:
    """One phrase list, asked like a compiled pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._selections: dict[str, Selection[str]] = {}

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
        return pattern(self.phrases)

    @cached_property
    def phrases(self) -> list[str]:
        """The phrases of the list, folded."""
        return split(self._text)

    def _for(self, text: str, tail: str = "") -> re.Pattern[str] | None:
        selection = self._selections.get(tail)
        if selection is None:
            selection = Selection(
                ((phrase, needs(phrase)) for phrase in self.phrases), lambda live: re.compile(pattern(live) + tail)
            )
            self._selections[tail] = selection
        found = selection.pattern(text)
        if found and found is selection.whole and not tail:
            for name in ("search", "match", "finditer", "sub"):  # from now on the list is its expression
                setattr(self, name, getattr(found, name))
        return found


def needs(phrase: str) -> tuple[str, ...]:
    """Strings of which one stands in every text that a phrase matches; empty where no such string is certain.

    `(remove|drop) …comments?` needs «comment»; `(remove|drop) (it|them)` needs «remove» or «drop».
    """
    bare = _OPTIONAL.sub("|", phrase) if "(" in phrase or "?" in phrase else phrase
    longest = max(_FIXED.split(bare), key=len)
    if len(longest) >= 3 or "(" not in phrase:
        return (longest,) if longest else ()
    return _needs(iter(_PARTS.findall(phrase)))


def _needs(parts: Iterator[str]) -> tuple[str, ...]:
    """What a group needs: one string of each of its alternatives. Takes the parts up to the group's end."""
    alternatives: list[tuple[str, ...]] = []
    certain: list[tuple[str, ...]] = []
    for part in parts:
        if part in ("(", "(?=", "(?!"):
            inner = _needs(parts)
            if part != "(?!":
                certain.append(inner)
        elif part == "|":
            alternatives.append(_rarest(certain))
            certain = []
        elif part[0] == ")":
            if part[1:] in ("?", "*"):
                return ()
            break
        elif part[-1] == "?":
            certain.append((part[:-2],))
        elif part not in "….$ -":
            certain.append((part,))
    alternatives.append(_rarest(certain))
    return tuple(need for needed in alternatives for need in needed) if all(alternatives) else ()


def _rarest(certain: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Of several needs the one that a text is least likely to meet: that of the longest strings."""
    best: tuple[str, ...] = ()
    least = 0
    for needed in certain:
        shortest = min(map(len, needed), default=0)
        if shortest > least:
            best, least = needed, shortest
    return best


_PARTS = re.compile(r"\(\?[=!]|\)[*+?]?|[(|….$ -]\??|[^()|….$ ?-]+\??")
"""Brackets, blanks, and runs of fixed characters, the last of which may be optional."""
_OPTIONAL = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[*+?]?|.\?")
"""Groups (up to three deep) and characters that may be absent."""
_FIXED = re.compile(r"[|…. $\-]+")


def compiled(text: str) -> Matcher:
    """A matcher for a phrase list as it stands in a lexicon file."""
    return Matcher(text)


_BESIDE_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?!\?)|(?<=[\u3400-\u9fff][)?]) (?!\?)| (?=\(?[\u3400-\u9fff])")


def _expression(phrase: str) -> str:
    """The regular expression of one phrase. A blank beside Han may be absent: people write «用 dark» and «用dark»."""
    phrase = _BESIDE_HAN.sub(" ?", phrase)
    return "".join(_MEANING.get(token) or re.escape(token) for token in _TOKEN.findall(phrase))
