"""A user's daily logs, day by day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.errors import NotFound
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class DailyLog:
    """The log of one day: the content of its file."""

    date: date
    source: str
    content: str


def daily_logs(vault: Vault, user_id: str, limit: int, until: date | None = None) -> Iterator[DailyLog]:
    """The user's last logs, newest first, none after `until`; each is read when it is asked for.

    Raises `NotFound` for an unknown user.
    """
    folder = vault.path(vault.known_user(user_id), "daily")
    # A link is no log: the index does not read it either, and `status` names it.
    found = (folder / name for name in files.names(folder))
    names = (f"daily/{path.name}" for path in found if not path.is_symlink() and path.is_file())
    days = sorted((day for name in names if (day := layout.day_of(name)) and (not until or day <= until)), reverse=True)
    return (daily_log(vault, user_id, day) for day in days[:limit])


def daily_log(vault: Vault, user_id: str, day: date) -> DailyLog:
    """The log of that day. Raises `NotFound`."""
    source = layout.daily_source(day)
    stored = files.read(vault.path(vault.known_user(user_id), source))
    if stored is None:
        raise NotFound(f"user {user_id!r} has no log of {day}")
    return DailyLog(day, source, stored.decode("utf-8", "replace"))
