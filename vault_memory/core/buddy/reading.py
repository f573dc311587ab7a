"""A record of Code Buddy's files as our memory, entity, relation or mistake. Anybody may have written it: what of it
cannot be kept as it is is told in `remarks`, and a record of which nothing can be kept raises `UsageError`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Generic, TypeVar

from vault_memory.core import graph, memories, mistakes
from vault_memory.core.buddy.records import TIMESTAMP, digest, id_time, milliseconds
from vault_memory.core.graph import NewEntity, NewRelation
from vault_memory.core.memories import Memory
from vault_memory.core.mistakes import Mistake
from vault_memory.core.reading import plain_text, without_surrogates
from vault_memory.core.text import one_line
from vault_memory.errors import UsageError

MAX_TITLE_CHARS = 500
_TAGS_REMARK = "tags are written as Obsidian has them: without # and blanks, each once"
_ID = re.compile(r"[A-Za-z][A-Za-z0-9]{0,19}_\d{1,15}_[A-Za-z0-9]{1,40}")
_FIRST_MS, _LAST_MS = 100_000_000_000, 253_370_764_800_000
"""1973 and the year 9999: a smaller number is seconds."""

T = TypeVar("T")


@dataclass(frozen=True)
class Read(Generic[T]):
    """What a record holds, and what of it is not kept as it is, in words."""

    value: T
    remarks: tuple[str, ...] = ()


def memory_of(record: Any, now: datetime, zone: tzinfo, *, id_is_free: bool = True) -> Read[Memory]:
    """The memory in a MemoryEntry, a permanent one. Where its id is none, or another record's, it gets one that is the
    same each time. Raises `UsageError` for what cannot be a memory."""
    entry = _Record(record, {"id", "type", "title", "content", "tags", "timestamp"})
    at = entry.time("timestamp", now, zone)
    memory_id = entry.own_id("mem", at, is_free=id_is_free)
    title, content = one_line(entry.text("title")), entry.text("content")
    kind = entry.one_of("type", memories.TYPES, "note")
    made = memories.new_memory(
        memory_id, content if content.strip() else title, kind, at.moment, title=title, tags=entry.texts("tags")
    )
    if not content.strip():
        entry.remark("no content: its title is the content")
    if len(title) > MAX_TITLE_CHARS:
        entry.remark(f"a title of more than {MAX_TITLE_CHARS} characters is cut")
    if made.tags != tuple(entry.texts("tags")):
        entry.remark(_TAGS_REMARK)
    entry.compare([content.strip() and content, entry.text("title")], [made.content, title])
    made = replace(
        made,
        title=(title or one_line(made.content.split("\n", 1)[0]))[:MAX_TITLE_CHARS],
        metadata=at.property_for(memory_id),
    )
    return Read(made, entry.remarks())


def content_of(record: Any) -> str:
    """The content that the memory in a MemoryEntry has; "" for what is none."""
    try:
        entry = _Record(record, set())
    except UsageError:
        return ""
    return plain_text(entry.text("content")) or one_line(entry.text("title"))


def time_of(record: Any) -> int:
    """The time of a MemoryEntry in milliseconds since 1970, by which the newest are known; 0 for none."""
    return (_milliseconds(record.get("timestamp"), record.get("id")) or 0) if isinstance(record, Mapping) else 0


def id_of(record: Any) -> str:
    """The id of a record; "" for what is none."""
    found = record.get("id") if isinstance(record, Mapping) else None
    return found if isinstance(found, str) and _ID.fullmatch(found) else ""


def entity_of(record: Any, now: datetime, zone: tzinfo, *, id_is_free: bool = True) -> Read[NewEntity]:
    """The entity in an Entity; without an id where its is none, or another record's. Raises `UsageError` for what
    cannot be one."""
    entry = _Record(record, {"id", "name", "type", "observations", "tags", "createdAt"})
    at = entry.time("createdAt", now, zone)
    kind = entry.one_of("type", graph.TYPES, "") if entry.get("type") is not None else ""
    made = NewEntity(
        entry.text("name"),
        kind or None,
        entry.texts("observations"),
        entry.texts("tags"),
        id=entry.kept_id(is_free=id_is_free),
        created_at=at.moment,
    )
    entry.compare([entry.text("name"), *entry.texts("observations")], [made.name, *made.observations])
    if made.tags != tuple(entry.texts("tags")):
        entry.remark(_TAGS_REMARK)
    return Read(made, entry.remarks())


def relation_of(record: Any, now: datetime, zone: tzinfo, *, id_is_free: bool = True) -> Read[NewRelation]:
    """The relation in a Relation; its id as that of an entity. Of a type that there is not it is `related_to`, and its
    description begins with that type. Raises `UsageError` for what cannot be one."""
    entry = _Record(record, {"id", "from", "to", "type", "description", "createdAt"})
    at = entry.time("createdAt", now, zone)
    kind = entry.one_of("type", graph.RELATION_TYPES, "related_to")
    described = [entry.text("description")]
    if kind != entry.get("type") and entry.text("type"):
        described.insert(0, entry.text("type"))
    made = NewRelation(
        entry.text("from"),
        entry.text("to"),
        kind,
        ": ".join(filter(None, described)),
        id=entry.kept_id(is_free=id_is_free),
        created_at=at.moment,
    )
    given = [entry.text("from"), entry.text("to"), ": ".join(filter(None, described))]
    entry.compare(given, [made.from_name, made.to_name, made.description])
    return Read(made, entry.remarks())


def mistake_of(record: Any, now: datetime, zone: tzinfo, *, id_is_free: bool = True) -> Read[Mistake]:
    """The mistake in a MistakeRecord; its id as that of a memory. Raises `UsageError` for what cannot be one."""
    texts = {"userCorrection", "correctMethod", "impact", "preventionMethod"}
    entry = _Record(record, {"id", "timestamp", "action", "errorType", "relatedRule", *texts})
    at = entry.time("timestamp", now, zone)
    mistake_id = entry.own_id("mistake", at, is_free=id_is_free)
    made = mistakes.new_mistake(
        mistake_id,
        entry.text("action"),
        one_line(entry.text("errorType")),
        at.moment,
        user_correction=entry.text("userCorrection"),
        correct_method=entry.text("correctMethod"),
        impact=entry.text("impact"),
        prevention_method=entry.text("preventionMethod"),
        related_rule=one_line(entry.text("relatedRule")) or None,
    )
    entry.compare(map(entry.text, sorted(texts | {"action"})), made.texts.values())
    return Read(replace(made, metadata=at.property_for(mistake_id)), entry.remarks())


@dataclass(frozen=True)
class _Time:
    """The time of a record: `ms` since 1970, and that as a moment to the millisecond; whether the record
    tells it."""

    ms: int
    moment: datetime
    is_told: bool

    def property_for(self, record_id: str) -> dict[str, int]:
        """The property of a note that keeps the milliseconds, if nothing else does."""
        to_the_second = self.moment.replace(microsecond=0)
        return {} if milliseconds(to_the_second, record_id) == self.ms else {TIMESTAMP: self.ms}


@dataclass
class _Record:
    """A record while it is read: `known` are the fields that it may have."""

    stored: Any
    known: set[str]
    _remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.stored, Mapping):
            raise UsageError(f"it is no object with fields, but {str(self.stored)[:40]!r}")
        self.stored = without_surrogates(dict(self.stored))

    def remark(self, text: str) -> None:
        self._remarks.append(text)

    def remarks(self) -> tuple[str, ...]:
        others = (str(key) for key in self.stored if key not in self.known)
        left_out = (f"the field {one_line(key)[:40]}, which is left out" for key in others)
        return tuple(dict.fromkeys([*self._remarks, *left_out]))

    def compare(self, given: Iterable[str], kept: Iterable[str]) -> None:
        """Remark on texts of the record that are not kept to the letter."""
        if not set(filter(None, given)) <= {*kept}:
            self.remark("texts are kept without blanks around them and control characters; their lines end with \\n")

    def get(self, name: str) -> Any:
        return self.stored.get(name)

    def text(self, name: str) -> str:
        """The text of a field; "" where there is none. A number is a text, too."""
        value = self.get(name)
        if value is None or isinstance(value, (bool, Mapping, list)):
            if value is not None:
                self.remark(f"{name} is no text, and is left out")
            return ""
        return str(value)

    def texts(self, name: str) -> list[str]:
        """The texts of a list; those that are none are left out."""
        value = self.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            value = [value]
        kept = [str(each) for each in value if isinstance(each, (str, int, float)) and not isinstance(each, bool)]
        if len(kept) < len(value):
            self.remark(f"what is no text in {name} is left out")
        return kept

    def one_of(self, name: str, allowed: tuple[str, ...], other: str) -> str:
        value = self.get(name)
        if value in allowed:
            return str(value)
        became = f"counts as {other}" if other else "is left out"
        self.remark(f"the {name} {one_line(str(value))[:40]!r} {became}")
        return other

    def kept_id(self, *, is_free: bool) -> str:
        """The record's id; "" if it has none or it is not free."""
        if is_free and (found := id_of(self.stored)):
            return found
        self.remark("what is no id of its own is made anew")
        return ""

    def own_id(self, prefix: str, at: _Time, *, is_free: bool) -> str:
        """The record's id; one made of what it holds if it has none or it is not free."""
        if found := self.kept_id(is_free=is_free):
            return found
        held = json.dumps(self.stored, sort_keys=True, default=str)
        return f"{prefix}_{at.ms if at.is_told else 0}_{digest(held)}"

    def time(self, name: str, now: datetime, zone: tzinfo) -> _Time:
        """The time of a field in milliseconds, or seconds; else of the id, else `now`."""
        ms = _milliseconds(self.get(name), self.get("id"))
        if ms is None:
            self.remark(f"without a time ({name}) it counts as made now")
        elif ms != self.get(name):
            self.remark(f"{name} is written in whole milliseconds, that of the id if there is none")
        told = int(now.timestamp()) * 1000 if ms is None else ms
        moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=told)).astimezone(zone)
        return _Time(told, moment, ms is not None)


def _milliseconds(stored: Any, record_id: Any) -> int | None:
    """The time of a field, in milliseconds or seconds, else that in the id; None where neither is one."""
    if isinstance(stored, (int, float)) and not isinstance(stored, bool) and 0 < stored < _LAST_MS:
        return round(stored * 1000) if stored < _FIRST_MS else round(stored)
    found = id_time(record_id) if isinstance(record_id, str) else None
    return found if found and _FIRST_MS <= found < _LAST_MS else None
