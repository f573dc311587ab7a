"""What an assistant did wrong: one mistake in a note, `mistakes/YYYY-MM/<id>-<slug>.md`, what many of them have in
common, and whether a request is about to repeat one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.mistakes.making import new_mistake
    from vault_memory.core.mistakes.note import (
        FOLDER,
        PROPERTIES,
        TEXTS,
        Mistake,
        decode,
        encode,
        read,
        source_of,
        texts_of,
    )
    from vault_memory.core.mistakes.patterns import Pattern, Patterns, newness, patterns, type_key
    from vault_memory.core.mistakes.resemblance import MIN_OF_A_TASK, least, likeness
    from vault_memory.core.mistakes.telling import told

__all__ = [
    "PROPERTIES",
    "FOLDER",
    "MIN_OF_A_TASK",
    "Mistake",
    "Pattern",
    "Patterns",
    "TEXTS",
    "decode",
    "encode",
    "least",
    "likeness",
    "new_mistake",
    "newness",
    "patterns",
    "read",
    "source_of",
    "texts_of",
    "told",
    "type_key",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "PROPERTIES": "note",
        "FOLDER": "note",
        "MIN_OF_A_TASK": "resemblance",
        "Mistake": "note",
        "Pattern": "patterns",
        "Patterns": "patterns",
        "TEXTS": "note",
        "decode": "note",
        "encode": "note",
        "least": "resemblance",
        "likeness": "resemblance",
        "new_mistake": "making",
        "newness": "patterns",
        "patterns": "patterns",
        "read": "note",
        "source_of": "note",
        "texts_of": "note",
        "told": "telling",
        "type_key": "patterns",
    },
)
