"""A user's typed memories: storing one, changing it or putting another in its place, letting it expire, deleting it by
a code; counting how often each is recalled, and how many there are; what a turn leaves behind as memories, reinforcing
them, and keeping for good what is used often. Finding them is `services.retrieval`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.memories.accesses import (
        accesses,
        forget_accesses,
        note_accesses,
        rename_accesses,
        write_accesses,
    )
    from vault_memory.services.memories.change import edit_memory, supersede
    from vault_memory.services.memories.delete import Deletion, delete_memories, drop_deletions, prepare_deletion
    from vault_memory.services.memories.expire import expire_memories, too_many
    from vault_memory.services.memories.files import (
        MemoryFile,
        changed_memories,
        list_memories,
        memories_holding,
        memory_files,
        memory_rows,
        memory_twins,
        without_successor,
    )
    from vault_memory.services.memories.receipt import Look, Receipt
    from vault_memory.services.memories.reinforce import make_lasting, reinforce, renew
    from vault_memory.services.memories.said import (
        NOTHING_KEPT,
        Kept,
        KeptOfTurn,
        forget_said,
        is_forgotten_by,
        keep_said,
    )
    from vault_memory.services.memories.similar import Similar
    from vault_memory.services.memories.statistics import (
        Session,
        Statistics,
        note_in_session,
        session,
        statistics,
    )
    from vault_memory.services.memories.store import (
        IMPORTANT,
        MemoryId,
        Stored,
        StoredAll,
        draft,
        is_all_left_out,
        public,
        remember,
        store,
        store_all,
        store_memory,
        without_secrets,
    )

__all__ = [
    "Deletion",
    "IMPORTANT",
    "Look",
    "Kept",
    "KeptOfTurn",
    "MemoryFile",
    "Receipt",
    "Session",
    "NOTHING_KEPT",
    "MemoryId",
    "Similar",
    "Statistics",
    "Stored",
    "StoredAll",
    "accesses",
    "changed_memories",
    "delete_memories",
    "draft",
    "drop_deletions",
    "edit_memory",
    "expire_memories",
    "forget_accesses",
    "forget_said",
    "is_forgotten_by",
    "is_all_left_out",
    "keep_said",
    "list_memories",
    "make_lasting",
    "memories_holding",
    "memory_files",
    "memory_twins",
    "memory_rows",
    "note_accesses",
    "note_in_session",
    "prepare_deletion",
    "public",
    "reinforce",
    "remember",
    "rename_accesses",
    "session",
    "renew",
    "statistics",
    "store",
    "store_all",
    "store_memory",
    "without_secrets",
    "supersede",
    "too_many",
    "write_accesses",
    "without_successor",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Deletion": "delete",
        "IMPORTANT": "store",
        "Look": "receipt",
        "Kept": "said",
        "KeptOfTurn": "said",
        "NOTHING_KEPT": "said",
        "forget_said": "said",
        "is_forgotten_by": "said",
        "keep_said": "said",
        "make_lasting": "reinforce",
        "reinforce": "reinforce",
        "renew": "reinforce",
        "too_many": "expire",
        "MemoryFile": "files",
        "Receipt": "receipt",
        "Session": "statistics",
        "MemoryId": "store",
        "Similar": "similar",
        "Statistics": "statistics",
        "Stored": "store",
        "StoredAll": "store",
        "accesses": "accesses",
        "changed_memories": "files",
        "delete_memories": "delete",
        "draft": "store",
        "drop_deletions": "delete",
        "edit_memory": "change",
        "expire_memories": "expire",
        "forget_accesses": "accesses",
        "is_all_left_out": "store",
        "list_memories": "files",
        "memories_holding": "files",
        "memory_files": "files",
        "memory_twins": "files",
        "without_successor": "files",
        "memory_rows": "files",
        "note_accesses": "accesses",
        "note_in_session": "statistics",
        "prepare_deletion": "delete",
        "public": "store",
        "remember": "store",
        "rename_accesses": "accesses",
        "session": "statistics",
        "statistics": "statistics",
        "store": "store",
        "store_all": "store",
        "store_memory": "store",
        "without_secrets": "store",
        "supersede": "change",
        "write_accesses": "accesses",
    },
)
