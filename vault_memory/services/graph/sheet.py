"""The notes of a graph while additions are planned: what each will hold, and what became of each addition. Nothing is
written here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vault_memory.core import graph
from vault_memory.core.graph import Entity, Graph, Line, NewEntity, NewObservations, NewRelation, Relation, name_key
from vault_memory.errors import NotFound, UsageError, VaultMemoryError


@dataclass(frozen=True)
class Outcome:
    """What became of an addition: the entity as it will be, the relation, whether anything is new, and the names of
    entities that had to be made for it."""

    entity: Entity
    relation: Relation | None = None
    is_new: bool = False
    stubs: tuple[str, ...] = ()


class Moved(Exception):
    """A note is gone since the graph was read: somebody has deleted it, or given it another name."""


class Sheet:
    """Additions to a graph. `read` gives the bytes of a note, `at` is when the new ones are made, and `new_id` makes an
    id of a prefix for a thing, the same one for the same thing."""

    def __init__(
        self,
        known: Graph,
        read: Callable[[str], bytes | None],
        at: datetime,
        new_id: Callable[[str, object], str],
    ) -> None:
        self._graph, self._read, self._at, self._new_id = known, read, at, new_id
        self._notes: dict[str, tuple[bytes | None, str]] = {}
        self._entities: dict[str, Entity] = {}
        self._new_names: dict[str, str] = {}
        self._taken: set[str] | None = None
        self.outcomes: dict[int, Outcome | VaultMemoryError] = {}

    @property
    def touched(self) -> list[str]:
        """The sources of all notes that were looked at to be changed."""
        return list(self._notes)

    @property
    def changes(self) -> dict[str, tuple[bytes | None, bytes]]:
        """The bytes of each note that changes, before and after, by source."""
        made = {source: (old, text.encode("utf-8", "surrogateescape")) for source, (old, text) in self._notes.items()}
        return {source: (old, new) for source, (old, new) in made.items() if old != new}

    def add(
        self, number: int, addition: NewEntity | NewRelation | NewObservations | VaultMemoryError, *, makes_stubs: bool
    ) -> None:
        """Plan an addition; `outcomes[number]` is what became of it. One that is refused changes nothing."""
        if isinstance(addition, VaultMemoryError):
            self.outcomes[number] = addition
            return
        before = dict(self._notes), dict(self._entities), dict(self._new_names)
        taken = set(self._taken) if self._taken is not None else None
        try:
            if isinstance(addition, NewEntity):
                self.outcomes[number] = self._entity(addition)
            elif isinstance(addition, NewRelation):
                self.outcomes[number] = self._relation(addition, makes_stubs)
            else:
                self.outcomes[number] = self._observations(addition)
        except VaultMemoryError as error:
            self._notes, self._entities, self._new_names = before
            self._taken = taken
            self.outcomes[number] = error

    # -- the three kinds -----------------------------------------------------------------------------------------------

    def _entity(self, new: NewEntity) -> Outcome:
        found = self._find(new.name)
        if found is None:
            return Outcome(self._make(new), is_new=True)
        entity = self._opened(found.source)
        if new.type and entity.type and new.type != entity.type:
            raise UsageError(
                f"there is an entity {entity.name!r} already, and it is a {entity.type}: give that type, or change it "
                f"in its note ({entity.source})"
            )
        changes: dict[str, Any] = {}
        if new.type and not entity.type:
            changes["type"] = new.type
        if more := [tag for tag in new.tags if tag not in entity.tags]:
            changes["tags"] = [*entity.tags, *more]
        known = {name_key(each) for each in (entity.name, *entity.aliases)}
        if others := [each for each in new.aliases if name_key(each) not in known]:
            changes["aliases"] = [*entity.aliases, *others]
        is_new = self._change(entity, changes, new.id)
        is_new |= self._observe(entity, new.observations)
        return Outcome(self._entities[entity.source], is_new=is_new)

    def _observations(self, new: NewObservations) -> Outcome:
        found = self._find(new.name)
        if found is None:
            raise NotFound(f"there is no entity {new.name!r} to observe: create it first")
        entity = self._opened(found.source)
        self._change(entity, {})
        is_new = self._observe(entity, new.observations)
        return Outcome(self._entities[entity.source], is_new=is_new)

    def _relation(self, new: NewRelation, makes_stubs: bool) -> Outcome:
        stubs: list[str] = []
        ends = []
        for name in (new.from_name, new.to_name):
            end = self._find(name)
            if end is None and not makes_stubs:
                raise NotFound(f"there is no entity {name!r}: create it first, and the relation then")
            if end is None:
                end = self._make(NewEntity(name))
                stubs.append(end.name)
            ends.append(end)
        begin, end = self._opened(ends[0].source), ends[1]
        same = [
            line
            for line in begin.lines
            if not line.is_mention
            and line.type == new.type
            and (other := self._linked(line)) is not None
            and other.source == end.source
        ]
        told = [line for line in same if not new.description or line.description == new.description]
        by_id = [line for line in same if new.id and line.id == new.id]
        bare = [line for line in same if not line.description]
        if found := (by_id or told):
            line = found[0]
            made = Relation(begin.name, end.name, line.type, line.description, line.id, line.created_at)
            return Outcome(begin, made, bool(stubs), tuple(stubs))
        if bare:
            text = graph.with_description(self._notes[begin.source][1], bare[0], new.description)
            self._put(begin.source, text)
            made = Relation(begin.name, end.name, new.type, new.description, bare[0].id, bare[0].created_at)
            return Outcome(self._entities[begin.source], made, True, tuple(stubs))
        at = new.created_at or self._at
        relation_id = new.id or self._new_id("rel", new)
        self._change(begin, {})
        item = graph.relation_item(new, graph.link(end.stem, end.name), relation_id, at)
        self._put(begin.source, graph.with_additions(self._notes[begin.source][1], graph.RELATIONS, [item]))
        made = Relation(begin.name, end.name, new.type, new.description, relation_id, at)
        return Outcome(self._entities[begin.source], made, True, tuple(stubs))

    # -- notes ---------------------------------------------------------------------------------------------------------

    def _make(self, new: NewEntity) -> Entity:
        """Make the note of a new entity."""
        if self._taken is None:
            sources = (*(each.source for each in self._graph.entities), *self._graph.unread)
            self._taken = {graph.disk_key(source.rpartition("/")[2].removesuffix(".md")) for source in sources}
        stem = graph.file_stem(new.name, self._taken)
        self._taken.add(graph.disk_key(stem))
        source = f"{graph.FOLDER}/{stem}.md"
        entity_id = new.id or self._new_id("entity", name_key(new.name))
        self._notes[source] = (None, "")
        self._put(source, graph.encode(new, stem, entity_id, new.created_at or self._at.replace(microsecond=0)))
        return self._entities[source]

    def _change(self, entity: Entity, changes: dict[str, Any], entity_id: str = "") -> bool:
        """Change properties of a note; whether that is more than to give it an id, and the new name if somebody has
        renamed its file: then its former name is an alias."""
        more: dict[str, Any] = {}
        if not entity.id:
            more["id"] = entity_id or self._new_id("entity", entity.source)
        if entity.stored_name and name_key(entity.stored_name) != name_key(entity.name):
            aliases = changes.get("aliases", list(entity.aliases))
            known = {name_key(each) for each in aliases}
            more["name"] = entity.name
            more["aliases"] = [*aliases, *([entity.stored_name] if name_key(entity.stored_name) not in known else [])]
        try:
            self._put(entity.source, graph.with_properties(self._notes[entity.source][1], {**changes, **more}))
        except ValueError as error:
            raise UsageError(
                f"the front matter of {entity.source} cannot be read, so nothing is added: repair it ({error})"
            ) from error
        return bool(changes)

    def _observe(self, entity: Entity, observations: Sequence[str]) -> bool:
        """Add observations that an entity has not; whether there were any."""
        known = {name_key(each) for each in entity.observations}
        new = [each for each in observations if name_key(each) not in known]
        items = list(map(graph.observation_item, new))
        self._put(entity.source, graph.with_additions(self._notes[entity.source][1], graph.OBSERVATIONS, items))
        return bool(new)

    def _opened(self, source: str) -> Entity:
        """The entity in a note that may change, as the note is now."""
        if source not in self._notes:
            stored = self._read(source)
            if stored is None:
                raise Moved(source)
            self._notes[source] = (stored, stored.decode("utf-8", "surrogateescape"))
            self._entities[source] = graph.decode(stored.decode("utf-8", "replace"), source)
        return self._entities[source]

    def _put(self, source: str, text: str) -> None:
        old, before = self._notes[source]
        if text == before:
            return
        self._notes[source] = (old, text)
        self._entities[source] = made = graph.decode(text, source)
        for name in (made.name, made.stem, *made.other_names):
            if self._graph.find(name) is None:
                self._new_names.setdefault(name_key(name), source)

    def _find(self, name: str) -> Entity | None:
        found = self._graph.find(name)
        if found is None and (source := self._new_names.get(name_key(name))):
            return self._entities[source]
        return self._entities.get(found.source, found) if found else None

    def _linked(self, line: Line) -> Entity | None:
        return self._graph.linked(line) or self._find(line.key)
