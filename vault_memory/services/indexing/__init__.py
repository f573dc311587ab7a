"""Brings an index up to date with the files, rebuilds it, and computes its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.indexing import spaces
    from vault_memory.services.indexing.rebuild import confirm_deletions, rebuild
    from vault_memory.services.indexing.reconcile import (
        Report,
        compare,
        embed,
        held_deletions,
        is_mass_deletion,
        reconcile,
    )
    from vault_memory.services.indexing.spaces import progress

__all__ = [
    "Report",
    "compare",
    "confirm_deletions",
    "embed",
    "held_deletions",
    "is_mass_deletion",
    "progress",
    "rebuild",
    "reconcile",
    "spaces",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Report": "reconcile",
        "compare": "reconcile",
        "confirm_deletions": "rebuild",
        "embed": "reconcile",
        "held_deletions": "reconcile",
        "is_mass_deletion": "reconcile",
        "progress": "spaces",
        "rebuild": "rebuild",
        "reconcile": "reconcile",
    },
)
