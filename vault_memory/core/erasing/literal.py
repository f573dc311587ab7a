"""A look for what was erased that shares nothing with how it was found: the words as they were written, letter by
letter. So a fault of the one is told by the other."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vault_memory.core.erasing.cuts import ENOUGH_BYTES
from vault_memory.core.erasing.units import letters


class Literal:
    """Words in which a text stood, each looked for as it is, in both cases and over line breaks. Where the same line
    goes on in other letters, they are the beginning of something else, and may stay."""

    def __init__(self, forms: Iterable[str]) -> None:
        known = sorted(
            {form for form in forms if len(letters(form).encode()) >= ENOUGH_BYTES}, key=lambda each: -len(each)
        )
        ways = "|".join(r"\s+".join(map(re.escape, form.split())) for form in sorted(known, key=len, reverse=True))
        self._search = re.compile(rf"(?<!\d)(?:{ways})(?![ \t]*[^\W_])", re.IGNORECASE) if known else None

    def found(self, data: bytes) -> str:
        """The first of these words that bytes hold; "" for none."""
        found = self._search.search(data.decode("utf-8", "replace")) if self._search else None
        return " ".join(found[0].split()) if found else ""
