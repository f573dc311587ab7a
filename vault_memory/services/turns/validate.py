"""The one form in which outside programs' turns are kept, whichever door they come through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_memory.core import payload
from vault_memory.services.vault import Vault


def validate_and_normalize(vault: Vault, turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn as `core.payload.normalized` has it, by the vault's clock and time zone; `user_id` is that of an outside
    name. Raises what that raises, and `InvalidId`."""
    record = payload.normalized(turn, vault.now(), vault.config.zone())
    return record | {"user_id": vault.user_of(record["user_id"])}
