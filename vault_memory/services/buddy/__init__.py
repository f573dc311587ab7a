"""The thirteen tools of Code Buddy, for programs: what each does with a user's memories, graph, mistakes and settings,
with the arguments and answers of its document. Also the files that Code Buddy itself reads, written from these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.buddy.export import Exported, export_code_buddy
    from vault_memory.services.buddy.knowledge import (
        buddy_create_entity,
        buddy_create_relation,
        buddy_get_mistake_patterns,
        buddy_record_mistake,
        buddy_search_entities,
    )
    from vault_memory.services.buddy.memories import (
        buddy_add_memory,
        buddy_ask_ai,
        buddy_delete_memory,
        buddy_do,
        buddy_remember,
        buddy_remember_recent,
        buddy_remember_stats,
    )
    from vault_memory.services.buddy.settings import buddy_config, take_settings
    from vault_memory.services.buddy.tools import TOOLS, Parameter, Tool, call_tool

__all__ = [
    "TOOLS",
    "Exported",
    "Parameter",
    "Tool",
    "buddy_add_memory",
    "buddy_ask_ai",
    "buddy_config",
    "buddy_create_entity",
    "buddy_create_relation",
    "buddy_delete_memory",
    "buddy_do",
    "buddy_get_mistake_patterns",
    "buddy_record_mistake",
    "buddy_remember",
    "buddy_remember_recent",
    "buddy_remember_stats",
    "buddy_search_entities",
    "call_tool",
    "export_code_buddy",
    "take_settings",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "TOOLS": "tools",
        "Exported": "export",
        "Parameter": "tools",
        "Tool": "tools",
        "buddy_add_memory": "memories",
        "buddy_ask_ai": "memories",
        "buddy_config": "settings",
        "buddy_create_entity": "knowledge",
        "buddy_create_relation": "knowledge",
        "buddy_delete_memory": "memories",
        "buddy_do": "memories",
        "buddy_get_mistake_patterns": "knowledge",
        "buddy_record_mistake": "knowledge",
        "buddy_remember": "memories",
        "buddy_remember_recent": "memories",
        "buddy_remember_stats": "memories",
        "buddy_search_entities": "knowledge",
        "call_tool": "tools",
        "export_code_buddy": "export",
        "take_settings": "settings",
    },
)
