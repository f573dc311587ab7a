"""Phrases: the notation of the lexicon files, a readable subset of regular expressions.

A phrase list is text; a comma or a new line ends a phrase, `#` starts a comment line. Inside a phrase
  `…`          is a gap of at most sixteen characters in the same clause,
  `(a|b)`      is one of several; `(a|b)?` and `x?` are optional; `(a|b)*` is up to four of them, `(a|b)+` one to four,
  `(?=a|b)`    must follow, `(?!a|b)` must not; `.` is any one character; `$` is the end of the clause,
  a blank      also matches a hyphen.
Latin words match as whole words, Han characters anywhere; case, width and script (Traditional or Simplified) do not
matter. Repetition is bounded, so every phrase takes linear time in the length of the text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from vault_memory.core import reading
from vault_memory.core.text.fold import fold

MAX_WAYS = 1_000_000
"""`ways` counts so far."""
MAX_BRACKETS = 60
"""Of one phrase, whose `ways` are counted."""
GAP = r"[^,;。!?\n]{0,16}?"
_WORD = "[a-z0-9_]"
_MANY_BRANCHES = 8
"""From so many on, a look at the first character saves time."""
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
    """The phrases of one list, folded, in order. A comma inside brackets does not end a phrase."""
    kept = (line for line in reading.lines(fold(text)) if not line.lstrip().startswith("#"))
    pieces = (piece for line in kept for piece in (_pieces(line) if "(" in line else line.split(",")))
    return [phrase for piece in pieces if (phrase := piece.strip())]


def _pieces(line: str) -> Iterator[str]:
    """A line cut at its commas, except those inside brackets."""
    held = ""
    for piece in line.split(","):
        held = f"{held},{piece}" if held else piece
        if held.count("(") <= held.count(")"):
            yield held
            held = ""
    if held:
        yield held


def pattern(phrases: Iterable[str]) -> str:
    """One regular expression for any of the phrases, longest first; an empty list matches nothing.

    Phrases with the same first character share a branch; the others are tried only at one of their possible first
    characters. So at most positions of a text only a few of hundreds of phrases are tried.
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
    # Without its first characters the expression tries every branch at every Han character.
    opening = _opening(ordered) if len(branches) >= _MANY_BRANCHES else ""
    return f"(?<!{_WORD}(?={_WORD})){opening}(?:{'|'.join(alternatives)})(?!(?<={_WORD}){_WORD})"


def _opening(phrases: list[str]) -> str:
    """A lookahead for the first characters of the phrases; empty if one of them may begin with any character."""
    firsts, open_ = set[str](), False
    for phrase in phrases:
        chars, unsure = _firsts(iter(_PARTS.findall(phrase)))
        firsts, open_ = firsts | chars, open_ or unsure
    return "" if open_ else f"(?=[{''.join(map(re.escape, sorted(firsts)))}])"


def _firsts(parts: Iterator[str]) -> tuple[set[str], bool]:
    """The characters that a phrase or group can begin with, and whether there may be others. Consumes its parts."""
    firsts: set[str] = set()
    otherwise, has_begun = False, False
    for part in parts:
        if part in ("(", "(?=", "(?!"):
            inner, unsure = _firsts(parts)
            if part == "(" and not has_begun:
                firsts, has_begun = firsts | inner, not unsure
        elif part == "|" or part[0] == ")":
            otherwise, has_begun = otherwise or not has_begun, False
            if part[0] == ")":
                return firsts, otherwise or part[1:] in ("?", "*")
        elif not has_begun and part[0] in "….$":
            otherwise = has_begun = True
        elif not has_begun:
            firsts |= {" ", "-"} if part[0] in " -" else {part[0]}
            has_begun = not (len(part) == 2 and part[1] == "?")
    return firsts, otherwise or not has_begun


T = TypeVar("T")


class _Lazy:
    """Stands in for a compiled pattern; keeps each method after its first use."""

    def __init__(self, expression: str, flags: int) -> None:
        self._written = expression, flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        self._compiled = self._compiled or re.compile(*self._written)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazily(expression: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when first used: most messages need few of the rules."""
    return cast(re.Pattern[str], _Lazy(expression, flags))


STRETCH_CHARS = 64_000
"""So much of a text one call searches. It holds Python's lock, and a server answers nobody until it is over."""
REACH_CHARS = 3_000


def matches(pattern: re.Pattern[str], text: str, reach: int = REACH_CHARS) -> Iterator[re.Match[str]]:
    """`pattern.finditer(text)`, whose calls search a long text stretch by stretch.

    The same matches are found if the pattern looks at no more than `reach` characters from where it begins to match,
    and matches no empty text.
    """
    return pattern.finditer(text) if len(text) <= STRETCH_CHARS else _in_stretches(pattern, text, reach)


def _in_stretches(pattern: re.Pattern[str], text: str, reach: int) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        stop = at + STRETCH_CHARS
        for match in pattern.finditer(text, at, stop + reach):
            if match.start() >= stop:
                break  # what it could look at may be cut
            yield match
            at = match.end()
        at = max(at, stop)


def stands_in(text: str, pattern: re.Pattern[str], reach: int = REACH_CHARS) -> bool:
    """Whether the pattern is found anywhere in the text; as `matches`."""
    return next(matches(pattern, text, reach), None) is not None


class Selection(Generic[T]):
    """Compiles, of many alternatives, only those that can match a text.

    Compiling a whole list takes milliseconds, and a message contains few of its phrases. So an alternative is compiled
    only when a string that it needs stands in the text; after `MAX_SELECTIONS` or `MAX_TEXTS` the whole list is.
    """

    MAX_SELECTIONS = 24
    """Different selections; compiling so many takes about as long as compiling the whole list."""
    MAX_TEXTS = 120
    """By then selecting has taken longer than searching with the whole list."""

    def __init__(
        self, parts: Iterable[tuple[T, tuple[str, ...]]], build: Callable[[Iterable[T]], re.Pattern[str]]
    ) -> None:
        """`parts`: each alternative and its strings; a text that it matches contains one of them (none: unknown)."""
        self._parts: list[T] = []
        self._needs: list[tuple[str, int]] = []
        for position, (part, needed) in enumerate(parts):
            self._parts.append(part)
            self._needs += [(need, position) for need in needed or ("",)]
        self._build = build
        self._compiled: dict[frozenset[int], re.Pattern[str]] = {}
        self.whole: re.Pattern[str] | None = None
        """All alternatives as one expression, once it is compiled."""
        self._texts = 0

    def pattern(self, text: str) -> re.Pattern[str] | None:
        """The expression to search the text with; None if nothing can match."""
        if self.whole:
            return self.whole
        self._texts += 1
        if self._texts > self.MAX_TEXTS or len(self._compiled) > self.MAX_SELECTIONS:
            self._compiled.clear()
            self.whole = self._build(self._parts)
            return self.whole
        live = frozenset([position for need, position in self._needs if need in text])
        if not live:
            return None
        expression = self._compiled.get(live)
        if expression is None:
            expression = self._compiled[live] = self._build(self._parts[position] for position in sorted(live))
        return expression


class Matcher:
    """One phrase list, with the methods of a compiled pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._selections: dict[str, Selection[str]] = {}

    def search(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        expression = self._for(text)
        return expression.search(text, pos, endpos) if expression else None

    def match(self, text: str, pos: int = 0, endpos: int = sys.maxsize) -> re.Match[str] | None:
        expression = self._for(text)
        return expression.match(text, pos, endpos) if expression else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        expression = self._for(text)
        return expression.finditer(text) if expression else iter(())

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        expression = self._for(text)
        return expression.sub(by, text) if expression else text

    def ends(self, text: str, gap: int) -> bool:
        """Whether a phrase ends the text, or ends at most `gap` characters of the same clause before its end."""
        expression = self._for(text, rf"[^,;]{{0,{gap}}}$")
        return bool(expression and expression.search(text))

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
        expression = selection.pattern(text)
        if expression and expression is selection.whole and not tail:
            for name in ("search", "match", "finditer", "sub"):  # later calls skip this object
                setattr(self, name, getattr(expression, name))
        return expression


def ways(phrase: str) -> int:
    """In how many ways a phrase may be tried at one place of a text, at most: a bound for its time.

    Counted up to `MAX_WAYS`. Raises `ValueError` for a phrase that is no regular expression, or nested too deep.
    """
    if phrase.count("(") > MAX_BRACKETS:
        raise ValueError(f"{phrase[:40]!r} has more than {MAX_BRACKETS} brackets")
    try:
        re.compile(_expression(phrase))
    except (re.error, OverflowError) as error:
        raise ValueError(f"{phrase[:40]!r} is no phrase ({error})") from error
    return _ways(iter(_PARTS.findall(phrase)))[0]


def _ways(parts: Iterator[str]) -> tuple[int, str]:
    """The ways of a group, and what closes it. Consumes its parts."""
    total, product, closing = 0, 1, ""
    for part in parts:
        if part in ("(", "(?=", "(?!"):
            inner, closed = _ways(parts)
            inner = inner + 1 if closed[1:] else inner
            product *= inner**4 if closed[1:] in ("*", "+") else inner
        elif part == "|":
            total, product = total + product, 1
        elif part[0] == ")":
            closing = part
            break
        elif part == "…":
            product *= 17
        elif part[-1] == "?":
            product *= 2
        product = min(product, MAX_WAYS)
    return min(total + product, MAX_WAYS), closing


def needs(phrase: str) -> tuple[str, ...]:
    """Strings: a text that the phrase matches contains one of them. Empty if none is certain.

    `(remove|drop) …comments?` needs «comment»; `(remove|drop) (it|them)` needs «remove» or «drop».
    """
    bare = _OPTIONAL.sub("|", phrase) if "(" in phrase or "?" in phrase else phrase
    longest = max(_FIXED.split(bare), key=len)
    if len(longest) >= 3 or "(" not in phrase:
        return (longest,) if longest else ()
    return _needs(iter(_PARTS.findall(phrase)))


def _needs(parts: Iterator[str]) -> tuple[str, ...]:
    """What a group needs: one string of each of its alternatives. Consumes the parts of the group."""
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
    """Of several needs the one that the fewest texts meet: the one with the longest strings."""
    best: tuple[str, ...] = ()
    least = 0
    for needed in certain:
        shortest = min(map(len, needed), default=0)
        if shortest > least:
            best, least = needed, shortest
    return best


_PARTS = re.compile(r"\(\?[=!]|\)[*+?]?|[(|….$ -]\??|[^()|….$ ?-]+\??")
"""Brackets, blanks, and runs of fixed characters, of which the last may be optional."""
_OPTIONAL = re.compile(r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[*+?]?|.\?")
"""Groups (up to three deep) and single characters that are optional."""
_FIXED = re.compile(r"[|…. $\-]+")


_BESIDE_HAN = re.compile(r"(?<=[\u3400-\u9fff]) (?!\?)|(?<=[\u3400-\u9fff][)?]) (?!\?)| (?=\(?[\u3400-\u9fff])")


def _expression(phrase: str) -> str:
    """The regular expression of one phrase. A blank beside Han is optional: people write «用 dark» and «用dark»."""
    phrase = _BESIDE_HAN.sub(" ?", phrase)
    return "".join(_MEANING.get(token) or re.escape(token) for token in _TOKEN.findall(phrase))
