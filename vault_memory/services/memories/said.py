"""What a turn says that is worth a memory (`core.memorable`) becomes a memory of some days, in the words of its person.
Said again, it is reinforced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memorable import Memorable
from vault_memory.core.memories import Memory
from vault_memory.core.privacy import secrets_added
from vault_memory.core.ranking import Filter
from vault_memory.core.text import comparable, same, tokens
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Busy, IndexUnusable, UsageError
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories.expire import overflow_drafts
from vault_memory.services.memories.files import MemoryFile, read_memory
from vault_memory.services.memories.reinforce import reinforcement
from vault_memory.services.memories.statistics import session
from vault_memory.services.memories.store import memory_id, without_secrets
from vault_memory.services.vault import Vault

_MOSTLY = 0.6
"""A memory of which so much is known already says nothing new."""
_LOOKED_AT = 24
"""So many memories are compared with what was said: its own words find the same words first."""


@dataclass(frozen=True)
class Kept:
    """A memory that a turn has left behind, or reinforced (not `is_new`)."""

    id: str
    type: str
    content: str
    is_new: bool = True

    def summary(self) -> str:
        """It in words, as commands and logs say it."""
        return f"{self.type}: {self.content}"


@dataclass(frozen=True)
class KeptOfTurn:
    """What a turn's memories change: `drafts` are their commit and that of what had to go for them (`expired`, ids);
    `reinforced` are notes that change along with the logs."""

    memories: tuple[Kept, ...] = ()
    drafts: tuple[Draft, ...] = ()
    reinforced: tuple[FileChange, ...] = ()
    expired: tuple[str, ...] = ()


NOTHING_KEPT = KeptOfTurn()


def keep_said(
    vault: Vault, user_id: str, said: Sequence[Memorable], source: str, said_at: datetime, known: Iterable[str]
) -> KeptOfTurn:
    """Plan the memories of a turn: what it `said` on the line `source` of the record, at that time in the person's time
    zone, without what a profile has, of which `known` are the quotations and the values. They live from now on.

    Secrets and private facts stay out. One commit for all. The caller holds the user's lock, and writes.
    """
    now = vault.now().astimezone(vault.config.zone())
    held = [comparable(text) for text in known]
    new: list[Memory] = []
    kept: list[Kept] = []
    reinforced: dict[str, FileChange] = {}
    for each in said:
        if any(_is_said_in(each.content, text) for text in held):
            continue
        if before := _known_memory(vault, user_id, each.content):
            change = reinforcement(vault, user_id, before.source, now, said_at.date())
            if change and before.source not in reinforced:
                reinforced[before.source] = change
                kept.append(Kept(before.memory.id, before.memory.type, before.memory.content, is_new=False))
        elif memory := _memory(vault, user_id, each, source, said_at, now):
            new.append(memory)
            kept.append(Kept(memory.id, memory.type, memory.content))
    if not new:
        return KeptOfTurn(tuple(kept), (), tuple(reinforced.values()))
    changes = tuple(FileChange(_path(user_id, memory), None, memories.encode(memory).encode()) for memory in new)
    over, expired = overflow_drafts(vault, user_id, len(new))
    drafts = (Draft(_message(user_id, new, source), ASSISTANT, changes), *over)
    gone = {change.path for draft in over for change in draft.changes}
    left = tuple(change for change in reinforced.values() if change.path not in gone)
    return KeptOfTurn(tuple(kept), drafts, left, expired)


def count_kept(kept: Iterable[Kept]) -> None:
    """Count what is written by now as made by this process."""
    for each in kept:
        if each.is_new:
            session.count_created()


def _is_said_in(content: str, known: str) -> bool:
    """Whether a text that is known already says all of this, or most of it. `known` is as `comparable` has it."""
    said = comparable(content)
    return said in known or (known in said and len(known) >= _MOSTLY * len(said))


def _memory(
    vault: Vault, user_id: str, said: Memorable, source: str, said_at: datetime, now: datetime
) -> Memory | None:
    """The memory of what was said; None where its words may not be kept."""
    try:
        made = memories.new_memory(
            memory_id(memories.SAID_PREFIX, said_at),
            said.content,
            said.kind,
            now,
            importance=said.importance,
            ttl_days=memories.SAID_TTL_DAYS,
            source=source,
        )
        made, _ = without_secrets(replace(made, created_at=said_at, said_on=(said_at.date().isoformat(),)))
    except UsageError:
        return None
    is_secret = secrets_added(_path(user_id, made), [None], memories.encode(made).encode())
    return None if is_secret else made


def _known_memory(vault: Vault, user_id: str, content: str) -> MemoryFile | None:
    """The active memory with this content, but for script, case and width; None, too, while the index cannot tell."""
    terms = tokens.query_terms(content).search_terms
    if not terms or not vault.is_user(user_id):
        return None
    at = vault.now()
    only = Filter(kinds=("memory",), at=at.timestamp())
    try:
        reconcile(vault, user_id)
        found = vault.index(user_id).search(tokens.QueryTerms(terms, ()), None, only, _LOOKED_AT)
    except (Busy, IndexUnusable):
        return None
    for source in dict.fromkeys(chunk.source for chunk in found.chunks):
        file = read_memory(vault, user_id, source)
        if file and same(file.memory.content, content) and not file.memory.is_past(at):
            return file
    return None


def _path(user_id: str, memory: Memory) -> PurePosixPath:
    return layout.user_dir(user_id) / memories.source_of(memory)


def _message(user_id: str, new: Sequence[Memory], source: str) -> str:
    if len(new) == 1:
        subject = f"memories({user_id}): add {new[0].type} {new[0].title}"
        return trailers.render(subject, "", Trailers(user=user_id, source=source, memory=new[0].id))
    head = trailers.render(f"memories({user_id}): add {len(new)} memories").rstrip("\n")
    listed = "\n".join(trailers.single_line(f"- {each.type} {each.title}") for each in new)
    ids = "".join(f"{trailers.KEYS['memory']}: {each.id}\n" for each in new)
    return f"{head}\n\n{listed}\n\n{trailers.KEYS['user']}: {user_id}\n{trailers.KEYS['source']}: {source}\n{ids}"
