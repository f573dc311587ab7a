"""Memory for AI assistants that lives in a folder of Markdown you own.

    from vault_memory import build_enhanced_prompt, extract_and_update, open_vault

    vault = open_vault("my-vault")
    told = build_enhanced_prompt(vault, "alice", "幫我做一個按鈕").text   # before a model is asked
    extract_and_update(vault, "alice", "幫我做一個按鈕", answer)           # after it has answered

`aio` has the same verbs for asyncio. Each name is imported on its first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_memory import aio
    from vault_memory.api import (
        FeedbackCollector,
        MemorySearchEngine,
        PreferenceExtractor,
        build_enhanced_prompt,
        extract_and_update,
        get_conversation_history,
        record_turn,
        search,
    )
    from vault_memory.services.admin.create_vault import create_vault
    from vault_memory.services.profiles.preferences import set_preference
    from vault_memory.services.profiles.user_profile import user_profile
    from vault_memory.services.turns.second_look import second_look
    from vault_memory.services.vault import Vault, open_vault

__version__ = "0.1.0"

__all__ = [
    "FeedbackCollector",
    "MemorySearchEngine",
    "PreferenceExtractor",
    "Vault",
    "aio",
    "build_enhanced_prompt",
    "create_vault",
    "extract_and_update",
    "get_conversation_history",
    "open_vault",
    "record_turn",
    "search",
    "second_look",
    "set_preference",
    "user_profile",
]

_HOMES = {
    "Vault": "services.vault",
    "create_vault": "services.admin.create_vault",
    "open_vault": "services.vault",
    "second_look": "services.turns.second_look",
    "set_preference": "services.profiles.preferences",
    "user_profile": "services.profiles.user_profile",
}
"""The module that a name is in, where that is not `api`."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "aio":
        return importlib.import_module(f"{__name__}.aio")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'api')}"), name)
