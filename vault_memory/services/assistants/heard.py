"""What was heard of hooks, in `.vault-memory/hooks.json`: a hook that fails is silent where the person works."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.core.clients import HOOK_CLIENTS, HOOK_EVENTS
from vault_memory.errors import VaultMemoryError

MAX_PROBLEM_CHARS = 300
_NAME = "hooks"


@dataclass(frozen=True)
class Heard:
    """The last event of one kind of a client, at `at` (ISO 8601), and what went wrong with it, "" if nothing did;
    `count` are all of them."""

    client: str
    event: str
    at: str
    count: int = 1
    problem: str = ""


def note_heard(root: Path, client: str, event: str, at: datetime, problem: str = "") -> None:
    """Note an event of a client; what was no event, or of no client, that is known is forgotten with the next one.
    Where that cannot be written it is not noted: no hook may fail by it."""

    def change(state: dict[str, Any]) -> dict[str, Any]:
        known = state.get(client)
        events = {name: row for name, row in known.items() if name in HOOK_EVENTS} if isinstance(known, dict) else {}
        before = events.get(event)
        count = before.get("count") if isinstance(before, dict) else 0
        events[event] = {
            "at": at.isoformat(timespec="seconds"),
            "count": (count if isinstance(count, int) else 0) + 1,
            "problem": problem[:MAX_PROBLEM_CHARS],
        }
        return {name: rows for name, rows in state.items() if name in HOOK_CLIENTS} | {client: events}

    with suppress(VaultMemoryError, OSError):
        StateFile(root, _NAME).update(change)


def heard_hooks(root: Path) -> list[Heard]:
    """What was heard of each client, by kind of event. Raises `ForeignFile`."""
    found = []
    for client, events in StateFile(root, _NAME).read().items():
        for event, row in events.items() if isinstance(events, dict) else ():
            if isinstance(row, dict) and isinstance(row.get("at"), str):
                count = row.get("count")
                told = Heard(client, event, row["at"], count if isinstance(count, int) else 1, str(row.get("problem")))
                found.append(told)
    return found
