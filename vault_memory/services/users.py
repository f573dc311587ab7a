"""Who has a memory in this vault, and how a user takes another id."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import files, scan
from vault_memory.adapters.history import Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.profile import Profile
from vault_memory.errors import UsageError
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class User:
    """A user, and the name that the profile says to use (empty if it says none)."""

    user_id: str
    display_name: str


def users(vault: Vault) -> list[User]:
    """Every user of the vault, by id."""
    found = []
    for user_id in vault.user_ids():
        profile = Profile.decode(files.read(vault.path(user_id, layout.PROFILE)) or b"")
        found.append(User(user_id, str(profile.get("display_name") or "")))
    return found
