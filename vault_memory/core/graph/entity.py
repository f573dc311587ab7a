"""An entity, its relations, and what is to be added to a graph: what their values may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from vault_memory.core.graph.names import checked_name, name_key, spaced
from vault_memory.core.reading import plain_text, without_surrogates
from vault_memory.core.text import tokens
from vault_memory.errors import TooLarge, UsageError

FOLDER = "entities"
TYPES = ("decision", "feature", "component", "file", "bug_fix", "lesson", "pattern", "technology")
RELATION_TYPES = ("depends_on", "implements", "related_to", "caused_by", "fixed_by", "uses", "extends")
MENTION = "related_to"
"""The type of a link that a person wrote without saying more."""
MAX_TEXT_CHARS = 20_000
MAX_TAG_CHARS = 100

_ID = re.compile(r"[^\s%]{1,200}")


@dataclass(frozen=True)
class Line:
    """A relation as it stands in the note of the entity that it begins at. `target` is where its link leads, `shown`
    what the link shows. `first` to `end` are the lines of its bullet in the note's body (0-based, `end` excluded); a
    link elsewhere in the note (`is_mention`) has none."""

    type: str
    target: str
    shown: str = ""
    description: str = ""
    id: str = ""
    created_at: datetime | None = None
    is_mention: bool = False
    first: int = -1
    end: int = -1

    @cached_property
    def key(self) -> str:
        """What the link is looked up by."""
        return name_key(self.target.removesuffix(".md"))


@dataclass(frozen=True)
class Entity:
    """One entity. `name` is its true name, `stored_name` the one that its note has ("" for none): they differ where
    somebody has renamed the file. `other_names` are all by which it is found beside its name. Without a `type` it is a
    stub: others name it, and nobody has said what it is. `source` is its note, `lines` are the relations that stand
    there. `problems` says in words what could not be understood.
    """

    name: str
    source: str
    id: str = ""
    type: str | None = None
    observations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    other_names: tuple[str, ...] = ()
    stored_name: str = ""
    created_at: datetime | None = None
    lines: tuple[Line, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> tuple[str, str, tuple[str, ...], str]:
        """What its name, its file, its other names and its id are looked up by: computed once, in however many graphs
        the entity stands."""
        return (
            name_key(self.name),
            name_key(self.stem),
            tuple(filter(None, map(name_key, self.other_names))),
            name_key(self.id),
        )

    @cached_property
    def searched(self) -> str:
        """All that a search looks through, folded."""
        return tokens.fold("\n".join((self.name, *self.other_names, *self.tags, *self.observations)))

    @cached_property
    def folded(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Name, other names and tags as a search compares them."""
        return tokens.fold(self.name), tuple(map(tokens.fold, self.other_names)), tuple(map(tokens.fold, self.tags))

    @property
    def is_stub(self) -> bool:
        return self.type is None

    @property
    def stem(self) -> str:
        """The name of its file, to which links lead."""
        return self.source.rpartition("/")[2].removesuffix(".md")

    def as_dict(self) -> dict[str, Any]:
        """The entity as JSON shows it; times are ISO 8601 with their offset."""
        return {
            "id": self.id,
            "name": self.name,
            "type": self.type,
            "observations": list(self.observations),
            "tags": list(self.tags),
            "aliases": list(self.aliases),
            "created_at": stored_time(self.created_at) if self.created_at else None,
        }


@dataclass(frozen=True)
class Relation:
    """A relation between two entities by their names. `is_mention`: a person's link, without a type of its own.
    `is_dangling`: there is no entity `to_name`, as it was deleted or never made."""

    from_name: str
    to_name: str
    type: str
    description: str = ""
    id: str = ""
    created_at: datetime | None = None
    is_mention: bool = False
    is_dangling: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The relation as JSON shows it."""
        return {
            "id": self.id,
            "from": self.from_name,
            "to": self.to_name,
            "type": self.type,
            "description": self.description,
            "created_at": stored_time(self.created_at) if self.created_at else None,
            "is_mention": self.is_mention,
            "is_dangling": self.is_dangling,
        }


@dataclass(frozen=True)
class NewEntity:
    """An entity to add. Where one of that name is there, it gets what is new. Without `id` and `created_at` it is made
    now. Raises `UsageError`, which names the value that is wrong; so do the others."""

    name: str
    type: str | None = None
    observations: Sequence[str] = ()
    tags: Sequence[str] = ()
    aliases: Sequence[str] = ()
    id: str = ""
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        _set(self, name=checked_name(self.name), id=_checked_id(self.id))
        if self.type is not None and self.type not in TYPES:
            raise UsageError(f"the type of an entity is one of {', '.join(TYPES)}, not {str(self.type)[:60]!r}")
        own = name_key(self.name)
        aliases = [each for each in map(checked_name, _texts("aliases", self.aliases)) if name_key(each) != own]
        tags = dict.fromkeys(filter(None, map(_tag, _texts("tags", self.tags))))
        observations = _observations(self.observations)
        _set(self, observations=observations, tags=tuple(tags), aliases=tuple(dict.fromkeys(aliases)))


@dataclass(frozen=True)
class NewRelation:
    """A relation to add, by the names of its entities."""

    from_name: str
    to_name: str
    type: str
    description: str = ""
    id: str = ""
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.type not in RELATION_TYPES:
            kinds = ", ".join(RELATION_TYPES)
            raise UsageError(f"the type of a relation is one of {kinds}, not {str(self.type)[:60]!r}")
        _set(self, from_name=checked_name(self.from_name), to_name=checked_name(self.to_name))
        text = _checked_text("the description of a relation", self.description or "")
        _set(self, description=spaced(text), id=_checked_id(self.id))


@dataclass(frozen=True)
class NewObservations:
    """Observations to add to an entity, by its name."""

    name: str
    observations: Sequence[str]

    def __post_init__(self) -> None:
        _set(self, name=checked_name(self.name), observations=_observations(self.observations))
        if not self.observations:
            raise UsageError("the observation is empty: say what was observed")


def stored_time(at: datetime) -> str:
    """A time as a note has it: milliseconds only where there are some."""
    return at.isoformat(timespec="milliseconds" if at.microsecond >= 1000 else "seconds")


def _set(made: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(made, name, value)


def _texts(name: str, values: Any) -> Sequence[str]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not all(isinstance(each, str) for each in values):
        raise UsageError(f"{name} are a list of texts, not {str(values)[:60]!r}")
    return values


def _observations(values: Sequence[str]) -> tuple[str, ...]:
    texts = (_checked_text("an observation", each) for each in _texts("observations", values))
    return tuple(dict.fromkeys(filter(None, texts)))


def _checked_text(what: str, text: str) -> str:
    if not isinstance(text, str):
        raise UsageError(f"{what} is a text, not {str(text)[:60]!r}")
    if len(text) > MAX_TEXT_CHARS:
        raise TooLarge(f"{what} has at most {MAX_TEXT_CHARS:,} characters, not {len(text):,}: make it a note")
    return "\n".join(line.rstrip() for line in plain_text(text).split("\n"))


def _tag(tag: str) -> str:
    return "-".join(plain_text(tag).lstrip("#").split())[:MAX_TAG_CHARS]


def _checked_id(given: str) -> str:
    if given and (not isinstance(given, str) or not _ID.fullmatch(given) or given != without_surrogates(given)):
        raise UsageError(f"an id is a word without blanks and percent signs, not {str(given)[:60]!r}")
    return given
