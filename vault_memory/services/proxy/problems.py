"""What went wrong with earlier turns and memories of a person: the head of their next response tells it."""

from __future__ import annotations

import threading
from contextlib import suppress

from vault_memory.core.layout import without_folders
from vault_memory.errors import NotFound, VaultMemoryError
from vault_memory.services.vault import Vault

Whose = tuple[str, int]
"""A user's id, and as of when (`Vault.renamings`) this person has it."""


class Problems:
    """The problems that nobody has been told; several threads may use it."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._untold: dict[Whose, str] = {}
        self._lock = threading.Lock()

    def report(self, whose: Whose, problem: str, why: Exception | str) -> None:
        """Keep a problem for the next response to a person."""
        if isinstance(why, Exception) and not isinstance(why, VaultMemoryError):
            why = f"{type(why).__name__}: {why}"
        with self._lock:
            self._untold[whose] = f"{problem}: {why}"

    def take(self, user_id: str, as_of: int) -> list[str]:
        """Take out what waits to be told to the person who has this id as of `as_of`, under whatever id it came up."""
        with self._lock:
            theirs = []
            for whose in self._untold:
                with suppress(NotFound):  # that person has no id any longer
                    if self._vault.id_now(*whose, as_of)[0] == user_id:
                        theirs.append(whose)
            return [self._untold.pop(whose) for whose in theirs]

    def degraded(self, why: str) -> str:
        """The reason as a header value, without folders of this machine."""
        shown = without_folders(why, self._vault.root).encode("ascii", "replace").decode()
        return "degraded; " + " ".join(shown.split())[:300]
