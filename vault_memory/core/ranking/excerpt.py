"""What is shown of a passage: it is cut where an entry of a diary or a turn of a conversation ends, so that nobody
reads one running into the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from typing import Any

from vault_memory.core.notes import entries, journal, said
from vault_memory.core.ranking.passage import RECORD, Passage
from vault_memory.core.ranking.rank import ScoredSegment

_WITHIN = "  "
"""Before the further lines of a message, which may say anything."""
MAX_QUESTION_CHARS = 80
"""How much is shown of a question of which only the answer was found."""
_LOOKED_BACK = 8
"""In so many lines before a reply in a line of its own its question is looked for."""


@dataclass(frozen=True)
class Excerpt:
    """A part of a passage within one entry, or one turn: `line_range` is (first, last), 1-based and inclusive.

    `text` is how it is shown: below the `heading` of its entry, of a conversation with who said what and when. `words`
    are the same as they stand there. `messages` is what was said in a conversation; nothing in a note. Where only what
    was answered is among them, `question` is how the person's words begin, which stand above it.
    """

    text: str
    line_range: tuple[int, int]
    words: str
    heading: str = ""
    messages: tuple[said.Message, ...] = ()
    question: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        told = {"messages": [message._asdict() for message in self.messages]} if self.messages else {}
        heading = {"heading": self.heading} if self.heading else {}
        asked = {"question": self.question} if self.question else {}
        return {"text": self.text, "line_range": self.line_range, **heading, **asked, **told}


def needs_file(passage: Passage, scored: Sequence[ScoredSegment]) -> bool:
    """Whether the file of a passage says more of it than the index: who speaks in a conversation, and what the heading
    is of an entry that began before the chunk."""
    return passage.seed.candidate.kind == RECORD or scored[passage.first].candidate.position > 0


def cut(
    passage: Passage, scored: Sequence[ScoredSegment], file: Sequence[bytes], person: str, zone: tzinfo
) -> tuple[Excerpt, ...]:
    """The parts of a passage: first that of its best line, then the others in order.

    `file` are the lines of its file, as far as they are known (`needs_file`); `person` is what its user is called.
    Times are shown as they were written; those in UTC, in which services write them, in `zone`.
    """
    is_record = passage.seed.candidate.kind == RECORD
    parts = [*(_turns(passage, scored, file, person, zone) if is_record else _entries(passage, scored, file))]
    line = passage.seed.line
    best = next(at for at, part in enumerate(parts) if part.line_range[0] <= line <= part.line_range[1])
    return (parts[best], *parts[:best], *parts[best + 1 :])


# Of notes -------------------------------------------------------------------------------------------------------------


def _entries(passage: Passage, scored: Sequence[ScoredSegment], file: Sequence[bytes]) -> Iterator[Excerpt]:
    above, rows = _lines(passage, scored)
    above = _headings_above(scored[passage.first], passage.heading_lines, file) or above
    reading = entries.Reading(passage.seed.candidate.kind)
    for row in above:
        reading.begins(row)
    first = scored[passage.first].line - passage.heading_lines
    part: list[str] = []
    under = heading = reading.heading
    for number, row in enumerate(rows, first):
        is_next = reading.begins(row)
        if is_next and any(map(str.strip, part)):
            yield _excerpt(part, number - len(part), heading, is_under=heading == under)
            part, under = [], ""
        elif is_next:
            under = ""
        heading = reading.heading
        part.append(row)
    yield _excerpt(part, first + len(rows) - len(part), heading, is_under=heading == under)


def _headings_above(first: ScoredSegment, heading_lines: int, file: Sequence[bytes]) -> list[str]:
    """The lines above a passage that may be headings, or begin code; none where its file is not what was indexed."""
    begin = first.text.partition("\n")[0].strip()
    if not first.line <= len(file) or begin not in file[first.line - 1].decode("utf-8", "replace"):
        return []
    marked = (row for row in file[: first.line - 1 - heading_lines] if row.lstrip()[:1] in (b"#", b"`", b"~"))
    return [row.decode("utf-8", "replace") for row in marked]


def _excerpt(rows: list[str], first: int, heading: str, is_under: bool) -> Excerpt:
    """Lines from line `first` on, without blank ones around them. Where they are only under the `heading` of their
    entry, it is shown above them."""
    filled = [at for at, row in enumerate(rows) if row.strip()]
    words = "\n".join(rows[filled[0] : filled[-1] + 1])
    told = entries.named(heading)
    text = f"{heading.split()[0]} {told}\n{words}" if told and is_under else words
    return Excerpt(text, (first + filled[0], first + filled[-1]), words, told)


def _lines(passage: Passage, scored: Sequence[ScoredSegment]) -> tuple[list[str], list[str]]:
    """The lines above a passage, as far as its chunk and the one before are known, and its own. The first and the last
    of these may be parts of lines; all that stands between is whole."""
    first, last = scored[passage.first], scored[passage.last]
    text = first.candidate.text
    *above, _ = text[: first.candidate.segments[first.number].start].split("\n")
    start = sum(len(row) + 1 for row in above[: len(above) - passage.heading_lines])
    if not passage.heading_lines:
        start = first.candidate.segments[first.number].start
    chunks = {id(each.candidate): each.candidate.text for each in scored[passage.first : passage.last + 1]}
    parts = [*chunks.values()]
    parts[-1] = parts[-1][: last.candidate.segments[last.number].end]
    parts[0] = parts[0][start:]
    before = scored[passage.first - first.number - 1].candidate if passage.first > first.number else None
    if before and before.source == first.candidate.source and before.position + 1 == first.candidate.position:
        above = [*before.text.split("\n"), *above]
    return above[: len(above) - passage.heading_lines], "\n".join(parts).split("\n")


# Of records -----------------------------------------------------------------------------------------------------------


def _turns(
    passage: Passage, scored: Sequence[ScoredSegment], record: Sequence[bytes], person: str, zone: tzinfo
) -> Iterator[Excerpt]:
    day = passage.seed.candidate.day
    turn: list[tuple[int, list[said.Message]]] = []
    last, before = 0, dict[str, Any]()
    for line, group in groupby(scored[passage.first : passage.last + 1], key=lambda each: each.line):
        row = _row(record, line)
        is_next = not said.goes_on(row, before)
        # A line without words that stands between may have begun another turn.
        if turn and (is_next or any(not said.goes_on(_row(record, each), before) for each in range(last + 1, line))):
            yield _turn(turn, record, day, person, zone)
            turn = []
        turn.append((line, [*_messages(row, [*group])]))
        last, before = line, row
    yield _turn(turn, record, day, person, zone)


def _row(record: Sequence[bytes], line: int) -> dict[str, Any]:
    return (said.row_of(record[line - 1].decode("utf-8", "replace")) if line <= len(record) else None) or {}


def _turn(
    lines: Sequence[tuple[int, list[said.Message]]], record: Sequence[bytes], day: str, person: str, zone: tzinfo
) -> Excerpt:
    messages = [message for _, told in lines for message in told]
    found = messages
    asked = None if messages[0].role in ("", said.USER) else _asked(record, lines[0][0])
    if asked:
        found = [asked, *messages]
    when = _shown_time(found[0].time, zone) or day
    shown = []
    for at, message in enumerate(found):
        who = {said.USER: f"{person}: ", said.REFLECTION: ""}.get(message.role, f"{message.role}: ")
        label = f"{when} {who}" if at == 0 else who  # when it was is told once
        if message.role:
            first, *rest = message.text.split("\n")  # no line of a message reads as who said it
            shown.append("\n".join([label + first, *(_WITHIN + row if row.strip() else row for row in rest)]))
        else:
            shown.append(message.text)
    words = "\n".join(message.text for message in messages)
    place = (lines[0][0], lines[-1][0])
    return Excerpt("\n".join(shown), place, words, messages=tuple(messages), question=asked.text if asked else "")


def _asked(record: Sequence[bytes], line: int) -> said.Message | None:
    """How the person's words begin to which a line of the record answers, in one line; None where nobody knows."""
    row = _row(record, line)
    if journal.is_reply(row):  # in a line of its own
        before = (_row(record, at) for at in range(line - 1, max(0, line - 1 - _LOOKED_BACK), -1))
        row = next((each for each in before if said.goes_on(row, each) and not journal.is_reply(each)), row)
    for message in said.messages(row):
        if message.role == said.USER:
            text = " ".join(message.text.split())
            return message._replace(text=text if len(text) <= MAX_QUESTION_CHARS else f"{text[:MAX_QUESTION_CHARS]}…")
    return None


def _messages(row: Mapping[str, Any], segments: Sequence[ScoredSegment]) -> Iterator[said.Message]:
    """What was said in these segments of one line, by message. A line that is not the one that was indexed, or that is
    no record, is one of which nobody knows more."""
    chunk, line = segments[0].candidate, segments[0].line
    start, end = chunk.segments[segments[0].number].start, chunk.segments[segments[-1].number].end
    told = [*said.messages(row)]
    whole = "\n".join(message.text for message in told)
    blank = whole.rfind("\n", 0, len(whole) - len(whole.lstrip())) + 1
    at = next(segment.start for segment in chunk.segments if segment.line == line) - blank
    if not told or at < 0 or not chunk.text.startswith(whole, at):
        yield said.Message(chunk.text[start:end])
        return
    for message in told:
        text = chunk.text[max(start, at) : min(end, at + len(message.text))]
        if text.strip():
            yield message._replace(text=text)
        at += len(message.text) + 1


def _shown_time(time: str, zone: tzinfo) -> str:
    if not time:
        return ""
    at = datetime.fromisoformat(time)
    if at.utcoffset() == timedelta(0):
        with suppress(OverflowError):  # in the year 1 or 9999
            at = at.astimezone(zone)
    return at.replace(tzinfo=None).isoformat(" ", "minutes")
