"""Memories that have expired go to `archive/memories/`, where only a search of the history finds them; and of more than
a user may have those that matter least expire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.adapters.index import MemoryRow
from vault_memory.core import layout, memories, trailers
from vault_memory.errors import Busy, IndexUnusable, UsageError
from vault_memory.services.memories.files import MemoryFile, memory_rows, read_memory
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

MAX_NAMED = 20
"""So many memories are named in the message of a commit that archives them."""

MAX_AT_ONCE = 100
"""So many expire for one that is stored; where somebody has lowered the capacity the job moves the rest."""


def expire_memories(vault: Vault, user_id: str) -> tuple[str, ...]:
    """Move the user's expired memories into the archive, and of more than `memories.capacity` active ones those that
    matter least; return their ids. Raises `NotFound` for an unknown user, and what `write` raises."""
    rows = memory_rows(vault, user_id)
    now = vault.now().timestamp()
    due = [row for row in rows if _is_due(row, now)]
    over = vault.index(user_id).memories_over(now, vault.config.memories_capacity, len(rows))
    if not due and not over:
        return ()

    def decide() -> Plan[tuple[str, ...]]:
        drafts: list[Draft] = []
        moved: list[str] = []
        for rows, why in ((due, "expired"), (over, too_many(vault))):
            made, ids = _moving(vault, user_id, rows, why, is_forced=rows is over)
            drafts += made
            moved += ids
        return Plan(tuple(moved), drafts)

    paths = [layout.user_dir(user_id) / row.source for row in [*due, *over]]
    return write(vault, user_id, paths, decide).result


def overflow_drafts(vault: Vault, user_id: str, more: int) -> tuple[list[Draft], tuple[str, ...]]:
    """The commit that lets expire what is too much when a user gets so many `more` memories, and the ids of these
    memories. None where that cannot be told now: the job does it later. The caller holds the user's lock."""
    if not more or not vault.is_user(user_id):
        return [], ()
    most = vault.config.memories_capacity - more
    try:
        least = vault.index(user_id).memories_over(vault.now().timestamp(), most, MAX_AT_ONCE)
    except (Busy, IndexUnusable):  # a memory is stored all the same
        return [], ()
    return _moving(vault, user_id, least, too_many(vault), is_forced=True)


def too_many(vault: Vault) -> str:
    """Why memories expire of which a user has more than may be."""
    return f"over the {vault.config.memories_capacity:,} that are kept (memories.capacity)"


def _is_due(row: MemoryRow, now: float) -> bool:
    is_archived = row.source.startswith(f"{layout.ARCHIVE_DIR}/")
    return not is_archived and row.expires is not None and row.expires <= now


def _moving(
    vault: Vault, user_id: str, rows: Sequence[MemoryRow], why: str, *, is_forced: bool
) -> tuple[list[Draft], tuple[str, ...]]:
    """The commit that moves memories into the archive, and their ids; of those that somebody has given more time
    meanwhile none, unless it `is_forced`: then they expire now. A note that is in no commit stays: it may be withheld
    because of a secret, which would be committed under the other name."""
    changes: list[FileChange] = []
    moved: list[MemoryFile] = []
    now, folder = vault.now(), layout.user_dir(user_id)
    for row in rows:
        file = read_memory(vault, user_id, row.source)
        is_expired = file is not None and file.memory.expires_at is not None and file.memory.expires_at <= now
        if file is None or not (is_expired or is_forced):
            continue
        if not vault.history.is_kept(folder / file.source, file.stored):
            continue
        stored = file.stored if is_expired else _expired_now(vault, file)
        changes.append(FileChange(folder / file.source, file.stored, None))
        changes.append(FileChange(folder / _free_source(vault, user_id, file), None, stored))
        moved.append(file)
    if not moved:
        return [], ()
    count = "1 memory" if len(moved) == 1 else f"{len(moved):,} memories"
    named = [f"- {each.memory.id} {each.memory.heading}" for each in moved[:MAX_NAMED]]
    more = [f"- and {len(moved) - MAX_NAMED:,} more"] if len(moved) > MAX_NAMED else []
    listed = "\n".join(map(trailers.single_line, [*named, *more]))
    head = trailers.render(f"memories({user_id}): archive {count}, {why}").rstrip("\n")
    message = f"{head}\n\n{listed}\n\n{trailers.KEYS['user']}: {user_id}\n"
    message = trailers.with_memories(message, [each.memory.id for each in moved])
    return [Draft(message, ASSISTANT, tuple(changes))], tuple(each.memory.id for each in moved)


def _expired_now(vault: Vault, file: MemoryFile) -> bytes:
    """The note with this moment as the end of its time; as it is where its front matter cannot be read."""
    try:
        ended = replace(file.memory, expires_at=vault.now())
        return memories.with_properties(file.text, file.memory, ended).encode("utf-8", "surrogateescape")
    except UsageError:
        return file.stored


def _free_source(vault: Vault, user_id: str, file: MemoryFile) -> str:
    """Where a note goes in the archive: to the folder and name that it has, with a number if another one has these."""
    name = PurePosixPath(file.source)
    number = 1
    while True:
        ending = f"-{number}" if number > 1 else ""
        source = f"{layout.ARCHIVE_DIR}/{name.parent}/{name.stem}{ending}.md"
        if not vault.path(user_id, source).exists():
            return source
        number += 1
