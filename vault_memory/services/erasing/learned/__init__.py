"""What the program has made of parts of a text that is to be erased, and of which turn each is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.erasing.learned.parts import Learned

__all__ = ["Learned"]

__getattr__ = lazy_exports(__name__, {"Learned": "parts"})
