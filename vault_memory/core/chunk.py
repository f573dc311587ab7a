"""Cutting a Markdown body into chunks: runs of whole lines, cut at headings, then at blocks, then at lines.

A chunk is what is embedded, about 400 tokens at most. Nothing is left out and nothing stands twice: every line belongs to
exactly one chunk (a line that alone is longer than a chunk is a chunk of its own).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vault_memory.core import tokens

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LIMIT = 400
"""Tokens of a chunk."""
SMALL = 240
"""Tokens up to which sections are joined with their neighbours: a chat's day has a heading per minute."""


@dataclass(frozen=True)
class Section:
    """Lines `start` to `end` (0-based, end exclusive) under the heading path `heading`.

    `level` is the heading's, 0 for what stands before any; its lines end before `body`; `cuts` are where a block begins.
    """

    start: int
    body: int
    end: int
    level: int
    heading: tuple[str, ...]
    cuts: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """Lines `start` to `end` (0-based, end exclusive) of one chunk; `titles` are those of its lines that are headings,
    counted from its first."""

    start: int
    end: int
    heading: tuple[str, ...]
    titles: frozenset[int]


def spans(body: str, lines: Sequence[str]) -> list[Span]:
    """The chunks of a body, whose lines are `lines`: they cover all lines once, in order."""
    sizes = [tokens.count(line) for line in lines]
    found: list[Span] = []
    size = level = 0
    for section in _sections(body, len(lines)):
        section_size = sum(sizes[section.start : section.end])
        if found and size + section_size <= SMALL and _joins(found[-1].heading, level, section):
            before = found[-1]
            shift = section.start - before.start
            titles = before.titles | {line + shift for line in range(section.body - section.start)}
            found[-1] = Span(before.start, section.end, before.heading, titles)
            size += section_size
            continue
        for start, end in _cut(section, sizes):
            titles = frozenset(range(max(0, min(section.body, end) - start)))
            found.append(Span(start, end, section.heading, titles))
            size = sum(sizes[start:end])
        level = section.level
    return found


def _sections(body: str, line_count: int) -> list[Section]:
    """The body's sections in order; they cover all lines once."""
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    start, after, cuts = 0, 0, [0]

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
            close(line)
            level = int(token.tag[1:])
            path = [(depth, text) for depth, text in path if depth < level]
            path.append((level, parsed[at + 1].content.strip()))
            start, after, cuts = line, min(token.map[1], line_count), [line]
        elif token.nesting >= 0 and line > cuts[-1]:
            cuts.append(line)
    close(line_count)
    return found


def _joins(heading: tuple[str, ...], level: int, section: Section) -> bool:
    """Whether a section may share the chunk of the one before: a sibling of it, or its first child."""
    parent = section.heading[:-1]
    return section.level >= level and parent in (heading[:-1], heading)


def _cut(section: Section, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The section in runs of at most LIMIT tokens, cut where a block begins if one does, else between lines."""
    starts = set(section.cuts)
    start = best = section.start
    size = 0
    for line in range(section.start, section.end):
        while size and size + sizes[line] > LIMIT:
            end = best if best > start else line
            yield start, end
            start, size = end, sum(sizes[end:line])
        if line in starts:
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
