"""What a turn says about its person: preferences, extracted by rules (`extract`) with the words of a lexicon.

`llm` holds the question to a language model about a turn, and checks its response against the person's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.extraction import llm
    from vault_memory.core.extraction.lexicon import Lexicon, load_lexicon, problem_with
    from vault_memory.core.extraction.rules import extract

__all__ = [
    "Lexicon",
    "extract",
    "llm",
    "load_lexicon",
    "problem_with",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Lexicon": "lexicon",
        "extract": "rules",
        "load_lexicon": "lexicon",
        "problem_with": "lexicon",
    },
)
