"""Deleting memories in two steps: what would go, with a code; then that, with the code. Without the code nothing
happens.

What waits for its code is a small file of the state for each user: a code opens what one user has chosen, once, in the
state in which it was shown.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.profile import Row
from vault_memory.core.text import comparable, tokens
from vault_memory.core.trailers import Trailers
from vault_memory.errors import NotFound, UsageError, VaultMemoryError
from vault_memory.services.memories.accesses import forget_accesses
from vault_memory.services.memories.files import MemoryFile, list_memories, memory_files, read_memory
from vault_memory.services.memories.receipt import Deleted, Receipt, receipt, seen_before
from vault_memory.services.notes import drop_summary
from vault_memory.services.profiles import ProfileFiles, Unlearned, unlearned
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write

CODE_CHARS, CODE_LIVES = 6, timedelta(minutes=5)
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without the letters and digits that look alike."""
MAX_PREVIEWED, MAX_PREVIEWED_CHARS = 3, 2_000
MAX_WRONG_CODES = 5
"""So many wrong codes end all deletions of the user's that wait: to guess one of a billion nobody has more tries."""
MAX_WAITING = 5
"""Deletions of one user that wait at once; with one more the oldest ends."""


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
    code = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_CHARS))
    now = vault.now()
    expires_at = now + CODE_LIVES
    chosen = {file.source: hashlib.sha256(file.stored).hexdigest() for file in found}
    goes = _unlearned(ProfileFiles.read(vault, user_id, now), [file.memory for file in found])
    waiting = {"expires_at": expires_at.isoformat(), "chosen": chosen, "values": [*goes.values], "wrong": 0}
    _state(vault, user_id).update(lambda stored: {**_newest(_unexpired(stored, now)), code: waiting})
    return Deletion(code, expires_at, tuple(file.memory for file in found), goes.values, goes.stays)


def delete_memories(vault: Vault, user_id: str, code: str, *, author: Author = ASSISTANT) -> Receipt:
    """Delete what was chosen when the code was made, in one commit, after one for each value of the profile that goes
    along; the receipt says what is verified to be gone. The code is used up, whatever happens. Raises `UsageError` for
    a code that is wrong, expired, used or another user's, or that chose a note which has changed; `HistoryError` for a
    note that is in no commit, from which it could not be brought back."""
    vault.known_user(layout.check_user_id(user_id))
    taken = _taken(vault, user_id, code)
    chosen: dict[str, str] = taken["chosen"]
    folder = layout.user_dir(user_id)
    cache = ReadCache()

    def decide() -> Plan[Deleted]:
        found = tuple(file for source in chosen if (file := read_memory(vault, user_id, source)) is not None)
        if {file.source: hashlib.sha256(file.stored).hexdigest() for file in found} != chosen:
            raise UsageError("a chosen memory has changed or moved since: choose again what to delete")
        for file in found:
            refuse_uncommitted(vault, folder / file.source, file.stored)
        state = ProfileFiles.read(vault, user_id, vault.now(), cache.read)
        goes = _unlearned(state, [file.memory for file in found], taken.get("values", ()))
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
    return receipt(vault, user_id, written, traces, is_waiting=lambda source: is_chosen(vault, user_id, source))


def _unlearned(state: ProfileFiles, gone: Sequence[Memory], shown: Sequence[str] | None = None) -> Unlearned:
    """What goes from the profile with memories that a turn has left behind: what only their sentences are evidence of,
    and, of that, what was `shown` before (None: all)."""
    told = [(each.source, comparable(each.content)) for each in gone if memories.is_of_conversation(each)]

    def is_forgotten(row: Row) -> bool:
        said = comparable(row.quote)
        return bool(said) and any(said == words or (row.source == source and said in words) for source, words in told)

    goes = unlearned(state, is_forgotten) if told else Unlearned()
    return goes if shown is None else goes.only(shown)


def _taken(vault: Vault, user_id: str, code: str) -> dict[str, Any]:
    """What waits for a code, which waits no longer: `chosen`, source → hash of the note, and the `values`
    that go along. Raises `UsageError` if nothing does."""
    taken: dict[str, Any] = {}

    def without(stored: dict[str, Any]) -> Mapping[str, Any]:
        waiting = _unexpired(stored, vault.now())
        taken.update(waiting.pop(code.strip().upper(), {}))
        if taken:
            return waiting
        tried = {each: {**row, "wrong": row["wrong"] + 1} for each, row in waiting.items()}
        return {each: row for each, row in tried.items() if row["wrong"] < MAX_WRONG_CODES}

    _state(vault, user_id).update(without)
    if not taken:
        raise UsageError(
            "no deletion waits for this code: it is wrong, was used, or is older than five minutes; choose again what "
            f"to delete ({MAX_WRONG_CODES} wrong codes end every deletion that waits)"
        )
    return taken


def drop_deletions(vault: Vault, user_id: str, sources: Collection[str] | None = None) -> None:
    """End the deletions that wait and chose one of these notes (None: all), and forget those whose time is over: the
    names of notes say what they are about."""
    state = _state(vault, user_id)
    if not state.read():
        return
    state.update(
        lambda stored: {
            code: row
            for code, row in _unexpired(stored, vault.now()).items()
            if sources is not None and not {*sources} & row["chosen"].keys()
        }
    )


def is_chosen(vault: Vault, user_id: str, source: str) -> bool:
    """Whether a deletion that waits names this note."""
    return any(source in row["chosen"] for row in _unexpired(_state(vault, user_id).read(), vault.now()).values())


def _draft(user_id: str, found: Sequence[MemoryFile], author: Author) -> Draft:
    folder = layout.user_dir(user_id)
    count = "1 memory" if len(found) == 1 else f"{len(found):,} memories"
    message = trailers.render(f"memories({user_id}): delete {count}", "", Trailers(user=user_id))
    message = trailers.with_memories(message, [file.memory.id for file in found])
    return Draft(message, author, tuple(FileChange(folder / file.source, file.stored, None) for file in found))


def _searched(memory: Memory) -> str:
    return tokens.fold("\n".join([memory.title, memory.content, *memory.tags]))


def _unexpired(stored: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    """The deletions that wait and may still be done; what is not as we write it is left out."""
    found = {}
    for code, waiting in stored.items():
        try:
            ends = datetime.fromisoformat(waiting["expires_at"])
            if now < ends <= now + CODE_LIVES and isinstance(waiting["chosen"], dict) and waiting["wrong"] >= 0:
                found[code] = waiting
        except (TypeError, KeyError, ValueError):
            continue
    return found


def _newest(waiting: Mapping[str, Any]) -> dict[str, Any]:
    """Those that may go on waiting when one more comes."""
    by_age = sorted(waiting, key=lambda code: str(waiting[code]["expires_at"]))
    return {code: waiting[code] for code in by_age[-(MAX_WAITING - 1) :]}


def _state(vault: Vault, user_id: str) -> StateFile:
    return StateFile(vault.root, f"deletions/{layout.check_user_id(user_id)}")
