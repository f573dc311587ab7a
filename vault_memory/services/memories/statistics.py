"""How much a user's stores hold, and what this process has added to them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vault_memory.core import layout
from vault_memory.services.memories.files import memory_rows
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Session:
    """What this process has done: the memories that it made, and the tasks that were completed in MEMORY.md."""

    memories_created: int = 0
    tasks_completed: int = 0

    def as_dict(self) -> dict[str, int]:
        """The session as JSON shows it."""
        return {"memoriesCreated": self.memories_created, "tasksCompleted": self.tasks_completed}


class _Sessions:
    """What this process has done for each user of each vault; it is forgotten with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._created: Counter[tuple[str, str]] = Counter()
        self._completed: Counter[tuple[str, str]] = Counter()

    def add(self, vault: Vault, user_id: str, *, created: int = 0, completed: int = 0) -> None:
        who = (str(vault.root), user_id)
        with self._lock:
            self._created[who] += created
            self._completed[who] += completed

    def of(self, vault: Vault, user_id: str | None) -> Session:
        with self._lock:
            created, completed = (
                sum(
                    count
                    for (root, name), count in counts.items()
                    if root == str(vault.root) and user_id in (None, name)
                )
                for counts in (self._created, self._completed)
            )
        return Session(created, completed)


_sessions = _Sessions()


def note_in_session(vault: Vault, user_id: str, *, created: int = 0, completed: int = 0) -> None:
    """Count that this process has made so many memories of a user, and that so many tasks were completed."""
    if created or completed:
        _sessions.add(vault, user_id, created=created, completed=completed)


def session(vault: Vault, user_id: str | None = None) -> Session:
    """What this process has done for a user (None: for all users of the vault)."""
    return _sessions.of(vault, user_id)


@dataclass(frozen=True)
class Statistics:
    """How much a user's stores hold. Of the memories: the active ones, also by type; those that have expired or were
    replaced; of the active ones the permanent. `capacity` is how many may be active. The notes of entities and of
    mistakes. `session` is what this process has done for the user."""

    active: int
    permanent: int
    past: int
    capacity: int
    entities: int
    mistakes: int
    session: Session
    by_type: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The statistics as JSON shows them."""
        return {
            "memories": self.active,
            "byType": dict(self.by_type),
            "permanent": self.permanent,
            "past": self.past,
            "capacity": self.capacity,
            "entities": self.entities,
            "mistakes": self.mistakes,
            **self.session.as_dict(),
        }


def statistics(vault: Vault, user_id: str) -> Statistics:
    """How much a user's stores hold. Raises `NotFound` for an unknown user."""
    layout.check_user_id(user_id)
    now = vault.now().timestamp()
    rows = memory_rows(vault, user_id)
    active = [row for row in rows if row.is_active(now)]
    by_type = Counter(row.type for row in active)
    kinds = vault.index(user_id).kinds()
    return Statistics(
        active=len(active),
        permanent=sum(row.expires is None for row in active),
        past=len(rows) - len(active),
        capacity=vault.config.memories_capacity,
        entities=kinds.get("entity", 0),
        mistakes=kinds.get("mistake", 0),
        session=session(vault, user_id),
        by_type=dict(sorted(by_type.items())),
    )
