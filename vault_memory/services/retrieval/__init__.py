"""Finds what is remembered: search, recall of typed memories, search in a separate process, the prompt for a request, a
model's answer to a question, the search benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.retrieval.ask import Answer, ask_ai
    from vault_memory.services.retrieval.bench import bench
    from vault_memory.services.retrieval.build_prompt import (
        Memory,
        Prompt,
        build_enhanced_prompt,
        build_memory,
        build_opening,
    )
    from vault_memory.services.retrieval.query import Group, Hit, Mode, Scope, SearchQuery, SearchResult, whose
    from vault_memory.services.retrieval.read_named import NoteText, find_note, read_named
    from vault_memory.services.retrieval.recall import Recalled, Recollection, recall, recall_memory
    from vault_memory.services.retrieval.related import Related, related
    from vault_memory.services.retrieval.search import refresh, search
    from vault_memory.services.retrieval.search_process import SearchProcess

__all__ = [
    "Answer",
    "Group",
    "Hit",
    "Memory",
    "Mode",
    "NoteText",
    "Prompt",
    "Recalled",
    "Recollection",
    "Related",
    "Scope",
    "SearchProcess",
    "SearchQuery",
    "SearchResult",
    "ask_ai",
    "bench",
    "build_enhanced_prompt",
    "build_memory",
    "build_opening",
    "find_note",
    "read_named",
    "recall",
    "recall_memory",
    "refresh",
    "related",
    "search",
    "whose",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Answer": "ask",
        "Group": "query",
        "Hit": "query",
        "Memory": "build_prompt",
        "Mode": "query",
        "NoteText": "read_named",
        "Prompt": "build_prompt",
        "Recalled": "recall",
        "Recollection": "recall",
        "Related": "related",
        "Scope": "query",
        "SearchProcess": "search_process",
        "SearchQuery": "query",
        "SearchResult": "query",
        "ask_ai": "ask",
        "bench": "bench",
        "build_enhanced_prompt": "build_prompt",
        "build_memory": "build_prompt",
        "build_opening": "build_prompt",
        "find_note": "read_named",
        "read_named": "read_named",
        "recall": "recall",
        "recall_memory": "recall",
        "refresh": "search",
        "related": "related",
        "search": "search",
        "whose": "query",
    },
)
