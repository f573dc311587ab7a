"""The contexts of sessions: which step a learner is at. They live for two days after the last step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_memory.adapters.sessions import Context, SessionStore, StateSessions
from vault_memory.core import layout, learning
from vault_memory.core.learning import SessionContext
from vault_memory.core.privacy import redact
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.vault import Vault


def session_store(vault: Vault) -> SessionStore:
    """Where the vault's sessions are kept."""
    return StateSessions(vault.root, vault.now)


def update_session(
    vault: Vault,
    user_id: str,
    session_id: str,
    intent: str | None = None,
    topic: str | None = None,
    artifact: str | None = None,
    message: str | None = None,
) -> SessionContext:
    """Let a step change the context of a session of the user's, and return that: the intent joins the recent ones,
    topic, artifact and message replace those before; what is None stays. `user_id` is "" for sessions that no user is
    named for. Nothing is kept of a user who is off the record, and no secret of anybody.

    Raises `UsageError`, which names the field that is wrong, `InvalidId`, `Busy`, `Unwritable` or `ForeignFile`.
    """
    key = _session(session_id)
    owner = layout.check_user_id(user_id) if user_id else ""
    if message is not None and not isinstance(message, str):
        raise UsageError("message: a text is wanted")
    named = [learning.checked(*each) for each in (("intent", intent), ("topic", topic), ("artifact", artifact))]
    said = [redact(each).text if each else each for each in (*named, message)]
    at = vault.now().astimezone(vault.config.zone())

    def changed(stored: Context | None) -> Mapping[str, Any]:
        return learning.went_on(learning.read_context(key, stored or {}), at, *said).as_dict()

    store = session_store(vault)
    if owner and vault.config.is_off_record(owner):
        return learning.read_context(key, changed(store.load(owner, key)))
    return learning.read_context(key, store.update(owner, key, changed))


def session_context(vault: Vault, user_id: str, session_id: str) -> SessionContext:
    """The context of a session of the user's, of those that no user is named for if `user_id` is "". Raises `NotFound`
    for one that is not known or over, `UsageError`, `InvalidId`."""
    if (found := known_context(vault, user_id, session_id)) is None:
        raise NotFound("no such session: its first update begins it, and two days after the last one it is over")
    return found


def known_context(vault: Vault, user_id: str, session_id: str) -> SessionContext | None:
    """`session_context`, None for one that is not known or over."""
    key = _session(session_id)
    stored = session_store(vault).load(layout.check_user_id(user_id) if user_id else "", key)
    return None if stored is None else learning.read_context(key, stored)


def rename_sessions(vault: Vault, old: str, new: str) -> None:
    """Move a user's sessions to the user's new id. The caller holds the locks of both ids."""
    session_store(vault).rename(old, new)


def _session(session_id: str) -> str:
    if key := learning.checked("session_id", session_id):
        return key
    raise UsageError("session_id is missing")
