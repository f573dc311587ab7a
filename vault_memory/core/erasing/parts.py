"""What was made of a part of a text: words that stand in it, or that reach over where it begins or ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from vault_memory.core.erasing.cuts import ENOUGH_BYTES
from vault_memory.core.erasing.units import DIVIDER, kind_of, meant, readings
from vault_memory.core.privacy import ERASED, PRIVATE

_MAX_RUNS = 3
"""Of so many runs of a text's words the program makes a memory anew: a subject, what is told of it, and what joins
these."""
_MAX_SUBJECT = 2
_CLAUSE_BYTES = 8
"""Of letters and digits in a whole clause (*Call me Otto*). A shorter one stands in too many others."""
_GAPS = re.compile(rf"{re.escape(PRIVATE)}|{re.escape(ERASED)}|…")


class Parts:
    """The parts of texts, each as its words have it that are looked at."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [units for text in texts for units in readings(text)]
        self._known = {unit for units in self._texts for unit in units}

    def of(self, said: str, *, whole: bool = False) -> Iterator[str]:
        """What of these words is a part of a text, which says more, or made of parts of it; what was left out of them
        (`[private]`, `(erased)`, `…`) divides them. With `whole` only what a text says as a whole."""
        at = 0
        for gap in (*_GAPS.finditer(said), None):
            piece = said[at : gap.start() if gap else len(said)].strip()
            at = gap.end() if gap else at
            found = [*self._in_piece(piece, whole=whole)]
            if not found and gap and gap[0] == "…":  # the last word may be cut
                found += self._in_piece(piece.rpartition(" ")[0], whole=whole)
            yield from found

    def _in_piece(self, piece: str, *, whole: bool) -> Iterator[str]:
        if not self._may_be_part(piece):
            return
        units = meant(piece)
        size = len("".join(each for each in units if each != DIVIDER).encode())
        if size < _CLAUSE_BYTES or (len(units) == 1 and kind_of(units[0]) != "wide"):
            return  # one word stands in too many others
        for text in self._texts:
            if _stands(units, text):
                if len(units) < len(text) and size >= (ENOUGH_BYTES if whole else _CLAUSE_BYTES):
                    yield piece
            elif _stands(text, units):
                continue
            elif size >= ENOUGH_BYTES and _longest_run(units, text) >= (ENOUGH_BYTES if whole else size / 2):
                yield piece
            elif not whole:
                yield from _over(piece, units, text)

    def _may_be_part(self, piece: str) -> bool:
        """Whether the first or the last word of a piece is one of a text: of most pieces neither is, and that is soon
        known."""
        words = piece.split()
        begin = next(filter(None, map(_word, words)), None)
        if begin is None:
            return False
        end = next(filter(None, map(_word, reversed(words))), begin)
        return begin[0] in self._known or end[-1] in self._known


@lru_cache(10_000)
def _word(said: str) -> tuple[str, ...]:
    return tuple(meant(said))


def _stands(units: Sequence[str], text: Sequence[str]) -> bool:
    size = len(units)
    return any([*text[at : at + size]] == [*units] for at in range(len(text) - size + 1))


def _longest_run(units: Sequence[str], text: Sequence[str]) -> int:
    """The bytes in the longest of a few runs of a text's words of which these words are made: *teach maths* for *I
    teach maths* of *I live in Leeds and teach maths*; 0 where they are not made so."""
    known = set(text)
    runs, at = list[int](), 0
    while at < len(units):
        if units[at] not in known or len(runs) == _MAX_RUNS:
            return 0
        size = 1
        while at + size < len(units) and _stands(units[at : at + size + 1], text):
            size += 1
        runs.append(len("".join(units[at : at + size]).encode()))
        at += size
    return max(runs)


def _over(piece: str, units: Sequence[str], text: Sequence[str]) -> Iterator[str]:
    """The end of a piece with which a text begins, and its beginning with which a text ends, where there is enough of
    it to know it by; that may begin behind a subject that the program has put there."""
    sizes = range(min(len(units), len(text)) - 1, 0, -1)
    end = next((size for size in sizes if [*units[-size:]] == [*text[:size]]), 0)
    subjects = [at for at in range(min(len(units), _MAX_SUBJECT + 1)) if {*units[:at]} <= {*text}]
    found = ((at, size) for at in subjects for size in sizes if [*units[at : at + size]] == [*text[-size:]])
    at, begin = next((each for each in found if _is_enough(units[each[0] : sum(each)])), (0, 0))
    if end and _is_enough(units[-end:]):
        yield from islice((cut for cut in _ends(piece) if meant(cut) == units[-end:]), 1)
    if begin:
        (rest,) = islice((cut for cut in _ends(piece) if meant(cut) == units[at:]), 1) if at else (piece,)
        yield from islice((cut for cut in _begins(rest) if meant(cut) == units[at : at + begin]), 1)


def _is_enough(units: Sequence[str]) -> bool:
    return len("".join(units).encode()) >= ENOUGH_BYTES


def _ends(piece: str) -> Iterator[str]:
    return (piece[at:] for at in range(1, len(piece)) if piece[at].isalnum())


def _begins(piece: str) -> Iterator[str]:
    return (piece[:at] for at in range(len(piece), 0, -1) if piece[at - 1].isalnum())
