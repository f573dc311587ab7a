"""The places of a text: whole, and cut where the program cuts titles and names of files, or where a quotation says so
(`…`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from vault_memory.core.erasing.signs import sign, written
from vault_memory.core.erasing.spelling import Spelling
from vault_memory.core.erasing.units import is_mark, letters, unescaped
from vault_memory.core.graph import file_stem
from vault_memory.core.memories import MAX_TITLE_CHARS, title_of
from vault_memory.core.text import MAX_SLUG_CHARS, slug

ENOUGH_BYTES = 12
"""Of letters and digits, in UTF-8: so many stand in no other text by chance."""
_KNOWN_BYTES = 20
_CUT = rb"\xe2\x80\xa6|\\+u2026|\.\.\."
_SLUG = re.compile(rb"_\d+_[A-Za-z0-9]+-((?:[A-Za-z0-9-]|[\x80-\xff])+)")
_BLOCK = re.compile(r"(?:\s*+(?:>|(?:[-*+]|#{1,6})\s++(?:\[[ xX]\]\s++)?))*+\s*+")
"""What makes a line of Markdown an item of a list, a heading or a quotation: the line stays one."""
_BLANKS = re.compile(rb"[ \t]*+")
_MAX_CHARACTER_BYTES = 4
_MAX_ESCAPED = 12
"""Bytes that a character may take in its longest form."""
_TO_FULL_WIDTH = 0xFEE0


class Whole:
    """A text in all its spellings, with the signs that it begins and ends with where they stand there. Of a text that
    the program would cut in a title or a name, each beginning is found that is as long as the shortest of these; of any
    text a quotation with `…` behind it that has the first half at least, or so much that it is of no other text; and
    what stands of it at the end of a line that is a title, or ends with one."""

    def __init__(self, units: Sequence[str], text: str) -> None:
        self._spelling = Spelling(units)
        said = self._spelling.letters
        sizes = [len(said[: at + 1].encode()) for at in range(len(said))]
        made = min(sum(map(str.isalnum, each)) for each in (title_of(text), slug(text), file_stem(text)))
        enough = _first(sizes, ENOUGH_BYTES)
        self._beginning = min(len(said), made) if made else len(said)
        self._quoted = min(max((len(said) + 1) // 2, enough), _first(sizes, _KNOWN_BYTES))
        self._titled = enough
        self._least = min(self._beginning, self._quoted, self._titled)
        first = next((at for at, each in enumerate(text) if each.isalnum()), len(text))
        last = next((at for at in range(len(text), 0, -1) if text[at - 1].isalnum()), first)
        before = _BLOCK.sub("", text[:first], count=1)
        self._before, self._after = (_edge(signs) for signs in (before, text[last:]))
        self._edge_bytes = _MAX_ESCAPED * len(before)

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each place in bytes; of a quotation without `…`."""
        done = 0
        for start, ends in self._spelling.places(data, self._least):
            # What follows a cut title may begin as the text goes on there (`…project`, `importance` for *It*).
            spans = (self._span(data, start, end, count) for end, count in ends if count >= self._least)
            if start >= done and (span := next(filter(None, spans), None)):
                yield span
                done = span[1]

    def _span(self, data: bytes, start: int, end: int, count: int) -> tuple[int, int] | None:
        if count == len(self._spelling.letters):
            return self._with_signs(data, start, end)
        if count >= self._beginning and not _goes_on(data, end):
            return start, end
        if count >= self._quoted and (cut := _to_cut().match(data, end)):
            return start, cut.start(1)
        if count >= self._titled and (rest := _to_end().match(data, end)) and _is_cut(data, start, rest.end()):
            return start, rest.end()
        return None

    def _with_signs(self, data: bytes, start: int, end: int) -> tuple[int, int]:
        after = self._after.match(data, end)
        begins = (at for at in range(max(0, start - self._edge_bytes), start + 1))
        before = next((at for at in begins if self._before.fullmatch(data, at, start)), start)
        return before, after.end() if after else end


@cache
def _to_cut() -> re.Pattern[bytes]:
    return re.compile(b"(?:(?!" + _CUT + b")" + sign() + b")*+(" + _CUT + b")")


@cache
def _to_end() -> re.Pattern[bytes]:
    rest = rb"(?:(?![\r\n])" + sign() + rb"){0,%d}?" % MAX_TITLE_CHARS
    return re.compile(rest + rb"(?=[\"']?[,}]?\r?$)", re.MULTILINE)


def _first(sizes: Sequence[int], enough: int) -> int:
    """How many letters have so many bytes: all of them where they have fewer."""
    return next((at for at, size in enumerate(sizes, 1) if size >= enough), len(sizes))


def _edge(signs: str) -> re.Pattern[bytes]:
    """A pattern of the signs that a text begins or ends with; of `"` only one that divides no values of JSON. Blanks
    that follow one another are one thing: as several they would be divided in all ways, which takes hours. A `.` with a
    letter behind it ends no sentence: it is that of a file's name or of a number."""
    made = rb"\s++".join(b"".join(map(_of_edge, each)) for each in re.split(r"\s+", signs))
    return re.compile(made + rb"(?!(?<=\.)[0-9A-Za-z])")


def _of_edge(character: str) -> bytes:
    if character == '"':
        return rb"\\(?:\\\\)*+\""
    if character == "\\":
        return rb"(?:\\\\|\\(?![\\\"]))"  # of two that JSON has for one, none is left alone
    wide = chr(ord(character) + _TO_FULL_WIDTH) if "!" <= character <= "~" else character
    return written([*{character, wide}])


def _goes_on(data: bytes, end: int) -> bool:
    """Whether what stands there is no cut title or name, as its word or its line goes on with other letters."""
    begin = _BLANKS.match(data, end)
    at = begin.end() if begin else end
    said = unescaped(data[at : at + _MAX_ESCAPED].decode("utf-8", "ignore"))[:1]
    return said.isalpha() or (at == end and said != "" and (said.isdigit() or is_mark(said)))


def _is_cut(data: bytes, start: int, end: int) -> bool:
    """Whether a title of the whole length can end here, with what stands before the text in its line."""
    length = len(data[start:end].decode("utf-8", "replace"))
    line = data[max(0, start - 4 * MAX_TITLE_CHARS) : start].rpartition(b"\n")[2]
    before = line.decode("utf-8", "replace").replace("''", "'")
    wanted = (MAX_TITLE_CHARS - spared - length for spared in range(3))  # a blank at its end, and one that was doubled
    return any(0 <= each <= len(before) and (each == len(before) or before[-each - 1] in " '\"") for each in wanted)


class CutSlug:
    """Names of files with other words first, that are as long as the program makes them and end within a text: what
    they have of it, if that is enough to know it by."""

    def __init__(self, text: str) -> None:
        self._letters = letters(text)
        self._in_bytes = self._letters.encode()

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each in bytes."""
        for found in _SLUG.finditer(data):
            said = found[1].decode("utf-8", "replace")
            if MAX_SLUG_CHARS - 1 <= len(said) <= MAX_SLUG_CHARS and (own := self._own(said)):
                yield found.end() - len(own.encode()), found.end()

    def _own(self, said: str) -> str:
        # Nearly all names are of other texts: their last letters tell. Of the enough ones the first may be another, as
        # a mark or a part of a syllable joins the letter before it.
        if letters(said).encode()[-(ENOUGH_BYTES - _MAX_CHARACTER_BYTES) :] not in self._in_bytes:
            return ""
        for at in range(len(said)):
            end = letters(said[at:])
            if len(end.encode()) < ENOUGH_BYTES:
                break
            if said[at].isalnum() and self._letters.startswith(end) and "\ufffd" not in said[at:]:
                return said[at:]
        return ""
