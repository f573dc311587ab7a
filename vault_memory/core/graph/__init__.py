"""The knowledge graph: an entity and its relations in one note, `entities/<Name>.md`; the names by which it is found,
the links between notes, search, neighbourhoods and paths; and the graph drawn as Mermaid, DOT or JSON. Also the names
that files get when words are taken out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.graph import drawing
    from vault_memory.core.graph.apart import FileNames, numbered
    from vault_memory.core.graph.entity import (
        FOLDER,
        RELATION_TYPES,
        TYPES,
        Entity,
        Line,
        NewEntity,
        NewObservations,
        NewRelation,
        Relation,
    )
    from vault_memory.core.graph.graph import Graph, Part
    from vault_memory.core.graph.names import disk_key, file_stem, link, name_key
    from vault_memory.core.graph.note import (
        OBSERVATIONS,
        PROPERTIES,
        RELATIONS,
        are_two,
        decode,
        described,
        encode,
        name_in_note,
        observation_item,
        relation_item,
        with_additions,
        with_descriptions,
        with_properties,
        without_twins,
    )

__all__ = [
    "FileNames",
    "numbered",
    "PROPERTIES",
    "FOLDER",
    "OBSERVATIONS",
    "RELATIONS",
    "RELATION_TYPES",
    "TYPES",
    "Entity",
    "Graph",
    "Line",
    "NewEntity",
    "NewObservations",
    "NewRelation",
    "Part",
    "Relation",
    "are_two",
    "decode",
    "described",
    "disk_key",
    "drawing",
    "encode",
    "file_stem",
    "link",
    "name_in_note",
    "name_key",
    "observation_item",
    "relation_item",
    "with_additions",
    "with_descriptions",
    "with_properties",
    "without_twins",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "FileNames": "apart",
        "numbered": "apart",
        "PROPERTIES": "note",
        "FOLDER": "entity",
        "OBSERVATIONS": "note",
        "RELATIONS": "note",
        "RELATION_TYPES": "entity",
        "TYPES": "entity",
        "Entity": "entity",
        "Graph": "graph",
        "Line": "entity",
        "NewEntity": "entity",
        "NewObservations": "entity",
        "NewRelation": "entity",
        "Part": "graph",
        "Relation": "entity",
        "decode": "note",
        "described": "note",
        "disk_key": "names",
        "encode": "note",
        "file_stem": "names",
        "link": "names",
        "name_in_note": "note",
        "name_key": "names",
        "observation_item": "note",
        "relation_item": "note",
        "with_additions": "note",
        "with_descriptions": "note",
        "with_properties": "note",
        "are_two": "note",
        "without_twins": "note",
    },
)
