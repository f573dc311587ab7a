"""Typed memories: one in a note, `memories/YYYY-MM/<id>-<slug>.md`, how much two of them share, and what makes
one weigh more than another when it is recalled; also everyday categories (drink, pet, instrument), by which one that
names a thing answers for its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.memories import categories, merging, relation, word_lists
    from vault_memory.core.memories.lasting import (
        SAID_PREFIX,
        SAID_TTL_DAYS,
        is_of_conversation,
        is_said,
        reinforced,
        why_lasting,
    )
    from vault_memory.core.memories.making import (
        ID_PREFIXES,
        MAX_TITLE_CHARS,
        changed,
        checked_type,
        merged,
        new_id,
        new_memory,
        prefix_of,
        title_of,
        with_less,
    )
    from vault_memory.core.memories.note import (
        DEFAULT_IMPORTANCE,
        FOLDER,
        PROPERTIES,
        TYPES,
        Memory,
        decode,
        encode,
        file_name,
        properties_of,
        read,
        source_of,
        with_content,
        with_properties,
    )
    from vault_memory.core.memories.overlap import SAMPLED, SIMILAR, is_another_case, is_same, likeness, overlap, sketch
    from vault_memory.core.memories.scoring import Score, score

__all__ = [
    "ID_PREFIXES",
    "PROPERTIES",
    "DEFAULT_IMPORTANCE",
    "FOLDER",
    "MAX_TITLE_CHARS",
    "Memory",
    "SAMPLED",
    "SIMILAR",
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
    "source_of",
    "is_another_case",
    "is_same",
    "merging",
    "likeness",
    "merged",
    "is_of_conversation",
    "is_said",
    "new_id",
    "new_memory",
    "overlap",
    "prefix_of",
    "properties_of",
    "read",
    "reinforced",
    "relation",
    "score",
    "sketch",
    "title_of",
    "why_lasting",
    "with_content",
    "with_less",
    "with_properties",
    "word_lists",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "PROPERTIES": "note",
        "DEFAULT_IMPORTANCE": "note",
        "FOLDER": "note",
        "ID_PREFIXES": "making",
        "MAX_TITLE_CHARS": "making",
        "Memory": "note",
        "SAMPLED": "overlap",
        "SIMILAR": "overlap",
        "SAID_PREFIX": "lasting",
        "SAID_TTL_DAYS": "lasting",
        "Score": "scoring",
        "TYPES": "note",
        "changed": "making",
        "checked_type": "making",
        "decode": "note",
        "encode": "note",
        "file_name": "note",
        "source_of": "note",
        "is_another_case": "overlap",
        "is_same": "overlap",
        "likeness": "overlap",
        "merged": "making",
        "is_of_conversation": "lasting",
        "is_said": "lasting",
        "new_id": "making",
        "new_memory": "making",
        "overlap": "overlap",
        "prefix_of": "making",
        "properties_of": "note",
        "read": "note",
        "reinforced": "lasting",
        "score": "scoring",
        "sketch": "overlap",
        "title_of": "making",
        "why_lasting": "lasting",
        "with_content": "note",
        "with_less": "making",
        "with_properties": "note",
    },
)
