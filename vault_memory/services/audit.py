"""Who changed which preference, when, why, and in which words: read from git, where anybody can read it too."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from vault_memory.adapters.history import Entry
from vault_memory.core import layout
from vault_memory.core.fields import FIELDS
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class PreferenceChange:
    """One commit on one preference.

    `reason` is the clause that caused it, `source` the line of the conversation record, `undoes` the commit it took back.
    """

    commit: str
    at: datetime
    author: str
    key: str
    op: str
    old: str
    new: str
    strength: str
    reason: str
    source: str
    undoes: str


def history(vault: Vault, user_id: str, key: str | None = None, *, limit: int = 20) -> list[PreferenceChange]:
    """The user's newest preference changes, the person's own included, newest first; with `key` only that key's."""
    vault.known_user(user_id)
    if key is not None and key not in FIELDS:
        raise UsageError(f"{key!r} is no key of the profile; the keys are {', '.join(FIELDS)}")
    return [
        PreferenceChange(
            commit=entry.commit,
            at=entry.time,
            author=entry.author,
            key=entry.trailers["Vault-Key"],
            op=entry.trailers.get("Vault-Op", ""),
            old=entry.trailers.get("Vault-Old", ""),
            new=entry.trailers.get("Vault-New", ""),
            strength=entry.trailers.get("Vault-Strength", ""),
            reason=entry.reason,
            source=entry.trailers.get("Vault-Source", ""),
            undoes=entry.trailers.get("Vault-Undoes", ""),
        )
        for entry in _entries(vault, user_id, key, limit)
    ]


def _entries(vault: Vault, user_id: str, key: str | None, limit: int) -> list[Entry]:
    """The commits on a user's preferences; those from before a renaming too, under the id of that time."""
    path = layout.user_dir(user_id) / layout.PROFILE
    found = vault.history.log([path], limit=limit, trailers={"Vault-Key": key})
    if len(found) < limit:
        for renaming in vault.history.log([path], limit=1, trailers={"Vault-Renamed-From": None}):
            found += _entries(vault, renaming.trailers["Vault-Renamed-From"], key, limit - len(found))
    return found
