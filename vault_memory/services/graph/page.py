"""A note of a graph while additions to it are planned. They are gathered and put into the text once, at its end: a note
with thousands of relations is read and made once, not for each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from vault_memory.core import graph
from vault_memory.core.graph import Entity, Line, name_key


class Page:
    """The note in a file of a graph: its bytes as they are `stored` (None: there is none yet), its text, and what is
    added to it. `entity` has the properties as they will be; `as_it_will_be` has all."""

    def __init__(self, stored: bytes | None, text: str, source: str) -> None:
        self.stored, self._text = stored, text
        self.entity = self._decoded(text, source)
        self._observations: list[str] = []
        self._descriptions: dict[Line, str] = {}
        self._relations: list[str] = []
        self._places: dict[Line, int] = {}
        self._is_added_to = False

    @property
    def content(self) -> bytes:
        """The bytes of the note with all that is added."""
        return self._whole.encode("utf-8", "surrogateescape")

    @property
    def _whole(self) -> str:
        text = graph.with_descriptions(self._text, self._descriptions)
        text = graph.with_additions(text, graph.OBSERVATIONS, self._observations)
        return graph.with_additions(text, graph.RELATIONS, self._relations)

    def as_it_will_be(self) -> Entity:
        """The entity of the note with all that is added."""
        return self._decoded(self._whole, self.entity.source) if self._is_added_to else self.entity

    def set_properties(self, changes: Mapping[str, Any]) -> None:
        """Change properties. Raises `ValueError` for front matter that is broken."""
        text = graph.with_properties(self._text, changes)
        if text != self._text:
            self._text, self.entity = text, self._decoded(text, self.entity.source)

    def observe(self, observations: Sequence[str]) -> bool:
        """Add observations that the entity has not; whether there were any."""
        new = [each for each in observations if name_key(each) not in self._observed]
        self._observed.update(map(name_key, new))
        self._observations += map(graph.observation_item, new)
        self._is_added_to |= bool(new)
        return bool(new)

    def relate(self, line: Line, item: str) -> None:
        """Add a relation, which is written as that item."""
        self._places[line] = len(self._relations)
        self._relations.append(item)
        self._by_end[_end_key(line.type, line.key)].append(line)
        self._is_added_to = True

    def describe(self, line: Line, description: str) -> Line:
        """Give a relation that has none a description; the relation then."""
        told = replace(line, description=description)
        known = self._by_end[_end_key(line.type, line.key)]
        known[known.index(line)] = told
        if line in self._places:
            place = self._places[told] = self._places.pop(line)
            self._relations[place] = graph.described(self._relations[place], description)
        else:
            self._descriptions[line] = description
        self._is_added_to = True
        return told

    def lines_to(self, kind: str, end: Entity) -> list[Line]:
        """The relations of a type whose link has a name of that entity; another entity may have it, too."""
        name, stem, others, entity_id = end.keys
        keys = dict.fromkeys(_end_key(kind, key) for key in (name, stem, *others, entity_id))
        return [line for key in keys if key in self._by_end for line in self._by_end[key]]

    @cached_property
    def _observed(self) -> set[str]:
        return set(map(name_key, self.entity.observations))

    @cached_property
    def _by_end(self) -> defaultdict[tuple[str, str], list[Line]]:
        found = defaultdict(list)
        for line in self.entity.lines:
            if not line.is_mention:
                found[_end_key(line.type, line.key)].append(line)
        return found

    def _decoded(self, text: str, source: str) -> Entity:
        return graph.decode(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"), source)


def _end_key(kind: str, key: str) -> tuple[str, str]:
    """A type, and the last part of a link or name: a link may have the folder before it."""
    return kind, key.rpartition("/")[2]
