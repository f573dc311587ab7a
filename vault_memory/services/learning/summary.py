"""The summary that an intent router gets before it judges a message."""

from __future__ import annotations

from vault_memory.core import layout, learning
from vault_memory.core.learning import MemorySummary
from vault_memory.core.profile import LOCALES
from vault_memory.services.learning.profile import read_profile
from vault_memory.services.learning.sessions import known_context
from vault_memory.services.vault import Vault


def memory_summary(
    vault: Vault, user_id: str, session_id: str | None = None, *, of_nobody: bool = False
) -> MemorySummary:
    """The topic of the session, how the user masters it, and what the user has just done. A user or a session that is
    not known yet has an empty summary. With `of_nobody` the session may also be one that no user is named for.

    It reads two small files and asks no model. Raises `InvalidId`, `UsageError` for an invalid session id.
    """
    layout.check_user_id(user_id)
    context = known_context(vault, user_id, session_id) if session_id else None
    if context is None and session_id and of_nobody:
        context = known_context(vault, "", session_id)
    return learning.summarized(read_profile(vault, user_id), context, vault.config.locale or LOCALES[0])
