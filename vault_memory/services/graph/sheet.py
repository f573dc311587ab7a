"""The notes of a graph while additions are planned: what each will hold, and what became of each addition. Nothing is
written here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from vault_memory.core import graph, memories
from vault_memory.core.graph import Entity, Graph, Line, NewEntity, NewObservations, NewRelation, Relation, name_key
from vault_memory.errors import NotFound, UsageError, VaultMemoryError
from vault_memory.services.graph.page import Page


@dataclass(frozen=True)
class Outcome:
    """What became of an addition: the entity as it will be, the relation, whether anything is new, and whether the
    entity or relation itself is (`is_made`); the names of entities that had to be made for it."""

    entity: Entity
    relation: Relation | None = None
    is_new: bool = False
    is_made: bool = False
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
        self._pages: dict[str, Page] = {}
        self._new_names: dict[str, str] = {}
        self._new_files: dict[str, str] = {}
        self._taken: set[str] | None = None
        self._planned: dict[int, Outcome | VaultMemoryError] = {}

    @property
    def touched(self) -> list[str]:
        """The sources of all notes that were looked at to be changed."""
        return list(self._pages)

    @property
    def changes(self) -> dict[str, tuple[bytes | None, bytes]]:
        """The bytes of each note that changes, before and after, by source."""
        made = {source: (page.stored, page.content) for source, page in self._pages.items()}
        return {source: (old, new) for source, (old, new) in made.items() if old != new}

    def outcomes(self) -> dict[int, Outcome | VaultMemoryError]:
        """What became of each addition, by its number; each entity as it is with all of them."""
        made = {source: page.as_it_will_be() for source, page in self._pages.items()}
        return {
            number: replace(each, entity=made.get(each.entity.source, each.entity))
            if isinstance(each, Outcome)
            else each
            for number, each in self._planned.items()
        }

    def add(
        self, number: int, addition: NewEntity | NewRelation | NewObservations | VaultMemoryError, *, makes_stubs: bool
    ) -> None:
        """Plan an addition; `outcomes` says by its number what became of it. One that is refused changes nothing."""
        try:
            if isinstance(addition, VaultMemoryError):
                self._planned[number] = addition
            elif isinstance(addition, NewEntity):
                self._planned[number] = self._entity(addition)
            elif isinstance(addition, NewRelation):
                self._planned[number] = self._relation(addition, makes_stubs)
            else:
                self._planned[number] = self._observations(addition)
        except VaultMemoryError as error:
            self._planned[number] = error

    # -- the three kinds: each refuses before it changes anything ------------------------------------------------------

    def _entity(self, new: NewEntity) -> Outcome:
        found = self._find(new.name)
        if found is None:
            return Outcome(self._make(new), is_new=True, is_made=True)
        page = self._opened(found.source)
        entity = page.entity
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
        is_new = self._change(page, changes, new.id)
        is_new |= page.observe(new.observations)
        return Outcome(page.entity, is_new=is_new)

    def _observations(self, new: NewObservations) -> Outcome:
        found = self._find(new.name)
        if found is None:
            raise NotFound(f"there is no entity {new.name!r} to observe: create it first")
        page = self._opened(found.source)
        self._change(page, {})
        return Outcome(page.entity, is_new=page.observe(new.observations))

    def _relation(self, new: NewRelation, makes_stubs: bool) -> Outcome:
        names = (new.from_name, new.to_name)
        missing = [name for name in names if self._find(name) is None]
        if missing and not makes_stubs:
            raise NotFound(f"there is no entity {missing[0]!r}: create it first, and the relation then")
        if begin := self._find(new.from_name):
            page = self._opened(begin.source)
            if not missing and (known := self._known(page, new)):
                return known
            self._change(page, {})
        stubs = tuple(self._make(NewEntity(name)).name for name in missing if self._find(name) is None)
        page, end = self._opened(self._named(new.from_name).source), self._named(new.to_name)
        if stubs and (known := self._known(page, new)):  # it has led to what was no entity
            return replace(known, is_new=True, stubs=stubs)
        at = new.created_at or self._at
        relation_id = new.id or self._new_id(memories.ID_PREFIXES["relation"], new)
        item = graph.relation_item(new, graph.link(end.stem, end.name), relation_id, at)
        page.relate(Line(new.type, end.stem, "", new.description, relation_id, at), item)
        made = Relation(page.entity.name, end.name, new.type, new.description, relation_id, at)
        return Outcome(page.entity, made, True, True, stubs)

    def _known(self, page: Page, new: NewRelation) -> Outcome | None:
        """The outcome for a relation that is there; without a description it gets the new one's."""
        end = self._named(new.to_name)
        same = [
            line
            for line in page.lines_to(new.type, end)
            if (other := self._linked(line)) is not None and other.source == end.source
        ]
        by_id = [line for line in same if new.id and line.id == new.id]
        told = [line for line in same if not new.description or line.description == new.description]
        bare = [line for line in same if not line.description]
        line = next(iter(by_id or told or bare), None)
        if line is None:
            return None
        is_new = not (by_id or told)
        if is_new:
            line = page.describe(line, new.description)
        made = Relation(page.entity.name, end.name, line.type, line.description, line.id, line.created_at)
        return Outcome(page.entity, made, is_new)

    # -- notes ---------------------------------------------------------------------------------------------------------

    def _make(self, new: NewEntity) -> Entity:
        """Make the note of a new entity."""
        if self._taken is None:
            sources = (*(each.source for each in self._graph.entities), *self._graph.unread)
            self._taken = {graph.disk_key(source.rpartition("/")[2].removesuffix(".md")) for source in sources}
        stem = graph.file_stem(new.name, self._taken)
        self._taken.add(graph.disk_key(stem))
        source = self._new_files[name_key(stem)] = f"{graph.FOLDER}/{stem}.md"
        entity_id = new.id or self._new_id(memories.ID_PREFIXES["entity"], name_key(new.name))
        text = graph.encode(new, stem, entity_id, new.created_at or self._at.replace(microsecond=0))
        return self._put(Page(None, text, source))

    def _change(self, page: Page, changes: dict[str, Any], entity_id: str = "") -> bool:
        """Change properties of a note; whether that is more than to give it an id, and the new name if somebody has
        renamed its file: then its former name is an alias."""
        entity = page.entity
        more: dict[str, Any] = {}
        if not entity.id:
            more["id"] = entity_id or self._new_id(memories.ID_PREFIXES["entity"], entity.source)
        if entity.stored_name and name_key(entity.stored_name) != name_key(entity.name):
            aliases = changes.get("aliases", list(entity.aliases))
            known = {name_key(each) for each in aliases}
            more["name"] = entity.name
            more["aliases"] = [*aliases, *([entity.stored_name] if name_key(entity.stored_name) not in known else [])]
        try:
            page.set_properties({**changes, **more})
        except ValueError as error:
            raise UsageError(
                f"the front matter of {entity.source} cannot be read, so nothing is added: repair it ({error})"
            ) from error
        self._put(page)
        return bool(changes)

    def _opened(self, source: str) -> Page:
        """The note that may change, as it is now."""
        if source not in self._pages:
            stored = self._read(source)
            if stored is None:
                raise Moved(source)
            self._pages[source] = Page(stored, stored.decode("utf-8", "surrogateescape"), source)
        return self._pages[source]

    def _put(self, page: Page) -> Entity:
        """Take a note that is made, or whose names may be others."""
        entity = page.entity
        self._pages[entity.source] = page
        for name in (entity.name, *entity.other_names):
            if self._graph.find(name) is None:
                self._new_names.setdefault(name_key(name), entity.source)
        return entity

    def _find(self, name: str) -> Entity | None:
        found = self._graph.find(name)
        source = found.source if found else self._new_names.get(name_key(name))
        return self._pages[source].entity if source in self._pages else found

    def _named(self, name: str) -> Entity:
        found = self._find(name)
        if found is None:
            raise NotFound(f"there is no entity {name!r}")
        return found

    def _linked(self, line: Line) -> Entity | None:
        """Where a link will lead: to a file first, also to one that is made here, and then as a name does."""
        if made := self._new_files.get(line.key):
            return self._pages[made].entity
        return self._graph.linked(line) or self._find(line.key)
