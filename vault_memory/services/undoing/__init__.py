"""Taking back what the assistant has changed, one change at a time: preferences and the memories of conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.undoing.undo import Step, steps, undo, undone_sources

__all__ = ["Step", "steps", "undo", "undone_sources"]

__getattr__ = lazy_exports(__name__, {"Step": "undo", "steps": "undo", "undo": "undo", "undone_sources": "undo"})
