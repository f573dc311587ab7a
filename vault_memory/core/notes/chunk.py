"""Cutting a Markdown body into chunks: runs of whole lines, cut at headings, then at blocks, then at lines.

A chunk is what is embedded, about 400 tokens at most. Nothing is left out and nothing stands twice: every line belongs to
exactly one chunk (a line that alone is longer than a chunk is a chunk of its own).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from vault_memory.core.text import tokens

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LIMIT = 400
"""Tokens of a chunk."""
SMALL = 240
"""Tokens up to which sections are joined with their neighbours: a chat's day has a heading per minute."""


@dataclass(frozen=True)
class Section:
    """Lines `start` to `end` (0-based, end exclusive) under the heading path `heading`, whose own lines end before `body`.

    `level` is the heading's, 0 for what stands before any; `cuts` are where a block begins.
    """

    start: int
    body: int
    end: int
    level: int
    heading: tuple[str, ...]
    cuts: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """Lines `start` to `end` (0-based, end exclusive) of one chunk, and the sections that they are of."""

    start: int
    end: int
    sections: tuple[Section, ...]

    @property
    def heading(self) -> tuple[str, ...]:
        """The path that all its sections share."""
        paths = [section.heading for section in self.sections]
        return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))


def spans(body: str, lines: Sequence[str]) -> list[Span]:
    """The chunks of a body, whose lines are `lines`: they cover all lines once, in order."""
    sizes = [tokens.count(line) for line in lines]
    found: list[Span] = []
    size = 0
    for section in _sections(body, lines):
        section_size = sum(sizes[section.start : section.end])
        if found and size + section_size <= SMALL and _joins(found[-1], section):
            found[-1] = Span(found[-1].start, section.end, (*found[-1].sections, section))
            size += section_size
            continue
        for start, end in _cut(section, sizes):
            found.append(Span(start, end, (section,)))
            size = sum(sizes[start:end])
    return found


def _sections(body: str, lines: Sequence[str]) -> list[Section]:
    """The body's sections in order; they cover all lines once. A heading that has nothing of its own before its first child
    belongs to the child."""
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    start, after, cuts = 0, 0, [0]
    line_count = len(lines)

    def close(end: int) -> None:
        if end > start:
            level = path[-1][0] if path else 0
            found.append(Section(start, after, end, level, tuple(text for _, text in path), tuple(cuts)))

    parsed = _blocks(body)
    for at, token in enumerate(parsed):
        if token.map is None:
            continue
        line = min(token.map[0], line_count)
        if token.type == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            is_sibling = bool(path) and level <= path[-1][0]
            if is_sibling or any(row.strip() for row in lines[after:line]):
                close(line)
                start = line
            path = [(depth, text) for depth, text in path if depth < level]
            path.append((level, parsed[at + 1].content.strip()))
            after, cuts = min(token.map[1], line_count), [start]
        elif token.nesting >= 0 and line > cuts[-1]:
            cuts.append(line)
    close(line_count)
    return found


def _joins(span: Span, section: Section) -> bool:
    """Whether a section may share the chunk of the one before: a sibling of the chunk's first, or a child of it."""
    first, last = span.sections[0], span.sections[-1]
    return section.level >= last.level and section.heading[:-1] in (first.heading[:-1], first.heading)


def _cut(section: Section, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The section in runs of at most LIMIT tokens, cut where a block begins if one does, else between lines; never between
    a heading and the first line below it."""
    starts = set(section.cuts)
    first = next((line for line in range(section.body, section.end) if sizes[line]), section.end)
    start = best = section.start
    size = 0
    for line in range(section.start, section.end):
        while line > first and size and size + sizes[line] > LIMIT:
            end = best if best > start else line
            yield start, end
            start, size = end, sum(sizes[end:line])
        if line > first and line in starts:
            best = line
        size += sizes[line]
    yield start, section.end


def _blocks(body: str) -> list[Token]:
    """markdown-it's block tokens; inline marks are not parsed, for they decide no line."""
    parser = _parser()
    found: list[Token] = []
    parser.block.parse(body, parser, {}, found)
    return found


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
