"""A user's mistakes: recording one, listing them, and what they have in common. Which of them a request may repeat is
found by `services.retrieval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.mistakes.files import (
        MistakeFile,
        get_mistake_patterns,
        list_mistakes,
        mistake_files,
        read_mistake,
    )
    from vault_memory.services.mistakes.record import MistakeId, Noted, record_mistake, store_mistakes

__all__ = [
    "MistakeFile",
    "MistakeId",
    "Noted",
    "get_mistake_patterns",
    "list_mistakes",
    "mistake_files",
    "read_mistake",
    "record_mistake",
    "store_mistakes",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "MistakeFile": "files",
        "MistakeId": "record",
        "Noted": "record",
        "get_mistake_patterns": "files",
        "list_mistakes": "files",
        "mistake_files": "files",
        "read_mistake": "files",
        "record_mistake": "record",
        "store_mistakes": "record",
    },
)
