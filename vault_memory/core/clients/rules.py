"""The rules for a request, by which the client is known that made it.

They are read from `clients.toml`, which says what each rule is. A request gets the rules that hold for every client,
and those of the clients by whose signs it is known.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

MAX_SIGN_CHARS = 300
"""A client is known by the beginning of a header or instruction; an ordinary one may name titles later."""
MAX_OWN_CHARS = 1_000
"""Requests of a client's own are known by so much of either end of a text."""
MAX_ID_CHARS = 200
_BILLING = "x-anthropic-billing-header:"
"""Claude Code puts such a line in front of its instructions."""


@dataclass(frozen=True)
class Wrapper:
    """A client's text around the person's words: they are the last group of `text`, and none where no group takes part.
    Where there is an `after`, it counts only if that is found in what the model said before, "" if it said nothing."""

    text: re.Pattern[str]
    after: re.Pattern[str] | None = None

    def counts_after(self, answer: str) -> bool:
        return self.after is None or self.after.search(answer) is not None

    def stretch(self, text: str, at: int = 0) -> tuple[int, int] | None:
        """Where the words in a text begin and end, None if none in this wrapper begins at this place."""
        found = self.text.match(text, at)
        if found is None:
            return None
        return found.span(found.lastindex) if found.lastindex else (found.end(), found.end())


@dataclass(frozen=True)
class Command:
    """A command that a person types: its `text` with the name and the arguments as groups, and the tag that it begins
    with. A local one, for nobody, begins with another, behind a tag of `before_local` or before one of `after_local`:
    else its template may follow, too."""

    text: re.Pattern[str]
    tag: str
    local_tag: str
    before_local: frozenset[str]
    after_local: frozenset[str]

    @property
    def tags(self) -> tuple[str, str]:
        """The tags with which a command begins."""
        return self.tag, self.local_tag


@dataclass(frozen=True)
class Rules:
    """The rules for one request; `clients.toml` says what each is."""

    aside_tags: frozenset[str]
    first_word_tags: frozenset[str]
    last_word_tags: frozenset[str]
    asides: tuple[re.Pattern[str], ...]
    ends: tuple[re.Pattern[str], ...]
    introductions: tuple[re.Pattern[str], ...]
    tool_results: tuple[re.Pattern[str], ...]
    interruptions: tuple[re.Pattern[str], ...]
    delivered: tuple[re.Pattern[str], ...]
    wrappers: tuple[Wrapper, ...]
    commands: tuple[Command, ...]
    own: tuple[re.Pattern[str], ...]
    own_anywhere: tuple[re.Pattern[str], ...]
    final_tools: frozenset[str]
    is_quoted: bool
    marks_are_typed: bool
    turns_have_tools: bool

    def is_own(self, text: str) -> bool:
        """Whether a text is of a request that a client makes on its own."""
        text = text.strip()
        if len(text) > 2 * MAX_OWN_CHARS:
            text = f"{text[:MAX_OWN_CHARS]}\n{text[-MAX_OWN_CHARS:]}"
        return any(each.match(text) for each in self.own) or any(each.search(text) for each in self.own_anywhere)


def rules_for(
    headers: Mapping[str, str] | None = None,
    instructions: Iterable[str] = (),
    own: Sequence[str] = (),
    asides: Sequence[str] = (),
) -> Rules:
    """The rules for a request with these headers (by name, in lower case) and instructions; `own` and `asides` are
    a person's additions. A client shows itself in its first instructions only: later ones may be a file."""
    signs = [f"{name}: {value[:MAX_SIGN_CHARS].lower()}" for name, value in (headers or {}).items()]
    first = next((text for text in instructions if not text.startswith(_BILLING)), "")
    signs.append(f"instructions: {first.strip()[:MAX_SIGN_CHARS]}")
    known = tuple(
        name for name, patterns in _signs().items() if any(each.match(sign) for each in patterns for sign in signs)
    )
    return _rules(known, tuple(own), tuple(asides))


def conversation_of(headers: Mapping[str, str]) -> str:
    """The id of the conversation that a header names, "" if none does."""
    named = (headers.get(name, "").strip() for name in _headers()["conversation"])
    return next((value[:MAX_ID_CHARS] for value in named if value), "")


def is_of_nobody(headers: Mapping[str, str]) -> bool:
    """Whether the headers say that no person speaks: an agent gives an order, or the client wants a summary."""
    if any(headers.get(name) for name in _headers()["agent"]):
        return True
    for name, members in _headers()["spoken"].items():
        said = _members(headers.get(name))
        if any(said.get(key, values[0]) not in values for key, values in members.items()):
            return True
    for name, members in _headers()["unspoken"].items():
        said = _members(headers.get(name))
        if any(said.get(key) in values for key, values in members.items()):
            return True
    return False


def _members(header: str | None) -> Mapping[str, Any]:
    """The members of a header with JSON; none if it cannot be read."""
    try:
        said = json.loads(header) if header else None
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, Mapping) else {}


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "clients.toml").read_text(encoding="utf-8"))


def _headers() -> dict[str, Any]:
    headers: dict[str, Any] = _tables()["headers"]
    return headers


@cache
def _signs() -> dict[str, tuple[re.Pattern[str], ...]]:
    """How the clients are known whose rules do not hold for all."""
    return {name: _compiled(table["known_by"]) for name, table in _tables().items() if "known_by" in table}


@cache
def _rules(known: tuple[str, ...], own: tuple[str, ...], asides: tuple[str, ...]) -> Rules:
    tables = [
        table for name, table in _tables().items() if name != "headers" and (name in known or "known_by" not in table)
    ]

    def values(key: str) -> list[Any]:
        return [value for table in tables for value in table.get(key, ())]

    shipped = values("own")
    return Rules(
        aside_tags=frozenset(values("aside_tags")),
        first_word_tags=frozenset(values("first_word_tags")),
        last_word_tags=frozenset(values("last_word_tags")),
        asides=(*_joined(values("asides")), *_compiled(asides)),
        ends=_compiled(values("ends")),
        introductions=_joined(values("introductions")),
        tool_results=_joined(values("tool_results")),
        interruptions=_joined(values("interruptions")),
        delivered=_compiled(values("delivered")),
        wrappers=tuple(
            Wrapper(re.compile(each["text"]), re.compile(each["after"]) if "after" in each else None)
            for each in values("wrappers")
        ),
        commands=tuple(_command(table["command"]) for table in tables if "command" in table),
        own=_joined([each for each in shipped if each.startswith("^")], re.IGNORECASE),
        own_anywhere=(
            *_joined([each for each in shipped if not each.startswith("^")], re.IGNORECASE),
            *_compiled(own, re.IGNORECASE),
        ),
        final_tools=frozenset(values("final_tools")),
        is_quoted=any(table.get("is_quoted") for table in tables),
        marks_are_typed=any(table.get("marks_are_typed") for table in tables),
        turns_have_tools=any(table.get("turns_have_tools") for table in tables),
    )


def _command(table: Mapping[str, Any]) -> Command:
    local = (frozenset(table[key]) for key in ("before_local", "after_local"))
    return Command(re.compile(table["text"]), table["tag"], table["local_tag"], *local)


def _compiled(patterns: Iterable[str], flags: int = 0) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, flags) for pattern in patterns)


def _joined(patterns: Sequence[str], flags: int = 0) -> tuple[re.Pattern[str], ...]:
    """One pattern for all of ours: many would each look at the text. A person's own may have flags, and stays apart."""
    return _compiled(["|".join(f"(?:{pattern})" for pattern in patterns)], flags) if patterns else ()
