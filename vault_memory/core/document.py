"""One file of a vault as the index sees it: chunks (what is embedded) made of units (what keywords find).

A *unit* is a line, or a sentence of a long line. A *chunk* is a run of whole lines of about 400 tokens at most, cut at
headings and blocks. Every line that is read belongs to exactly one chunk. Lines are 1-based and inclusive everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Unit:
    """A line, or a sentence of a long line: the smallest passage that can be returned.

    `text` is the source's own text (of a conversation record, the words that were said).
    """

    line: int
    text: str


@dataclass(frozen=True)
class Chunk:
    """Lines `start` to `end` of a file, under the heading path `heading` (`Projects > Index`)."""

    start: int
    end: int
    heading: str
    units: tuple[Unit, ...]


@dataclass(frozen=True)
class Document:
    """One file, read. `problems` say in words what could not be read as it should be; the rest is indexed all the same."""

    source: str
    kind: str
    title: str
    day: date | None
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    problems: tuple[str, ...] = ()


def read(source: str, kind: str, data: bytes) -> Document:
    """Read the bytes of a source of kind `kind` (see `layout.kind_of`): Markdown, or a conversation's JSONL.

    Never raises for what the bytes hold: bad UTF-8 is replaced, broken front matter is left out, and a file above
    `LIMIT_BYTES` is read up to there; each is told in `problems`.
    """
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    units = tuple(Unit(n, line) for n, line in enumerate(lines, 1) if line.strip())
    return Document(source, kind, "", None, (), (Chunk(1, len(lines), "", units),))
