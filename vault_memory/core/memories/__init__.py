"""Typed memories, what of them is pure: everyday categories (drink, pet, instrument), by which a memory that names one
thing answers for its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.core.memories import categories, word_lists

__all__ = ["categories", "word_lists"]
