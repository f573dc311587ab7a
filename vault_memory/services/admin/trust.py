"""Say yes, on this machine, to the sensitive settings of a vault's file; see `config.py` for which these are."""

from __future__ import annotations

from collections.abc import Iterable

from vault_memory.adapters.machine import MachineRecord
from vault_memory.config import Waiting
from vault_memory.services.vault import Vault


def trust(vault: Vault, values: Iterable[Waiting]) -> None:
    """Let exactly these values take effect: those that a person has seen in `vault.config.waiting`, not the file's.

    Whoever opens the vault after this gets them; a process that has it open must be started again. Raises
    `Unwritable` or `Busy`.
    """
    MachineRecord(vault.root).say_yes({value.key: value.value for value in values})
