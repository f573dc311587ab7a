"""Lines: a message cut into lines, as written and folded, and the words that are looked for in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault_memory.core.extraction.lexicon import Lexicon
from vault_memory.core.text import lazily

NAME = r"[A-ZÀ-Þ][\w'’.\-]*(?: [A-ZÀ-Þ][\w'’.\-]*){0,2}|[\u3400-\u9fff]{1,4}"
"""One to three capitalised words, or up to four Han characters."""
_SPOKEN = lazily(r"(?<![a-z'])(?:i|i'm|i've|i'd|my|me|we|you|your|please|always|never)(?![a-z])|[我你您咱]|以后|\?")


@dataclass(frozen=True)
class Line:
    """A line of a message: its offsets, as written, and folded. `is_break`: it is blank, and ends a paragraph."""

    start: int
    end: int
    written: str
    folded: str
    is_break: bool
    is_code: bool


class Lines:
    """The lines of a message."""

    def __init__(self, written: str, folded: str, prose: str, gap: int, lexicon: Lexicon) -> None:
        """`prose` is blank where `folded` is code. `gap`: where a part of the message was left out, which is no break
        between paragraphs; -1: nowhere."""
        self.lexicon = lexicon
        self._lines: list[Line] = []
        start = 0
        for text in folded.split("\n"):
            end = start + len(text)
            is_blank = not text.strip()
            is_code = not is_blank and not prose[start:end].strip()
            self._lines.append(Line(start, end, written[start:end], text, is_blank and start != gap, is_code))
            start = end + 1

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, at: int) -> Line:
        return self._lines[at]

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines)

    def next_text(self, at: int) -> int:
        """The first line at or behind one that is not blank; the number of lines if there is none."""
        while at < len(self) and not self[at].folded.strip():
            at += 1
        return at

    def says(self, path: str, text: str) -> bool:
        """Whether a phrase of a list stands in a text."""
        return self.lexicon.words(f"voices.{path}").search(text) is not None

    def begins(self, path: str, text: str) -> re.Match[str] | None:
        return self.lexicon.words(f"voices.{path}").match(text)

    def all_of(self, path: str, text: str) -> Iterator[re.Match[str]]:
        return self.lexicon.words(f"voices.{path}").finditer(text)

    def is_all(self, path: str, text: str) -> bool:
        """Whether a text is a phrase of a list from end to end."""
        found = self.begins(path, text)
        return found is not None and found.end() == len(text)


def is_spoken(folded: str) -> bool:
    """Whether words are what people say to each other: they name the speaker or who listens, or ask."""
    return _SPOKEN.search(folded) is not None
