"""Our memories, entities, relations and mistakes as the records of Code Buddy's files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from vault_memory.core.graph import Entity, Relation
from vault_memory.core.memories import Memory
from vault_memory.core.mistakes import Mistake

MEMORIES, ENTITIES, RELATIONS, MISTAKES = "memory.json", "entities.json", "relations.json", "mistakes.json"
FILES = (MEMORIES, ENTITIES, RELATIONS, MISTAKES)
"""Each holds a list of records, in the order in which they were made. A relation names entities, so these come
first."""
DATA_FOLDER = "data"
"""The folder of these files, beside `config.json`."""

MEMORY_TYPES = ("decision", "pattern", "bugfix", "lesson", "feature", "note")
TIMESTAMP = "timestamp"
"""The property of a note that holds the exact time of its record, in milliseconds, if its id does not."""

_ID_TIME = re.compile(r"[A-Za-z][A-Za-z0-9]*_(\d{1,15})_[A-Za-z0-9]+")


def memory_record(memory: Memory) -> dict[str, Any]:
    """A memory as a MemoryEntry. Of a type that Code Buddy has not it is a `note`."""
    return {
        "id": memory.id,
        "type": memory.type if memory.type in MEMORY_TYPES else "note",
        "title": memory.title,
        "content": memory.content,
        "tags": list(memory.tags),
        "timestamp": milliseconds(memory.created_at, memory.id, memory.metadata),
    }


def entity_record(entity: Entity) -> dict[str, Any]:
    """An entity as an Entity; one of which nobody has said what it is has no type."""
    return {
        "id": entity.id or f"entity_{milliseconds(entity.created_at)}_{digest(entity.name)}",
        "name": entity.name,
        "type": entity.type,
        "observations": list(entity.observations),
        "tags": list(entity.tags),
        "createdAt": milliseconds(entity.created_at, entity.id),
    }


def relation_record(relation: Relation) -> dict[str, Any]:
    """A relation as a Relation."""
    at = milliseconds(relation.created_at, relation.id)
    parts = (relation.from_name, relation.type, relation.to_name, relation.description)
    return {
        "id": relation.id or f"rel_{at}_{digest(*parts)}",
        "from": relation.from_name,
        "to": relation.to_name,
        "type": relation.type,
        **({"description": relation.description} if relation.description else {}),
        "createdAt": at,
    }


def mistake_record(mistake: Mistake) -> dict[str, Any]:
    """A mistake as a MistakeRecord."""
    return {
        "id": mistake.id,
        "timestamp": milliseconds(mistake.created_at, mistake.id, mistake.metadata),
        "action": mistake.action,
        "errorType": mistake.error_type,
        "userCorrection": mistake.user_correction,
        "correctMethod": mistake.correct_method,
        "impact": mistake.impact,
        "preventionMethod": mistake.prevention_method,
        **({"relatedRule": mistake.related_rule} if mistake.related_rule else {}),
    }


def milliseconds(at: datetime | None, record_id: str = "", metadata: Mapping[str, Any] | None = None) -> int:
    """A time in milliseconds since 1970; 0 for none. A note has it to the second: its property or its id tells it
    exactly, as long as nobody has written another time into the note."""
    if at is None:
        return 0
    found = round(at.timestamp() * 1000)
    for exact in ((metadata or {}).get(TIMESTAMP), id_time(record_id)):
        if isinstance(exact, int) and exact // 1000 == found // 1000 and found % 1000 == 0:
            return exact
    return found


def id_time(record_id: str) -> int | None:
    """The milliseconds in an id; None if it holds none."""
    found = _ID_TIME.fullmatch(record_id)
    return int(found[1]) if found else None


def digest(*parts: str) -> str:
    """Eight digits that stand for these texts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=4).hexdigest()
