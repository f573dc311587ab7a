"""Text made comparable: one spelling for Traditional and Simplified Chinese, full and half width, and inflected
English. Also the terms that a search looks for, dates written in words, and the patterns that rules are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.text import phrases, tokens
    from vault_memory.core.text.fold import fold, normalize, simplify
    from vault_memory.core.text.phrases import Matcher, lazily
    from vault_memory.core.text.tokens import QueryTerms

__all__ = [
    "Matcher",
    "QueryTerms",
    "fold",
    "lazily",
    "normalize",
    "phrases",
    "simplify",
    "tokens",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Matcher": "phrases",
        "QueryTerms": "tokens",
        "fold": "fold",
        "lazily": "phrases",
        "normalize": "fold",
        "simplify": "fold",
    },
)
