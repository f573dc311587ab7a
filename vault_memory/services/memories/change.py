"""Changing a memory: its properties in its note; for another content a new memory takes its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.trailers import Trailers
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.memories.files import MemoryFile, memory_files, read_memory
from vault_memory.services.memories.store import Stored, memory_id, public, store
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


def supersede(
    vault: Vault, user_id: str, old_id: str, content: str, *, title: str = "", author: Author = ASSISTANT
) -> Stored:
    """Store a memory that takes the place of another: it has its type, tags and other properties, and lives as long
    again. The old one names it, and is found with `history` only. Raises `NotFound` for an unknown memory, `UsageError`
    for one that was replaced already, and what `store_memory` raises."""
    old = _file_of(vault, user_id, old_id)
    before, now = old.memory, vault.now().astimezone(vault.config.zone())
    made = memories.new_memory(memory_id(memories.prefix_of(before.id), now), content, before.type, now, title=title)
    lives = before.expires_at - before.created_at if before.expires_at and before.created_at else None
    new = replace(
        before,
        id=made.id,
        content=made.content,
        title=made.title,
        created_at=now,
        expires_at=now + lives if lives else before.expires_at,
        access_count=0,
        last_accessed_at=None,
        supersedes=before.id,
        problems=(),
    )
    return store(vault, user_id, new, author=author, replacing=old)


def edit_memory(
    vault: Vault,
    user_id: str,
    edited_id: str,
    *,
    memory_type: str | None = None,
    title: str | None = None,
    tags: Sequence[str] | None = None,
    importance: float | None = None,
    ttl_days: float | None = None,
    is_permanent: bool = False,
    author: Author = ASSISTANT,
) -> Memory:
    """Change properties of a memory; None leaves one as it is. `ttl_days` counts from now. Returns the memory as it is
    then. Raises `NotFound`, and `UsageError` for a value that it cannot have or a note that cannot be read."""
    file, now = _file_of(vault, user_id, edited_id), vault.now().astimezone(vault.config.zone())
    path = layout.user_dir(user_id) / file.source

    def decide() -> Plan[Memory]:
        current = read_memory(vault, user_id, file.source)
        if current is None:
            raise NotFound(f"the memory {edited_id} is gone")
        before = current.memory
        after = memories.changed(
            replace(before, expires_at=None) if is_permanent else before,
            now,
            memory_type=memory_type,
            title=title,
            tags=tags,
            importance=importance,
            ttl_days=ttl_days,
        )
        if any(public(text, Counter()) != text for text in (title or "", *(tags or ()))):
            raise UsageError("the title or a tag would hold a secret or a private fact: say it without")
        text = memories.with_properties(current.text, before, after).encode("utf-8", "surrogateescape")
        if text == current.stored:
            return Plan(after)
        subject = f"memories({user_id}): edit {after.type} {after.heading}"
        message = trailers.render(subject, "", Trailers(user=user_id, memory=after.id))
        return Plan(after, [Draft(message, author, (FileChange(path, current.stored, text),))])

    return write(vault, user_id, [path], decide).result


def _file_of(vault: Vault, user_id: str, named: str) -> MemoryFile:
    """The one note of a memory, which is not archived."""
    found = memory_files(vault, user_id, [named])
    active = [file for file in found if not file.is_archived]
    if not active:
        raise UsageError(f"the memory {named} is in the archive ({found[0].source}): store it anew")
    if len(active) > 1:
        names = " and ".join(file.source for file in active)
        raise UsageError(f"{names} have the id {named} both: give one of them another")
    return active[0]
