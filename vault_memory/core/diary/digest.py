"""The digest of a day's log for a prompt: a conversation is a few lines, however long it was.

It tells the first request and the last ones, each in its first words and with what came of it, and what was learned.
What a person wrote among the entries is told, too. Logs of older versions, whose entries have one request each, are
read like those of today.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from vault_memory.core.diary.daily import SAME_TALK
from vault_memory.core.diary.labels import LEARNED, MODULE, REMEMBERED, quoted
from vault_memory.core.notes import entries

MAX_REQUESTS = 6
"""So many requests of a conversation are told: the first and the last ones."""
MAX_WORDS_CHARS = 60
"""How much of a request is told, and of what came of it."""
MAX_OWN_CHARS = 500
"""How much is told of what a person wrote in a conversation's entries, or as an entry."""
_PAUSE = SAME_TALK.total_seconds() // 60
_CLOCK = re.compile(r"## (\d\d):(\d\d)\b", re.ASCII)
_FACT = re.compile(r"- ([^：:\n]{1,20})(?:：|: )(.*)")


@dataclass(frozen=True)
class Told:
    """A conversation, or something that a person wrote, as a prompt tells it. `whole` are its lines in the log (from 1)
    if nothing of them is left out but where they come from; else none."""

    text: str
    whole: frozenset[int] = frozenset()


def digest(text: str, day: str) -> list[Told]:
    """What a day's log tells, one piece for each conversation, in the order of their last requests. The `day` stands
    above each."""
    lines = text.split("\n")
    parts = entries.entries_of(lines, entries.undecided(text))
    opening = _Talk()
    for line in lines[1 if lines[0].startswith("# ") else 0 : parts[0].start if parts else len(lines)]:
        opening.read(line)
    found = [opening] if opening.own else []
    latest: dict[str, _Talk] = {}
    for part in parts:
        entry = _entry(lines, part)
        before = latest.get(entry.name)
        if entry.requests and before and (entry.name or 0 <= entry.first - before.last <= _PAUSE):
            before.join(entry)
            continue
        if entry.last < 0 and found:
            entry.last = found[-1].last  # what has no time stands behind what is before it
        found.append(entry)
        if entry.requests:
            latest[entry.name] = entry
    return [talk.told(day) for talk in sorted(found, key=lambda talk: talk.last)]


@dataclass
class _Talk:
    """A conversation of a day, or what a person wrote as an entry.

    `first` and `last` are the minutes of the day of its first and last request, `requests` tell these in short,
    `learned` what was learned, below a `label`, and `own` what a person wrote there. `lines` are those of its entries,
    and `is_whole` says whether all of them is told.
    """

    name: str = ""
    first: int = -1
    last: int = -1
    requests: list[str] = field(default_factory=list)
    label: str = ""
    learned: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    is_whole: bool = True

    def read(self, line: str) -> None:
        """Take in a line of an entry."""
        fact = _FACT.match(line)
        if request := entries.request_in(line):
            said, _, end = request.said.rpartition(entries.PART)
            learned = _FACT.match(f"- {end}")
            if learned and learned[1] in LEARNED:
                self._learn(learned)
            else:
                said = request.said
            before, _, end = said.rpartition(entries.PART)
            remembered = _FACT.match(f"- {end}")  # the request's own words again
            self._ask(before if remembered and remembered[1] in REMEMBERED else said)
            self.last = int(request.time[:2]) * 60 + int(request.time[3:])
        elif fact and fact[1] in entries.REQUEST:
            self._ask(f" {fact[2]}")
        elif fact and fact[1] in MODULE and self.requests:
            self.requests[-1] += f" ({fact[2]})"
        elif fact and fact[1] in LEARNED and self.requests:
            self._learn(fact)
        elif line.strip():
            self.write(line.rstrip())

    def write(self, line: str) -> None:
        """Take in what a person wrote, as far as there is room."""
        room = MAX_OWN_CHARS - sum(map(len, self.own))
        self.is_whole &= len(line) <= room
        self.own += [line if len(line) <= room else line[:room] + "…"] if room > 0 else []

    def join(self, later: _Talk) -> None:
        """Take in a later entry of the same conversation."""
        self.last = later.last
        self.requests += later.requests
        self.label = self.label or later.label
        self.learned += later.learned
        self.lines |= later.lines
        self.is_whole &= later.is_whole
        for line in later.own:
            self.write(line)

    def told(self, day: str) -> Told:
        """What a prompt tells of it."""
        times = dict.fromkeys(f"{at // 60:02}:{at % 60:02}" for at in (self.first, self.last) if at >= 0)
        more = len(self.requests) - MAX_REQUESTS
        shown = self.requests if more <= 0 else [self.requests[0], f"… (+{more})", *self.requests[1 + more :]]
        learned = [f"- {self.label}{'；'.join(dict.fromkeys(self.learned))}"] if self.learned else []
        heading = " ".join([day, *filter(None, ["–".join(times)])])
        text = "\n".join([heading, *(f"- {request}" for request in shown), *learned, *self.own])
        return Told(text, frozenset(self.lines if self.is_whole and more <= 0 else ()))

    def _ask(self, said: str) -> None:
        words, arrow, came = said.rpartition(entries.CAME) if entries.CAME in said else (said, "", "")
        short = [quoted(part.strip(), MAX_WORDS_CHARS) for part in (words, came)]
        self.is_whole &= short == [words.strip(), came.strip()]
        self.requests.append(f"{short[0]}{arrow}{short[1]}".strip())

    def _learn(self, fact: re.Match[str]) -> None:
        self.label = self.label or fact[0][2 : fact.start(2)]
        self.learned.append(fact[2].strip())


def _entry(lines: Sequence[str], part: range) -> _Talk:
    """The entry of these lines."""
    heading = lines[part.start]
    talk = _Talk(entries.conversation_in(heading), lines={at + 1 for at in part})
    if clock := _CLOCK.match(heading):
        talk.first = talk.last = int(clock[1]) * 60 + int(clock[2])
    for at in part[1:]:
        talk.read(lines[at])
    if not talk.requests:
        talk.own.insert(0, quoted(heading, MAX_OWN_CHARS))
    return talk
