"""Deleting memories in two steps: what would go, with a code; then that, with the code. Without the code nothing
happens.

A code opens what one user has chosen, once, in the state in which it was shown (`services.codes`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.profile import Row
from vault_memory.core.text import comparable, tokens
from vault_memory.core.trailers import Trailers
from vault_memory.errors import NotFound, UsageError, VaultMemoryError
from vault_memory.services.codes import Codes
from vault_memory.services.memories.accesses import forget_accesses
from vault_memory.services.memories.files import MemoryFile, list_memories, memory_files, read_memory
from vault_memory.services.memories.receipt import Deleted, Receipt, receipt, seen_before
from vault_memory.services.notes import drop_summary
from vault_memory.services.profiles import ProfileFiles, Unlearned, unlearned
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write

MAX_PREVIEWED, MAX_PREVIEWED_CHARS = 3, 2_000


@dataclass(frozen=True)
class Deletion:
    """What would be deleted, and the code that does it until `expires_at`. `values` are those of the profile that were
    learned from the same sentences and go with them (`timezone = America/New_York`), `stays` says which stay, and
    why."""

    code: str
    expires_at: datetime
    memories: tuple[Memory, ...]
    values: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()

    @property
    def previewed(self) -> tuple[Memory, ...]:
        """The first of them, whose contents are shown to the person, or how these begin."""
        return tuple(
            each
            if len(each.content) <= MAX_PREVIEWED_CHARS
            else replace(each, content=each.content[:MAX_PREVIEWED_CHARS] + "…")
            for each in self.memories[:MAX_PREVIEWED]
        )


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
        words = tokens.fold(query or "").split()
        if query is not None and not words:
            raise UsageError("the query is empty: nothing is deleted by an empty query")
        found = [file for file in found if all(word in _searched(file.memory) for word in words)]
    if not found:
        raise NotFound(f"no memory of {layout.user_dir(user_id)} is meant by that: nothing would be deleted")
    chosen = {file.source: hashlib.sha256(file.stored).hexdigest() for file in found}
    goes = _unlearned(ProfileFiles.read(vault, user_id, vault.now()), [file.memory for file in found])
    code, expires_at = _codes(vault, user_id).offer(chosen, goes.values)
    return Deletion(code, expires_at, tuple(file.memory for file in found), goes.values, goes.stays)


def delete_memories(vault: Vault, user_id: str, code: str, *, author: Author = ASSISTANT) -> Receipt:
    """Delete what was chosen when the code was made, in one commit, after one for each value of the profile that goes
    along; the receipt says what is verified to be gone. The code is used up, whatever happens. Raises `UsageError` for
    a code that is wrong, expired, used or another user's, or that chose a note which has changed; `HistoryError` for a
    note that is in no commit, from which it could not be brought back."""
    vault.known_user(layout.check_user_id(user_id))
    codes = _codes(vault, user_id)
    chosen, values = codes.take(code)
    folder = layout.user_dir(user_id)
    cache = ReadCache()

    def decide() -> Plan[Deleted]:
        found = tuple(file for source in chosen if (file := read_memory(vault, user_id, source)) is not None)
        if {file.source: hashlib.sha256(file.stored).hexdigest() for file in found} != chosen:
            raise UsageError("a chosen memory has changed or moved since: choose again what to delete")
        for file in found:
            refuse_uncommitted(vault, folder / file.source, file.stored)
        state = ProfileFiles.read(vault, user_id, vault.now(), cache.read)
        goes = _unlearned(state, [file.memory for file in found], values)
        changes, evidence = state.merge(goes.signals)
        drafts = state.drafts(changes, author, "", found[0].memory.id) if changes else []
        drafts.append(_draft(user_id, found, author))
        if evidence or goes.dismissed:
            added = state.with_evidence([*evidence, *goes.dismissed], "")
            drafts[0] = replace(drafts[0], changes=(*drafts[0].changes, added))
        return Plan(Deleted(found, tuple(changes), goes.stays, len(drafts)), drafts)

    traces = seen_before(vault, user_id, chosen)
    edited = [folder / source for source in (*chosen, layout.PROFILE, layout.FEEDBACK)]
    written = write(vault, user_id, edited, decide, cache=cache)
    with suppress(VaultMemoryError):  # the notes are gone all the same; the receipt says what is left
        forget_accesses(vault, user_id, [file.memory.id for file in written.result.files])
        drop_deletions(vault, user_id, chosen)
    with suppress(VaultMemoryError):
        drop_summary(vault, user_id)
    with suppress(VaultMemoryError):
        vault.index(user_id).purge()
    return receipt(vault, user_id, written, traces, is_waiting=codes.names)


def _unlearned(state: ProfileFiles, gone: Sequence[Memory], shown: Sequence[str] | None = None) -> Unlearned:
    """What goes from the profile with memories that a turn has left behind: what only their sentences are evidence of,
    and, of that, what was `shown` before (None: all)."""
    told = [(each.source, comparable(each.content)) for each in gone if memories.is_of_conversation(each)]

    def is_forgotten(row: Row) -> bool:
        said = comparable(row.quote)
        return bool(said) and any(said == words or (row.source == source and said in words) for source, words in told)

    goes = unlearned(state, is_forgotten) if told else Unlearned()
    return goes if shown is None else goes.only(shown)


def drop_deletions(vault: Vault, user_id: str, sources: Collection[str] | None = None) -> None:
    """End the deletions that wait and chose one of these notes (None: all), and forget those whose time is over: the
    names of notes say what they are about."""
    _codes(vault, user_id).drop(sources)


def _draft(user_id: str, found: Sequence[MemoryFile], author: Author) -> Draft:
    folder = layout.user_dir(user_id)
    count = "1 memory" if len(found) == 1 else f"{len(found):,} memories"
    message = trailers.render(f"memories({user_id}): delete {count}", "", Trailers(user=user_id))
    message = trailers.with_memories(message, [file.memory.id for file in found])
    return Draft(message, author, tuple(FileChange(folder / file.source, file.stored, None) for file in found))


def _searched(memory: Memory) -> str:
    return tokens.fold("\n".join([memory.title, memory.content, *memory.tags]))


def _codes(vault: Vault, user_id: str) -> Codes:
    return Codes(vault, "deletions", user_id, "deletion", "delete")
