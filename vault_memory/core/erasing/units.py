"""A text as its units, by which an erased text is looked for and known again: each run of letters, each whole number,
and each character of a script without blanks between words (Chinese characters, kana, Hangul) is one."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from html.entities import name2codepoint

from vault_memory.core.text import first_alike, translated

DIVIDER = '"'
"""Stands between two units where a value of JSON ends and another begins: no unit is like it."""
LITERALS = ("true", "false", "null")
_BLOCKS = (
    (0, 0x3400),
    (0x4DC0, 0x4E00),
    (0xA490, 0xAC00),
    (0xD7B0, 0xD800),
    (0xE000, 0x17000),
    (0x1B000, 0x20000),
    (0xE0000, 0xE0200),
)
"""Without those that hold Chinese characters or Hangul alone, and without surrogates."""
_EMOJI = range(0x1F000, 0x1FB00)
_UNSEEN = (0x34F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
"""Marks that only choose how a character looks. Format characters (a soft hyphen, a joiner) are not seen, either."""
_WIDE = (
    "\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b2ff"
    "\U00020000-\U0003ffff"
)
_PERCENT = "%(?:25)*"
_X = r"\\+x"
_H = "[0-9a-fA-F]"


def _in_utf8(escape: str) -> str:
    following = f"(?:{escape}[89abAB]{_H})"
    return f"{escape}(?:[0-7]{_H}|[c-dC-D]{_H}{following}|[eE]{_H}{following}{{2}}|[fF][0-4]{following}{{3}})"


_ESCAPED = re.compile(
    r"(?P<quote>(?<!\\)\\(?:\\\\)*\")"
    rf"|\\+u(?P<high>[dD][89abAB]{_H}{{2}})\\+u(?P<low>[dD][c-fC-F]{_H}{{2}})"
    rf"|\\+u(?P<code>(?![dD][89a-fA-F]){_H}{{4}})"
    r"|(?P<break>\\+[nrt])"
    rf"|(?P<address>{_in_utf8(_PERCENT)}|{_in_utf8(_X)})"
    rf"|&\#0*(?P<number>[0-9]{{1,7}});|&\#[xX]0*(?P<hex>{_H}{{1,6}});|&(?P<name>[A-Za-z][A-Za-z0-9]{{1,8}});"
)
_BYTES = re.compile(rf"{_H}{{2}}(?=[%\\]|\Z)")
_RAW_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')
_NO_QUOTE = "\u201d"


def is_sign(character: str) -> bool:
    """Whether it is no part of a word, and stands between words: also an emoji, and what is not seen."""
    if character.isalnum():
        return False
    category = unicodedata.category(character)
    return category[0] in "PSZ" or category in ("Cc", "Cf") or ord(character) in _EMOJI or is_unseen(character)


def is_unseen(character: str) -> bool:
    """Whether it is not seen, also in a word."""
    return unicodedata.category(character) == "Cf" or ord(character) in _UNSEEN


def is_mark(character: str) -> bool:
    """Whether it stands on the letter or sign before it."""
    return unicodedata.category(character)[0] == "M"


def every_character() -> Iterator[str]:
    """Those among which signs and marks are."""
    return (chr(code) for first, end in _BLOCKS for code in range(first, end))


def kind_of(unit: str) -> str:
    """`word` or `number`, between two of which a sign stands; `wide` for a unit that may stand beside any other."""
    found = _kinds().fullmatch(unit)
    return (found.lastgroup if found else None) or "wide"


def unescaped(text: str, quote: str = '"') -> str:
    """A text without the escapes of JSON, HTML, addresses and shown bytes; `quote` stands for each `"` that was one."""

    def said(found: re.Match[str]) -> str:
        if found["quote"]:
            return quote
        if found["break"]:
            return " "
        if found["high"]:
            return bytes.fromhex(found["high"] + found["low"]).decode("utf-16-be")
        meant = _meant(found)
        return quote if meant == '"' else meant

    return _ESCAPED.sub(said, text)


def _meant(found: re.Match[str]) -> str:
    if found["address"]:
        try:
            return bytes.fromhex("".join(_BYTES.findall(found["address"]))).decode()
        except UnicodeDecodeError:
            return found[0]
    if found["name"]:
        code = name2codepoint.get(found["name"], -1)
    else:
        code = int(found["number"]) if found["number"] else int(found["code"] or found["hex"], 16)
    is_character = 0 <= code <= sys.maxunicode and not 0xD800 <= code < 0xE000
    return chr(code) if is_character else found[0]


def units(text: str) -> list[str]:
    """The units of a text in order, in one case, width and script; and `DIVIDER` between two where JSON's values are
    divided. A `"` between words divides them, unless it can only be one of prose: it stands alone, and beside it is no
    number and no `true`, `false` or `null`."""
    found: list[str] = []
    said, at = _comparable(text), 0
    for each in _kinds().finditer(said):
        if (between := said[at : each.start()]) and not between.isspace():
            if at and divides(between, found[-1], each[0]):
                found.append(DIVIDER)
            if not between.isascii():
                found += (one for one in between if not (is_sign(one) or is_mark(one)))  # of nobody's alphabet
        found.append(each[0])
        at = each.end()
    return found


def spans(text: str) -> list[tuple[int, int, str]]:
    """(start, end, unit) of each unit of a text that nobody has escaped."""
    return [(*found.span(), unit) for found in _kinds().finditer(text) for unit in units(found[0])]


def divides(signs: str, before: str, after: str) -> bool:
    """Whether the signs between two words have a `"` that may divide values of JSON."""
    quotes = len(_RAW_QUOTE.findall(signs)) if '"' in signs else 0
    return quotes > 1 or (quotes == 1 and (_may_be_value(before, at_end=True) or _may_be_value(after, at_end=False)))


def _may_be_value(word: str, *, at_end: bool) -> bool:
    near = word[-1:] if at_end else word[:1]
    folded = word.lower()
    return near.isdigit() or (folded.endswith(LITERALS) if at_end else folded.startswith(LITERALS))


def readings(text: str) -> dict[tuple[str, ...], str]:
    """The units of a text as it stands, and of what it means where something in it may be an escape; each with what was
    read."""
    read = {tuple(units(each)): each for each in (unescaped(text, _NO_QUOTE), text)}
    return {each: said for each, said in read.items() if each}


def meant(text: str) -> list[str]:
    """The units of what a text means that may be JSON, HTML or an address."""
    return units(unescaped(text, _NO_QUOTE))


def letters(text: str) -> str:
    """The letters and digits of a text in one form; of JSON, HTML and addresses what it means."""
    return "".join(each for each in meant(text) if each != DIVIDER)


def _comparable(text: str) -> str:
    if text.isascii():
        return text.upper()
    seen = _what_is_unseen().sub("", text)
    once = translated(unicodedata.normalize("NFC", seen), first_alike())
    return translated(unicodedata.normalize("NFC", once), first_alike())


@cache
def _kinds() -> re.Pattern[str]:
    marks = f"[{_ranges(filter(is_mark, every_character()))}]*"
    return re.compile(
        rf"(?P<wide>(?=\w)[{_WIDE}]{marks})|(?P<word>(?:[^\W\d_](?<![{_WIDE}]){marks})+)|(?P<number>(?:\d{marks})+)"
    )


@cache
def _what_is_unseen() -> re.Pattern[str]:
    return re.compile(f"[{_ranges(filter(is_unseen, every_character()))}]+")


def _ranges(characters: Iterable[str]) -> str:
    """The runs of neighbours among these as a class of `re` has them."""
    runs: list[list[int]] = []
    for code in map(ord, characters):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in runs)
