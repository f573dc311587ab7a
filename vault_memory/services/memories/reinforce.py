"""Memories that are said again live on: their time begins anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories.files import memory_files, read_memory
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault
from vault_memory.services.write import Plan, write


def reinforce(vault: Vault, user_id: str, memory_id: str) -> bool:
    """Let a memory's time begin anew, and count it as recalled; whether that was done."""
    return bool(renew(vault, user_id, [file.source for file in memory_files(vault, user_id, [memory_id])]))


def renew(vault: Vault, user_id: str, sources: Sequence[str], wait_s: float = LOCK_TIMEOUT_S) -> list[str]:
    """`reinforce` for the memories in these notes; the sources of those for which it was done."""
    folder, at = layout.user_dir(user_id), vault.now().astimezone(vault.config.zone())

    def decide() -> Plan[list[str]]:
        changes = {}
        for source in sources:
            file = read_memory(vault, user_id, source)
            if file is None or file.memory.is_past(at) or not vault.history.is_kept(folder / source, file.stored):
                continue
            old = file.memory
            lives = old.expires_at - old.created_at if old.expires_at and old.created_at else None
            used = replace(old, access_count=old.access_count + 1, last_accessed_at=at)
            used = replace(used, expires_at=at + lives) if lives else used
            try:
                text = memories.with_properties(file.text, old, used)
            except UsageError:
                continue
            changes[source] = FileChange(folder / source, file.stored, text.encode("utf-8", "surrogateescape"))
        message = trailers.render(trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}"), "", Trailers(user=user_id))
        drafts = [Draft(message, ASSISTANT, tuple(changes.values()), waits=True)] if changes else []
        return Plan([*changes], drafts)

    return write(vault, user_id, [folder / source for source in sources], decide, wait_s=wait_s).result
