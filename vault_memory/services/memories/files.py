"""The notes of a user's typed memories: which file is whose, and what is in it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.index import MemoryRow
from vault_memory.core import layout, memories
from vault_memory.core.memories import Memory
from vault_memory.core.text import tokens
from vault_memory.errors import Busy, IndexUnusable, NotFound
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault

_MAX_NAMED = 3
"""So many of the notes that took the place of each other are named for each of them."""


@dataclass(frozen=True)
class MemoryFile:
    """A memory's note: its source, its bytes, and the memory that is in it."""

    source: str
    stored: bytes
    memory: Memory

    @property
    def text(self) -> str:
        """The note's text; bytes that are no UTF-8 come back as they were when it is encoded the same way."""
        return self.stored.decode("utf-8", "surrogateescape")

    @property
    def is_archived(self) -> bool:
        return self.source.startswith(f"{layout.ARCHIVE_DIR}/")


def read_memory(
    vault: Vault, user_id: str, source: str, read: Callable[[Path], bytes | None] = files.read
) -> MemoryFile | None:
    """The memory in a note; None where there is no file. One whose successor is in no note is as if it named none."""
    stored = read(vault.path(user_id, source))
    if stored is None:
        return None
    memory = memories.decode(stored.decode("utf-8", "replace"), PurePosixPath(source).stem)
    if memory.superseded_by and _is_missing(vault, user_id, memory.superseded_by):
        memory = replace(memory, superseded_by=None)
    return MemoryFile(source, stored, memory)


def _is_missing(vault: Vault, user_id: str, memory_id: str) -> bool:
    """Whether the index knows no note of an id; while it cannot tell, there may be one."""
    try:
        return vault.index_path(user_id).exists() and not vault.index(user_id).memories([memory_id])
    except (Busy, IndexUnusable):
        return False


def memory_rows(vault: Vault, user_id: str, ids: Collection[str] | None = None) -> list[MemoryRow]:
    """What the index knows of a user's memories, or of those with these ids, as the files stand now. Raises
    `NotFound` for an unknown user."""
    with vault.reading(user_id):
        if not vault.index(user_id).is_read_only:
            reconcile(vault, user_id)
        return vault.index(user_id).memories(ids)


def memory_files(vault: Vault, user_id: str, ids: Sequence[str]) -> list[MemoryFile]:
    """The notes of these memories, past and archived ones too, in the order of the ids. Raises `NotFound` for an id
    that no note has, or an unknown user."""
    by_id: dict[str, list[MemoryFile]] = {}
    for row in memory_rows(vault, user_id, ids):
        if (file := read_memory(vault, user_id, row.source)) is not None:
            by_id.setdefault(row.memory_id, []).append(file)
    if unknown := [each for each in ids if each not in by_id]:
        raise NotFound(
            f"{layout.user_dir(user_id)} holds no memory {unknown[0]!r}: "
            f"`vault-memory memory list --user {user_id} --history` shows all"
        )
    return [file for each in dict.fromkeys(ids) for file in by_id[each]]


def memory_twins(vault: Vault, user_id: str) -> list[str]:
    """The ids that two notes of the user's have, archived ones apart, as the index knows them, in words with the next
    step. Changes nothing."""
    sources: dict[str, list[str]] = {}
    for row in _indexed(vault, user_id):
        if not row.source.startswith(f"{layout.ARCHIVE_DIR}/"):
            sources.setdefault(row.memory_id, []).append(row.source)
    home = layout.user_dir(user_id)
    return [
        f"{home / same[0]} and {home / same[1]} are both {each!r}: give one of them another id, or delete it"
        for each, same in sources.items()
        if len(same) > 1
    ]


def without_successor(vault: Vault, user_id: str, named: Collection[str] | None = None) -> list[str]:
    """The notes that say that another one took their place (one of these ids, if any are `named`), which is in no note:
    a person wrote so, or it was deleted since. They are recalled again. As the index knows them, in words with the next
    step. Changes nothing."""
    rows, home = _indexed(vault, user_id), layout.user_dir(user_id)
    known = {row.memory_id for row in rows}
    return [
        f"{home / row.source} is recalled again, as {row.successor[:40]!r}, which took its place, is in no note: take "
        "`superseded_by` out of it if it holds, else delete it"
        for row in rows
        if row.successor and row.successor not in known and (named is None or row.successor in named)
    ]


def in_circles(vault: Vault, user_id: str) -> list[str]:
    """The notes that come back to themselves from successor to successor, so that none of them is recalled, as the
    index knows them, in words with the next step. Changes nothing."""
    rows, home = _indexed(vault, user_id), layout.user_dir(user_id)
    known = {row.memory_id: row for row in rows}
    lines = []
    for row in rows:
        after = _successors(row, known)
        if row in after:
            others = [str(home / each.source) for each in after if each != row][:_MAX_NAMED]
            lines.append(
                f"{home / row.source} is not recalled, as it and {', '.join(others)} took the place of each other: "
                "take `superseded_by` out of the one that holds"
            )
    return lines


def _successors(row: MemoryRow, known: Mapping[str, MemoryRow]) -> list[MemoryRow]:
    """What took a memory's place, and what took the place of that, each once: up to one that holds or comes again."""
    found: list[MemoryRow] = []
    after = known.get(row.successor or "")
    while after and after not in found:
        found.append(after)
        after = known.get(after.successor or "")
    return found


def _indexed(vault: Vault, user_id: str) -> list[MemoryRow]:
    return vault.index(user_id).memories(None) if vault.index_path(user_id).exists() else []


def memories_holding(vault: Vault, user_id: str, text: str, *, memory_type: str | None = None) -> list[MemoryFile]:
    """The active memories that hold a text in title, content or a tag, whatever its case, width and Chinese script, the
    newest first; of one type only if one is given. Raises `NotFound` for an unknown user, `UsageError` for an unknown
    type."""
    if memory_type is not None:
        memories.checked_type(memory_type)
    with vault.reading(user_id):
        if not vault.index(user_id).is_read_only:
            reconcile(vault, user_id)
        known = vault.index(user_id).memory_texts(vault.now().timestamp())
    wanted, found = tokens.fold(text).strip(), list[MemoryFile]()
    for each in known:
        is_sought = memory_type in (None, each.type) and (not each.is_whole or wanted in tokens.fold(each.text))
        file = read_memory(vault, user_id, each.source) if is_sought else None
        held = (file.memory.title, file.memory.content, *file.memory.tags) if file else ()
        if file and any(wanted in tokens.fold(part) for part in held):
            found.append(file)
    return found


def changed_memories(vault: Vault, user_id: str, after_ns: int, limit: int) -> list[tuple[MemoryFile | None, int]]:
    """The memories, past ones too, whose notes were changed on this machine after a time (of the files, in nanoseconds
    since 1970), at most `limit`, with that time, the earliest first; None for a note that is gone by now. Raises
    `NotFound` for an unknown user."""
    with vault.reading(user_id):
        if not vault.index(user_id).is_read_only:
            reconcile(vault, user_id)
        changed = vault.index(user_id).changed_memories(after_ns, limit)
    return [(read_memory(vault, user_id, source), at_ns) for source, at_ns in changed]


def list_memories(
    vault: Vault,
    user_id: str,
    *,
    memory_type: str | None = None,
    history: bool = False,
    limit: int | None = None,
    offset: int = 0,
) -> list[MemoryFile]:
    """The user's memories, the newest first: of one type, at most `limit`, without the first `offset`. Past ones only
    with `history`, and none of which an erasing has left nothing. Raises `NotFound` for an unknown user, `UsageError`
    for an unknown type."""
    if memory_type is not None:
        memories.checked_type(memory_type)
    now = vault.now()
    found: list[MemoryFile] = []
    for row in reversed(memory_rows(vault, user_id)):
        if limit is not None and len(found) >= limit:
            break
        if memory_type not in (None, row.type) or not (history or row.is_active(now.timestamp())):
            continue
        file = read_memory(vault, user_id, row.source) if offset <= 0 or history else None
        if file and memories.is_emptied(file.memory.content):
            continue
        if offset > 0:
            offset -= 1
        elif file is not None:
            found.append(file)
    return found
