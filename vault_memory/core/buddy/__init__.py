"""What Code Buddy keeps: its records of memories, entities, relations and mistakes, made into ours and ours into them;
and what is told of a task by its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.buddy.reading import (
        Read,
        content_of,
        entity_of,
        id_of,
        memory_of,
        mistake_of,
        relation_of,
        time_of,
    )
    from vault_memory.core.buddy.records import (
        DATA_FOLDER,
        ENTITIES,
        FILES,
        MEMORIES,
        MEMORY_TYPES,
        MISTAKES,
        RELATIONS,
        entity_record,
        memory_record,
        mistake_record,
        relation_record,
    )
    from vault_memory.core.buddy.settings import CONFIG, KEYS, config_record, settings_of
    from vault_memory.core.buddy.task import complexity_of, title_of, verb_of

__all__ = [
    "CONFIG",
    "DATA_FOLDER",
    "ENTITIES",
    "FILES",
    "KEYS",
    "MEMORIES",
    "MEMORY_TYPES",
    "MISTAKES",
    "RELATIONS",
    "Read",
    "complexity_of",
    "config_record",
    "content_of",
    "entity_of",
    "entity_record",
    "id_of",
    "memory_of",
    "memory_record",
    "mistake_of",
    "mistake_record",
    "relation_of",
    "relation_record",
    "settings_of",
    "time_of",
    "title_of",
    "verb_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "CONFIG": "settings",
        "DATA_FOLDER": "records",
        "ENTITIES": "records",
        "FILES": "records",
        "KEYS": "settings",
        "MEMORIES": "records",
        "MEMORY_TYPES": "records",
        "MISTAKES": "records",
        "RELATIONS": "records",
        "Read": "reading",
        "complexity_of": "task",
        "config_record": "settings",
        "content_of": "reading",
        "entity_of": "reading",
        "entity_record": "records",
        "id_of": "reading",
        "memory_of": "reading",
        "memory_record": "records",
        "mistake_of": "reading",
        "mistake_record": "records",
        "relation_of": "reading",
        "relation_record": "records",
        "settings_of": "settings",
        "time_of": "reading",
        "title_of": "task",
        "verb_of": "task",
    },
)
