"""What only a person asks for: rebuild an index, and confirm the deletion of many files."""

from __future__ import annotations

from vault_memory.services.indexing.reconcile import Report, reconcile
from vault_memory.services.vault import Vault


def rebuild(vault: Vault, scope: str) -> Report:
    """Forget everything in a scope's index and read all its files again."""
    index = vault.index(scope)
    index.remove(index.files())
    return reconcile(vault, scope, confirm_deletions=True)


def confirm_deletions(vault: Vault) -> dict[str, tuple[str, ...]]:
    """Take the files that are gone out of every index, however many they are; returns their sources by scope."""
    removed = {scope: reconcile(vault, scope, confirm_deletions=True).removed for scope in vault.scopes()}
    return {scope: sources for scope, sources in removed.items() if sources}
