"""Takes in what other programs keep: exports of conversations, a whole tree of Super Happy Coder, lists in Redis, and
Code Buddy's memories, graph, mistakes and settings. Running it again adds nothing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.importing.code_buddy import ImportedCodeBuddy, Taken, import_code_buddy
    from vault_memory.services.importing.conversations import import_conversations
    from vault_memory.services.importing.imported import Imported
    from vault_memory.services.importing.redis_lists import import_redis
    from vault_memory.services.importing.super_happy_coder import ImportedStudent, import_super_happy_coder

__all__ = [
    "Imported",
    "ImportedCodeBuddy",
    "ImportedStudent",
    "Taken",
    "import_code_buddy",
    "import_conversations",
    "import_redis",
    "import_super_happy_coder",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Imported": "imported",
        "ImportedCodeBuddy": "code_buddy",
        "ImportedStudent": "super_happy_coder",
        "Taken": "code_buddy",
        "import_code_buddy": "code_buddy",
        "import_conversations": "conversations",
        "import_redis": "redis_lists",
        "import_super_happy_coder": "super_happy_coder",
    },
)
