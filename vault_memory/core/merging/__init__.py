"""How three states of one file are merged into one, what both sides began with, ours and theirs: a profile by key, a
journal by entry, a learner's profile by topic, a note by property and line. Nobody's words are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.merging import merge
    from vault_memory.core.merging.line_merge import Clash, Side
    from vault_memory.core.merging.merge import carry_over, without_replaced
    from vault_memory.core.merging.profile_merge import merge_profile

__all__ = ["Clash", "Side", "carry_over", "merge", "merge_profile", "without_replaced"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Clash": "line_merge",
        "Side": "line_merge",
        "carry_over": "merge",
        "merge_profile": "profile_merge",
        "without_replaced": "merge",
    },
)
