"""The form of what turns write for a person to read: where its entries begin, and which of its lines are requests.

A daily log and MEMORY.md are entries: a heading `## …` and the lines below it. An entry of a log is of one conversation
and has a line for each request:

    ## 09:12 %%1a2b3c4d%%
    - 09:12 deploy the login page (web-deploy) → success · Preferences: theme = dark · conversations/2026-01-30.jsonl:1

The comment names the conversation; Obsidian shows no comments. The time at the beginning and the turn's place at the
end make the line a request. A person edits these files: what has not this form is theirs, or of an older log, whose
entries have one request each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_memory.core.notes import note
from vault_memory.core.text import tokens

KINDS = ("daily", "memory-log")
"""The kinds of file that turns write entry by entry."""
HEADING = "## "
REQUEST = ("請求", "请求", "Request")
"""The label of what was asked, in an older log."""
TASK = ("任務", "任务", "Task")
"""The same in MEMORY.md."""
CAME, PART = " → ", " · "
"""What stands before what came of a request, and between the other parts of its line."""

_MAX_LINE_CHARS = 10_000
"""A longer line is none that a turn has written."""
_REQUEST = re.compile(r"- (\d\d:\d\d)( .*)? · (conversations/\d{4}-\d\d-\d\d\.jsonl:\d+)\s*", re.ASCII)
_MARKED = re.compile(r"(#{1,6})\s")
_CLOCK = re.compile(r"(?<![\d:：])\d{1,2}[:：]\d\d(?!\d)", re.ASCII)
_FENCE = re.compile(r"\s{0,3}(?:```[^`]*$|~~~)")
_COMMENT = re.compile(r"%%.*?%%")
_LABELLED = re.compile(rf"- (?:{'|'.join(REQUEST + TASK)})(?:：|: )")
_NAMED = re.compile(r"%%([0-9a-f]{8})%%", re.ASCII)
_BEGINS = re.compile(r"[-*+]\s|\d+[.)]\s|[#>|]|<{7}|={7}|```|~~~")
"""What begins something of its own, so that it belongs to no list item above it."""


class Request(NamedTuple):
    """A line of a log: when, what was said (from the blank before it; with what came of it, and what was learned), and
    where the turn is."""

    time: str
    said: str
    source: str

    @property
    def words(self) -> str:
        """What was asked, as far as no arrow or dot stands in it: it stays when more is added to the line."""
        return self.said.partition(CAME)[0].partition(PART)[0].strip()


def request_in(line: str) -> Request | None:
    """The request that a line of a log tells of; None for any other line."""
    found = _REQUEST.fullmatch(line) if len(line) <= _MAX_LINE_CHARS else None
    return Request(found[1], found[2] or "", found[3]) if found else None


def is_of_a_turn(line: str) -> bool:
    """Whether a turn has written the entry whose first line below the heading this is."""
    return request_in(line) is not None or _LABELLED.match(line) is not None


class Reading:
    """Which entry a line is of, where a file of this kind is read line by line.

    In what turns write any `## …` begins an entry, and in every note a heading that tells a day or a time does, as a
    diary has them. It goes on to the next heading of its level or above."""

    def __init__(self, kind: str) -> None:
        self.heading = ""
        """The line that the entry begins with; "" outside of entries."""
        self._level = 0
        self._kind = kind
        self._has_text = self._is_code = False

    def begins(self, line: str) -> bool:
        """Read the next line: whether an entry begins with it, or has ended before it. A day's heading right above that
        of a time begins the same entry."""
        if _FENCE.match(line):
            self._is_code = not self._is_code
        marked = None if self._is_code else _MARKED.match(line)
        if marked is None:
            self._has_text |= bool(line.strip())
            return False
        level, has_text = len(marked[1]), self._has_text
        if (self._kind in KINDS and line.startswith(HEADING)) or _CLOCK.search(line) or tokens.date_terms(line):
            goes_on = bool(self.heading) and level > self._level and not has_text
            self.heading, self._level, self._has_text = line, level, False
            return not goes_on
        is_over = bool(self.heading) and level <= self._level
        if is_over:
            self.heading, self._level = "", 0
        self._has_text = True
        return is_over


def named(heading: str) -> str:
    """What the heading of an entry says, without its marks and what Obsidian does not show."""
    return _COMMENT.sub("", heading).lstrip("#").strip()


def conversation_in(heading: str) -> str:
    """What an entry's heading says of its conversation: eight hex digits, or "" where nobody has named it."""
    found = _NAMED.search(heading)
    return found[1] if found else ""


def undecided(text: str) -> set[int]:
    """The numbers (from 0) of the lines in conflict blocks."""
    return {number for first, last in note.conflicts_in(text) for number in range(first - 1, last)}


def entries_of(lines: Sequence[str], left_out: set[int]) -> list[range]:
    """The numbers of the lines of each entry, the heading's first; an entry that begins in a line that is `left_out`
    belongs to the one before."""
    begins = [at for at, line in enumerate(lines) if line.startswith(HEADING) and at not in left_out]
    return [range(start, end) for start, end in pairwise([*begins, len(lines)])]


def item_end(lines: Sequence[str], at: int) -> int:
    """The number of the line behind the list item that begins at line `at`: what a person wrote below a request and
    indented, or without a blank line between, belongs to it."""
    end = at + 1
    while following := next((n for n in range(end, len(lines)) if lines[n].strip()), 0):
        is_indented = lines[following][:1] in " \t"
        if not is_indented and (following > end or _BEGINS.match(lines[following])):
            break
        end = following + 1
    return end


def appended(text: str, title: str, entry: str) -> str:
    """The log's text with an entry added after a blank line; an empty log gets its title first."""
    text = text or title
    return text + ("" if text.endswith("\n") else "\n") + ("" if text.endswith("\n\n") else "\n") + entry
