"""One file of a vault as the index sees it: chunks (what is embedded) made of segments (what keywords find).

A *segment* is a line, or a sentence of a long line. A *chunk* is a run of whole lines of about 400 tokens at most, cut
at headings and blocks. Every line that is read belongs to exactly one chunk. Lines are 1-based and inclusive
everywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.core import layout, reading
from vault_memory.core.notes import naming, note, said
from vault_memory.core.text import tokens

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHUNK_TOKENS = 400
MAX_HEADING_CHARS = 200
"""A longer heading is a paragraph that somebody has underlined: nothing would be left of a chunk beside it."""
MAX_JOINED_TOKENS = 240
"""Up to this size neighbouring sections share a chunk: a day of chat has a heading per minute."""
OPEN_CHUNKS = 4
"""So many chunks at the end of a note are read anew when it grows: conversations take turns in the last entries of a
log, and what comes of a request is told after it."""
MAX_FILE_BYTES = 4_000_000
"""How much of a note is read; a bigger file is hardly one, and must not delay the others."""
MAX_RECORD_BYTES = 20_000_000
"""How much of a day's conversation record is read: it grows by itself, nobody can divide it, and when it has grown only
the end is read."""
MAX_LINES = 250_000
"""Each line takes some hundred bytes of memory, however short it is."""
MAX_BLOCK_CHARS, MAX_BLOCK_LINES = 1_000, 50_000
"""So much of each line decides whether it begins a block, and names a heading, in so many lines; all words are read."""
MAX_SEGMENT_CHARS = 400
"""A longer line is cut at its sentences (Chinese: a third of that, since it says as much in fewer characters)."""


class Segment(NamedTuple):
    """A line, or a sentence of a long line: the smallest passage that can be returned.

    It stands in line `line` of the file and is `text[start:end]` of its chunk.
    """

    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Chunk:
    """Lines `start` to `end` of a file, under the heading path `heading` (`Projects > Index`).

    `text` is those lines as they stand (of conversation records: what was said, a message per line, and reflections,
    which say that they are some). A heading is a
    segment only if no text is below it; else its words count for that text. `sections` are the parts of the
    chunk with headings of their own: the number of the first segment, and the rest of the heading path from there on.
    """

    start: int
    end: int
    heading: str
    text: str
    segments: tuple[Segment, ...]
    sections: tuple[tuple[int, str], ...] = ()


class Resume(NamedTuple):
    """Where the reading goes on when only the end of a file has changed: at its chunk `position` (0-based), which
    begins at `line`.

    While the first `size` bytes have the SHA-256 `digest`, nothing behind them can change how the lines before it are
    read. `title` is the document's, `body_line` where its body begins, and `above` are the headings above the line,
    each with its level.
    """

    position: int
    line: int
    size: int
    digest: str
    title: str = ""
    body_line: int = 1
    above: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Document:
    """One file, read. `problems` say in words what could not be read as it should be; the rest is indexed anyway.

    `chunks` begin with the file's chunk `first` (0-based): the chunks before it are as they were when the file was last
    read. `resume` is for the next time; None: then the file has to be read from its beginning. `meta` is the front
    matter, `tags` are those in it and in the text, `links` the keys of the notes that it points at (see `naming`).
    """

    source: str
    kind: str
    title: str
    day: date | None
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    problems: tuple[str, ...] = ()
    first: int = 0
    resume: Resume | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[str, ...] = ()


def read(source: str, kind: str, data: bytes, resume: Resume | None = None) -> Document:
    """Read the bytes of a source of kind `kind` (see `layout.kind_of`): Markdown, or a conversation's JSONL.

    Any bytes can be read: bad UTF-8 is replaced, broken front matter is left out, and a file above `max_bytes` or
    `MAX_LINES` is read up to there; `problems` names each. `resume` is that of a document with whose beginning (see
    there) `data` begins: it saves the reading of the chunks before, and changes nothing else.
    """
    problems: list[str] = []
    if len(data) > (most := max_bytes(source)):
        way_out = "the daily log tells of the rest" if _is_record(source) else "divide the file"
        problems.append(f"only the first {most:,} bytes are indexed: {way_out}")
        data = data[: _end_of_read(data, most)]
    if data.count(b"\n") > MAX_LINES:
        problems.append(f"only the first {MAX_LINES:,} lines are indexed: divide the file")
        data = b"".join(line + b"\n" for line in data.split(b"\n", MAX_LINES)[:MAX_LINES])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(f"line {line} is not valid UTF-8: indexed with the bad characters replaced")
    text = text.replace("\r\n", "\n")
    if _is_record(source):
        return _conversation(source, kind, data, text, problems, resume)
    return _markdown(source, kind, data, text, problems, resume)


def _beginning(data: bytes, lines: int) -> tuple[int, str]:
    """Size and digest of so many lines, as a `Resume` has them."""
    size = sum(len(line) + 1 for line in data.split(b"\n", lines)[:lines])
    return size, hashlib.sha256(memoryview(data)[:size]).hexdigest()


def max_bytes(source: str) -> int:
    """How much of a source is read."""
    return MAX_RECORD_BYTES if _is_record(source) else MAX_FILE_BYTES


def _is_record(source: str) -> bool:
    return source.endswith(".jsonl")


def _end_of_read(data: bytes, most: int) -> int:
    """Where to cut a file that is too long: behind a line, or behind a character if there is only one line."""
    end = data.rfind(b"\n", 0, most) + 1 or most
    return next((at for at in range(end, end - 4, -1) if data[at] & 0xC0 != 0x80), end)


def _markdown(source: str, kind: str, data: bytes, text: str, problems: list[str], resume: Resume | None) -> Document:
    parsed = note.parse(text)
    problems.extend(parsed.problems)
    if note.has_too_long_front_matter(text):
        problems.append(
            f"front matter of more than {note.MAX_FRONT_MATTER_CHARS:,} characters is read as text: shorten it"
        )
    problems.extend(note.conflict_problems(text))
    lines = reading.lines(parsed.body)
    offset = parsed.body_line
    if resume and resume.body_line != offset:
        resume = None  # what was appended has closed the front matter
    spans = _spans(lines, resume.line - offset, resume.above) if resume else _spans(lines)
    position = resume.position if resume else 0
    chunks = []
    for at, span in enumerate(spans, position):
        first = 1 if at == 0 else span.start + offset  # front matter belongs to the first chunk
        chunks.append(_chunk(first, span.end + offset - 1, span.heading, list(_rows(kind, span, lines, offset))))
    if not chunks and text:  # nothing but front matter: of a note it is what there is to read
        above = reading.lines(text)
        shown = [_Row(number, row) for number, row in enumerate(above, 1)] if kind == "note" else []
        chunks.append(_chunk(1, len(above), (), shown))
    title = (
        (resume.title if resume else parsed.title)
        or (PurePosixPath(source).stem if kind == "entity" else "")  # its headings are the same in all
        or next((span.sections[0].heading[0] for span in spans if span.sections[0].heading), "")
        or PurePosixPath(source).stem
    )
    following = None
    final = list(_final_spans(spans))[-OPEN_CHUNKS:]
    if len(final) == OPEN_CHUNKS and position + final[0] and not problems:  # at the beginning there is nothing to save
        opening = spans[final[0]].sections[0]
        second = next(each for span in spans[final[0] :] for each in span.sections if each.start > opening.start)
        beginning = _beginning(data, offset + second.body - 1)
        following = Resume(position + final[0], opening.start + offset, *beginning, title, offset, opening.above)
    day = _day(source, parsed.meta)
    return Document(
        source,
        kind,
        title,
        day,
        tuple(dict.fromkeys([*parsed.tags, *naming.inline_tags(parsed.body)])),
        tuple(chunks),
        tuple(problems),
        position,
        following,
        parsed.meta,
        naming.links(source, text),
    )


def _final_spans(spans: Sequence[_Span]) -> Iterator[int]:
    """The numbers of the spans that begin where they begin now, whatever changes behind the heading of the section that
    follows their first one: that is whole then, and its size decides with what stands before where they begin."""
    for at, span in enumerate(spans):
        if span.start == span.sections[0].start < spans[-1].sections[-1].start:
            yield at


def _conversation(
    source: str, kind: str, data: bytes, text: str, problems: list[str], resume: Resume | None
) -> Document:
    """A record of turns: the segments of line n are the sentences of what was said in record n."""
    lines = reading.lines(text)
    chunks: list[Chunk] = []
    rows: list[_Row] = []
    position, start = resume[:2] if resume else (0, 1)
    size, bad = 0, list[int]()
    for number, line in enumerate(lines[start - 1 :], start):
        texts = _said(line)
        if texts is None:
            bad.append(number)
            texts = [line]
        new_size = sum(map(tokens.count, texts))
        if rows and size + new_size > MAX_JOINED_TOKENS:
            chunks.append(_chunk(start, number - 1, (), rows))
            rows, start, size = [], number, 0
        rows.extend(_Row(number, row) for text in texts for row in text.split("\n"))
        size += new_size
    if lines:
        chunks.append(_chunk(start, len(lines), (), rows))
    if bad:
        problems.append(f"line {bad[0]} is not a conversation record ({len(bad)} in all): indexed as plain text")
    last = position + len(chunks) - 1
    is_final = last > 0 and text.endswith("\n") and not problems  # the size of its first line decides where it begins
    following = Resume(last, start, *_beginning(data, start)) if is_final else None
    return Document(source, kind, "", _day(source, {}), (), tuple(chunks), tuple(problems), position, following)


class _Row(NamedTuple):
    """A line and its number, the heading path above it, and whether it can answer a question."""

    number: int
    text: str
    heading: tuple[str, ...] = ()
    is_searched: bool = True


_EMPTY_FIELD = re.compile(r"\s*[-*+] [^:：]+[:：][*_]*\s*")


def _rows(kind: str, span: _Span, lines: list[str], offset: int) -> Iterator[_Row]:
    """The lines of a span. Three cannot answer: a heading with text below it, any heading of a profile (they are the
    same in all vaults), and a field without a value (`- Name:`)."""
    for section in span.sections:
        start, end = max(span.start, section.start), min(span.end, section.end)
        has_heading = start < min(section.body, end)
        stands_alone = has_heading and kind != "profile" and not _has_text(lines, section.body, section.end)
        for n in range(start, end):
            if n < section.body:
                yield _Row(n + offset, lines[n], section.heading[:-1], stands_alone)
            else:
                is_empty = _EMPTY_FIELD.fullmatch(lines[n]) and not _is_deeper(lines[n], lines[n + 1 : n + 2])
                yield _Row(n + offset, lines[n], section.heading, not is_empty)


def _has_text(lines: Sequence[str], start: int, end: int) -> bool:
    return any(lines[n].strip() for n in range(start, end))


def _is_deeper(line: str, following: list[str]) -> bool:
    """Whether the line after a list item is indented further: then it belongs to the item."""
    return any(row.strip() and _indent(row) > _indent(line) for row in following)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _chunk(first: int, last: int, heading: tuple[str, ...], rows: list[_Row]) -> Chunk:
    segments: list[Segment] = []
    sections: list[tuple[int, str]] = []
    position, path = 0, heading
    for row in rows:
        if row.is_searched and row.text.strip():
            if row.heading != path:
                path = row.heading
                sections.append((len(segments), " > ".join(path[len(heading) :])))
            segments.extend(Segment(row.number, position + start, position + end) for start, end in _cut_line(row.text))
        position += len(row.text) + 1
    text = "\n".join(row.text for row in rows)
    return Chunk(first, last, " > ".join(heading), text, tuple(segments), tuple(sections))


def _said(line: str) -> list[str] | None:
    """What was said in one record; None if the line is not a record."""
    row = said.row_of(line)
    return None if row is None else [message.text for message in said.messages(row)]


def _day(source: str, meta: Any) -> date | None:
    """The day of a file: from its name, else from its front matter's `date`, `created_at` or `created`."""
    day = layout.day_of(source)
    for key in ("date", "created_at", "created"):
        value = meta.get(key)
        if day is None and isinstance(value, str) and (match := re.match(r"\d{4}-\d{2}-\d{2}", value)):
            try:
                day = date.fromisoformat(match[0])
            except ValueError:
                continue
    return day


_SENTENCE = re.compile(r"(?<=[。！？；])[”’」』）)]*|(?<=[.!?])[\"')\]]*\s+(?=\S)")


def _cut_line(line: str) -> list[tuple[int, int]]:
    """Where the segments of a line begin and end: the line itself, or the sentences of a long one."""
    cap = MAX_SEGMENT_CHARS // 3 if tokens.is_han(line) else MAX_SEGMENT_CHARS
    if len(line) <= cap:
        return [(0, len(line))]
    pieces, start, last = [], 0, 0
    for at in [*(match.end() for match in _SENTENCE.finditer(line)), len(line)]:
        if at - start > cap and last > start:
            pieces.append((start, last))
            start = last
        while at - start > cap:  # no sentence ends in time
            pieces.append((start, start + cap))
            start += cap
        last = at
    return [*pieces, (start, len(line))] if line[start:].strip() else pieces


# Cutting a body at headings, then at blocks, then at lines ----------------------------------------------------------


@dataclass(frozen=True)
class _Section:
    """Lines `start` to `end` (0-based, end exclusive) under the heading path `heading`, whose lines end before `body`.

    `level` is the heading's, 0 for what stands before any; `cuts` are where a block begins. `above` are the headings
    above line `start`, each with its level.
    """

    start: int
    body: int
    end: int
    level: int
    heading: tuple[str, ...]
    cuts: tuple[int, ...]
    above: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class _Span:
    """Lines `start` to `end` (0-based, end exclusive) of one chunk, and the sections that they are of."""

    start: int
    end: int
    sections: tuple[_Section, ...]

    @property
    def heading(self) -> tuple[str, ...]:
        """The path that all its sections share."""
        paths = [section.heading for section in self.sections]
        return tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False)))


def _spans(lines: Sequence[str], start: int = 0, above: tuple[tuple[int, str], ...] = ()) -> list[_Span]:
    """The chunks of a body from line `start` on: they cover all its lines once, in order."""
    sizes = [0] * start + [tokens.count(line) for line in lines[start:]]
    found: list[_Span] = []
    size = 0
    for section in _sections(lines, start, above):
        section_size = sum(sizes[section.start : section.end])
        if found and size + section_size <= MAX_JOINED_TOKENS and _joins(found[-1], section):
            found[-1] = _Span(found[-1].start, section.end, (*found[-1].sections, section))
            size += section_size
            continue
        for first, end in _cut_section(section, sizes):
            found.append(_Span(first, end, (section,)))
            size = sum(sizes[first:end])
    return found


def _sections(lines: Sequence[str], start: int, above: tuple[tuple[int, str], ...]) -> list[_Section]:
    """The body's sections in order; they cover all lines from `start` on, where the body or a section begins, once.

    `above` are the headings above `start`. A heading without text of its own before its first child belongs to the
    child.
    """
    found: list[_Section] = []
    path = list(above)
    after, cuts = start, [start]
    line_count, offset = len(lines), start

    def close(end: int) -> None:
        if end > start:
            level = path[-1][0] if path else 0
            found.append(_Section(start, after, end, level, tuple(text for _, text in path), tuple(cuts), above))

    parsed = _blocks("\n".join(row[:MAX_BLOCK_CHARS] for row in lines[offset:MAX_BLOCK_LINES]))
    for at, token in enumerate(parsed):
        if token.map is None:
            continue
        line = min(offset + token.map[0], line_count)
        if token.type == "heading_open" and token.level == 0 and len(parsed[at + 1].content) <= MAX_HEADING_CHARS:
            level = int(token.tag[1:])
            is_sibling = bool(path) and level <= path[-1][0]
            if is_sibling or _has_text(lines, after, line):
                close(line)
                start = line
                above = tuple(heading for heading in path if heading[0] < level)
            path = [heading for heading in path if heading[0] < level]
            path.append((level, parsed[at + 1].content.strip()))
            after, cuts = min(offset + token.map[1], line_count), [start]
        elif token.nesting >= 0 and line > cuts[-1]:
            cuts.append(line)
    close(line_count)
    return found


def _joins(span: _Span, section: _Section) -> bool:
    """Whether a section may share the chunk of the one before: a sibling of the chunk's first, or a child of it."""
    first, last = span.sections[0], span.sections[-1]
    return section.level >= last.level and section.heading[:-1] in (first.heading[:-1], first.heading)


def _cut_section(section: _Section, sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The section in runs of at most `MAX_CHUNK_TOKENS`, cut where a block begins, else between lines; never between a
    heading and the first line below it."""
    starts = set(section.cuts)
    first = next((line for line in range(section.body, section.end) if sizes[line]), section.end)
    start = best = section.start
    size = 0
    for line in range(section.start, section.end):
        while line > first and size and size + sizes[line] > MAX_CHUNK_TOKENS:
            end = best if best > start else line
            yield start, end
            start, size = end, sum(sizes[end:line])
        if line > first and line in starts:
            best = line
        size += sizes[line]
    yield start, section.end


def _blocks(body: str) -> list[Token]:
    """markdown-it's block tokens. Inline marks are not parsed: no cut depends on them. Nor are tables: their rows are
    lines anyway, and two kilobytes of empty cells take half a second."""
    parser = _parser()
    found: list[Token] = []
    parser.block.parse(body, parser, {}, found)
    return found


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
