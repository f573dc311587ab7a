"""A user's USER.md for a program: its text, its values and the version that both are of; replaced only in that version."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_memory.adapters import files
from vault_memory.core import layout, trailers
from vault_memory.core.extraction import redact
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import Changed, NotFound, Stale
from vault_memory.services.notes.save_note import save_note
from vault_memory.services.profiles.preferences import replace_preferences
from vault_memory.services.vault import Vault

ABSENT = ""
"""The version of a USER.md that is not there."""


@dataclass(frozen=True)
class UserProfile:
    """USER.md as it stands: `version` changes with every byte of it."""

    user_id: str
    content: str
    preferences: Mapping[str, str | list[str]]
    version: str


def user_profile(vault: Vault, user_id: str) -> UserProfile:
    """The profile of a user. Raises `NotFound` for an unknown user or one without USER.md."""
    stored = files.read(vault.path(vault.known_user(user_id), layout.PROFILE))
    if stored is None:
        raise NotFound(f"user {user_id!r} has no {layout.PROFILE}: the first turn or `pref set` makes it")
    preferences = Profile.decode(stored, vault.config.locale).values()
    return UserProfile(user_id, stored.decode("utf-8", "replace"), preferences, _version(stored))


def put_content(vault: Vault, user_id: str, content: str, version: str) -> UserProfile:
    """Make `content` the whole of USER.md, as the person's edit; secrets are taken out. Raises `Stale`.

    `version` is the one that is replaced (`ABSENT`: there is no USER.md yet).
    """
    path = layout.user_dir(vault.new_user(user_id)) / layout.PROFILE
    stored = files.read(vault.path(user_id, layout.PROFILE))
    _check(stored, version)
    message = trailers.render(f"memory({user_id}): profile written", "", {"Vault-User": user_id})
    text = redact(content).text.encode("utf-8", "replace")
    try:
        save_note(vault, path, stored, text, message, vault.history.person(), merging=False)
    except Changed as error:
        raise _stale() from error
    return user_profile(vault, user_id)


def put_preferences(
    vault: Vault, user_id: str, values: Mapping[str, str | Sequence[str] | None], version: str | None = None
) -> UserProfile:
    """Make these the values of their keys, as the person's word; with `version` only in that one. Raises `Stale`."""

    def check(stored: bytes | None) -> None:
        if version is not None:
            _check(stored, version)

    clean = {key: _clean(value) for key, value in values.items()}
    replace_preferences(vault, user_id, clean, check)
    return user_profile(vault, user_id)


def _clean(value: str | Sequence[str] | None) -> str | list[str] | None:
    if value is None or isinstance(value, str):
        return None if value is None else redact(value).text
    return [redact(member).text for member in value]


def _check(stored: bytes | None, version: str | None) -> None:
    if (ABSENT if stored is None else _version(stored)) != version:
        raise _stale()


def _stale() -> Stale:
    return Stale(
        f"{layout.PROFILE} is another one by now: read it again and make your change in that; nothing was written"
    )


def _version(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()[:32]
