"""What an index hands to ranking: chunks that may hold the answer, with the words of their segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from vault_memory.core.notes import Segment


@dataclass(frozen=True)
class Filter:
    """Which notes may answer: of these kinds, in this folder (or this one note), with all these tags or tags below them
    (`文學/小說` is below `文學`), of the days from `since` to `until` (inclusive);
    with `memory_types` or `skills` only memories of one of these types and skills ("": none). `at` (seconds since 1970)
    leaves out the memories that are past then: expired, superseded or archived ones. None: they answer, too. `gone` are
    notes that do not answer, as their files are no longer there."""

    kinds: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    tags: tuple[str, ...] = ()
    memory_types: tuple[str, ...] = ()
    skills: tuple[str, ...] | None = None
    at: float | None = None
    path: str = ""
    gone: tuple[str, ...] = ()


NOT_CALLED, BY_ALIAS, BY_TITLE, BY_NAME = 0, 1, 2, 3
"""Whether the question is, to the letter, what a note is called: by an alias, by the heading that it begins with, or by
the title in its front matter, its file's name or its path."""
AS_TYPED = 0.5
"""More, where the file's name is what was typed sign for sign, and not in the other Chinese script."""


@dataclass(frozen=True)
class Candidate:
    """One chunk. `stems` holds the words of each segment (see `tokens.stems`), `head` those of title, headings and day;
    `sections` the words of further headings, each with the number of the first segment below it.

    `keyword` is its BM25 (higher is better, 0 when no word matched), `cosine` that of its vector and the query's (None:
    it has no vector), `called` how the question names its note (only of the note's first chunk).
    """

    chunk_id: int
    source: str
    kind: str
    day: str
    position: int
    text: str
    segments: Sequence[Segment]
    stems: Sequence[str]
    head: str
    keyword: float
    cosine: float | None
    sections: Sequence[tuple[int, str]] = ()
    called: float = NOT_CALLED


@dataclass(frozen=True)
class Spread:
    """The distribution of the cosines of a whole index for one query: count, mean, standard deviation, and the best."""

    count: int
    mean: float
    deviation: float
    best: float


FOREIGN_KNOWLEDGE = 1.5
"""Enough for vectors to answer where words find nothing."""


class Knowledge(NamedTuple):
    """What a model knows of an index's text in each script (see `probes.knowledge`); None where it is not measured."""

    latin: float | None = None
    han: float | None = None

    def of(self, is_han: bool) -> float | None:
        """What counts for a question. In a script that the index lacks, next to nothing: few models know two."""
        asked, other = (self.han, self.latin) if is_han else (self.latin, self.han)
        return FOREIGN_KNOWLEDGE if asked is None and other is not None else asked


@dataclass(frozen=True)
class Candidates:
    """What an index found: the chunks, in how many of all `total` chunks each term stands, the spread of the cosines
    (None without a query vector, or without vectors of its space), and what the vectors' model knows of the index."""

    chunks: list[Candidate]
    frequency: dict[str, int]
    total: int
    spread: Spread | None = None
    knowledge: Knowledge = Knowledge()


def together(found: Sequence[Candidates]) -> list[Candidates]:
    """What several indexes found for one question, each with the total of all, and of the terms that it holds the
    frequencies in all: how rare a word is does not depend on whose notes it stands in."""
    if len(found) == 1:
        return [*found]
    frequency = sum((Counter(each.frequency) for each in found), Counter[str]())
    total = sum(each.total for each in found)
    held = [{term: frequency[term] if own else 0 for term, own in each.frequency.items()} for each in found]
    return [replace(each, frequency=of, total=total) for each, of in zip(found, held, strict=True)]
