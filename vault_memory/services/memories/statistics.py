"""How many memories a user has, and how many this process has made."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vault_memory.core import layout
from vault_memory.services.memories.files import memory_rows
from vault_memory.services.vault import Vault


class _Session:
    """What this process has done; it is forgotten with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.created = 0

    def count_created(self) -> None:
        with self._lock:
            self.created += 1


session = _Session()


@dataclass(frozen=True)
class Statistics:
    """A user's memories: the active ones, also by type; those that have expired or were replaced; of the active ones
    the permanent. `capacity` is how many may be active, `created` how many this process has made, of any user."""

    active: int
    permanent: int
    past: int
    capacity: int
    created: int
    by_type: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The statistics as JSON shows them."""
        return {
            "memories": self.active,
            "byType": dict(self.by_type),
            "permanent": self.permanent,
            "past": self.past,
            "capacity": self.capacity,
            "memoriesCreated": self.created,
        }


def statistics(vault: Vault, user_id: str) -> Statistics:
    """How many memories a user has. Raises `NotFound` for an unknown user."""
    layout.check_user_id(user_id)
    now = vault.now().timestamp()
    rows = memory_rows(vault, user_id)
    active = [row for row in rows if row.is_active(now)]
    by_type = Counter(row.type for row in active)
    return Statistics(
        len(active),
        sum(row.expires is None for row in active),
        len(rows) - len(active),
        vault.config.memories_capacity,
        session.created,
        dict(sorted(by_type.items())),
    )
