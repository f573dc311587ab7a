"""A text as a reader understands it: without invisible characters, escapes, emphasis and line ends inside a key.

Each position of a view leads back to the span of the original text that it stands for. Every pattern here is bounded,
so a view takes linear time.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain

from vault_memory.core.text import lazily, matches, stands_in, translated


class View:
    """A text made from another view or from the original (`base` is None); `origin` leads back."""

    def __init__(self, text: str, edits: Iterable[tuple[int, int, str]] = (), base: View | None = None) -> None:
        """`edits` of `text`, in order and disjoint: (start, end, replacement of no or one character)."""
        self._base = base
        self._starts, self._begins, self._stops = array("L"), array("L"), array("L")  # of pieces: there may be millions
        pieces: list[str] = []
        length = done = 0
        for start, end, by in chain(edits, [(len(text), len(text), "")]):
            for piece, source in ((text[done:start], (done, start)), (by, (start, end))):
                if piece:
                    pieces.append(piece)
                    self._starts.append(length)
                    self._begins.append(source[0])
                    self._stops.append(source[1])
                    length += len(piece)
            done = end
        self.text = "".join(pieces) if len(pieces) != 1 else pieces[0]

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that `text[start:end]` (not empty) stands for."""
        first, last = bisect_right(self._starts, start) - 1, bisect_right(self._starts, end - 1) - 1
        begin = self._begins[first]
        if self._is_verbatim(first):
            begin += start - self._starts[first]
        stop = self._stops[last]
        if self._is_verbatim(last):
            stop = self._begins[last] + end - self._starts[last]
        return self._base.origin(begin, stop) if self._base else (begin, stop)

    def _is_verbatim(self, piece: int) -> bool:
        after = self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self.text)
        return after - self._starts[piece] == self._stops[piece] - self._begins[piece]


def views(text: str) -> list[View]:
    """The views of a text to search, the plainest first; one that would equal the view before it is left out.

    Plain: invisible characters are gone; wide characters, blanks, hyphens and curly quotes have their ASCII form, and
    a line ends with `\n` alone.
    Readable: also JSON, HTML and URL escapes are undone, and Markdown emphasis and HTML tags are gone.
    Joined: also a key that a line end or a broken string literal cuts in two is one word.
    """
    found = [_plain(text)]
    for step in (_marks, _joints):
        edits = step(found[-1].text)
        if first := next(edits, None):
            found.append(View(found[-1].text, chain([first], edits), found[-1]))
    return found


_INVISIBLE_CHARS = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\x08\U000e0000-\U000e007f]"
)
_INVISIBLE = lazily(f"{_INVISIBLE_CHARS}{{1,1000}}|(?P<end>\\r{{1,3}}\\n|\\r)")


def _plain(text: str) -> View:
    same = translated(text, ASCII_FORMS)
    found = matches(_INVISIBLE, same)
    return View(same, ((match.start(), match.end(), "\n" if match["end"] else "") for match in found))


_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_LOOK_LIKE = {
    " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    "\n": "\u0085\u2028\u2029",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63",
    '"': "\u201c\u201d\u201e\u201f\u00ab\u00bb",
    "'": "\u2018\u2019\u201a\u201b",
    "|": "\uffe8\u2502",
}
ASCII_FORMS = _WIDE | {ord(other): ord(char) for char, others in _LOOK_LIKE.items() for other in others}
"""Characters that stand for an ASCII character; one for one, so that offsets stay."""


# --- readable ---------------------------------------------------------------------------------------------------------

_MARK_FORMS = (
    r"(?P<escape>\\{1,4}(?:r\\{1,4}n|[\"'/nrt_\-]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}))"
    r"|(?P<entity>&(?:quot|amp|lt|gt|apos|nbsp|colon|equals|lowbar|hyphen|shy|#\d{1,6}|#[xX][0-9a-fA-F]{1,5});)"
    r"|(?P<percent>%[2-7][0-9A-Fa-f])"
    r"|<!\[CDATA\[|<!--|-->|\x1b\[[0-9;]{0,20}m"
    r"|(?P<cell></(?:td|th|dt|[kK]ey|name)>\s{0,20}<(?:td|th|dd|string|[vV]alue)(?:\s[^<>]{0,100})?>)"
    r"|</?(?:b|i|u|em|strong|code|kbd|pre|span|p|li|div|font|mark|tt|br|td|th|tr|dt|dd|a|ul|ol|wbr|cite|small|label|summary|details|ins|del|s|q|h[1-6])(?:\s[^<>]{0,100})?/?>"
    r"|(?<!\*)\*{1,2}(?!\*)|(?<![_\w])__(?=\w)|(?<=[\w:])__(?![_\w])|`{1,3}|~~"
)
_MARK = lazily(_MARK_FORMS)
_MARK_CHAR = lazily(r"[\\&%<*_`~\x1b]")
_NAMED_CHARS = {
    "quot": '"',
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "apos": "'",
    "nbsp": " ",
    "colon": ":",
    "equals": "=",
    "lowbar": "_",
    "hyphen": "-",
    "shy": "",
}
_LETTERS = {"n": "\n", "r": "\n", "t": "\t"}


def _marks(text: str) -> Iterator[tuple[int, int, str]]:
    if not stands_in(text, _MARK_CHAR):
        return
    for match in matches(_MARK, text):
        yield match.start(), match.end(), _meaning(match)


def _meaning(match: re.Match[str]) -> str:
    written = match[0]
    if match["escape"]:
        code = written.lstrip("\\")
        return _char(int(code[1:], 16)) if code[0] in "ux" else _LETTERS.get(code[0], code)
    if match["entity"]:
        name = written[1:-1]
        if name[0] != "#":
            return _NAMED_CHARS[name]
        return _char(int(name[2:], 16) if name[1] in "xX" else int(name[1:]))
    if match["percent"]:
        return _char(int(written[1:], 16))
    return "|" if match["cell"] else ""


def _char(code: int) -> str:
    """The character of a code, in its ASCII form; none for an invisible one."""
    if not code or 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        return "\ufffd"
    char = chr(code).translate(ASCII_FORMS)
    return "" if _INVISIBLE.match(char) else char


# --- joined -----------------------------------------------------------------------------------------------------------

_LINE_END_FORMS = r"\n(?:[ \t]{0,40}[>+\-|#*](?![>+\-|#*]{3}))?[ \t]{0,40}"
_LINE_END = lazily(_LINE_END_FORMS)
_BROKEN_FORMS = r"[\"'][ \t]{0,4}[+.,]?[ \t]{0,4}(?:\\?\n[ \t]{0,40})?[+.]?[ \t]{0,4}[\"']"
_BROKEN = lazily(_BROKEN_FORMS)
"""A string literal that ends and goes on: "ab" + "cd"."""
_JOINT_CHAR = lazily(r"[\n\"']")
_LINE_TAIL = lazily(r"[ \t]{0,8}\\?\Z")
_KEY_TAIL = lazily(r"[A-Za-z0-9+/=_\-.]{4,60}\Z")
_KEY_HEAD = lazily(r"[A-Za-z0-9+/_\-.]{2,200}+={0,2}+(?![ \t]{0,2}[:=]|[A-Za-z0-9])")
_FRAGMENT_CHARS = 60


def _joints(text: str) -> Iterator[tuple[int, int, str]]:
    """What stands between two halves of a key."""
    if not stands_in(text, _JOINT_CHAR):
        return
    done = 0
    for start, end in merge(_line_ends(text), (match.span() for match in matches(_BROKEN, text))):
        head = _KEY_HEAD.match(text, end)
        if head and start >= done and _is_key_char(text[start - 1 : start]) and _may_end_a_key(head[0]):
            tail = _KEY_TAIL.search(text, max(done, start - _FRAGMENT_CHARS), start)
            if tail and (tail[0][-1] in "-_" or _is_random(tail[0])):
                yield start, end, ""
                done = end


def _line_ends(text: str) -> Iterator[tuple[int, int]]:
    for match in matches(_LINE_END, text):
        start = match.start()
        if text[start - 1 : start] in (" ", "\t", "\\") and (
            tail := _LINE_TAIL.search(text, max(0, start - 10), start)
        ):
            start = tail.start()
        yield start, match.end()


def _is_key_char(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char in "+/=_-.") and bool(char)


def _may_end_a_key(fragment: str) -> bool:
    return _is_random(fragment) or (len(fragment) >= 4 and fragment.isalpha() and fragment.isupper())


def _is_random(fragment: str) -> bool:
    has_digit = any(char.isdigit() for char in fragment)
    has_letter = any(char.isalpha() for char in fragment)
    return (has_digit and has_letter) or bool(_INNER_CASE.search(fragment)) or (has_digit and len(fragment) >= 4)


_INNER_CASE = lazily(r"[a-z][A-Z]|[A-Z]{2}[a-z]")

DISGUISE_CHAR = lazily(rf"[\\&%<*_`~\x1b\r\n\"'{_INVISIBLE_CHARS[1:]}")
"""Each disguise has one of them; most messages of one line have none."""
DISGUISED = lazily(
    rf"{_INVISIBLE_CHARS}|\r|{_MARK_FORMS}|(?<=[A-Za-z0-9+/=_.\-])[ \t]{{0,10}}\\?(?:{_LINE_END_FORMS}|{_BROKEN_FORMS})"
    r"(?=[A-Za-z0-9+/_\-.]{0,199}(?:[0-9]|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Z]{4}))"
)
"""Stands in the ASCII form of every text that has a second view or an invisible character; others need no views."""
