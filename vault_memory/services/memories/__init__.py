"""A user's typed memories: storing one, changing it or putting another in its place, letting it expire, deleting it by
a code; counting how often each is recalled, and how many there are; what a turn leaves behind as memories, reinforcing
them, and keeping for good what is used often. Finding them is `services.retrieval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.memories.accesses import (
        accesses,
        note_accesses,
        rename_accesses,
        write_accesses,
    )
    from vault_memory.services.memories.change import edit_memory, supersede
    from vault_memory.services.memories.delete import Deleted, Deletion, delete_memories, prepare_deletion
    from vault_memory.services.memories.expire import expire_memories, too_many
    from vault_memory.services.memories.files import MemoryFile, list_memories, memory_files
    from vault_memory.services.memories.reinforce import make_lasting, reinforce, renew
    from vault_memory.services.memories.said import NOTHING_KEPT, Kept, KeptOfTurn, count_kept, forget_said, keep_said
    from vault_memory.services.memories.statistics import Statistics, statistics
    from vault_memory.services.memories.store import IMPORTANT, Stored, draft, remember, store, store_memory

__all__ = [
    "Deleted",
    "Deletion",
    "IMPORTANT",
    "Kept",
    "KeptOfTurn",
    "MemoryFile",
    "NOTHING_KEPT",
    "Statistics",
    "Stored",
    "accesses",
    "count_kept",
    "delete_memories",
    "draft",
    "edit_memory",
    "expire_memories",
    "forget_said",
    "keep_said",
    "list_memories",
    "make_lasting",
    "memory_files",
    "note_accesses",
    "prepare_deletion",
    "reinforce",
    "remember",
    "rename_accesses",
    "renew",
    "statistics",
    "store",
    "store_memory",
    "supersede",
    "too_many",
    "write_accesses",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Deleted": "delete",
        "Deletion": "delete",
        "IMPORTANT": "store",
        "Kept": "said",
        "KeptOfTurn": "said",
        "NOTHING_KEPT": "said",
        "count_kept": "said",
        "forget_said": "said",
        "keep_said": "said",
        "make_lasting": "reinforce",
        "reinforce": "reinforce",
        "renew": "reinforce",
        "too_many": "expire",
        "MemoryFile": "files",
        "Statistics": "statistics",
        "Stored": "store",
        "accesses": "accesses",
        "delete_memories": "delete",
        "draft": "store",
        "edit_memory": "change",
        "expire_memories": "expire",
        "list_memories": "files",
        "memory_files": "files",
        "note_accesses": "accesses",
        "prepare_deletion": "delete",
        "remember": "store",
        "rename_accesses": "accesses",
        "statistics": "statistics",
        "store": "store",
        "store_memory": "store",
        "supersede": "change",
        "write_accesses": "accesses",
    },
)
