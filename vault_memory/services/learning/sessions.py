"""The contexts of sessions: which step a learner is at. They live in the short-term store, for two days after the last
step."""

from __future__ import annotations

import unicodedata

from vault_memory.core import layout, learning
from vault_memory.core.learning import SESSION_TTL_S, SessionContext
from vault_memory.core.privacy import redact
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.shortterm import asks_not_to_be_kept, removed_keys
from vault_memory.services.vault import Vault


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
    named for. Nothing is kept of a user who is off the record, no secret of anybody, and no message that asks not to be
    remembered.

    Raises `UsageError`, which names the field that is wrong, `InvalidId`, also for a user who was erased, and what the
    store raises.
    """
    key, owner = _key(user_id, session_id), _owner(user_id)
    if owner:
        vault.refuse_erased_id(owner)
    if message is not None and not isinstance(message, str):
        raise UsageError("message: a text is wanted")
    if message and asks_not_to_be_kept(vault, message):
        message = None
    named = [learning.checked(*each) for each in (("intent", intent), ("topic", topic), ("artifact", artifact))]
    said = [redact(each).text if each else each for each in (*named, message)]
    at = vault.now().astimezone(vault.config.zone())
    session = _session(session_id)

    def went_on(kept: str | None) -> SessionContext:
        before = learning.context_in(kept, session, at) or SessionContext(session_id=session)
        return learning.went_on(before, at, *said)

    if owner and vault.config.is_off_record(owner):
        return went_on(vault.short_term.get(key))
    changed = vault.short_term.update(key, lambda kept: learning.with_context(kept, went_on(kept), at), SESSION_TTL_S)
    return learning.context_in(changed, session, at) or SessionContext(session_id=session)


def session_context(vault: Vault, user_id: str, session_id: str) -> SessionContext:
    """The context of a session of the user's, of those that no user is named for if `user_id` is "". Raises `NotFound`
    for one that is not known or over, `UsageError`, `InvalidId`, and what the store raises."""
    if (found := known_context(vault, user_id, session_id)) is None:
        raise NotFound("no such session: its first update begins it, and two days after the last one it is over")
    return found


def known_context(vault: Vault, user_id: str, session_id: str) -> SessionContext | None:
    """`session_context`, None for one that is not known or over."""
    return learning.context_in(vault.short_term.get(_key(user_id, session_id)), _session(session_id), vault.now())


def rename_sessions(vault: Vault, old: str, new: str) -> tuple[str, ...]:
    """Move a user's sessions to the user's new id. The caller holds the locks of both ids. Returns what `removed_keys`
    returns; raises what the store raises."""
    was, now = (learning.sessions_key(user_id, "") for user_id in (old, new))
    kept = vault.short_term.get(was)
    left = removed_keys(vault, now)
    if kept is not None:
        vault.short_term.put(now, kept, SESSION_TTL_S)
    return (*left, *removed_keys(vault, was))


def _key(user_id: str, session_id: str) -> str:
    return learning.sessions_key(_owner(user_id), _session(session_id))


def _owner(user_id: str) -> str:
    return layout.check_user_id(user_id) if user_id else ""


def _session(session_id: str) -> str:
    if isinstance(session_id, str) and any(unicodedata.category(sign) == "Cc" for sign in session_id):
        raise UsageError("session_id holds a control character: name the session without")  # two would be one
    if key := learning.checked("session_id", session_id):
        return key
    raise UsageError("session_id is missing")
