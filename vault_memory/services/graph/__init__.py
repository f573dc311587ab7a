"""A user's knowledge graph: entities, observations and relations are added to their notes, each change in one commit;
entities are searched, listed and shown with what is around them, and the graph is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.graph.add import (
        Added,
        Batch,
        add_observation,
        add_to_graph,
        create_entity,
        create_relation,
    )
    from vault_memory.services.graph.find import (
        EntityView,
        FoundEntities,
        draw_graph,
        find_path,
        get_entity,
        graph_problems,
        left_out,
        list_entities,
        neighbours,
        search_entities,
    )
    from vault_memory.services.graph.read import graph_of

__all__ = [
    "Added",
    "Batch",
    "EntityView",
    "FoundEntities",
    "add_observation",
    "add_to_graph",
    "create_entity",
    "create_relation",
    "draw_graph",
    "find_path",
    "get_entity",
    "graph_of",
    "graph_problems",
    "left_out",
    "list_entities",
    "neighbours",
    "search_entities",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Added": "add",
        "Batch": "add",
        "EntityView": "find",
        "FoundEntities": "find",
        "add_observation": "add",
        "add_to_graph": "add",
        "create_entity": "add",
        "create_relation": "add",
        "draw_graph": "find",
        "find_path": "find",
        "get_entity": "find",
        "graph_of": "read",
        "graph_problems": "find",
        "left_out": "find",
        "list_entities": "find",
        "neighbours": "find",
        "search_entities": "find",
    },
)
