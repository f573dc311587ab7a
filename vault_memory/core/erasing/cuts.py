"""Quotations of a text that end within it: those that say so (`…`), and titles and names that the program has cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.erasing.spelling import ENOUGH_BYTES, letters, pattern
from vault_memory.core.memories import MAX_TITLE_CHARS
from vault_memory.core.text import MAX_SLUG_CHARS

_CUT = rb"\xe2\x80\xa6|\\+u2026|\.\.\."
_KNOWN_BYTES = 20
_SLUG = re.compile(rb"_\d+_[A-Za-z0-9]+-((?:[A-Za-z0-9-]|[\x80-\xff])+)")
_TO_END = rb"[^\n]{0,%d}?(?=[\"']?[,}]?\r?$)" % (4 * MAX_TITLE_CHARS)
_MAX_CHARACTER_BYTES = 4
_MAX_ESCAPED = 12
"""Bytes that a character may take in its longest form."""


class Cut:
    """Quotations with `…` behind them that have the first half of a text at least, or so much of it that they are of no
    other one. Logs hold such ones."""

    def __init__(self, text: str) -> None:
        half = (len(text) + 1) // 2
        while half < len(text) and len(text[:half].encode()) < ENOUGH_BYTES:
            half += 1
        half = min(half, next((at for at in range(half) if len(letters(text[:at]).encode()) >= _KNOWN_BYTES), half))
        while half < len(text) and not text[half - 1].isalnum():
            half += 1
        self._rest = letters(text[half:])
        rest = rb"([^\n]{0,%d}?)" % (_MAX_ESCAPED * len(text))
        first = next((at for at, each in enumerate(text) if each.isalnum()), 0)
        self._pattern = re.compile(pattern(text[first:half]) + rest + b"(" + _CUT + b")")

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each in bytes, without `…`."""
        if b"\xe2\x80\xa6" not in data and b"u2026" not in data and b"..." not in data:
            return
        for found in self._pattern.finditer(data):
            if self._rest.startswith(letters(found[1].decode("utf-8", "replace"))):
                yield found.start(), found.start(2)


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


class CutTitle:
    """What stands of a text at the end of a line that is a title, or ends with one, which the program has cut within
    the text: it has `MAX_TITLE_CHARS` then, with other words first."""

    def __init__(self, text: str) -> None:
        self._letters = letters(text)
        first = next((at for at, each in enumerate(text) if each.isalnum()), 0)
        sizes = (at for at in range(first + 1, len(text)) if len(letters(text[first:at]).encode()) >= ENOUGH_BYTES)
        head = text[first : next(sizes, len(text))]
        self._pattern = re.compile(
            pattern(head) + rb"[^\n]{0,%d}?(?=[\"']?[,}]?\r?$)" % (4 * MAX_TITLE_CHARS), re.MULTILINE
        )

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each in bytes."""
        if len(self._letters.encode()) <= ENOUGH_BYTES:
            return
        for found in self._pattern.finditer(data):
            own = found[0].decode("utf-8", "replace")
            said = letters(own)
            is_begun = said != self._letters and self._letters.startswith(said)
            if is_begun and self._is_cut(data, found.start(), len(own)):
                yield found.span()

    def _is_cut(self, data: bytes, start: int, length: int) -> bool:
        """Whether a title of the whole length can begin before the text, in its line."""
        line = data[max(0, start - 4 * MAX_TITLE_CHARS) : start].rpartition(b"\n")[2]
        before = line.decode("utf-8", "replace").replace("''", "'")
        wanted = (
            MAX_TITLE_CHARS - spared - length for spared in range(3)
        )  # a blank at its end, and one that was doubled
        return any(0 <= each <= len(before) and (each == len(before) or before[-each - 1] in " '\"") for each in wanted)
