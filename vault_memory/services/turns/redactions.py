"""Counts of what was redacted in a user's turns, by category; the words themselves are not kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.services.vault import Vault


def redactions(vault: Vault, user_id: str) -> dict[str, int]:
    """Category (`api-key`, `health`, …) → how many redactions so far."""
    return {category: count for category, count in _state(vault, user_id).read().items() if isinstance(count, int)}


def add_redactions(vault: Vault, user_id: str, counts: Mapping[str, int], as_of: int | None = None) -> None:
    """Add to the counts of the person who had `user_id` as of `as_of` (`Vault.renamings`; None: now).

    Raises `Busy`, and `NotFound` when that person has no id any longer.
    """
    as_of = vault.renamings() if as_of is None else as_of
    while True:
        user_id, as_of = vault.id_now(user_id, as_of)
        with vault.record_lock(user_id):  # not the file's own lock: `rename_redactions` is called under this one
            if vault.id_now(user_id, as_of)[0] == user_id:
                total = Counter(redactions(vault, user_id))
                total.update(counts)
                _state(vault, user_id).write(dict(sorted(total.items())))
                return


def rename_redactions(vault: Vault, old: str, new: str) -> None:
    """Move a user's counts to the user's new id. The caller holds the locks of both ids, those of the records too."""
    if counts := _state(vault, old).read():
        _state(vault, new).write(counts)
        _state(vault, old).remove()


def _state(vault: Vault, user_id: str) -> StateFile:
    return StateFile(vault.root, f"redactions/{layout.check_user_id(user_id)}")
