"""Text made comparable: one spelling for Traditional and Simplified Chinese, full and half width, and inflected
English. Also the terms that a search looks for, dates written in words, the patterns that rules are written in, and
control characters made visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.text import phrases, tokens
    from vault_memory.core.text.controls import escape_controls_in_json, show_controls
    from vault_memory.core.text.fold import fold, normalize, simplify
    from vault_memory.core.text.phrases import Matcher, lazily
    from vault_memory.core.text.tokens import QueryTerms

__all__ = [
    "Matcher",
    "QueryTerms",
    "escape_controls_in_json",
    "fold",
    "lazily",
    "normalize",
    "phrases",
    "show_controls",
    "simplify",
    "tokens",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Matcher": "phrases",
        "QueryTerms": "tokens",
        "escape_controls_in_json": "controls",
        "fold": "fold",
        "lazily": "phrases",
        "normalize": "fold",
        "show_controls": "controls",
        "simplify": "fold",
    },
)
