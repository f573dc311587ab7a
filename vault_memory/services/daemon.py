"""The daemon: keeps index and history up to date while a person edits. `Daemon(vault).run(stop)` until `stop` is set."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault


class Daemon:
    """One per vault, held by a file lock; a second raises `errors.Busy` that names the first one's process id."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault

    def run(self, stop: threading.Event) -> None:
        """Catch up with what happened meanwhile, then follow every edit, until `stop` is set (then ends within 2 s)."""
        raise NotImplementedError
