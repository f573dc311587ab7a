"""Looking at a user's graph: searching and listing entities, one with its relations, what is around it, ways, and the
whole drawn as text."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from vault_memory.core.graph import TYPES, Entity, Graph, Part, Relation, drawing, name_key
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.graph.read import graph_of
from vault_memory.services.vault import Vault

MAX_DEPTH = 20


class FoundEntities(list[Entity]):
    """Entities; `degraded` says in words what of the graph could not be read."""

    def __init__(self, entities: Iterable[Entity] = (), degraded: Iterable[str] = ()) -> None:
        super().__init__(entities)
        self.degraded = list(degraded)


@dataclass(frozen=True)
class EntityView:
    """An entity, and the relations that begin or end at it. `problems` says what of its note counts as absent."""

    entity: Entity
    relations: tuple[Relation, ...]
    problems: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The entity as JSON shows it."""
        return {
            **self.entity.as_dict(),
            "relations": [each.as_dict() for each in self.relations],
            "problems": list(self.problems),
        }


def search_entities(vault: Vault, user_id: str, query: str, limit: int | None = None) -> FoundEntities:
    """The entities with the query in a name, an observation or a tag, whatever its case, width, accents or script
    ("aut" finds "auth"), the best first; then those that have all its words. An empty query finds all. At most `limit`
    (None: all). Raises `NotFound` for an unknown user, `UsageError` for a limit below 1."""
    if limit is not None and limit < 1:
        raise UsageError("limit is at least 1, or None for all")
    graph = graph_of(vault, user_id)
    return FoundEntities(graph.search(query)[:limit], _degraded(graph))


def list_entities(vault: Vault, user_id: str, entity_type: str | None = None) -> FoundEntities:
    """The entities by name; of one type only if one is given. Raises `NotFound`, `UsageError`."""
    if entity_type not in (None, *TYPES):
        raise UsageError(f"the type of an entity is one of {', '.join(TYPES)}, not {str(entity_type)[:60]!r}")
    graph = graph_of(vault, user_id)
    return FoundEntities(
        (each for each in graph.entities if entity_type in (None, each.type)),
        _degraded(graph),
    )


def get_entity(vault: Vault, user_id: str, name: str) -> EntityView:
    """An entity by its name, alias, former name or id. Raises `NotFound`."""
    graph = graph_of(vault, user_id)
    entity = found(graph, user_id, name)
    twins = (line for line in graph.twins if line.startswith(f"{entity.source} and "))
    return EntityView(entity, graph.relations_of(entity), (*entity.problems, *twins))


def neighbours(vault: Vault, user_id: str, name: str, depth: int = 1) -> Part:
    """What is within `depth` steps (1 to 20) of an entity, along relations or against them, the nearest first, and the
    relations between. Raises `NotFound`, `UsageError`."""
    if not 1 <= depth <= MAX_DEPTH:
        raise UsageError(f"depth is 1 to {MAX_DEPTH} steps, not {depth}")
    graph = graph_of(vault, user_id)
    return graph.around(found(graph, user_id, name), depth)


def find_path(vault: Vault, user_id: str, from_name: str, to_name: str) -> list[Relation] | None:
    """The relations of a shortest way from one entity to another, along relations or against them; none between an
    entity and itself, None if there is no way. Raises `NotFound`."""
    graph = graph_of(vault, user_id)
    return graph.path(found(graph, user_id, from_name), found(graph, user_id, to_name))


def draw_graph(vault: Vault, user_id: str, form: str = "mermaid", around: str | None = None, depth: int = 1) -> str:
    """The graph as text: `mermaid`, `dot` or `json`; all of it, or what is within `depth` steps of an entity. Raises
    `NotFound`, `UsageError`."""
    if form not in drawing.FORMATS:
        raise UsageError(f"a graph is drawn as {', '.join(drawing.FORMATS)}, not {str(form)[:60]!r}")
    part = graph_of(vault, user_id).whole if around is None else neighbours(vault, user_id, around, depth)
    if form == "json":
        return json.dumps(part.as_dict(), ensure_ascii=False, indent=2) + "\n"
    return drawing.mermaid(part) if form == "mermaid" else drawing.dot(part)


def left_out(vault: Vault, user_id: str) -> list[str]:
    """What of the graph could not be read, in words: ways and neighbourhoods lack it; and which notes have one name.
    Raises `NotFound`."""
    return _degraded(graph_of(vault, user_id))


def graph_problems(vault: Vault, user_id: str) -> list[str]:
    """What is wrong in the notes of entities, in words. Raises `NotFound`."""
    graph = graph_of(vault, user_id)
    folder = graph.folder.rpartition("/")[0]
    return [*(f"{folder}/{source}: {why}" for source, why in graph.problems.items()), *_twins(graph)]


def found(graph: Graph, user_id: str, name: str) -> Entity:
    """The entity of that name. Raises `NotFound`, which names those that are called nearly so, or whose file is."""
    if entity := graph.find(name):
        return entity
    by_key = {each.keys[1]: each.name for each in graph.entities} | {each.keys[0]: each.name for each in graph.entities}
    near = dict.fromkeys(by_key[key] for key in difflib.get_close_matches(name_key(name), by_key, 3))
    hint = f" Is it {' or '.join(map(repr, near))}?" if near else ""
    raise NotFound(f"the graph of {user_id} has no entity {name[:100]!r}.{hint}")


def _degraded(graph: Graph) -> list[str]:
    folder = graph.folder.rpartition("/")[0]
    return [*(f"{folder}/{source} is left out: {why}" for source, why in graph.unread.items()), *_twins(graph)]


def _twins(graph: Graph) -> list[str]:
    return [f"{graph.folder.rpartition('/')[0]}: {line}" for line in graph.twins]
