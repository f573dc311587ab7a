"""Contexts of sessions in the vault's own state: one bounded file for each owner. They change often, and may be lost;
`SessionStore` is what another store has to do in their place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from vault_memory.adapters.state import StateFile

SESSION_TTL_S = 172_800
"""A session that is not updated for two days is over."""
MAX_STATE_BYTES = 60_000
"""Of one owner's contexts; of more the oldest make room."""
INDENTED_BYTES = 100
"""More than the line breaks and blanks take that a context has in the file: it has at most some 30 lines."""
NOBODY = ".nobody"
"""The file of sessions whose owner is not known; no user id begins with a dot."""

Context = Mapping[str, Any]


class SessionStore(Protocol):
    """Keeps contexts of sessions, JSON objects with an `updated_at` in ISO 8601, for `SESSION_TTL_S` after it. An owner
    is a user id, "" for none; the sessions of two owners have nothing to do with each other."""

    def load(self, owner: str, session_id: str) -> Context | None:
        """The context; None for one that is not known, or over."""
        ...

    def update(self, owner: str, session_id: str, change: Callable[[Context | None], Context]) -> Context:
        """Replace the context by what `change` makes of it, before which nobody else changes it; return the new one."""
        ...

    def rename(self, owner: str, new: str) -> None:
        """Give an owner's sessions to the owner's new id."""
        ...


class StateSessions:
    """The `SessionStore` in `.vault-memory/sessions/`."""

    def __init__(self, root: Path, now: Callable[[], datetime]) -> None:
        self._root, self._now = root, now

    def load(self, owner: str, session_id: str) -> Context | None:
        """As `SessionStore.load`. Raises `ForeignFile`."""
        found = self._state(owner).read().get(session_id)
        return found if self._is_going_on(found) else None

    def update(self, owner: str, session_id: str, change: Callable[[Context | None], Context]) -> Context:
        """As `SessionStore.update`. Raises `Busy`, `Unwritable` or `ForeignFile`."""
        made: list[Context] = []

        def changed(stored: dict[str, Any]) -> dict[str, Any]:
            kept = {name: each for name, each in stored.items() if self._is_going_on(each)}
            made.append(change(kept.pop(session_id, None)))
            return _newest({**kept, session_id: made[-1]})

        self._state(owner).update(changed)
        return made[-1]

    def rename(self, owner: str, new: str) -> None:
        """As `SessionStore.rename`."""
        if sessions := self._state(owner).read():
            self._state(new).write(sessions)
            self._state(owner).remove()

    def _state(self, owner: str) -> StateFile:
        return StateFile(self._root, f"sessions/{owner or NOBODY}")

    def _is_going_on(self, context: Any) -> bool:
        try:
            at = datetime.fromisoformat(context["updated_at"])
            return bool((self._now() - at).total_seconds() < SESSION_TTL_S)
        except (KeyError, TypeError, ValueError):
            return False


def _newest(sessions: dict[str, Any]) -> dict[str, Any]:
    """The newest of the sessions, which stand in the order of their updates, that have room."""
    kept: list[tuple[str, Any]] = []
    size = 0
    for name, context in reversed(sessions.items()):
        size += len(json.dumps({name: context}, ensure_ascii=False).encode("utf-8", "backslashreplace"))
        size += INDENTED_BYTES
        if kept and size > MAX_STATE_BYTES:
            break
        kept.append((name, context))
    return dict(reversed(kept))
