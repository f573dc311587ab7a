"""Quotations of a text that end within it: those that say so (`…`), and titles and names that the program has cut."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vault_memory.core.erasing.spelling import ENOUGH_BYTES, letters, pattern

_CUT = rb"\xe2\x80\xa6|\\+u2026|\.\.\."
_MAX_ESCAPED = 12
"""Bytes that a character may take in its longest form."""


class Cut:
    """Quotations that have the first half of a text at least, and `…` behind it. Logs hold such ones."""

    def __init__(self, text: str) -> None:
        half = (len(text) + 1) // 2
        while half < len(text) and len(text[:half].encode()) < ENOUGH_BYTES:
            half += 1
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


class CutByUs:
    """Titles and names of files with other words first, that are as long as the program makes them and end within a
    text: what they have of it, if that is enough to know it by. `found` is a pattern whose last group are the words,
    which have `most` characters."""

    def __init__(self, text: str, found: re.Pattern[bytes], most: int) -> None:
        self._letters, self._found, self._most = letters(text), found, most

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each in bytes."""
        for found in self._found.finditer(data):
            last = found.lastindex or 0
            said = found[last].decode("utf-8", "replace")
            if self._most - 2 <= len(said.replace("''", "'")) <= self._most and (own := self._own(said)):
                yield found.end(last) - len(own.encode()), found.end(last)

    def _own(self, said: str) -> str:
        for at in range(len(said)):
            end = letters(said[at:])
            if len(end.encode()) < ENOUGH_BYTES:
                break
            if said[at].isalnum() and self._letters.startswith(end) and "\ufffd" not in said[at:]:
                return said[at:]
        return ""
