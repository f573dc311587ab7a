"""Text made comparable: one spelling for Traditional and Simplified Chinese, full and half width, and inflected
English. Also the script that a text is written in, the terms that a search looks for, dates written in words, and the
patterns that rules are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.text import phrases, synonyms, tokens, typed
    from vault_memory.core.text.fold import (
        MAX_SLUG_CHARS,
        comparable,
        fold,
        normalize,
        one_line,
        same,
        simplify,
        slug,
        translated,
    )
    from vault_memory.core.text.phrases import Matcher, lazily, matches, stands_in
    from vault_memory.core.text.script import OTHER, chinese_of, script_of, script_of_last
    from vault_memory.core.text.tokens import QueryTerms
    from vault_memory.core.text.variants import alike, first_alike
    from vault_memory.core.text.wording import is_carried, names_anew, share

__all__ = [
    "MAX_SLUG_CHARS",
    "Matcher",
    "OTHER",
    "QueryTerms",
    "alike",
    "chinese_of",
    "comparable",
    "first_alike",
    "fold",
    "is_carried",
    "lazily",
    "matches",
    "names_anew",
    "normalize",
    "one_line",
    "phrases",
    "same",
    "script_of",
    "script_of_last",
    "share",
    "simplify",
    "slug",
    "stands_in",
    "synonyms",
    "tokens",
    "translated",
    "typed",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "MAX_SLUG_CHARS": "fold",
        "Matcher": "phrases",
        "OTHER": "script",
        "QueryTerms": "tokens",
        "alike": "variants",
        "chinese_of": "script",
        "comparable": "fold",
        "first_alike": "variants",
        "fold": "fold",
        "is_carried": "wording",
        "lazily": "phrases",
        "matches": "phrases",
        "names_anew": "wording",
        "normalize": "fold",
        "one_line": "fold",
        "same": "fold",
        "script_of": "script",
        "script_of_last": "script",
        "share": "wording",
        "simplify": "fold",
        "slug": "fold",
        "stands_in": "phrases",
        "translated": "fold",
    },
)
