"""What of other words is of an erased text: known by where these words come from, a turn that says the text. What the
program makes of a turn has the words of the turn: a clause of it, or a subject and what is told of it later. Words that
what is left of the turn says as well are no words of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from vault_memory.core import reading
from vault_memory.core.diary import labels
from vault_memory.core.erasing.cuts import ENOUGH_BYTES
from vault_memory.core.erasing.forms import MASK, MIN_BYTES, Erasure
from vault_memory.core.erasing.units import DIVIDER, kind_of, meant, readings, spans
from vault_memory.core.notes import entries
from vault_memory.core.privacy import ERASED, PRIVATE

_MIN_WORD_BYTES = 5
"""Of a word that stands alone among others: a shorter one may be of the program's own (*have*, *with*)."""
_KNOWN_BYTES = 8
_CUT = "…"
_GAPS = re.compile(rf"{re.escape(PRIVATE)}|{re.escape(ERASED)}|{_CUT}")

Turn = tuple[str, str, str]
"""The place of a turn, and when it was, as a line tells it; of a log also the words that it has of it, as another
machine may have had another turn in the same minute."""
_ENDED = re.compile(
    rf"{entries.CAME}(?:{'|'.join((*labels.SUCCESS, *labels.FAILURE, *labels.DONE))})(?={entries.PART}|\s*$)"
)
_BEFORE = b" \t\xef\xbb\xbf"
"""What a person's editor may have put before the first line, or before each."""
WHOLE: Turn = ("", "", "")


class Part(NamedTuple):
    """Parts of texts that go from a file: from all of it, or from its lines that are from one turn."""

    path: PurePosixPath
    texts: tuple[str, ...]
    turn: Turn = WHOLE


def turn_of(line: bytes) -> Turn | None:
    """The turn that a line of evidence or of a daily log is from; None for any other line."""
    if line.lstrip(_BEFORE).startswith(b"{"):
        try:
            row = reading.json_value(line)
        except ValueError:
            return None
        return (str(row.get("source") or ""), str(row.get("created_at") or ""), "") if isinstance(row, dict) else None
    request = entries.request_in(line.decode("utf-8-sig", "replace"))
    return (request.source, request.time, request.words) if request else None


def asked_in(request: entries.Request) -> str:
    """What a line of a log says of the message of its turn, also where that has an arrow or a dot itself."""
    ended = _ENDED.search(request.said)
    return request.said[: ended.start()].strip() if ended else request.words


class PartsOfFile:
    """Parts that go from a file, as they are looked for."""

    def __init__(self, parts: Iterable[Part]) -> None:
        texts: dict[Turn, dict[str, None]] = {}
        for part in parts:
            texts.setdefault(part.turn, {}).update(dict.fromkeys(part.texts))
        whole = texts.pop(WHOLE, None)
        self._of_whole = Erasure(whole) if whole else None
        self._of_turns = {turn: Erasure(each) for turn, each in texts.items()}
        self._of_any = Erasure(text for each in texts.values() for text in each) if texts else None
        self._lines: dict[tuple[bytes, bytes], bytes] = {}  # each version of a file has most lines of the one before

    def masked(self, data: bytes, former: bytes) -> bytes:
        """The bytes with the mark for each part; `former` is what they were with the texts, in as many lines."""
        data = self._of_whole.masked(data) if self._of_whole else data
        if self._of_any is None or not self._of_any.holds(data):
            return data
        lines, before = (reading.lines(each, keep_ends=True) for each in (data, former))
        return b"".join(map(self._line, lines, before if len(before) == len(lines) else lines))

    def _line(self, line: bytes, former: bytes) -> bytes:
        if (line, former) not in self._lines:
            parts = self._of_turns.get(turn_of(former) or WHOLE)
            self._lines[line, former] = parts.masked(line) if parts else line
        return self._lines[line, former]


def is_known_by(part: str) -> bool:
    """Whether a part is known where nothing tells of which turn it is: it has two words at least, and eight letters or
    three Chinese characters."""
    units = [unit for _, _, unit in spans(part)]
    return len("".join(units).encode()) >= _KNOWN_BYTES and (len(units) > 1 or kind_of(units[0]) == "wide")


def is_cut(said: str) -> bool:
    """Whether something was left out of words."""
    return _GAPS.search(said) is not None


def share_in(said: str, texts: Iterable[str]) -> float:
    """Which share (0 to 1) of some words stands in the texts: two or more that follow one another, or all."""
    units, rows = meant(said), _Rows(map(meant, texts))
    at = found = 0
    while at < len(units):
        run = rows.run(units, at)
        found += run if run > 1 or run == len(units) else 0
        at += max(run, 1)
    return found / max(len(units), 1)


class Parts:
    """Texts, of which other words may have parts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = _Rows(each for text in texts for each in readings(text))

    def of(self, said: str, left: Sequence[str]) -> Iterator[str]:
        """The pieces of what was made of a turn that are of the texts, where this is `left` of the turn without these.

        Each run of words is of the text or of what is left, whichever has more of it; with both having as much it stays
        there to be read in any case. What was left out of the words (`[private]`, `(erased)`, `…`) divides them.
        """
        rows = _Rows(meant(piece) for text in left for piece in text.split(MASK.decode()))
        for piece, is_cut in _pieces(said):
            words = spans(piece)
            units = [unit for _, _, unit in words]
            first = None
            flags = self._are_theirs(units, rows)
            if is_cut and len(flags) > 1 and flags[-2] and units[-1] not in rows:
                flags[-1] = True  # the last word may be cut
            for at, is_theirs in enumerate([*flags, False]):
                if is_theirs and first is None:
                    first = at
                elif not is_theirs and first is not None:
                    if _is_enough(units[first:at]) and not self._texts.has_whole(units[first:at]):
                        yield piece[words[first][0] : words[at - 1][1]]
                    first = None

    def cut_off(self, name: str, said: str) -> Iterator[str]:
        """What a title, or the name of a file, has of a text within which it was cut: it begins as these words do."""
        words = spans(name)
        units, whole = [unit for _, _, unit in words], [unit for _, _, unit in spans(said)]
        if not units or units[:-1] != whole[: len(units) - 1] or not _begins(whole, len(units) - 1, units[-1]):
            return
        for at in range(len(units)):
            if self._texts.goes_on(whole, at, len(units)) and _is_enough(units[at:]):
                if not self._texts.has_whole(units[at:]):
                    yield name[words[at][0] : words[-1][1]]
                return

    def _are_theirs(self, units: Sequence[str], left: _Rows) -> list[bool]:
        flags = list[bool]()
        while (at := len(flags)) < len(units):
            theirs, others = self._texts.run(units, at), left.run(units, at)
            flags += [theirs > others] * max(theirs, others, 1)
        return flags

    def as_a_whole(self, said: str) -> Iterator[str]:
        """What of words, whose turn nobody can look at, stands in a text as a whole, and is enough to know it by."""
        for piece, is_cut in _pieces(said):
            for each in (piece, piece.rpartition(" ")[0]) if is_cut else (piece,):
                units = [unit for _, _, unit in spans(each)]
                is_one_word = len(units) == 1 and kind_of(units[0]) != "wide"
                size = len("".join(units).encode())
                if size >= ENOUGH_BYTES and not is_one_word and self._texts.run(units, 0) == len(units):
                    yield each
                    break


class _Rows:
    """Texts as their units, with where each unit stands."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        self._rows = [[unit for unit in text if unit != DIVIDER] for text in texts]
        self._places: dict[str, list[tuple[int, int]]] = {}
        for number, row in enumerate(self._rows):
            for at, unit in enumerate(row):
                self._places.setdefault(unit, []).append((number, at))

    def __contains__(self, unit: str) -> bool:
        return unit in self._places

    def has_whole(self, units: list[str]) -> bool:
        """Whether one of the texts has these units and no more."""
        return units in self._rows

    def goes_on(self, units: Sequence[str], at: int, end: int) -> bool:
        """Whether one of the texts begins with this unit, and goes on to the last one before this end, or behind it."""
        return any(at + len(row) >= end and [*units[at : at + len(row)]] == row for row in self._rows)

    def run(self, units: Sequence[str], at: int) -> int:
        """How many units from this one on follow one another in a text: of all places the most."""
        return max((self._alike(units, at, *place) for place in self._places.get(units[at], ())), default=0)

    def _alike(self, units: Sequence[str], at: int, number: int, begin: int) -> int:
        row = self._rows[number]
        longest = min(len(units) - at, len(row) - begin)
        return next((size for size in range(longest) if units[at + size] != row[begin + size]), longest)


def _pieces(said: str) -> Iterator[tuple[str, bool]]:
    """(words, whether the last one may be cut) between what was left out."""
    at = 0
    for gap in (*_GAPS.finditer(said), None):
        piece = said[at : gap.start() if gap else len(said)].strip()
        at = gap.end() if gap else at
        if piece:
            yield piece, gap is not None and gap[0] == _CUT


def _begins(units: Sequence[str], at: int, cut: str) -> bool:
    return at < len(units) and units[at].startswith(cut)


def _is_enough(units: Sequence[str]) -> bool:
    """Whether it may be taken out where it stands: not a short word, and no number alone, which may be an id or a
    time."""
    size = len("".join(units).encode())
    kinds = {*map(kind_of, units)}
    return kinds != {"number"} and size >= (_MIN_WORD_BYTES if len(units) == 1 else MIN_BYTES)
