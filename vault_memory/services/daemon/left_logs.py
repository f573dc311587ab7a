"""The logs that wait for their commit in a vault without a daemon: the next command commits them."""

from __future__ import annotations

from contextlib import suppress

from vault_memory.errors import VaultMemoryError
from vault_memory.services.daemon.daemon_record import is_running
from vault_memory.services.vault import Vault


def commit_left_logs(vault: Vault, *, at_once: bool = False) -> None:
    """Commit the entries in logs that wait, where no daemon will, or `at_once`. What goes wrong is told by whoever
    writes next."""
    with suppress(VaultMemoryError):
        if vault.history.has_waiting() and (at_once or not is_running(vault.root)):
            vault.history.flush()
