"""What a person asks to be forgotten, and what is looked for then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any

from vault_memory.core import layout
from vault_memory.core.forgetting.words import Words, check_text, means_everything, words_of
from vault_memory.core.profile import FIELDS
from vault_memory.errors import UsageError


@dataclass(frozen=True)
class Wish:
    """What is to be forgotten, named in exactly one way: a `text` that stands in it (or «everything about me»), a `key`
    of the profile, a `turn` (`conversations/2026-01-30.jsonl:12`), a turn that has `asked` for it, or the day `since`
    which it was said or learned.

    Raises `UsageError` for none or several of them, and for one that cannot be meant."""

    text: str = ""
    key: str = ""
    turn: str = ""
    asked: str = ""
    since: date | None = None

    def __post_init__(self) -> None:
        if sum(map(bool, (self.text, self.key, self.turn, self.asked, self.since))) != 1:
            raise UsageError(
                "say in one way what is to be forgotten: a text, a key, a turn, a turn that asked for it, or since "
                "which day"
            )
        if self.text:
            check_text(self.text)
        if self.key and self.key not in FIELDS:
            raise UsageError(f"{self.key!r} is not a key of the profile; the keys are {', '.join(FIELDS)}")
        for turn in filter(None, (self.turn, self.asked)):
            if layout.turn_place(turn) is None:
                raise UsageError(f"{turn!r} names no turn: give a line such as conversations/2026-01-30.jsonl:12")

    @property
    def is_all(self) -> bool:
        """Whether everything is meant that is known about the person."""
        return means_everything(self.text) or means_everything(f"forget {self.text}")


@dataclass(frozen=True)
class SoughtTurn:
    """A turn that is forgotten: its lines in the record of its day, the question's first (none for what only replies),
    its name, what the person said, and when, in their time zone (None: the line does not say)."""

    lines: tuple[int, ...]
    conversation_id: str
    created_at: str
    words: str
    at: datetime | None


@dataclass(frozen=True)
class Sought:
    """What is looked for: all, or `texts` (with the person's `synonyms`), a `key` of the profile, what was said and
    learned from the time `since` on; and always the `turns`, by their source, that are forgotten whole. `by_turn`: also
    what was learned from them goes. Of the turns that are `spared` nothing goes, though a text stands in it: by
    their source the ids of their conversation and memories. Evidence of the `values` (key and value) goes."""

    texts: tuple[str, ...] = ()
    synonyms: Sequence[Sequence[str]] = ()
    key: str = ""
    since: datetime | None = None
    is_all: bool = False
    by_turn: bool = False
    turns: Mapping[str, SoughtTurn] = field(default_factory=dict)
    spared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def _words(self) -> list[Words]:
        return [words_of(text, self.synonyms) for text in self.texts]

    def lines(self, text: str) -> set[int]:
        """The numbers (from 0) of a text's lines on which one of the `texts` stands."""
        return {number for words in self._words for number in words.lines(text)}

    def stand_in(self, text: str) -> bool:
        """Whether one of the `texts` stands in a text."""
        return any(words.stand_in(text) for words in self._words)

    def may_stand_in(self, text: str) -> bool:
        """False where none of the `texts` can stand in it; a quick look."""
        return any(words.may_stand_in(text) for words in self._words)

    @property
    def spared_ids(self) -> set[str]:
        """The ids of what is `spared`, under which other stores have it."""
        return {each for ids in self.spared.values() for each in ids}

    def is_since(self, at: datetime | None, source: str = "") -> bool:
        """Whether that time is among those from which all is forgotten, or the day of the turn on the line `source`: it
        may have been recorded in another zone."""
        if self.since is None:
            return False
        place = layout.turn_place(source)
        day = layout.day_of(place[0]) if place else None
        return (at is not None and at >= self.since) or (day is not None and day >= self.since.date())

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON holds it."""
        turns = {
            source: [[*turn.lines], turn.conversation_id, turn.created_at, turn.words, _iso(turn.at)]
            for source, turn in self.turns.items()
        }
        return {
            "texts": [*self.texts],
            "synonyms": [[*group] for group in self.synonyms],
            "key": self.key,
            "since": _iso(self.since),
            "is_all": self.is_all,
            "by_turn": self.by_turn,
            "turns": turns,
            "values": sorted(self.values),
            "spared": {source: [*ids] for source, ids in self.spared.items()},
        }

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Sought:
        """What `as_dict` has written. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        turns = {
            source: SoughtTurn(tuple(lines), conversation_id, created_at, words, _time(at))
            for source, (lines, conversation_id, created_at, words, at) in stored["turns"].items()
        }
        return cls(
            tuple(stored["texts"]),
            stored["synonyms"],
            stored["key"],
            _time(stored["since"]),
            stored["is_all"],
            stored["by_turn"],
            turns,
            {source: tuple(ids) for source, ids in stored["spared"].items()},
            frozenset((key, value) for key, value in stored["values"]),
        )


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
