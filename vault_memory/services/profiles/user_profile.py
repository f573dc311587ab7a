"""A user's USER.md for a program: its text, its values and its version. A change names the version that it replaces."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_memory.adapters import files
from vault_memory.core import layout, trailers
from vault_memory.core.notes import note
from vault_memory.core.privacy import redact
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Changed, NotFound, Stale, TooLarge, UsageError
from vault_memory.services.notes import save_note
from vault_memory.services.profiles.preferences import replace_preferences
from vault_memory.services.vault import Vault

NO_PROFILE = ""
"""The version that stands for a missing USER.md."""


@dataclass(frozen=True)
class UserProfile:
    """The content of USER.md; `version` differs for any other content. `suggested_default` are the strong ones among
    the `preferences`: what applies where a person asks for nothing else."""

    user_id: str
    content: str
    preferences: Mapping[str, str | list[str]]
    suggested_default: Mapping[str, str | list[str]]
    version: str


def user_profile(vault: Vault, user_id: str) -> UserProfile:
    """The profile of a user. Raises `NotFound` for an unknown user or one without USER.md."""
    with vault.reading(user_id):
        stored = files.read(vault.path(user_id, layout.PROFILE))
    if stored is None:
        raise NotFound(
            f"user {user_id!r} has no {layout.PROFILE}: the first turn or `vault-memory pref set` creates it"
        )
    profile, content = Profile.decode(stored), stored.decode("utf-8", "replace")
    return UserProfile(user_id, content, profile.values(), profile.strong_values(), _version(stored))


def put_content(vault: Vault, user_id: str, content: str, version: str) -> UserProfile:
    """Make `content` the whole of USER.md, as the person's edit; secrets are redacted. Raises `Stale`.

    `version` is the version to replace (`NO_PROFILE`: there is no USER.md yet). Raises `UsageError` for front matter
    that cannot be read, `TooLarge` if it is too long for that.
    """
    text = redact(content).text
    if note.has_too_long_front_matter(text):
        raise TooLarge(
            f"front matter of more than {note.MAX_FRONT_MATTER_CHARS:,} characters is not read: shorten it; nothing "
            "was written"
        )
    if problems := note.parse(content).problems:
        raise UsageError(f"{problems[0]}; correct it and send it again: nothing was written")
    path = layout.user_dir(vault.new_user(user_id)) / layout.PROFILE
    stored = files.read(vault.path(user_id, layout.PROFILE))
    _require_version(stored, version)
    message = trailers.render(f"memory({user_id}): profile written", "", Trailers(user=user_id))
    try:
        save_note(vault, path, stored, text.encode("utf-8", "replace"), message, vault.history.person(), merging=False)
    except Changed as error:
        raise _stale() from error
    return user_profile(vault, user_id)


def put_preferences(
    vault: Vault, user_id: str, values: Mapping[str, str | Sequence[str] | None], version: str | None = None
) -> UserProfile:
    """Make these the values of their keys, as the person's edit; with `version` only in that one. Raises `Stale`."""

    def check(stored: bytes | None) -> None:
        if version is not None:
            _require_version(stored, version)

    replace_preferences(vault, user_id, values, check)
    return user_profile(vault, user_id)


def _require_version(stored: bytes | None, version: str | None) -> None:
    if (NO_PROFILE if stored is None else _version(stored)) != version:
        raise _stale()


def _stale() -> Stale:
    return Stale(
        f"{layout.PROFILE} has changed since you read it, and nothing was written: read it again and repeat your change"
    )


def _version(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()[:32]
