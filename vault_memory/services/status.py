"""What is indexed, pending and failed, whether a daemon runs, how git stands: the truth about a vault, at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class ScopeStatus:
    """One scope's files against its index; sizes in bytes. `pending` files differ from what was indexed."""

    scope: str
    indexed: int
    pending: int
    failed: dict[str, str]
    held: int
    vectors_pending: int
    index_bytes: int
    tracked_bytes: int


@dataclass(frozen=True)
class Status:
    """The whole vault. `unhealthy` lists what a person should look after; empty means all is well."""

    scopes: tuple[ScopeStatus, ...]
    unhealthy: tuple[str, ...]


def status(vault: Vault, user_id: str | None = None) -> Status:
    """Look at the vault now; with `user_id` only at that user's scope. Changes nothing."""
    raise NotImplementedError
