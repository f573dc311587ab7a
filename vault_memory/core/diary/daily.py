"""The log of a day: an entry for each conversation, with a line for each request (`core.notes.entries` has the form).

What came of a request may be known later than the request: then its line is completed. The line is found by the time
and the place of its turn, wherever a person has moved it; nothing else in the log is ever changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from vault_memory.core.diary.labels import DONE, LEARNED, REMEMBERED, colon, ended, is_same, quoted
from vault_memory.core.notes import entries, journal
from vault_memory.core.profile import LOCALES
from vault_memory.core.text import one_line, tokens

MAX_ENTRY_TOKENS = 350
"""So much of an entry is one chunk of the index, with room for an outcome and a remark: a search returns all of it."""
MAX_REMEMBERED_CHARS = 60
"""How much of a memory is told."""
SAME_TALK = timedelta(minutes=30)
"""A request whose conversation nobody has named goes on with the one before if it follows within this time."""
SAME_TASK = timedelta(minutes=10)
"""How long after a request its outcome may be told by its words alone."""
_ARROWS = re.compile(rf"(?:{entries.CAME}(?:(?!{entries.CAME}|{entries.PART}).)*)*")


@dataclass(frozen=True)
class Request:
    """What a log tells of a turn; `at` is in the person's time zone.

    `words` are the message's, of which the beginning is quoted, `source` is the turn's place
    (`conversations/2026-01-30.jsonl:12`), and `conversation` its digest ("": nobody has named it). `came` is what came
    of it, in words ("": not known yet), `learned` are the summaries of the preferences that it set, `reflection` is
    what was thought of it afterwards, in a line, and `remembered` is what of it became typed memories.
    """

    at: datetime
    words: str
    source: str
    conversation: str = ""
    skill: str = ""
    came: str = ""
    learned: Sequence[str] = ()
    reflection: str = ""
    remembered: Sequence[str] = ()


def title(day: date) -> str:
    """First line of a day's log."""
    return f"# {day.isoformat()}\n"


def with_request(text: str, request: Request, locale: str) -> str:
    """The log with a line for a request: in the last entry of its conversation in which there is room for it, else in a
    new one at the end."""
    lines, line = text.split("\n"), _line(request, locale)
    left_out = entries.undecided(text)
    for entry in reversed(entries.entries_of(lines, left_out)):
        if entries.conversation_in(lines[entry.start]) != request.conversation or not left_out.isdisjoint(entry):
            continue
        before = _last_before(lines, entry, request)
        if before is None:
            continue
        if sum(map(tokens.count, [*(lines[at] for at in entry), line])) > MAX_ENTRY_TOKENS:
            break
        place = entries.item_end(lines[: entry.stop], before)
        return "\n".join([*lines[:place], line, *(lines[place:] or [""])])
    name = f" %%{request.conversation}%%" if request.conversation else ""
    heading = f"{entries.HEADING}{request.at:%H:%M}{name}"
    return entries.appended(text, title(request.at.date()), f"{heading}\n{line}\n")


def with_reply(text: str, request: Request, locale: str) -> str:
    """The log with what came of a request that it tells of already, and what was learned from that; as it is where a
    person has taken the line out."""
    lines, left_out = text.split("\n"), entries.undecided(text)
    found = [
        at for at, line in enumerate(lines) if request.source in line and at not in left_out and _is_of(line, request)
    ]
    head = _head(request, locale)
    found.sort(key=lambda at: lines[at].startswith(head))  # another machine counts its own lines
    if found:
        lines[found[-1]] = _completed(lines[found[-1]], head, request, locale)
    return "\n".join(lines)


def without_words(text: str, source: str, told: str) -> str:
    """The log in which the request of the turn at `source` has these words (`told`) in place of what was said and of
    what was learned from it."""
    lines, left_out = text.split("\n"), entries.undecided(text)
    for at, line in enumerate(lines):
        found = entries.request_in(line) if at not in left_out and source in line else None
        if found and found.source == source:
            lines[at] = f"- {found.time} {told}{entries.PART}{source}"
    return "\n".join(lines)


def with_outcome(text: str, at: datetime, words: str, told: str) -> str:
    """The log with the outcome that a program tells at this time, for the newest request of these words of which nobody
    knows more than that it is done."""
    lines, left_out = text.split("\n"), entries.undecided(text)
    for number in reversed(range(len(lines))) if told else ():
        found = entries.request_in(lines[number]) if number not in left_out else None
        if found and timedelta(0) <= _since(found.time, at) <= SAME_TASK and is_same(found.words, quoted(words)):
            for column, done in enumerate(DONE):
                before, arrow, after = lines[number].rpartition(f"{entries.CAME}{done}{entries.PART}")
                if arrow:
                    lines[number] = f"{before}{entries.CAME}{ended(told, column)}{entries.PART}{after}"
                    return "\n".join(lines)
    return text


def _last_before(lines: Sequence[str], entry: range, request: Request) -> int | None:
    """The line of an entry behind which a request belongs: that of the last one before it. None: in this entry there is
    none, or, where nobody has named the conversation, it is too long ago."""
    told = ((at, entries.request_in(lines[at])) for at in entry)
    before = [(at, since) for at, each in told if each and (since := _since(each.time, request.at)) >= timedelta(0)]
    if not before or (not request.conversation and before[-1][1] > SAME_TALK):
        return None
    return before[-1][0]


def _since(clock: str, at: datetime) -> timedelta:
    """The time from a line's to another of the same day; a negative one for a time that no clock shows."""
    try:
        now = at.replace(tzinfo=None, second=0, microsecond=0)
        return now - datetime.combine(at.date(), time.fromisoformat(clock))
    except ValueError:  # a person may write any number
        return timedelta(-1)


def _is_of(line: str, request: Request) -> bool:
    found = entries.request_in(line)
    return found is not None and (found.time, found.source) == (f"{request.at:%H:%M}", request.source)


def _head(request: Request, locale: str) -> str:
    """The beginning of a request's line: what was asked, and of which skill."""
    skill = one_line(request.skill)
    named = (f" ({skill})" if locale == "en" else f"（{skill}）") if skill else ""
    return _shown(f"- {request.at:%H:%M} {quoted(request.words)}".rstrip() + named)


def _line(request: Request, locale: str) -> str:
    head, thought = _head(request, locale), _shown(quoted(request.reflection))
    told = f"{entries.PART}{journal.reflection_bullet(thought, locale)}" if thought else ""
    if kept := _shown("；".join(quoted(each, MAX_REMEMBERED_CHARS) for each in request.remembered)):
        told += f"{entries.PART}{REMEMBERED[LOCALES.index(locale)]}{colon(locale)}{kept}"
    return _completed(f"{head}{told}{entries.PART}{request.source}", head, request, locale)


def _completed(line: str, head: str, request: Request, locale: str) -> str:
    """A line with what came of the request behind what was asked, if a person has not changed that, else at the end;
    and what was learned before the turn's place."""
    body, _, place = line.rpartition(entries.PART)
    if learned := _shown("；".join(map(one_line, request.learned))):
        label = f"{entries.PART}{LEARNED[LOCALES.index(locale)]}{colon(locale)}"
        body += ("；" if label in body else label) + learned
    arrows = (
        _ARROWS.match(body, len(head))
        if f"{body}{entries.PART}".startswith((head + entries.PART, head + entries.CAME))
        else None
    )
    behind = arrows.end() if arrows else len(body)
    came = _shown(one_line(request.came))
    if came and not body[:behind].endswith(entries.CAME + came):
        body = f"{body[:behind]}{entries.CAME}{came}{body[behind:]}"
    return f"{body}{entries.PART}{place}"


def _shown(text: str) -> str:
    """A text in which nothing begins a comment, which would hide all that follows."""
    return text.replace("%%", "% %")
