"""Finds what is remembered: search, search in a separate process, the prompt for a request, the search benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.retrieval.bench import bench
    from vault_memory.services.retrieval.build_prompt import Memory, Prompt, build_enhanced_prompt, build_memory
    from vault_memory.services.retrieval.search import Mode, Scope, SearchQuery, SearchResult, refresh, search
    from vault_memory.services.retrieval.search_process import SearchProcess

__all__ = [
    "Memory",
    "Mode",
    "Prompt",
    "Scope",
    "SearchProcess",
    "SearchQuery",
    "SearchResult",
    "bench",
    "build_enhanced_prompt",
    "build_memory",
    "refresh",
    "search",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Memory": "build_prompt",
        "Mode": "search",
        "Prompt": "build_prompt",
        "Scope": "search",
        "SearchProcess": "search_process",
        "SearchQuery": "search",
        "SearchResult": "search",
        "bench": "bench",
        "build_enhanced_prompt": "build_prompt",
        "build_memory": "build_prompt",
        "refresh": "search",
        "search": "search",
    },
)
