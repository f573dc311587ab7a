"""Storing a typed memory: one note, one commit."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.privacy import places, redact, secrets_added, without_private
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories.expire import overflow_drafts
from vault_memory.services.memories.files import MemoryFile, read_memory
from vault_memory.services.memories.statistics import note_in_session
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

IMPORTANT = 0.7
"""The importance of what somebody asked to be remembered."""

_LEFT_OUT = re.compile(r"\[(?:redacted: [\w-]+|private)\]")


@dataclass(frozen=True)
class Stored:
    """A stored memory. `id` is empty for a user who is off the record: nothing is kept. `redactions` counts what was
    kept out of it, by category; `expired` are the ids of memories that had to go for it; `paused` says why its commit
    waits, `degraded` what could not be used."""

    id: str
    commits: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    expired: tuple[str, ...] = ()
    paused: str | None = None
    degraded: tuple[str, ...] = ()


def store_memory(
    vault: Vault,
    user_id: str,
    content: str,
    memory_type: str = "insight",
    skill_id: str | None = None,
    importance: float = memories.DEFAULT_IMPORTANCE,
    ttl_days: float | None = 7,
    metadata: Mapping[str, Any] | None = None,
    *,
    title: str = "",
    tags: Sequence[str] = (),
    source: str = "",
    prefix: str = "mem",
) -> str:
    """Store a memory and return its id; "" for a user who is off the record. It lives `ttl_days` (at least 1; None: for
    good). `metadata` are further flat properties; `source` says where it comes from. Raises `UsageError`, which names
    the value that is wrong or may not be kept, `InvalidId`, `Busy`, and what the disk and git raise."""
    memory = draft(
        vault,
        content,
        memory_type,
        skill_id,
        importance,
        ttl_days,
        metadata,
        title=title,
        tags=tags,
        source=source,
        prefix=prefix,
    )
    return store(vault, user_id, memory).id


def draft(
    vault: Vault,
    content: str,
    memory_type: str,
    skill_id: str | None = None,
    importance: float = memories.DEFAULT_IMPORTANCE,
    ttl_days: float | None = None,
    metadata: Mapping[str, Any] | None = None,
    *,
    title: str = "",
    tags: Sequence[str] = (),
    source: str = "",
    prefix: str = "mem",
) -> Memory:
    """A memory of now, with a new id, for `store`. Raises `UsageError`, which names the value that is wrong."""
    now = vault.now().astimezone(vault.config.zone())
    return memories.new_memory(
        memory_id(prefix, now),
        content,
        memory_type,
        now,
        importance=importance,
        ttl_days=ttl_days,
        skill_id=skill_id,
        title=title,
        tags=tags,
        source=source,
        metadata=metadata,
    )


def remember(vault: Vault, user_id: str, content: str, importance: float = IMPORTANT) -> str:
    """Remember a fact for good, because somebody asked for it; `store_memory` otherwise."""
    return store_memory(vault, user_id, content, "fact", importance=importance, ttl_days=None)


def memory_id(prefix: str, at: datetime) -> str:
    """A new id that no other process makes at the same time."""
    return memories.new_id(prefix, at, secrets.token_hex(4))


def store(
    vault: Vault, user_id: str, memory: Memory, *, author: Author = ASSISTANT, replacing: MemoryFile | None = None
) -> Stored:
    """Store a memory, without the secrets and private facts in it; `replacing` is the note of the one whose place it
    takes. Raises what `store_memory` raises."""
    layout.check_user_id(user_id)
    if vault.config.is_off_record(user_id):
        return Stored("")
    memory, redactions = without_secrets(memory)
    path = layout.user_dir(user_id) / memories.FOLDER / memories.file_name(memory)
    note = memories.encode(memory).encode()
    if found := secrets_added(path, [None], note):
        raise UsageError(f"the memory would hold what looks like a secret ({places(found)}): say it without")
    subject = f"memories({user_id}): {'replace' if replacing else 'add'} {memory.type} {memory.title}"
    named = Trailers(user=user_id, source=memory.source or None, memory=memory.id)
    message = trailers.render(subject, "", named)

    def decide() -> Plan[tuple[str, ...]]:
        changes = [FileChange(path, None, note)]
        if replacing:
            changes.append(_with_successor(vault, user_id, replacing, memory.id))
        over, expired = overflow_drafts(vault, user_id, 0 if replacing else 1)
        return Plan(expired, [Draft(message, author, tuple(changes)), *over])

    paths = [path, *([layout.user_dir(user_id) / replacing.source] if replacing else [])]
    written = write(vault, user_id, paths, decide)
    note_in_session(vault, user_id, created=1)
    degraded = [f"index: {written.index_problem}"] if written.index_problem else []
    return Stored(memory.id, written.commits, redactions, written.result, written.paused, tuple(degraded))


def _with_successor(vault: Vault, user_id: str, file: MemoryFile, successor: str) -> FileChange:
    """The change of a note that says which memory takes its place."""
    now = read_memory(vault, user_id, file.source)
    if now is None or now.memory.superseded_by is not None:
        by = f"replaced by {now.memory.superseded_by}: replace that one" if now else "gone"
        raise UsageError(f"the memory {file.memory.id} is {by}")
    text = memories.with_properties(now.text, now.memory, replace(now.memory, superseded_by=successor))
    path = layout.user_dir(user_id) / now.source
    return FileChange(path, now.stored, text.encode("utf-8", "surrogateescape"))


def without_secrets(memory: Memory) -> tuple[Memory, Mapping[str, int]]:
    """The memory without secrets and private facts, and their number by category. Raises `UsageError` where nothing
    else is in it."""
    counts: Counter[str] = Counter()

    def kept(value: Any) -> Any:
        if isinstance(value, list):
            return [kept(each) for each in value]
        return public(value, counts) if isinstance(value, str) else value

    content = kept(memory.content)
    if counts and not any(map(str.isalnum, _LEFT_OUT.sub("", content))):
        raise UsageError(
            f"nothing of this may be a memory: it is private ({', '.join(counts)}); what is said in a conversation "
            "stays in its record"
        )
    tags, metadata = tuple(map(kept, memory.tags)), {kept(key): kept(value) for key, value in memory.metadata.items()}
    left_out = dict(counts)  # the title is mostly the beginning of the content, and would count twice
    return replace(memory, content=content, title=kept(memory.title), tags=tags, metadata=metadata), left_out


def public(text: str, left_out: Counter[str]) -> str:
    """The text without secrets and private facts, whose number by category is added to `left_out`."""
    said, private = without_private(text)
    redacted = redact(said)
    left_out.update(private)
    left_out.update(redacted.counts)
    return redacted.text
