"""Memories that have expired go to `archive/memories/`, where only a search of the history finds them; and of more than
a user may have those that matter least expire. What is for good, or a person's own, goes only where whoever stores
another one is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from vault_memory.adapters.git import bytes_of
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.adapters.index import MemoryRow
from vault_memory.core import layout, memories, trailers
from vault_memory.errors import Busy, IndexUnusable, UsageError
from vault_memory.services.memories.accesses import accesses
from vault_memory.services.memories.files import MemoryFile, memory_rows, read_memory
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

MAX_NAMED = 20
"""So many memories are named in the message of a commit that archives them."""


class Overflow(NamedTuple):
    """What goes because there are too many: the commits, the ids, and in words why fewer go than should (else "")."""

    drafts: Sequence[Draft] = ()
    gone: tuple[str, ...] = ()
    problem: str = ""


def expire_memories(vault: Vault, user_id: str) -> tuple[str, ...]:
    """Move the user's expired memories into the archive, and of more than `memories.capacity` active ones those that
    matter least among those with a time; return their ids. Raises `NotFound` for an unknown user, and what `write`
    raises."""
    rows = memory_rows(vault, user_id)
    now = vault.now().timestamp()
    due = [row for row in rows if _is_due(row, now)]
    _, over = _least(vault, user_id, vault.config.memories_capacity, len(rows), (), is_told=False)
    if not due and not over:
        return ()

    def decide() -> Plan[tuple[str, ...]]:
        drafts: list[Draft] = []
        moved: list[str] = []
        for rows, why in ((due, "expired"), (over, too_many(vault))):
            made, ids = _moving(vault, user_id, rows, why, (), is_forced=rows is over)
            drafts += made
            moved += ids
        return Plan(tuple(moved), drafts)

    paths = [layout.user_dir(user_id) / row.source for row in [*due, *over]]
    return write(vault, user_id, paths, decide).result


def overflow_drafts(vault: Vault, user_id: str, notes: Sequence[FileChange], *, is_told: bool) -> Overflow:
    """What expires when a user gets the memories in these new `notes`, one for each of them at most. That may be new
    ones themselves: their notes go to the archive as soon as they are written. Unless whoever stores them `is_told`,
    only such go as have a time and were not written by a person. None where that cannot be told now: the job does it
    later. The caller holds the user's lock."""
    if not notes or not vault.is_user(user_id):
        return Overflow()
    new = [_coming(user_id, note) for note in notes]
    try:
        count, least = _least(vault, user_id, vault.config.memories_capacity - len(new), len(new), new, is_told=is_told)
    except (Busy, IndexUnusable):  # a memory is stored all the same
        return Overflow()
    drafts, gone = _moving(vault, user_id, least, too_many(vault), new, is_forced=True)
    return Overflow(drafts, gone, _why_fewer(vault, count - len(gone)) if is_told else "")


def _why_fewer(vault: Vault, missing: int) -> str:
    """In words that so many more should have gone; "" for none."""
    if missing <= 0:
        return ""
    count = "1 memory is" if missing == 1 else f"{missing:,} memories are"
    return (
        f"{count} {too_many(vault)}: what matters less is in notes with edits that are in no commit yet; once they are "
        "committed, by the background service or by you, the next new memory takes the place of one"
    )


def _least(
    vault: Vault, user_id: str, most: int, limit: int, new: Sequence[MemoryFile], *, is_told: bool
) -> tuple[int, list[MemoryRow]]:
    """How many active memories are more than `most`, at most `limit`; and so many of them and the `new` ones, of those
    that can go, that matter least: the least important, of these the least recalled, of these the oldest."""
    used = accesses(vault, user_id)  # recalls of today, which no note has yet
    at = vault.now().timestamp()
    coming = {file.source: file for file in new}
    spare = len(used)
    while True:
        count, rows = vault.index(user_id).memories_over(at, most, limit, spare, passing=not is_told)
        known = {row.source for row in rows}
        also = [_row(each) for each in new if each.source not in known and (is_told or each.memory.expires_at)]
        going: list[MemoryRow] = []
        staying = 0
        for rank, row in enumerate(sorted([*rows, *also], key=lambda row: _weight(row, used))):
            if len(going) == count or (rank >= count and row.source in coming):
                break  # a new one does not go in the place of one that matters less, nor one that matters more for it
            if _leaving(vault, user_id, row, coming):
                going.append(row)
            else:
                staying += 1
        if staying <= spare - len(used) or len(rows) < count + spare:
            return count, going
        spare = len(used) + 2 * staying  # the next ones in their place


def _weight(row: MemoryRow, used: Mapping[str, int]) -> tuple[float, int, float, str]:
    """By what memories go, the least first."""
    return row.importance, row.used + used.get(row.memory_id, 0), row.created, row.source


def _leaving(vault: Vault, user_id: str, row: MemoryRow, coming: Mapping[str, MemoryFile]) -> MemoryFile | None:
    """The memory of a row, if it can go: it is one of the new ones, or its note is in a commit as it is. Another one
    may be withheld because of a secret, which would be committed under the other name."""
    if new := coming.get(row.source):
        return new
    file = read_memory(vault, user_id, row.source)
    is_kept = file and vault.history.is_kept(layout.user_dir(user_id) / file.source, file.stored)
    return file if is_kept else None


def _coming(user_id: str, note: FileChange) -> MemoryFile:
    """The memory in a note that is about to be written."""
    stored = bytes_of(note.new) or b""
    return MemoryFile(
        str(note.path.relative_to(layout.user_dir(user_id))), stored, memories.decode(stored.decode(), note.path.stem)
    )


def _row(file: MemoryFile) -> MemoryRow:
    """A new memory as the index will know it."""
    memory = file.memory
    created, expires = (each.timestamp() if each else None for each in (memory.created_at, memory.expires_at))
    own = (memory.id, memory.type, memory.title, memory.importance)
    return MemoryRow(file.source, *own, created or 0.0, expires, expires, memory.access_count)


def too_many(vault: Vault) -> str:
    """Why memories expire of which a user has more than may be."""
    return f"over the {vault.config.memories_capacity:,} that are kept (memories.capacity)"


def _is_due(row: MemoryRow, now: float) -> bool:
    is_archived = row.source.startswith(f"{layout.ARCHIVE_DIR}/")
    return not is_archived and row.expires is not None and row.expires <= now


def _moving(
    vault: Vault, user_id: str, rows: Sequence[MemoryRow], why: str, new: Sequence[MemoryFile], *, is_forced: bool
) -> tuple[list[Draft], tuple[str, ...]]:
    """The commit that moves memories into the archive, and their ids; of those that somebody has given more time
    meanwhile none, unless it `is_forced`: then they expire now."""
    changes: list[FileChange] = []
    moved: list[MemoryFile] = []
    now, folder = vault.now(), layout.user_dir(user_id)
    coming = {file.source: file for file in new}
    for row in rows:
        file = _leaving(vault, user_id, row, coming)
        is_expired = file is not None and file.memory.expires_at is not None and file.memory.expires_at <= now
        if file is None or not (is_expired or is_forced):
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
