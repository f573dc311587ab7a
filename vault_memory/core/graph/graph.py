"""A user's entities together: which names lead to which, their relations, search, neighbourhoods and paths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.core.graph.entity import Entity, Line, Relation
from vault_memory.core.graph.names import name_key, spaced
from vault_memory.core.text import tokens

if TYPE_CHECKING:
    from networkx import Graph as Undirected
    from networkx import MultiDiGraph


class Part(NamedTuple):
    """Some entities, and relations between them or to what is no entity."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    def as_dict(self) -> dict[str, Any]:
        """The part as JSON shows it."""
        return {
            "entities": [each.as_dict() for each in self.entities],
            "relations": [each.as_dict() for each in self.relations],
        }


class _Edge(NamedTuple):
    """A relation and the nodes that it joins: the source of an entity, or `?` and the key of a name that is none's."""

    begin: str
    end: str
    relation: Relation


@dataclass(frozen=True)
class Graph:
    """The entities of the notes in one `folder` (`memory/alice/entities`), in the order of their names. `unread` says
    which notes there could not be read, by source, and why. Nothing in it changes; what is asked for more than once is
    computed once."""

    entities: tuple[Entity, ...]
    folder: str = ""
    unread: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _named(self) -> dict[str, Entity]:
        """Whom a name means: the entity of that name, else one that is called so otherwise, else the one of that id.
        The file's name does not count: it was made safe, and may be the true name of another."""
        found: dict[str, Entity] = {}
        for each in self._by_age:
            found.setdefault(each.keys[0], each)
        for each in self._by_age:
            for key in each.keys[2]:
                found.setdefault(key, each)
        for each in self._by_age:
            if each.id:
                found.setdefault(each.keys[3], each)
        return found

    @cached_property
    def _linked(self) -> dict[str, Entity]:
        """Where a link leads: to the file of that name, as Obsidian goes, else as a name does."""
        stems: dict[str, Entity] = {}
        for each in self._by_age:
            stems.setdefault(each.keys[1], each)
        return self._named | stems

    @cached_property
    def _by_age(self) -> list[Entity]:
        """The oldest first: of two with one name that is the one which it means."""
        return sorted(self.entities, key=lambda each: (each.created_at is None, _seconds(each), each.source))

    def find(self, name: str) -> Entity | None:
        """The entity that is called so: by its name, alias, former name or id."""
        return self._named.get(name_key(name))

    def linked(self, line: Line) -> Entity | None:
        """The entity to whose note a link leads. A path counts where it ends in this folder. A relation that a command
        has written shows the true name: another machine may have given the file's name to another entity."""
        whole = self._linked.get(line.key)
        if line.id and line.shown and "/" not in line.key:
            shown = name_key(line.shown)
            if whole is None:  # its file was renamed
                return self._named.get(shown)
            is_called_so = shown in (whole.keys[0], whole.keys[1], *whole.keys[2])
            return whole if is_called_so else self._named.get(shown, whole)
        if whole or "/" not in line.key:
            return whole
        folder, _, stem = line.key.rpartition("/")
        inside = folder.strip("./")
        is_here = not inside or f"/{name_key(self.folder)}/".endswith(f"/{inside}/")
        return self._linked.get(stem) if is_here and stem else None

    @cached_property
    def _ties(self) -> tuple[tuple[Entity, Line, Entity | None], ...]:
        """What stands in the notes: where each line begins and ends; None is no entity. A mention beside a relation to
        the same entity says nothing more, nor does one of the entity itself or of what is no entity: notes link to all
        kinds of notes."""
        found = []
        for entity in self.entities:
            told = set()
            for line in entity.lines:
                other = self.linked(line)
                if line.is_mention and (other is None or other is entity or other.source in told):
                    continue
                told.add(other.source if other else "")
                found.append((entity, line, other))
        return tuple(found)

    @cached_property
    def _edges(self) -> tuple[_Edge, ...]:
        found = []
        for entity, line, other in self._ties:
            name = other.name if other else _name_of(line)
            relation = Relation(
                entity.name,
                name,
                line.type,
                line.description,
                line.id,
                line.created_at,
                is_mention=line.is_mention,
                is_dangling=other is None,
            )
            found.append(_Edge(entity.source, other.source if other else f"?{name_key(name)}", relation))
        return tuple(found)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """All relations, those of one entity together; also those whose other end is no entity."""
        return tuple(edge.relation for edge in self._edges)

    @property
    def whole(self) -> Part:
        """All of it."""
        return Part(self.entities, self.relations)

    def relations_of(self, entity: Entity) -> tuple[Relation, ...]:
        """The relations that begin or end at an entity."""
        return tuple(edge.relation for edge in self._edges if entity.source in (edge.begin, edge.end))

    def lines_between(self, begin: Entity, end: Entity, kind: str) -> list[Line]:
        """The relations of a type from one entity to another, as they stand in the first one's note."""
        return [line for line in begin.lines if not line.is_mention and line.type == kind and self.linked(line) is end]

    @cached_property
    def twins(self) -> tuple[str, ...]:
        """Which notes have one name, in words; two machines make them with names of another case or width."""
        return tuple(
            f"{other.source} and {each.source} have one name, {each.name!r}, which means the first: move into it "
            "what the other says, and delete that one"
            for each in self.entities
            if (other := self._named[each.keys[0]]) is not each
        )

    @cached_property
    def problems(self) -> dict[str, str]:
        """What is wrong in notes, by source: what could not be read or understood."""
        return {**self.unread, **{each.source: "; ".join(each.problems) for each in self.entities if each.problems}}

    # -- search --------------------------------------------------------------------------------------------------------

    @cached_property
    def _texts(self) -> list[str]:
        """What is searched of each entity, in their order."""
        return [each.searched for each in self.entities]

    @cached_property
    def _degrees(self) -> list[int]:
        """How many relations each entity has, in their order."""
        counts = Counter(each.source for entity, _, other in self._ties for each in (entity, other) if each)
        return [counts[each.source] for each in self.entities]

    def search(self, query: str) -> list[Entity]:
        """The entities with the query in a name, tag or observation, whatever its case, width and Chinese script; those
        that have it in their name first. Then those that have all its words, in any order. None is left out."""
        wanted = tokens.fold(query).strip()
        words = wanted.split()
        found = []
        for place, text in enumerate(self._texts):  # the entities are in the order of their names
            if wanted in text:
                rank = _rank(wanted, self.entities[place])
            elif len(words) > 1 and all(word in text for word in words):
                rank = _ALL_WORDS
            else:
                continue
            found.append((rank, -self._degrees[place], place))
        return [self.entities[place] for *_, place in sorted(found)]

    # -- neighbourhoods and paths --------------------------------------------------------------------------------------

    @cached_property
    def _by_source(self) -> dict[str, Entity]:
        return {each.source: each for each in self.entities}

    @cached_property
    def network(self) -> MultiDiGraph[str]:
        """The graph for algorithms: a node for each entity, by its source, and for each name that is none's; each edge
        has its `relation`."""
        from networkx import MultiDiGraph

        made: MultiDiGraph[str] = MultiDiGraph()
        made.add_nodes_from(self._by_source)
        made.add_edges_from((begin, end, {"relation": relation}) for begin, end, relation in self._edges)
        return made

    @cached_property
    def _undirected(self) -> Undirected[str]:
        """The same without directions, in the order of the notes: a view of `network` has none."""
        from networkx import Graph as Undirected

        made: Undirected[str] = Undirected()
        made.add_nodes_from(self._by_source)
        made.add_edges_from((begin, end) for begin, end, _ in self._edges)
        return made

    def around(self, entity: Entity, depth: int = 1) -> Part:
        """What is within so many steps of an entity, along relations or against them, the nearest first."""
        from networkx import single_source_shortest_path_length

        near = single_source_shortest_path_length(self._undirected, entity.source, cutoff=depth)
        found = sorted((each for each in self.entities if each.source in near), key=lambda each: near[each.source])
        return Part(tuple(found), tuple(e.relation for e in self._edges if e.begin in near and e.end in near))

    def path(self, begin: Entity, end: Entity) -> list[Relation] | None:
        """The relations of a shortest way from one entity to another, along relations or against them; where two join
        the same entities the first one. None if there is no way."""
        from networkx import NetworkXNoPath, shortest_path

        try:
            nodes: Sequence[str] = shortest_path(self._undirected, begin.source, end.source)
        except NetworkXNoPath:
            return None
        return [self._between(one, other) for one, other in zip(nodes, nodes[1:], strict=False)]

    def _between(self, one: str, other: str) -> Relation:
        edges = self.network.get_edge_data(one, other) or self.network.get_edge_data(other, one)
        relation: Relation = edges[0]["relation"]
        return relation


_ALL_WORDS = 9


def _rank(wanted: str, entity: Entity) -> int:
    """How good a place it is where a query stands, 0 for the best."""
    name, others, tags = entity.folded
    if wanted == name:
        return 0
    if name.startswith(wanted):
        return 2
    if wanted in name:
        return 3 if f" {wanted}" in name else 4
    places = [1 if wanted == other else 5 for other in others if wanted in other]
    places += [6 if wanted == tag else 7 for tag in tags if wanted in tag]
    return min(places, default=8)


def _name_of(line: Line) -> str:
    """The name of what a link leads to, where there is no note."""
    shown = "" if line.shown.startswith("^") else line.shown
    return spaced(shown) or spaced(line.target.rpartition("/")[2].removesuffix(".md")) or line.target


def _seconds(entity: Entity) -> float:
    return entity.created_at.timestamp() if entity.created_at else 0.0
