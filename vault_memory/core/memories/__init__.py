"""Typed memories: one in a note, `memories/<id>-<slug>.md`, and what makes one weigh more than another when it is
recalled; also everyday categories (drink, pet, instrument), by which one that names a thing answers for its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.memories import categories, word_lists
    from vault_memory.core.memories.lasting import (
        SAID_PREFIX,
        SAID_TTL_DAYS,
        is_of_conversation,
        is_said,
        reinforced,
        why_lasting,
    )
    from vault_memory.core.memories.making import changed, checked_type, new_id, new_memory
    from vault_memory.core.memories.note import (
        ARCHIVED,
        DEFAULT_IMPORTANCE,
        FOLDER,
        TYPES,
        Memory,
        decode,
        encode,
        file_name,
        properties_of,
        read,
        with_properties,
    )
    from vault_memory.core.memories.scoring import Score, score

__all__ = [
    "ARCHIVED",
    "DEFAULT_IMPORTANCE",
    "FOLDER",
    "Memory",
    "SAID_PREFIX",
    "SAID_TTL_DAYS",
    "Score",
    "TYPES",
    "categories",
    "changed",
    "checked_type",
    "decode",
    "encode",
    "file_name",
    "is_of_conversation",
    "is_said",
    "new_id",
    "new_memory",
    "properties_of",
    "read",
    "reinforced",
    "score",
    "why_lasting",
    "with_properties",
    "word_lists",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ARCHIVED": "note",
        "DEFAULT_IMPORTANCE": "note",
        "FOLDER": "note",
        "Memory": "note",
        "SAID_PREFIX": "lasting",
        "SAID_TTL_DAYS": "lasting",
        "Score": "scoring",
        "TYPES": "note",
        "changed": "making",
        "checked_type": "making",
        "decode": "note",
        "encode": "note",
        "file_name": "note",
        "is_of_conversation": "lasting",
        "is_said": "lasting",
        "new_id": "making",
        "new_memory": "making",
        "properties_of": "note",
        "read": "note",
        "reinforced": "lasting",
        "score": "scoring",
        "why_lasting": "lasting",
        "with_properties": "note",
    },
)
