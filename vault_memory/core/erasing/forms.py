"""The forms in which files, names and messages may hold a text, and the mark in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from vault_memory.core.text import in_both_scripts, one_line, simplify, tokens
from vault_memory.errors import UsageError

MASK = b"(erased)"
"""What stands in the place of an erased text: valid in a line of JSON, a property, a file's name and a branch's."""
MIN_BYTES = 4
"""Of letters and digits in a text, in UTF-8: two Chinese characters or four Latin letters. A shorter one would take
half of all words with it."""
_GAP = rb"(?:[\s>_-]|\xe3\x80\x80|\xc2\xa0|\\+[nrt]|\\+u00(?:20|0[9ad]))"
_WITHIN = rb"(?:(?:\r?\n|\\r|\\n)(?:[ \t>]|\\t)*)*"
"""A line that was broken inside a word of a script that has no blanks between words."""
_TO_FULL_WIDTH = 0xFEE0
_CUT = rb"\xe2\x80\xa6|\\+u2026"
"""What a quotation ends with that was cut."""
_MIN_CUT_BYTES = 12
"""Of the beginning of a text that a quotation must have."""
_MAX_ESCAPED = 12
"""Bytes that a character may take in its longest form."""
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+[nrt]")
_HEX_LETTER = re.compile(rb"[a-f]")
_IN_HTML = {"&": b"&amp;", "<": b"&lt;", ">": b"&gt;", '"': b"&quot;", "'": b"&#39;"}


class Erasure:
    """Texts to erase. Letters match in both cases; a blank matches any run of blanks, line breaks, marks of a quote,
    `-` and `_`, by which names of files are made; and each character its full-width form, those of the other Chinese
    script, and its escaped ones of JSON and HTML. A quotation that was cut (`…`) matches if it has the first half.

    Not matched are words in another order, another spelling, the words of another region (软件, 軟體), and what is
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
        longest_first = sorted(self.texts, key=len, reverse=True)
        self._patterns = [re.compile(_pattern(text)) for text in longest_first]
        self._cuts = [_Cut(text) for text in longest_first]
        if self.holds(MASK + MASK):
            raise UsageError(
                f"what is erased becomes {MASK.decode()}: a text that stands in this mark cannot be erased"
            )

    def holds(self, data: bytes) -> bool:
        """Whether bytes hold one of the texts."""
        for pattern in self._patterns:
            if found := pattern.search(data):
                self._found.add(found[0])
                return True
        return any(cut.masked(data) is not data for cut in self._cuts)

    def masked(self, data: bytes) -> bytes:
        """The bytes with `MASK` for each text; each line break in a text stays, so that the lines keep their numbers.
        What is masked holds none of the texts any more."""
        while self.holds(data):  # what stands on both sides of a mark may be a text
            for pattern in self._patterns:
                data = pattern.sub(self._mask, data)
            for cut in self._cuts:
                data = cut.masked(data)
        return data

    def _mask(self, found: re.Match[bytes]) -> bytes:
        self._found.add(found[0])
        return MASK + b"\n" * found[0].count(b"\n")

    @property
    def found(self) -> tuple[str, ...]:
        """The whole texts that it has found until now, as they were written; of JSON what that means."""
        return tuple(sorted({one_line(_unescaped(each.decode("utf-8", "replace"))) for each in self._found}))

    @property
    def other_words(self) -> tuple[str, ...]:
        """What another region calls things in the texts (軟體 for 软件): it does not count as the text."""
        return tuple(dict.fromkeys(word for text in self.texts for word in tokens.regional_variants(tokens.fold(text))))


class _Cut:
    """Quotations of a text that end within it: the first half of it at least, and `…`. Logs hold such ones."""

    def __init__(self, text: str) -> None:
        half = (len(text) + 1) // 2
        while half < len(text) and len(text[:half].encode()) < _MIN_CUT_BYTES:
            half += 1
        self._rest = _plain(text[half:])
        rest = rb"([^\n]{0,%d}?)" % (_MAX_ESCAPED * len(text))
        self._pattern = re.compile(_pattern(text[:half]) + rest + b"(" + _CUT + b")")

    def masked(self, data: bytes) -> bytes:
        """The bytes with `MASK` for each quotation; the same object where there is none."""
        if b"\xe2\x80\xa6" not in data and b"u2026" not in data:
            return data
        made = self._pattern.sub(self._mask, data)
        return data if made == data else made

    def _mask(self, found: re.Match[bytes]) -> bytes:
        rest, end = found[1], found[2]
        is_of_it = self._rest.startswith(_plain(rest.decode("utf-8", "replace")))
        return MASK + b"\n" * found[0].count(b"\n") + end if is_of_it else found[0]


def _plain(text: str) -> str:
    """The letters and digits of a text, of JSON what it means."""
    return "".join(filter(str.isalnum, simplify(unicodedata.normalize("NFKC", _unescaped(text)).casefold())))


def _unescaped(text: str) -> str:
    """A text that may stand in JSON, without its escapes; of a pair of surrogates its character."""
    said = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _pattern(text: str) -> bytes:
    pieces: list[bytes] = []
    for word in text.split():
        pieces.append(b"".join(_character(each) + (_WITHIN if ord(each) > 127 else b"") for each in word))
    return (_GAP + b"+").join(pieces)


def _character(character: str) -> bytes:
    """A pattern for one character of a text, in all its forms. Each begins with a fixed byte: so `re` passes over bytes
    with which none begins, which is ten times as fast."""
    forms: set[bytes] = set()
    widths = {*in_both_scripts(character), unicodedata.normalize("NFKC", character), _wide(character)}
    for each in {cased for wide in widths for cased in (wide, wide.lower(), wide.upper())}:
        for spelled in {each, unicodedata.normalize("NFD", each)}:
            marks = b"".join(b"(?:" + b"|".join(_plain_or_in_json(mark)) + b")" for mark in spelled[1:])
            forms |= {letter + marks for letter in _plain_or_in_json(spelled[0])}  # JSON may escape the marks alone
    if character in '"\\/':
        forms.add(rb"\\\\*" + re.escape(character.encode()))
    if character in _IN_HTML:
        forms.add(re.escape(_IN_HTML[character]))
    ordered: list[bytes] = sorted(sorted(forms), key=len, reverse=True)
    return b"(?:" + b"|".join(ordered) + b")"


def _wide(character: str) -> str:
    """The full-width form of a sign of ASCII; other characters are as they are."""
    return chr(ord(character) + _TO_FULL_WIDTH) if "!" <= character <= "~" else character


def _plain_or_in_json(character: str) -> tuple[bytes, bytes]:
    return re.escape(character.encode("utf-8", "surrogatepass")), _in_json(character)


def _in_json(character: str) -> bytes:
    units = character.encode("utf-16-be", "surrogatepass")
    codes = [units[at : at + 2].hex().encode() for at in range(0, len(units), 2)]
    return b"".join(
        rb"\\\\*u" + _HEX_LETTER.sub(lambda found: b"[%s%s]" % (found[0], found[0].upper()), c) for c in codes
    )
