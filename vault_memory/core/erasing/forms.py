"""Texts to erase, the forms in which files, names and messages may hold them, and the mark in their place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from vault_memory.core.erasing.cuts import ENOUGH_BYTES, CutSlug, Whole
from vault_memory.core.erasing.marks import with_marks
from vault_memory.core.erasing.units import letters, readings, unescaped
from vault_memory.core.privacy import ERASED, redact
from vault_memory.core.text import one_line, tokens
from vault_memory.errors import UsageError

MASK = ERASED.encode()
MIN_BYTES = 4
"""Of letters and digits in a text, in UTF-8: two Chinese characters or four Latin letters. A shorter one would take
half of all words with it."""
_AROUND_BYTES = 40
_MAX_PLACES = 1_000
_MARK = re.compile(r"\[redacted: [a-z-]+\]")


class Erasure:
    """Texts to erase, in all spellings of `Spelling`; as the program stores them when it takes a secret out of them;
    and their cut quotations, titles and names.

    Not matched are words in another order, another spelling, the words of another region (軟件, 軟體), and what is
    encoded as a whole (Base64, UTF-16, packed).
    Raises `UsageError` for no text, for one with fewer than `MIN_BYTES` bytes of letters and digits, and for one that
    `MASK` holds.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(dict.fromkeys(unicodedata.normalize("NFC", text).strip() for text in texts))
        for text in self.texts:
            if len("".join(filter(str.isalnum, text)).encode()) < MIN_BYTES:
                raise UsageError(
                    f"{text!r} is too short to be erased: it stands in other words as well; name at least four "
                    "letters, or two Chinese characters"
                )
        if not self.texts:
            raise UsageError("no text is named: nothing is erased")
        self._found: set[bytes] = set()
        self._places: dict[str, None] = {}
        longest_first = sorted({*self.texts, *filter(None, map(_redacted, self.texts))}, key=lambda each: -len(each))
        read = [each for text in longest_first for each in readings(text).items()]
        self._finders: list[Whole | CutSlug] = [*(Whole(*each) for each in read), *map(CutSlug, longest_first)]
        if self.holds(MASK + MASK):
            raise UsageError(
                f"what is erased becomes {MASK.decode()}: a text that stands in this mark cannot be erased"
            )

    def holds(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts."""
        return any(True for finder in self._finders for _ in finder.spans(data))

    def masked(self, data: bytes) -> bytes:
        """The bytes with `MASK` for each text; each line break in a text stays, so that the lines keep their numbers.
        What is masked holds none of the texts any more."""
        while True:  # what stands on both sides of a mark may be a text
            before = data
            for finder in self._finders:
                data = self._without(data, finder.spans(data))
            if data == before:
                return data

    def _without(self, data: bytes, spans: Iterator[tuple[int, int]]) -> bytes:
        pieces, at = [], 0
        for start, end in spans:
            self._found.add(data[start:end])
            if len(self._places) < _MAX_PLACES:
                self._places[_around(data, start, end)] = None
            first, last, before, after = with_marks(data, start, end)
            pieces += [data[at : max(at, first)], before, MASK, b"\n" * data.count(b"\n", start, end), after]
            at = max(at, last)
        return b"".join([*pieces, data[at:]]) if pieces else data

    @property
    def found(self) -> tuple[str, ...]:
        """What it has masked until now, as it was written; of JSON what that means."""
        return tuple(sorted({one_line(unescaped(each.decode("utf-8", "replace"))) for each in self._found}))

    @property
    def places(self) -> tuple[str, ...]:
        """What it has masked, with the words around it, in the order in which that was found; of very many the
        first."""
        return tuple(self._places)

    @property
    def other_words(self) -> tuple[str, ...]:
        """What another region calls things in the texts (軟體 for 软件): it does not count as the text."""
        return tuple(dict.fromkeys(word for text in self.texts for word in tokens.regional_variants(tokens.fold(text))))


def _redacted(text: str) -> str:
    """The text as records have it when a secret in it is redacted; "" where none is, or too little is left of it."""
    kept = redact(text).text
    return kept if kept != text and len(letters(_MARK.sub("", kept)).encode()) >= ENOUGH_BYTES else ""


def _around(data: bytes, start: int, end: int) -> str:
    """A place of a text with the words on both sides, on one line."""
    before = data[max(0, start - _AROUND_BYTES) : start].rpartition(b"\n")[2]
    after = data[end : end + _AROUND_BYTES].partition(b"\n")[0]
    if end - start > 2 * _AROUND_BYTES:
        end, after = start + 2 * _AROUND_BYTES, "…".encode()
    said = (each.decode("utf-8", "ignore") for each in (before, data[start:end], after))
    return one_line(unescaped("".join(said)))
