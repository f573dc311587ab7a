"""What a turn says that is worth a memory: likes and dislikes, facts about the person, decisions and lessons
(`memorable`); and what it asks to be forgotten (`to_forget`). By rules, offline, on the clauses that `core/extraction`
reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.memorable.asked.forget import Forget
    from vault_memory.core.memorable.asked.requests import to_forget, without_requests
    from vault_memory.core.memorable.kinds import Kind
    from vault_memory.core.memorable.parts import compared, still_so, topics_of
    from vault_memory.core.memorable.saying import home_in, is_liking, says_a_change, says_what_is_instead
    from vault_memory.core.memorable.turns import MAX_CONTENT_CHARS, Memorable, memorable

__all__ = [
    "Forget",
    "Kind",
    "MAX_CONTENT_CHARS",
    "Memorable",
    "compared",
    "home_in",
    "is_liking",
    "memorable",
    "says_a_change",
    "says_what_is_instead",
    "still_so",
    "to_forget",
    "topics_of",
    "without_requests",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Forget": "asked.forget",
        "Kind": "kinds",
        "MAX_CONTENT_CHARS": "turns",
        "Memorable": "turns",
        "compared": "parts",
        "home_in": "saying",
        "memorable": "turns",
        "is_liking": "saying",
        "says_a_change": "saying",
        "says_what_is_instead": "saying",
        "still_so": "parts",
        "to_forget": "asked.requests",
        "topics_of": "parts",
        "without_requests": "asked.requests",
    },
)
