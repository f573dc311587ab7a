"""How a text may be spelled in a file, a name or a message: each of its characters, and what stands between its words,
as a pattern over bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property

from vault_memory.core.graph import file_stem
from vault_memory.core.memories import title_of
from vault_memory.core.text import in_both_scripts, simplify, slug

ENOUGH_BYTES = 12
"""Of letters and digits, in UTF-8: so many stand in no other text by chance."""
_HEX = rb"[0-9a-fA-F]"
_TAG = rb"</?[a-zA-Z][^<>\n]{0,80}>"
_SIGN = (
    rb"[\t-\r !#$'()*+,\-./:;=>?@\[\]^_`{|}~]"
    rb"|\\++(?:[nrt\"/]|u(?:00[0-2]" + _HEX + rb"|003[a-fA-F]|20" + _HEX + rb"{2}|300[0-4]|ff0" + _HEX + rb"))?"
    rb"|%(?:25)*(?:0[9adAD]|2" + _HEX + rb"|3[a-fA-F]|40|5[b-fB-F]|60|7[b-eB-E]|[eE]2%80%" + _HEX + rb"{2}"
    rb"|[eE]3%80%8[0-4]|[eE][fF]%[bB][cC]%8" + _HEX + rb")?"
    rb"|&(?:[a-z]{2,8};|#x?" + _HEX + rb"{2,5};)?"
    rb"|" + _TAG + rb"|<"
    rb"|\xc2[\xa0-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf]|\xe2[\x80\x81][\x80-\xbf]"
    rb"|\xe3\x80[\x80-\x84\x88-\xa0\xb0]|\xef\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xef\xbd[\x80\x9b-\xa5]"
)
"""One sign between words, as it is and as JSON, HTML and addresses write it. No letter or digit, so that each run of
signs is read in one way. Not `"`, which divides the values of JSON: there that of a text has a backslash."""
_MARKUP = rb"[*~`]{1,3}|" + _TAG + rb"|&shy;|\xc2\xad|\xe2\x80[\x8b-\x8d]|\xe2\x81\xa0|\xef\xbb\xbf"
_BREAK = rb"(?:\r?\n|\\++[nr])(?:[ \t>]|\\++t)*+"
_IN_WORD = rb"(?:" + _MARKUP + rb"|-" + _BREAK + rb")?"
"""Between two letters of a word: marks, what is not seen, and the hyphen of a word that goes on in the next line."""
_IN_SCRIPT = rb"(?:" + _MARKUP + rb"|" + _BREAK + rb")*+"
"""Also a line break, in a script without blanks between words."""
_ESCAPE_BEFORE = re.compile(rb"(?:\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})\Z")
_ONE_SIGN = re.compile(_SIGN)
_HEX_LETTER = re.compile(rb"[a-f]")
_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+[nrt]")
_TO_FULL_WIDTH = 0xFEE0


class Spelled:
    """A text in all its spellings. Letters match in both cases, in full width, in the other Chinese script, decomposed,
    and as JSON and addresses escape them; between its words stand any signs. Of a text that the program would cut in a
    title or a name, each beginning is found that is as long as the shortest of these."""

    def __init__(self, text: str) -> None:
        start = next((at for at, each in enumerate(text) if _is_letter(each)), len(text))
        end = next((at for at in range(len(text), 0, -1) if _is_letter(text[at - 1])), start)
        self._text = text[start:end]
        self._before, self._after = (
            re.compile(b"".join(_one_sign(each) for each in signs)) for signs in (text[:start], text[end:])
        )
        self._is_long = len(letters(text).encode()) >= ENOUGH_BYTES
        head = _beginning(self._text)
        self._head = re.compile(pattern(head))
        self._whole = self._head if head == self._text else re.compile(pattern(self._text))
        self._rest = self._text[len(head) :]
        self._is_number = bool(self._text) and self._text[0].isdigit(), bool(self._text) and self._text[-1].isdigit()

    @cached_property
    def _steps(self) -> Sequence[tuple[re.Pattern[bytes], bool]]:
        """What follows the beginning, one by one: a letter, or all signs to the next; and whether it is a letter."""
        return [(re.compile(each), is_letter) for each, is_letter in _pieces(self._rest)]

    def spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """(start, end) of each place in bytes that is the text, or a beginning of it that is long enough."""
        at = 0
        while found := self._head.search(data, at):
            start, at = found.span()
            if (whole := self._whole.match(data, start)) is None:
                yield start, (at := self._gone_on(data, at))
            elif self._is_apart(data, start, whole.end()) and (span := self._with_signs(data, start, whole.end())):
                at = span[1]
                yield span

    def _gone_on(self, data: bytes, end: int) -> int:
        """Where the text ends that goes on at this place, and is cut somewhere."""
        at = end
        for step, is_letter in self._steps:
            if (found := step.match(data, at)) is None:
                break
            at = found.end()
            end = at if is_letter else end
        return end

    def _is_apart(self, data: bytes, start: int, end: int) -> bool:
        """Whether a number is not a part of a longer one: 1795 is no time such as 1795270627."""
        first, last = self._is_number
        if last and data[end : end + 1].isdigit():
            return False
        return not (first and data[start - 1 : start].isdigit() and not _ESCAPE_BEFORE.search(data, start - 6, start))

    def _with_signs(self, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """The place with the signs that the text begins and ends with, which a short text must have."""
        after = self._after.match(data, end)
        begins = (at for at in range(max(0, start - 2 * len(self._before.pattern)), start + 1))
        before = next((at for at in begins if self._before.fullmatch(data, at, start)), None)
        if not self._is_long and (after is None or before is None):
            return None
        return (start if before is None else before), (after.end() if after else end)


def letters(text: str) -> str:
    """The letters and digits of a text in one form and script; of JSON what it means."""
    return "".join(filter(str.isalnum, simplify(unicodedata.normalize("NFKC", unescaped(text)).casefold())))


def unescaped(text: str) -> str:
    """A text that may stand in JSON, without its escapes; of a pair of surrogates its character."""
    said = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def pattern(text: str) -> bytes:
    """A pattern of a text in all its spellings; it begins and ends with a letter or digit."""
    return b"".join(each for each, _ in _pieces(text))


def _pieces(text: str) -> Iterator[tuple[bytes, bool]]:
    at = 0
    while at < len(text):
        if _is_letter(text[at]):
            is_last = at + 1 == len(text) or not _is_letter(text[at + 1])
            yield _character(text[at]) + (b"" if is_last else _IN_WORD if text[at] < "\x80" else _IN_SCRIPT), True
            at += 1
            continue
        end = next((end for end in range(at, len(text)) if _is_letter(text[end])), len(text))
        own = {each for each in text[at:end] if not _ONE_SIGN.fullmatch(each.encode("utf-8", "surrogatepass"))}
        yield b"(?:" + b"|".join([_SIGN, *sorted(map(_character, own))]) + b")+", False
        at = end


def _one_sign(sign: str) -> bytes:
    return rb"\s+" if sign.isspace() else _character(sign)


def _is_letter(character: str) -> bool:
    """Whether it is part of a word: a mark on a letter is, too."""
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def _beginning(text: str) -> str:
    """As much of a text as the shortest title or name has that the program makes of it; all of a short one."""
    made = (title_of(text), slug(text), file_stem(text))
    count = min(sum(map(str.isalnum, each)) for each in made)
    for at, each in enumerate(text, 1):
        count -= each.isalnum()
        if count == 0 and any(map(str.isalnum, text[at:])):
            return text[:at]
    return text


def _character(character: str) -> bytes:
    """A pattern for one character of a text, in all its forms. Each begins with a fixed byte: so `re` passes over bytes
    with which none begins, which is ten times as fast."""
    forms: set[bytes] = set()
    widths = {*in_both_scripts(character), unicodedata.normalize("NFKC", character), _wide(character)}
    for each in {cased for wide in widths for cased in (wide, wide.lower(), wide.upper())}:
        for spelled in {each, unicodedata.normalize("NFD", each)}:
            marks = b"".join(b"(?:" + b"|".join(_written(mark)) + b")" for mark in spelled[1:])
            forms |= {letter + marks for letter in _written(spelled[0])}  # JSON may escape the marks alone
    if character in '"\\/':
        forms.add(rb"\\\\*" + re.escape(character.encode()))
    ordered: list[bytes] = sorted(sorted(forms), key=len, reverse=True)
    return b"(?:" + b"|".join(ordered) + b")"


def _wide(character: str) -> str:
    """The full-width form of a sign of ASCII; other characters are as they are."""
    return chr(ord(character) + _TO_FULL_WIDTH) if "!" <= character <= "~" else character


def _written(character: str) -> Iterator[bytes]:
    """The character itself, as JSON escapes it, and, where it is none of ASCII, as an address does."""
    data = character.encode("utf-8", "surrogatepass")
    yield re.escape(data)
    units = character.encode("utf-16-be", "surrogatepass")
    yield b"".join(rb"\\\\*u" + _in_hex(units[at : at + 2]) for at in range(0, len(units), 2))
    if character >= "\x80":
        yield b"".join(rb"%(?:25)*" + _in_hex(data[at : at + 1]) for at in range(len(data)))


def _in_hex(data: bytes) -> bytes:
    return _HEX_LETTER.sub(lambda found: b"[%s%s]" % (found[0], found[0].upper()), data.hex().encode())
