"""What was made of a part of a text: words that stand in it, or that reach over where it begins or ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from vault_memory.core.erasing.cuts import ENOUGH_BYTES
from vault_memory.core.erasing.units import letters, meant, readings
from vault_memory.core.privacy import PRIVATE

_CLAUSE_BYTES = 8
"""Of letters and digits in a whole clause (*Call me Otto*). A shorter one stands in too many others."""
_GAPS = re.compile(rf"{re.escape(PRIVATE)}|…")


class Parts:
    """The parts of texts, each as its words have it that are looked at."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [units for text in texts for units in readings(text)]

    def of(self, said: str, *, whole: bool = False) -> Iterator[str]:
        """What of these words is a part of a text, which says more; what the program has left out of them
        (`[private]`, `…`) divides them. With `whole` only what stands in a text from its beginning to its end."""
        at = 0
        for gap in (*_GAPS.finditer(said), None):
            piece = said[at : gap.start() if gap else len(said)].strip()
            at = gap.end() if gap else at
            yield from self._in_piece(piece, whole=whole)
            if gap and gap[0] == "…":  # the last word may be cut
                yield from self._in_piece(piece.rpartition(" ")[0], whole=whole)

    def _in_piece(self, piece: str, *, whole: bool) -> Iterator[str]:
        size = len(letters(piece).encode())
        if size < _CLAUSE_BYTES:
            return
        units = meant(piece)
        for text in self._texts:
            if _stands(units, text):
                if len(units) < len(text) and size >= (ENOUGH_BYTES if whole else _CLAUSE_BYTES):
                    yield piece
            elif not whole and not _stands(text, units) and (over := _over(piece, units, text)):
                yield over


def _stands(units: Sequence[str], text: Sequence[str]) -> bool:
    size = len(units)
    return any([*text[at : at + size]] == [*units] for at in range(len(text) - size + 1))


def _over(piece: str, units: Sequence[str], text: Sequence[str]) -> str:
    """The end of a piece with which a text begins, or its beginning with which a text ends; "" for none that is enough
    to know it by."""
    ends = (piece[at:] for at in range(1, len(piece))) if units[-1] in text else ()
    begins = (piece[:at] for at in range(len(piece) - 1, 0, -1)) if units[0] in text else ()
    for cut, is_end in (*((each, True) for each in ends), *((each, False) for each in begins)):
        if not cut[0 if is_end else -1].isalnum():
            continue
        if len(letters(cut).encode()) < ENOUGH_BYTES:
            continue
        said = meant(cut)
        own = units[-len(said) :] if is_end else units[: len(said)]
        other = text[: len(said)] if is_end else text[-len(said) :]
        if said == own == [*other]:
            return cut
    return ""
