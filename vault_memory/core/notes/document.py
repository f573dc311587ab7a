"""One file of a vault as the index sees it: chunks (what is embedded) made of units (what keywords find).

A *unit* is a line, or a sentence of a long line. A *chunk* is a run of whole lines of about 400 tokens at most, cut at
headings and blocks. Every line that is read belongs to exactly one chunk. Lines are 1-based and inclusive everywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vault_memory.core import layout
from vault_memory.core.notes import chunk, conflict, note
from vault_memory.core.text import tokens

LIMIT_BYTES = 4_000_000
"""What is read of one file; a bigger one is hardly a note, and must not hold up everybody else's."""
UNIT_CHARS = 400
"""A longer line is cut at its sentences (Chinese: a third of that, for it says as much in fewer characters)."""


class Unit(NamedTuple):
    """A line, or a sentence of a long line: the smallest passage that can be returned.

    It stands in line `line` of the file and is `text[start:end]` of its chunk.
    """

    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Chunk:
    """Lines `start` to `end` of a file, under the heading path `heading` (`Projects > Index`).

    `text` is those lines as they stand (of conversation records: what was said, a message per line). A heading is a unit only
    where nothing stands below it: it is found through what does. `sections` are the parts of the chunk that have headings
    of their own: the number of the first unit, and the rest of the heading path from there on.
    """

    start: int
    end: int
    heading: str
    text: str
    units: tuple[Unit, ...]
    sections: tuple[tuple[int, str], ...] = ()


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
    problems: list[str] = []
    if len(data) > LIMIT_BYTES:
        problems.append(f"only the first {LIMIT_BYTES:,} bytes are indexed: divide the file")
        data = data[: data.rfind(b"\n", 0, LIMIT_BYTES) + 1 or LIMIT_BYTES]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        line = data.count(b"\n", 0, error.start) + 1
        problems.append(f"line {line} is no valid UTF-8: indexed with the bad characters replaced")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if source.endswith(".jsonl"):
        return _conversation(source, kind, text, problems)
    return _markdown(source, kind, text, problems)


def _markdown(source: str, kind: str, text: str, problems: list[str]) -> Document:
    parsed = note.parse(text)
    problems.extend(parsed.problems)
    problems.extend(conflict.problems(text))
    lines = parsed.body.split("\n")
    if lines[-1] == "":
        lines.pop()  # a file's last newline ends its last line and begins no other
    spans = chunk.spans(parsed.body, lines)
    offset = parsed.body_line
    chunks = []
    for at, span in enumerate(spans):
        first = 1 if at == 0 else span.start + offset  # front matter belongs to the first chunk
        chunks.append(_chunk(first, span.end + offset - 1, span.heading, list(_rows(kind, span, lines, offset))))
    if not chunks and text:  # nothing but front matter
        chunks.append(Chunk(1, text.count("\n") + (not text.endswith("\n")), "", "", ()))
    title = (
        parsed.title
        or next((span.sections[0].heading[0] for span in spans if span.sections[0].heading), "")
        or PurePosixPath(source).stem
    )
    return Document(source, kind, title, _day(source, parsed.meta), parsed.tags, tuple(chunks), tuple(problems))


def _conversation(source: str, kind: str, text: str, problems: list[str]) -> Document:
    """A record of turns: the units of line n are the sentences of what was said in record n."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    chunks: list[Chunk] = []
    rows: list[_Row] = []
    start, size, bad = 1, 0, []
    for number, line in enumerate(lines, 1):
        said = _said(line)
        if said is None:
            bad.append(number)
            said = [line]
        new_size = sum(map(tokens.count, said))
        if rows and size + new_size > chunk.SMALL:
            chunks.append(_chunk(start, number - 1, (), rows))
            rows, start, size = [], number, 0
        rows.extend(_Row(number, row) for message in said for row in message.split("\n"))
        size += new_size
    if lines:
        chunks.append(_chunk(start, len(lines), (), rows))
    if bad:
        problems.append(f"line {bad[0]} is no conversation record ({len(bad)} such): indexed as plain text")
    return Document(source, kind, "", _day(source, {}), (), tuple(chunks), tuple(problems))


class _Row(NamedTuple):
    """A line and its number; the heading path it stands under; whether it can answer a question."""

    number: int
    text: str
    heading: tuple[str, ...] = ()
    says: bool = True


_EMPTY_FIELD = re.compile(r"\s*[-*+] [^:：]+[:：][*_]*\s*")


def _rows(kind: str, span: chunk.Span, lines: list[str], offset: int) -> Iterator[_Row]:
    """The lines of a span. Headings say nothing by themselves where something stands below them, nor in a profile, which has
    the same in all vaults, nor do fields without a value (`- Name:`)."""
    for section in span.sections:
        start, end = max(span.start, section.start), min(span.end, section.end)
        stands_alone = kind != "profile" and not any(line.strip() for line in lines[section.body : section.end])
        for n in range(start, end):
            if n < section.body:
                yield _Row(n + offset, lines[n], section.heading[:-1], stands_alone)
            else:
                is_empty = _EMPTY_FIELD.fullmatch(lines[n]) and not _is_deeper(lines[n], lines[n + 1 : n + 2])
                yield _Row(n + offset, lines[n], section.heading, not is_empty)


def _is_deeper(line: str, following: list[str]) -> bool:
    """Whether what follows a list item stands further in: then it belongs to it."""
    return any(row.strip() and _indent(row) > _indent(line) for row in following)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _chunk(first: int, last: int, heading: tuple[str, ...], rows: list[_Row]) -> Chunk:
    units: list[Unit] = []
    sections: list[tuple[int, str]] = []
    position, path = 0, heading
    for row in rows:
        if row.says and row.text.strip():
            if row.heading != path:
                path = row.heading
                sections.append((len(units), " > ".join(path[len(heading) :])))
            units.extend(Unit(row.number, position + start, position + end) for start, end in _pieces(row.text))
        position += len(row.text) + 1
    text = "\n".join(row.text for row in rows)
    return Chunk(first, last, " > ".join(heading), text, tuple(units), tuple(sections))


def _said(line: str) -> list[str] | None:
    """What was said in one record, the person's message first; None when the line is no record."""
    if not line.strip():
        return []
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    said = [
        record.get("user_message") or record.get("user"),
        record.get("assistant_message") or record.get("assistant"),
    ]
    return [message for message in said if isinstance(message, str) and message.strip()]


def _day(source: str, meta: Any) -> date | None:
    """The day a file is of: by its name, else by its front matter's `date` or `created_at`."""
    day = layout.day_of(source)
    for key in ("date", "created_at", "created"):
        if day is None and (match := re.match(r"\d{4}-\d{2}-\d{2}", str(meta.get(key, "")))):
            try:
                day = date.fromisoformat(match[0])
            except ValueError:
                continue
    return day


_SENTENCE = re.compile(r"(?<=[。！？；])[”’」』）)]*|(?<=[.!?])[\"')\]]*\s+(?=\S)")


def _pieces(line: str) -> list[tuple[int, int]]:
    """Where the units of a line begin and end: the line itself, or the sentences of a long one."""
    cap = UNIT_CHARS // 3 if tokens.is_han(line) else UNIT_CHARS
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
