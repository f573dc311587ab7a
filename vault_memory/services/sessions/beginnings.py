"""As of when each session goes on, in `.vault-memory/hook-sessions.json`: a hook names its person by an id only, which
may be another person's by and by, and the process that answers may be another one."""

from __future__ import annotations

from vault_memory.adapters.state import StateFile
from vault_memory.core.clients import HookEvent
from vault_memory.services.vault import Vault

MAX_SESSIONS = 1_000
"""Of these last ones it is noted."""
_NAME = "hook-sessions"


def begun_as_of(vault: Vault, user_id: str, event: HookEvent) -> int:
    """How far the log of renamings went (`Vault.renamings`) at the first event of the session of this one. Raises
    `VaultMemoryError` where that cannot be read, or noted."""
    noted, key = StateFile(vault.root, _NAME), f"{user_id} {event.client} {event.session}"
    as_of = noted.read().get(key)
    if not isinstance(as_of, int):
        now = as_of = vault.renamings()
        noted.update(lambda state: dict([*state.items(), (key, now)][-MAX_SESSIONS:]))
    return as_of
