"""Where a text stands in the bytes of a file, a name or a message: its units one after another, with any signs between
them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

from vault_memory.core.erasing.signs import TAG, in_word, signs, signs_and_tags, written
from vault_memory.core.erasing.units import DIVIDER, divides, is_mark, kind_of
from vault_memory.core.text import alike

_TAGS = re.compile(TAG)
_ESCAPE_BEFORE = re.compile(rb"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%(?:25)*[0-9a-fA-F]{2})\Z")
_BREAK = re.compile(rb"\A\\[nrt]")
"""A break and `rue` are no `true`."""
_ESCAPE_AROUND = re.compile(rb"\\u[0-9a-fA-F]{4}")
_ESCAPE_BYTES = 12
_MAX_MARKS = 3


class Place(NamedTuple):
    """Where a text begins, and `ends`: how much of it stands there, all first and then what is a unit shorter each, as
    (end, letters until there)."""

    start: int
    ends: tuple[tuple[int, int], ...]

    @property
    def letters(self) -> int:
        """How many letters of the text stand there."""
        return self.ends[0][1] if self.ends else 0


class Spelling:
    """The units of a text in all their spellings. Letters match in both cases, every width and composition and the
    other Chinese script, and as JSON, HTML and addresses escape them. Between two words or two numbers stands at least
    one sign, anywhere else any number of signs or none; values of JSON are divided, and no text goes over that."""

    def __init__(self, units: Sequence[str]) -> None:
        self._units = [_unit(each) for each in units if each != DIVIDER]
        divided = [at for at, each in enumerate(units) if each == DIVIDER]
        self._is_divided = {at - number for number, at in enumerate(divided)}
        kinds = [each.kind for each in self._units]
        self._is_apart = {at for at in range(1, len(kinds)) if kinds[at] == kinds[at - 1] != "wide"}
        self.letters = "".join(each.said for each in self._units)
        self._is_number = bool(kinds) and kinds[0] == "number", bool(kinds) and kinds[-1] == "number"

    def places(self, data: bytes, least: int) -> Iterator[Place]:
        """The places in bytes where at least so many letters of the text stand; one may reach into another."""
        at = 0
        search = self._first(least).search
        while found := search(data, at):
            place = self._from(data, found.start(), least)
            at = found.start() + 1
            if place.letters >= least and self._is_whole(data, place):
                yield place

    def _first(self, least: int) -> re.Pattern[bytes]:
        first = self._units[0]
        if least < len(first.said):
            return _compiled(first.said[:least], "")
        return _compiled(first.said, "(?![0-9A-Za-z])" if 1 in self._is_apart else "")

    def _from(self, data: bytes, start: int, least: int) -> Place:
        at, count = start, 0
        ends: list[tuple[int, int]] = []
        for number, unit in enumerate(self._units):
            found = self._after(data, at, number) if number else unit.pattern.match(data, at)
            if found is None:
                if count + len(unit.said) > least and (more := self._begun(data, at, number))[1]:
                    ends.append((more[0], count + more[1]))
                break
            at = found.end()
            count += len(unit.said)
            ends.append((at, count))
        return Place(start, tuple(reversed(ends)))

    def _begun(self, data: bytes, at: int, number: int) -> tuple[int, int]:
        """(end, letters) of what stands there of the unit of this number, which is not all of it."""
        begin = found.end() if number and (found := signs_and_tags().match(data, at)) else at
        may_stand = number == 0 or self._may_stand(data, at, begin, number)
        count, end = self._units[number].begun(data, begin) if may_stand else (0, at)
        return end, count

    def _after(self, data: bytes, at: int, number: int) -> re.Match[bytes] | None:
        """The unit of this number behind the signs that stand at a place. What looks like a tag of HTML is passed over,
        or is read where the text goes on in it (`Otto <otto@example.org>`)."""
        for passed in (signs_and_tags(), signs()):
            end = found.end() if (found := passed.match(data, at)) else at
            if self._may_stand(data, at, end, number) and (unit := self._units[number].pattern.match(data, end)):
                return unit
            if b"<" not in data[at:end]:
                return None  # no tag was passed over
        return None

    def _may_stand(self, data: bytes, at: int, end: int, number: int) -> bool:
        """Whether so much may stand before the unit of this number."""
        if end == at:
            return number not in self._is_apart
        between = data[at:end]
        if b'"' in between and number not in self._is_divided:
            before, after = data[max(0, at - 5) : at], data[end : end + 5]
            if _ESCAPE_BEFORE.search(data, max(0, at - _ESCAPE_BYTES), at):
                before = b""
            before = _BREAK.sub(b"", before)
            told = (each.decode("latin-1") for each in (_TAGS.sub(b" ", between), before, after))
            return not divides(*told)
        return True

    def _is_whole(self, data: bytes, place: Place) -> bool:
        """Whether a number is not a part of a longer one (1795 is no time such as 1795270627), and the text does not
        begin within an escape."""
        start, (end, count) = place.start, place.ends[0]
        first, last = self._is_number
        if last and count == len(self.letters) and data[end : end + 1].isdigit():
            return False
        around = (_ESCAPE_AROUND.match(data, at) for at in range(max(0, start - 5), start))
        if any(found is not None and found.end() > start for found in around):
            return False
        is_begun = first and data[start - 1 : start].isdigit()
        return not is_begun or _ESCAPE_BEFORE.search(data, max(0, start - _ESCAPE_BYTES), start) is not None


class _Unit:
    def __init__(self, said: str) -> None:
        self.said = said
        self.kind = kind_of(said)
        self.pattern = _compiled(said, "")

    def begun(self, data: bytes, at: int) -> tuple[int, int]:
        """How many of its letters stand at a place, and where they end."""
        count, end = 0, at
        for each in self.said[:-1]:
            begin = found.end() if count and not is_mark(each) and (found := _in_word().match(data, end)) else end
            if not (letter := _one_letter(each).match(data, begin)):
                break
            count, end = count + 1, letter.end()
        return count, end


@cache
def _unit(said: str) -> _Unit:
    return _Unit(said)


@cache
def _compiled(said: str, behind: str) -> re.Pattern[bytes]:
    return re.compile(pattern(said) + behind.encode())


def pattern(unit: str) -> bytes:
    """A pattern of a unit, or the beginning of one, in all its spellings."""
    between = b"" if kind_of(unit) == "wide" else in_word()
    made = _letter(unit[0])
    for each in unit[1:]:
        made += (b"" if is_mark(each) else between) + _letter(each)
    return made


@cache
def _one_letter(character: str) -> re.Pattern[bytes]:
    return re.compile(_letter(character))


@cache
def _in_word() -> re.Pattern[bytes]:
    return re.compile(in_word())


@cache
def _letter(character: str) -> bytes:
    """A pattern for one character, in all its forms."""
    members = [*alike(character)]
    forms = {form for each in members for form in (*_composed(each), each.upper(), each.lower()) if len(form) > 1}
    ways = [b"".join(written(alike(each)) for each in form) for form in sorted(forms)]
    ways.append(written(members))  # of two the longer one first
    return ways[0] if len(ways) == 1 else b"(?:" + b"|".join(ways) + b")"


def _composed(character: str) -> Iterator[str]:
    """The ways in which a letter with marks is written with some of these as characters of their own."""
    base, *marks = [*unicodedata.normalize("NFD", character)]
    if not 0 < len(marks) <= _MAX_MARKS:
        return
    for order in permutations(marks):
        for count in range(len(marks)):
            begun = unicodedata.normalize("NFC", base + "".join(order[:count]))
            form = begun + "".join(order[count:])
            if unicodedata.normalize("NFC", form) == unicodedata.normalize("NFC", character):
                yield form
