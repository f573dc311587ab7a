"""The text of LEARNING.md: front matter, a table of the topics' mastery, and what was done.

A person may edit all of it. A change writes the cells and bullets that it is about; every other line stays where it
stands, and a further column, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from vault_memory.core.learning.event import ARTIFACTS, DIFFICULTIES, MAX_NAME_CHARS
from vault_memory.core.learning.mastery import LEVELS
from vault_memory.core.learning.profile import MAX_VISITED, LearningProfile, Topic
from vault_memory.core.notes import note
from vault_memory.core.profile import LOCALES
from vault_memory.core.text import normalize, one_line

MAX_TOPICS = 1_000
"""In the table; of more those without a quiz for the longest time leave it."""
MASTERY = ("掌握程度", "掌握程度", "Mastery")
HISTORY = ("學習經歷", "学习经历", "History")
COLUMNS = (
    ("主題", "程度", "分數", "上次"),
    ("主题", "程度", "分数", "上次"),
    ("Topic", "Mastery", "Score", "Last seen"),
)
QUIZZES = ("測驗次數", "测验次数", "Quiz sessions")
HELPS = ("作業協助次數", "作业协助次数", "Homework help")
VISITED = ("學過的主題", "学过的主题", "Topics visited")
"""Headings and labels in the order of `LOCALES`."""

_LEVEL_OF = {
    **{level: level for level in LEVELS},
    **dict.fromkeys(("弱", "薄弱"), "weak"),
    **dict.fromkeys(("中", "中等"), "medium"),
    **dict.fromkeys(("強", "强"), "strong"),
}
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<label>.*?)[ \t]*#*[ \t]*[：:]?\s*")
_COUNT = re.compile(r"(?P<head>\s*[-*+][ \t]+(?P<label>[^：:]+?)[ \t]*[：:][ \t]*)(?P<value>.*?)\s*")
_NESTED = re.compile(r"[ \t]+[-*+][ \t]+(?P<topic>.*?)\s*")
_RULER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_CELL = re.compile(r"(?:\\.|[^|\\])*", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\|])")
_MAX_COUNT = 1_000_000_000


@dataclass
class _Places:
    """Where in the lines of a body things stand: the row of each topic, the line after the last row, the bullets, the
    lines of the visited topics, and the end of each section. -1: nowhere."""

    rows: dict[str, int]
    cells: dict[str, list[str]]
    table_end: int = -1
    quizzes: int = -1
    helps: int = -1
    visited: int = -1
    visited_end: int = -1
    mastery_end: int = -1
    history_end: int = -1


def decode(stored: bytes) -> LearningProfile:
    """The profile in a file's bytes."""
    parsed = note.parse(stored.decode("utf-8", "replace"))
    return read(parsed.meta, parsed.body, parsed.problems)


def read(meta: Mapping[str, Any], body: str, problems: Sequence[str] = ()) -> LearningProfile:
    """The profile in a note's front matter and body; what cannot be understood counts as absent and is named."""
    wrong = list(problems)

    def choice(key: str, allowed: Sequence[str]) -> str | None:
        value = meta.get(key)
        if value is None or value == "":
            return None
        found = str(value).strip().casefold()
        if found not in allowed:
            wrong.append(f"{key}: {str(value)[:40]!r} is none of {', '.join(allowed)}")
            return None
        return found

    at = note.moment(meta["updated_at"]) if meta.get("updated_at") else None
    if meta.get("updated_at") and at is None:
        wrong.append(f"updated_at: {str(meta['updated_at'])[:40]!r} is not a time such as 2026-01-30T14:05:00+08:00")
    lines = body.split("\n")
    places = _places(lines)
    topics = {}
    for name, cells in places.cells.items():
        topics[name] = _topic(name, cells, wrong)
    return LearningProfile(
        topics=topics,
        preferred_artifact=choice("preferred_artifact", ARTIFACTS),
        difficulty_preference=choice("difficulty_preference", DIFFICULTIES),
        quiz_sessions=_count(lines, places.quizzes, wrong),
        homework_help_count=_count(lines, places.helps, wrong),
        topics_visited=tuple(dict.fromkeys(_visited(lines, places)))[-MAX_VISITED:],
        updated_at=at,
        problems=tuple(wrong),
    )


def with_learning(text: str, before: LearningProfile, after: LearningProfile, locale: str) -> str:
    """The text of LEARNING.md with what is other in `after`; `locale`, one of `LOCALES`, is that of new headings. Front
    matter that cannot be read stays as it is."""
    column = LOCALES.index(locale)
    parsed = note.parse(text)
    lines = parsed.body.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    changed = {name: topic for name, topic in after.topics.items() if topic != before.topics.get(name)}
    _put_topics(lines, changed, column, end)
    for label, names, count in (
        ("quizzes", QUIZZES, after.quiz_sessions),
        ("helps", HELPS, after.homework_help_count),
    ):
        _put_count(lines, label, names[column], count, column, end)
    if after.topics_visited != before.topics_visited or _places(lines).visited < 0:
        _put_visited(lines, after.topics_visited, column, end)
    body = "\n".join(lines)
    if not body.endswith("\n"):
        body += f"{end}\n"
    rewritten = text[: len(text) - len(parsed.body)] + body
    if parsed.problems or after.updated_at is None:
        return rewritten
    return note.with_meta(rewritten, {"updated_at": after.updated_at.isoformat(timespec="seconds")})


def lines_since(text: str, day: date) -> set[int]:
    """The numbers (from 0) of the lines of LEARNING.md about topics whose last quiz was on that day or later: the row
    of each, and its line among those visited. The counts, and topics without a quiz, have no day."""
    body = note.parse(text).body
    before = text[: len(text) - len(body)].count("\n")
    lines = body.split("\n")
    places = _places(lines)
    topics = {name for name, cells in places.cells.items() if _is_since((*cells, "", "", "")[3], day)}
    found = {places.rows[name] for name in topics}
    for number in range(places.visited + 1, places.visited_end) if places.visited >= 0 else ():
        found |= {number} if topics.intersection(_visited_on(lines[number])) else set()
    return {number + before for number in found}


def _is_since(last_seen: str, day: date) -> bool:
    try:
        return date.fromisoformat(last_seen[:10]) >= day
    except ValueError:  # a person may have written anything
        return False


def _places(lines: Sequence[str]) -> _Places:
    places = _Places({}, {})
    section, is_table = "", False
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading:
            label = heading["label"].strip().casefold()
            section = "mastery" if label in _lower(MASTERY) else "history" if label in _lower(HISTORY) else ""
            is_table = False
        if section == "mastery":
            places.mastery_end = number + 1 if line.strip() else places.mastery_end
            if is_table and line.strip().startswith("|"):
                _take_row(places, line, number)
            elif number and "|" in line and _RULER.fullmatch(line) and lines[number - 1].strip().startswith("|"):
                is_table = True
                places.table_end = max(places.table_end, number + 1)
            elif not line.strip():
                is_table = False
        elif section == "history" and not heading:
            _take_bullet(places, line, number)
        if section == "history" and line.strip():
            places.history_end = number + 1
    return places


def _take_row(places: _Places, line: str, number: int) -> None:
    cells = _cells(line)
    name = one_line(normalize("NFC", cells[0][: 4 * MAX_NAME_CHARS]))[:MAX_NAME_CHARS]
    places.table_end = number + 1
    if name and name not in places.rows:
        places.rows[name], places.cells[name] = number, cells


def _take_bullet(places: _Places, line: str, number: int) -> None:
    nested = _NESTED.fullmatch(line)
    if nested and places.visited >= 0 and number == places.visited_end:
        places.visited_end = number + 1
        return
    bullet = _COUNT.fullmatch(line)
    label = bullet["label"].strip().casefold() if bullet else ""
    if label in (*_lower(QUIZZES), "quiz_sessions") and places.quizzes < 0:
        places.quizzes = number
    elif label in (*_lower(HELPS), "homework_help_count") and places.helps < 0:
        places.helps = number
    elif label in (*_lower(VISITED), "topics_visited") and places.visited < 0:
        places.visited, places.visited_end = number, number + 1


def _lower(labels: Sequence[str]) -> tuple[str, ...]:
    return tuple(label.casefold() for label in labels)


def _cells(line: str) -> list[str]:
    """The cells of a row, as they are meant."""
    inner = line.strip().removeprefix("|")
    found, at = [], 0
    while at <= len(inner):
        match = _CELL.match(inner, at)
        end = match.end() if match else at
        if end < len(inner) and inner[end] == "\\":  # a backslash ends the line
            end = len(inner)
        found.append(_ESCAPED.sub(r"\1", inner[at:end].strip()))
        at = end + 1
    if len(found) > 1 and not found[-1]:
        found.pop()
    return found


def _topic(name: str, cells: Sequence[str], wrong: list[str]) -> Topic:
    level, score, seen = (*cells[1:4], "", "", "")[:3]
    mastery = _LEVEL_OF.get(level.casefold())
    if level and mastery is None:
        wrong.append(f"mastery of {name[:40]!r}: {level[:40]!r} is none of {', '.join(LEVELS)}")
    value: float | None = None
    if score:
        try:
            value = float(score)
        except ValueError:
            value = None
        if value is None or not 0 <= value <= 1:
            wrong.append(f"score of {name[:40]!r}: {score[:40]!r} is not a number from 0 to 1")
            value = None
    return Topic(mastery, value, one_line(seen)[:40])


def _count(lines: Sequence[str], at: int, wrong: list[str]) -> int:
    bullet = _COUNT.fullmatch(lines[at]) if at >= 0 else None
    if bullet is None or not bullet["value"]:
        return 0
    value = bullet["value"]
    if value.isdecimal() and len(value) < 12:
        return min(int(value), _MAX_COUNT)
    wrong.append(f"{bullet['label']}: {value[:40]!r} is not a number")
    return 0


def _visited(lines: Sequence[str], places: _Places) -> Iterator[str]:
    for line in lines[places.visited + 1 : places.visited_end] if places.visited >= 0 else ():
        yield from _visited_on(line)


def _visited_on(line: str) -> list[str]:
    """The topic of a line, if it has one."""
    nested = _NESTED.fullmatch(line)
    topic = one_line(normalize("NFC", nested["topic"][: 4 * MAX_NAME_CHARS]))[:MAX_NAME_CHARS] if nested else ""
    return [topic] if topic else []


def _row(name: str, topic: Topic, more: Sequence[str] = ()) -> str:
    score = "" if topic.score is None else f"{topic.score:g}"
    cells = (name, topic.mastery or "", score, topic.last_seen, *more)
    return "| " + " | ".join(re.sub(r"[\\|]", r"\\\g<0>", cell) for cell in cells) + " |"


def _put_topics(lines: list[str], changed: Mapping[str, Topic], column: int, end: str) -> None:
    if not changed:
        return
    places = _places(lines)
    if places.table_end < 0:
        head = COLUMNS[column]
        table = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        _append(lines, places.mastery_end, MASTERY[column], table, end, apart=True)
        places = _places(lines)
    new = []
    for name, topic in changed.items():
        if name in places.rows:
            lines[places.rows[name]] = _row(name, topic, places.cells[name][4:]) + end
        else:
            new.append(_row(name, topic) + end)
    lines[places.table_end : places.table_end] = new
    places = _places(lines)
    if (many := len(places.rows) - MAX_TOPICS) > 0:
        by_age = sorted(places.rows, key=lambda name: (name in changed, (*places.cells[name], "", "", "")[3]))
        for number in sorted((places.rows[name] for name in by_age[:many]), reverse=True):
            del lines[number]


def _put_count(lines: list[str], which: str, label: str, count: int, column: int, end: str) -> None:
    places = _places(lines)
    at = places.quizzes if which == "quizzes" else places.helps
    if at >= 0:
        bullet = _COUNT.fullmatch(lines[at])
        if bullet and bullet["value"] != str(count):
            head = bullet["head"] if bullet["head"][-1] in " \t：" else f"{bullet['head']} "
            lines[at] = f"{head}{count}{end}"
        return
    _append(lines, places.history_end, HISTORY[column], [f"- {label}{_colon(column)}{count}"], end)


def _put_visited(lines: list[str], visited: Sequence[str], column: int, end: str) -> None:
    places = _places(lines)
    if places.visited < 0:
        label = f"- {VISITED[column]}{_colon(column).rstrip()}"
        _append(lines, places.history_end, HISTORY[column], [label], end)
        places = _places(lines)
    lines[places.visited + 1 : places.visited_end] = [f"  - {topic}{end}" for topic in visited]


def _colon(column: int) -> str:
    return ": " if LOCALES[column] == "en" else "："


def _append(lines: list[str], at: int, heading: str, new: Sequence[str], end: str, *, apart: bool = False) -> None:
    """Add lines to the end of a section, at this number, or (-1) the section with its heading to the end of all;
    `apart` from what stands there by a blank line."""
    if at >= 0:
        is_empty = lines[at - 1].lstrip().startswith("#")
        lines[at:at] = [each + end for each in ([""] if apart or is_empty else []) + list(new)]
        return
    while lines and not lines[-1].strip():
        lines.pop()
    block = [*([""] if lines else []), f"## {heading}", "", *new]
    lines.extend(each + end for each in block)
    lines.append("")
