"""Memory for AI assistants that lives in a folder of Markdown you own.

    from vault_memory import build_enhanced_prompt, extract_and_update, open_vault

    vault = open_vault("my-vault")
    prompt = build_enhanced_prompt(vault, "alice", "幫我做一個按鈕").text   # before the model is asked
    extract_and_update(vault, "alice", "幫我做一個按鈕", response)           # after its response

`aio` has the same functions for asyncio. Each name is imported on its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory import aio
    from vault_memory.aio import SemanticMemory
    from vault_memory.api import (
        FeedbackCollector,
        MemoryManager,
        MemorySearchEngine,
        PreferenceExtractor,
        ask_ai,
        backup_conversations_to_file,
        build_enhanced_prompt,
        consolidate_to_profile,
        context_summary,
        delete_memories,
        end_conversation,
        extract_and_update,
        extract_from_conversation,
        get_conversation_history,
        get_mistake_patterns,
        list_memories,
        list_mistakes,
        memory_stats,
        prepare_deletion,
        recall,
        recall_memory,
        record_mistake,
        record_turn,
        remember,
        save_conversation,
        search,
        second_look,
        set_preference,
        store_memory,
        user_profile,
        validate_and_normalize,
    )
    from vault_memory.core.memories import Memory
    from vault_memory.core.mistakes import Mistake
    from vault_memory.services.admin import create_vault
    from vault_memory.services.notes import Skill
    from vault_memory.services.vault import Vault, open_vault

__version__ = "0.1.0"

__all__ = [
    "FeedbackCollector",
    "Memory",
    "MemoryManager",
    "MemorySearchEngine",
    "Mistake",
    "PreferenceExtractor",
    "SemanticMemory",
    "Skill",
    "Vault",
    "aio",
    "ask_ai",
    "backup_conversations_to_file",
    "build_enhanced_prompt",
    "consolidate_to_profile",
    "context_summary",
    "create_vault",
    "delete_memories",
    "end_conversation",
    "extract_and_update",
    "extract_from_conversation",
    "get_conversation_history",
    "get_mistake_patterns",
    "list_memories",
    "list_mistakes",
    "memory_stats",
    "open_vault",
    "prepare_deletion",
    "recall",
    "recall_memory",
    "record_mistake",
    "record_turn",
    "remember",
    "save_conversation",
    "search",
    "second_look",
    "set_preference",
    "store_memory",
    "user_profile",
    "validate_and_normalize",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "FeedbackCollector": "api",
        "Memory": "core.memories",
        "Mistake": "core.mistakes",
        "MemoryManager": "api",
        "MemorySearchEngine": "api",
        "PreferenceExtractor": "api",
        "SemanticMemory": "aio",
        "Skill": "services.notes.skills",
        "Vault": "services.vault",
        "backup_conversations_to_file": "api",
        "build_enhanced_prompt": "api",
        "create_vault": "services.admin.create_vault",
        "delete_memories": "api",
        "extract_and_update": "api",
        "get_conversation_history": "api",
        "get_mistake_patterns": "api",
        "list_memories": "api",
        "list_mistakes": "api",
        "memory_stats": "api",
        "open_vault": "services.vault",
        "prepare_deletion": "api",
        "recall": "api",
        "ask_ai": "api",
        "consolidate_to_profile": "api",
        "context_summary": "api",
        "end_conversation": "api",
        "extract_from_conversation": "api",
        "recall_memory": "api",
        "record_mistake": "api",
        "record_turn": "api",
        "remember": "api",
        "save_conversation": "api",
        "search": "api",
        "second_look": "api",
        "set_preference": "api",
        "store_memory": "api",
        "user_profile": "api",
        "validate_and_normalize": "api",
    },
)
