"""Keeping the summary of a task that a program reports, in MEMORY.md (the design's `MemoryManager.update_memory`)."""

from __future__ import annotations

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, reading, trailers
from vault_memory.core.notes import tasks
from vault_memory.core.privacy import redact, without_private
from vault_memory.core.trailers import Trailers
from vault_memory.services.profiles import profile_timezone
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


def update_memory(vault: Vault, user_id: str, summary: str) -> bool:
    """Keep the summary of a task; whether that changed MEMORY.md.

    A turn with a long answer has made an entry for its task: what the summary adds to that is how the task ended.
    Nothing is kept of a user who is off the record. Raises `InvalidId`, `Busy`, and what the disk and git raise.
    """
    layout.check_user_id(user_id)
    lines = tasks.bullets(summary, lambda value: redact(without_private(value)[0]).text)
    if not lines or vault.config.is_off_record(user_id):
        return False
    path = layout.user_dir(user_id) / layout.MEMORY_LOG

    def decide() -> Plan[bool]:
        at = vault.now().astimezone(vault.config.zone(profile_timezone(vault, user_id)))
        before = files.read(vault.path(user_id, layout.MEMORY_LOG))
        reading.check_utf_8(path, before or b"")
        text = (before or b"").decode("utf-8", "surrogateescape")
        after = tasks.with_task(text, at, lines).encode("utf-8", "surrogateescape")
        if after == before:
            return Plan(False)
        message = trailers.render(f"log({user_id}): {at:%Y-%m-%d %H:%M}", "", Trailers(user=user_id))
        return Plan(True, [Draft(message, ASSISTANT, (FileChange(path, before, after),))])

    return write(vault, user_id, [path], decide).result
