"""Deleting memories in two steps: what would go, with a code; then that, with the code. Without the code nothing
happens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.text import fold
from vault_memory.core.trailers import Trailers
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.memories.files import MemoryFile, list_memories, memory_files, read_memory
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write

CODE_CHARS, CODE_LIVES = 6, timedelta(minutes=5)
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without the letters and digits that look alike."""
MAX_PREVIEWED = 3


@dataclass(frozen=True)
class Deletion:
    """What would be deleted, and the code that does it until `expires_at`. The contents of the first `MAX_PREVIEWED`
    memories are shown to the person."""

    code: str
    expires_at: datetime
    memories: tuple[Memory, ...]

    @property
    def previewed(self) -> tuple[Memory, ...]:
        """Those whose contents are shown."""
        return self.memories[:MAX_PREVIEWED]


@dataclass(frozen=True)
class Deleted:
    """The ids of deleted memories, and the commits that deleted them; `paused` says why a commit waits."""

    ids: tuple[str, ...]
    commits: tuple[str, ...]
    paused: str | None = None


def prepare_deletion(
    vault: Vault,
    user_id: str,
    *,
    ids: Sequence[str] = (),
    query: str | None = None,
    memory_type: str | None = None,
) -> Deletion:
    """Choose memories, past and archived ones too, by exactly one of: their ids, words that all stand in title, content
    or tags, a type. Nothing is deleted yet. Raises `NotFound` where there are none, `UsageError` for another choice."""
    if sum((bool(ids), query is not None, memory_type is not None)) != 1:
        raise UsageError("choose the memories to delete in one way: by id, by query or by type")
    if ids:
        found = memory_files(vault, user_id, ids)
    else:
        found = list_memories(vault, user_id, memory_type=memory_type, history=True)
        words = fold(query or "").split()
        if query is not None and not words:
            raise UsageError("the query is empty: nothing is deleted by an empty query")
        found = [file for file in found if all(word in _searched(file.memory) for word in words)]
    if not found:
        raise NotFound(f"no memory of {layout.user_dir(user_id)} is meant by that: nothing would be deleted")
    code = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_CHARS))
    now = vault.now()
    expires_at = now + CODE_LIVES
    chosen = {file.source: hashlib.sha256(file.stored).hexdigest() for file in found}
    waiting = {"expires_at": expires_at.isoformat(), "chosen": chosen}
    _state(vault, user_id).update(lambda stored: {**_unexpired(stored, now), code: waiting})
    return Deletion(code, expires_at, tuple(file.memory for file in found))


def delete_memories(vault: Vault, user_id: str, code: str, *, author: Author = ASSISTANT) -> Deleted:
    """Delete what was chosen when the code was made, in one commit. The code is used up, whatever happens. Raises
    `UsageError` for a code that is wrong, expired, used or another user's, or that chose a note which has changed;
    `HistoryError` for a note that is in no commit, from which it could not be brought back."""
    vault.known_user(layout.check_user_id(user_id))
    now = vault.now()
    taken: dict[str, Any] = {}

    def without(stored: dict[str, Any]) -> Mapping[str, Any]:
        waiting = _unexpired(stored, now)
        taken.update(waiting.pop(code.strip().upper(), {}))
        return waiting

    _state(vault, user_id).update(without)
    if not taken:
        raise UsageError(
            "no deletion waits for this code: it is wrong, was used, or is older than five minutes; choose again what "
            "to delete"
        )
    chosen: dict[str, str] = taken["chosen"]
    folder = layout.user_dir(user_id)

    def decide() -> Plan[tuple[str, ...]]:
        found = [file for source in chosen if (file := read_memory(vault, user_id, source)) is not None]
        if {file.source: hashlib.sha256(file.stored).hexdigest() for file in found} != chosen:
            raise UsageError("a chosen memory has changed or moved since: choose again what to delete")
        for file in found:
            refuse_uncommitted(vault, folder / file.source, file.stored)
        return Plan(tuple(file.memory.id for file in found), [_draft(user_id, found, author)])

    written = write(vault, user_id, [folder / source for source in chosen], decide)
    return Deleted(written.result, written.commits, written.paused)


def _draft(user_id: str, found: Sequence[MemoryFile], author: Author) -> Draft:
    folder = layout.user_dir(user_id)
    count = "1 memory" if len(found) == 1 else f"{len(found):,} memories"
    one = found[0].memory.id if len(found) == 1 else None
    message = trailers.render(f"memories({user_id}): delete {count}", "", Trailers(user=user_id, memory=one))
    return Draft(message, author, tuple(FileChange(folder / file.source, file.stored, None) for file in found))


def _searched(memory: Memory) -> str:
    return fold("\n".join([memory.title, memory.content, *memory.tags]))


def _unexpired(stored: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The deletions that wait and may still be done; what is not as we write it is left out."""
    found = {}
    for code, waiting in stored.items():
        try:
            if datetime.fromisoformat(waiting["expires_at"]) > now and isinstance(waiting["chosen"], dict):
                found[code] = waiting
        except (TypeError, KeyError, ValueError):
            continue
    return found


def _state(vault: Vault, user_id: str) -> StateFile:
    return StateFile(vault.root, f"deletions/{layout.check_user_id(user_id)}")
