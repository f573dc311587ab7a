"""Make an index anew from the files, whatever it holds now."""

from __future__ import annotations

from vault_memory.services.indexing.reconcile import Report, reconcile
from vault_memory.services.vault import Vault


def rebuild(vault: Vault, scope: str) -> Report:
    """Forget everything in a scope's index and read all its files again."""
    index = vault.index(scope)
    index.remove(index.files())
    return reconcile(vault, scope, confirm_deletions=True)
