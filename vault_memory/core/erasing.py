"""A text that is to be erased: the forms in which files, names and messages may hold it, and the mark in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from vault_memory.errors import UsageError

MASK = b"(erased)"
"""What stands in the place of an erased text: valid in a line of JSON, a property, a file's name and a branch's."""
MIN_BYTES = 4
"""Of letters and digits in a text, in UTF-8: two Chinese characters or four Latin letters. A shorter one would take
half of all words with it."""
_GAP = rb"(?:[\s>_-]|\\[nrt]|\\u00(?:20|0[9ad]))"
_WITHIN = rb"(?:(?:\r?\n|\\r|\\n)(?:[ \t>]|\\t)*)*"
"""A line that was broken inside a word of a script that has no blanks between words."""
_HEX_LETTER = re.compile(rb"[a-f]")
_IN_HTML = {"&": b"&amp;", "<": b"&lt;", ">": b"&gt;", '"': b"&quot;", "'": b"&#39;"}


class Erasure:
    """Texts to erase. Letters match in both cases; a blank matches any run of blanks, line breaks, marks of a quote,
    `-` and `_`, by which names of files are made; and each character its escaped forms of JSON and HTML.

    Not matched are words in another order, another spelling, and what is encoded as a whole (Base64, UTF-16, packed).
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
        longest_first = sorted(self.texts, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(_pattern, longest_first)))
        if self.holds(MASK + MASK):
            raise UsageError(
                f"what is erased becomes {MASK.decode()}: a text that stands in this mark cannot be erased"
            )

    def holds(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts."""
        return self._pattern.search(data) is not None

    def masked(self, data: bytes) -> bytes:
        """The bytes with `MASK` for each text; each line break in a text stays, so that the lines keep their numbers.
        What is masked holds none of the texts any more."""
        while self.holds(data):  # what stands on both sides of a mark may be a text
            data = self._pattern.sub(lambda found: MASK + b"\n" * found[0].count(b"\n"), data)
        return data


def _pattern(text: str) -> bytes:
    pieces: list[bytes] = []
    for word in text.split():
        pieces.append(b"".join(_character(each) + (_WITHIN if ord(each) > 127 else b"") for each in word))
    return (_GAP + b"+").join(pieces)


def _character(character: str) -> bytes:
    """A pattern for one character of a text, in all its forms."""
    forms: set[bytes] = set()
    for each in {character, character.lower(), character.upper()}:
        for spelled in {each, unicodedata.normalize("NFD", each)}:
            forms.add(re.escape(spelled.encode("utf-8", "surrogatepass")))
            forms.add(b"".join(map(_in_json, spelled)))
    if character in '"\\/':
        forms.add(re.escape(b"\\" + character.encode()))
    if character in _IN_HTML:
        forms.add(re.escape(_IN_HTML[character]))
    ordered: list[bytes] = sorted(sorted(forms), key=len, reverse=True)
    return b"(?:" + b"|".join(ordered) + b")"


def _in_json(character: str) -> bytes:
    units = character.encode("utf-16-be", "surrogatepass")
    codes = [units[at : at + 2].hex().encode() for at in range(0, len(units), 2)]
    return b"".join(rb"\\u" + _HEX_LETTER.sub(lambda found: b"[%s%s]" % (found[0], found[0].upper()), c) for c in codes)
