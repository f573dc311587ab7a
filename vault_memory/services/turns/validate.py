"""The one form in which outside programs' turns are kept, whichever door they come through."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Mapping
from typing import Any

from vault_memory.core import memories, payload
from vault_memory.services.vault import Vault

_PREFIX = memories.ID_PREFIXES["conversation"]
UNNAMED = re.compile(f"{_PREFIX}_[0-9a-f]{{12}}")
"""The id that is made for a turn of which the caller names no conversation."""


def new_conversation_id() -> str:
    """The id of a conversation of one turn, of which the caller names none."""
    return f"{_PREFIX}_{uuid.uuid4().hex[:12]}"


def conversation_id_at(user_id: str, created_at: str) -> str:
    """The id of a conversation of one turn, of which the caller names none, but whose and of when it is: the same turn
    delivered again has the same. Nothing of it is made of words, since a hash of them would outlive their erasing."""
    return f"{_PREFIX}_{hashlib.sha256(f'{user_id} {created_at}'.encode()).hexdigest()[:12]}"


def validate_and_normalize(vault: Vault, turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn as `core.payload.normalized` has it, by the vault's clock and time zone; `user_id` is that of an outside
    name. Raises what that raises, and `InvalidId`."""
    record = payload.normalized(turn, vault.now(), vault.config.zone())
    return record | {"user_id": vault.user_of(record["user_id"])}
