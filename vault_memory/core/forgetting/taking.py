"""What is taken out of one file when something is forgotten: a note, some lines of it, values of the profile, rows of
evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import PurePosixPath

from vault_memory.core import graph, layout, learning, memories, mistakes, reading
from vault_memory.core.diary import quoted
from vault_memory.core.forgetting.sought import Sought
from vault_memory.core.notes import entries
from vault_memory.core.profile import FIELDS, Profile, Row, read_row
from vault_memory.core.text import comparable, one_line

MAX_SHOWN_CHARS = 100
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_TITLE = re.compile(r"#{1,6} ")


@dataclass(frozen=True)
class Taken:
    """What a file has after something was taken out of it (None: it goes), and the beginning of each part that was
    taken out."""

    after: str | None
    shows: tuple[str, ...]


def taken_out(kind: str, source: str, text: str, sought: Sought, zone: tzinfo) -> Taken | None:
    """What is to go from a file of the user's, by its kind (`layout.kind_of`); None where nothing is. Times without an
    offset are of the person's `zone`. The profile and the evidence have functions of their own."""
    if kind == "memory" and memories.decode(text, PurePosixPath(source).stem).source in sought.spared:
        return None
    if sought.is_all or (_OF_ONE[kind](source, text, sought, zone) if kind in _OF_ONE else False):
        return Taken(None, (shown(_body_of(kind, text)),))
    lines = text.split("\n")
    hits = _whole_items(lines, sought.lines(text))
    if kind in entries.KINDS:
        hits -= _of_spared(lines, sought)
        hits |= _of_turns(kind, text, lines, hits, sought)
    if kind == "learning" and sought.since is not None:
        hits |= learning.lines_since(text, sought.since.date())
    if not hits:
        return None
    left = [line for number, line in enumerate(lines) if number not in _with_headings(lines, hits)]
    is_empty = not any(line.strip() and not _TITLE.match(line) for line in left)
    told = tuple(shown(lines[number]) for number in sorted(hits) if lines[number].strip())
    return Taken(None if is_empty and kind in entries.KINDS else "\n".join(left), told)


def of_profile(text: str, sought: Sought, unsupported: Collection[tuple[str, str]]) -> Taken | None:
    """What is to go from a profile: values and notes that say it, those that are `unsupported` (key, comparable value),
    and lines that the person has written."""
    if sought.is_all:
        return Taken(None, (shown(_body_of("profile", text)),))
    profile, shows = Profile.parse(text), list[str]()
    for key in FIELDS:
        items = profile.items(key)
        left = [
            item
            for item in items
            if sought.key != key and not sought.stand_in(item.value) and (key, item.comparable) not in unsupported
        ]
        if len(left) < len(items):
            shows += [shown(f"{key} = {item.value}") for item in items if item not in left]
            profile = profile.with_items(key, left)
    lines = profile.text.split("\n")
    own = {line.index for key in FIELDS if (line := profile.line_of(key))}
    hits = {number for number in sought.lines(profile.text) if number not in own and not _TITLE.match(lines[number])}
    shows += [shown(lines[number]) for number in sorted(hits)]
    after = "\n".join(line for number, line in enumerate(lines) if number not in hits)
    return Taken(after, tuple(shows)) if shows else None


def of_evidence(data: bytes, sought: Sought) -> tuple[bytes, list[Row], tuple[str, ...]]:
    """A file of evidence without the rows that are to go, these rows, and the beginning of each such line."""
    kept, gone, shows = list[bytes](), list[Row](), list[str]()
    for line in reading.lines(data, keep_ends=True):
        row = read_row(line.strip())
        text = line.decode("utf-8", "replace")
        if line.strip() and (_is_gone(row, sought) if row else sought.is_all or sought.stand_in(text)):
            shows.append(shown(f"{row.key} {row.op} {row.value} 「{row.quote}」" if row else text))
            gone += [row] if row else []
        else:
            kept.append(line)
    return b"".join(kept), gone, tuple(shows)


def unsupported(gone: Iterable[Row], left: Iterable[Row]) -> set[tuple[str, str]]:
    """The values, (key, comparable), that only rows which are to go have brought into the profile."""
    named = {(row.key, comparable(row.current)) for row in left if row.current and not row.suggestion}
    return {value for row in gone for value in _brought(row)} - named


def shown(text: str) -> str:
    """The beginning of a text, on one line, as a preview shows it."""
    line = one_line(text[: 10 * MAX_SHOWN_CHARS])
    return line if len(line) <= MAX_SHOWN_CHARS else line[:MAX_SHOWN_CHARS] + "…"


def _brought(row: Row) -> set[tuple[str, str]]:
    is_value = row.applied and row.op not in ("remove", "restore") and not row.suggestion
    return {(row.key, comparable(value)) for value in (row.value, row.current) if is_value and value}


def _is_gone(row: Row, sought: Sought) -> bool:
    turn = sought.turns.get(row.source) if sought.by_turn else None
    is_of_turn = turn is not None and (row.at is None or turn.at is None or row.at == turn.at)
    is_said = any(sought.stand_in(text) for text in (row.value, row.quote, row.current))
    is_said = (is_said and row.source not in sought.spared) or (row.key, row.value) in sought.values
    return sought.is_all or row.key == sought.key or is_of_turn or is_said or sought.is_since(row.at, row.source)


def _is_memory(source: str, text: str, sought: Sought, zone: tzinfo) -> bool:
    memory = memories.decode(text, PurePosixPath(source).stem)
    turn = sought.turns.get(memory.source) if sought.by_turn else None
    is_of_turn = turn is not None and (not (memory.created_at and turn.at) or _is_at(memory.created_at, turn.at))
    is_since = sought.is_since(_in(memory.created_at, zone), memory.source)
    return is_of_turn or is_since or sought.stand_in(text)


def _is_at(one: datetime, other: datetime) -> bool:
    """Whether two times are the same; a note may have whole seconds."""
    return abs((one - other).total_seconds()) < 1


def _is_mistake(source: str, text: str, sought: Sought, zone: tzinfo) -> bool:
    at = mistakes.decode(text, PurePosixPath(source).stem).created_at
    return sought.is_since(_in(at, zone)) or sought.stand_in(text)


def _is_entity(source: str, text: str, sought: Sought, zone: tzinfo) -> bool:
    entity = graph.decode(text, source)
    names = (entity.name, entity.stem, *entity.aliases)
    return sought.is_since(_in(entity.created_at, zone)) or any(map(sought.stand_in, names))


def _is_log(source: str, text: str, sought: Sought, zone: tzinfo) -> bool:
    day = layout.day_of(source.removeprefix(f"{layout.ARCHIVE_DIR}/"))
    return sought.since is not None and day is not None and day >= sought.since.date()


_OF_ONE: Mapping[str, Callable[[str, str, Sought, tzinfo], bool]] = {
    "memory": _is_memory,
    "mistake": _is_mistake,
    "entity": _is_entity,
    "daily": _is_log,
}
"""Whether a file of this kind, which is about one thing, goes as a whole."""


def _in(at: datetime | None, zone: tzinfo) -> datetime | None:
    return at.replace(tzinfo=zone) if at is not None and at.tzinfo is None else at


def _body_of(kind: str, text: str) -> str:
    is_noted = kind in ("memory", "mistake", "entity", "note")
    said = [line for line in (memories.decode(text).content if is_noted else text).split("\n") if line.strip()]
    return next((line for line in said if not _TITLE.match(line)), said[0] if said else "")


def _whole_items(lines: Sequence[str], hits: set[int]) -> set[int]:
    """The lines with those of the same item of a list: its further lines are indented."""
    whole = set(hits)
    for number in hits:
        first = number
        while first and not _BULLET.match(lines[first]) and lines[first][:1] in (" ", "\t"):
            first -= 1
        if _BULLET.match(lines[first]):
            last = first + 1
            while last < len(lines) and lines[last].strip() and lines[last][:1] in (" ", "\t"):
                if _BULLET.match(lines[last]):
                    break
                last += 1
            whole |= {*range(first, last)}
    return whole


def _of_turns(kind: str, text: str, lines: Sequence[str], hits: Collection[int], sought: Sought) -> set[int]:
    """The lines of a log that tell of the turns, or, in one whose entries are of one turn each, of what is hit."""
    found = set[int]()
    left_out = entries.undecided(text)
    for number, line in enumerate(lines):
        request = entries.request_in(line) if number not in left_out else None
        turn = sought.turns.get(request.source) if request else None
        if request and turn and _is_of_minute(request.time, turn.at):
            found |= _whole_items(lines, {number})
    for entry in entries.entries_of(lines, left_out):
        body = [lines[number] for number in entry[1:] if lines[number].strip()]
        is_one = bool(body) and entries.is_of_a_turn(body[0]) and entries.request_in(body[0]) is None
        if is_one and (
            not set(hits).isdisjoint(entry) or (kind == "memory-log" and _is_task(lines[entry[0]], body, sought))
        ):
            found |= {*entry}
    return found


def _is_of_minute(told: str, at: datetime | None) -> bool:
    """Whether a line of a log that tells a minute may be of a turn of that time: each machine counts its own lines, and
    zones, which may have changed, differ by quarters of an hour."""
    if at is None or not told:
        return True
    return (int(told[:2]) * 60 + int(told[3:]) - at.minute) % 15 == 0


def _is_task(heading: str, body: Sequence[str], sought: Sought) -> bool:
    """Whether an entry of MEMORY.md is of one of the turns, or of a time from which all is forgotten."""
    when = heading.removeprefix(entries.HEADING).strip()[:16]
    if sought.since is not None and f"{sought.since:%Y-%m-%d %H:%M}" <= when and when[:4].isdigit():
        return True
    turns = (turn for turn in sought.turns.values() if turn.at and f"{turn.at:%Y-%m-%d %H:%M}" == when)
    return any(turn.words and body[0].endswith(quoted(turn.words)) for turn in turns)


def _of_spared(lines: Sequence[str], sought: Sought) -> set[int]:
    """The lines of a log that tell of the turns that are spared."""
    requests = {number: entries.request_in(line) for number, line in enumerate(lines) if sought.spared}
    told = [number for number, request in requests.items() if request and request.source in sought.spared]
    return {each for number in told for each in _whole_items(lines, {number})}


def _with_headings(lines: Sequence[str], hits: Collection[int]) -> set[int]:
    """The lines with the headings of entries of which nothing is left."""
    gone = set(hits)
    for entry in entries.entries_of(lines, set()):
        rest = [number for number in entry[1:] if lines[number].strip()]
        if rest and gone.issuperset(rest):
            gone |= {*entry}
    return gone
