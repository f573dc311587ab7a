"""Storing a typed memory: one note, one commit."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.privacy import places, redact, secrets_added, without_private
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Busy, IndexUnusable, UsageError
from vault_memory.services.memories.expire import Overflow, overflow_drafts
from vault_memory.services.memories.files import MemoryFile, memory_rows, read_memory
from vault_memory.services.memories.reinforce import renew
from vault_memory.services.memories.similar import Asked, Question, Similar, Verdict, ask, judged
from vault_memory.services.memories.statistics import note_in_session
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, Written, add_notes, write

IMPORTANT = 0.7
"""The importance of what somebody asked to be remembered."""

MAX_ROUNDS = 20
"""So often is looked again where others store memories meanwhile, or the language model has answered."""
_KEEP_IT_YOURSELF = (
    "vault-memory never writes it down, whoever asks. What is said in a conversation stays in its record. To keep it "
    "all the same write it yourself: a text in the user's folder of memories (memory/ID/memories/NAME.md) is a memory; "
    "git, a sync and every prompt that recalls it have it then"
)
"""What a person can do who wants a private fact kept: the notes are theirs."""
_LEFT_OUT = re.compile(r"\[(?:redacted: [\w-]+|private)\]")


@dataclass(frozen=True)
class Stored:
    """A stored memory. `id` is empty where nothing was stored: for a user who is off the record, and where memories are
    `similar` and a person is to decide. `reinforced`: the same memory was there, has the `id`, and lives on. `merged`
    are the ids of those that it was merged with. `redactions` counts what was kept out of it, by category; `expired`
    are the ids of memories that had to go, its own where all others matter more;
    `paused` says why its commit waits, `degraded` what could not be used."""

    id: str
    commits: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    expired: tuple[str, ...] = ()
    paused: str | None = None
    degraded: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    merged: tuple[str, ...] = ()
    reinforced: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "id": self.id,
            "commits": list(self.commits),
            "redactions": dict(self.redactions),
            "expired": list(self.expired),
            "paused": self.paused,
            "degraded": list(self.degraded),
            "similar": [each.as_dict() for each in self.similar],
            "merged": list(self.merged),
            "reinforced": self.reinforced,
        }


@dataclass(frozen=True)
class StoredAll:
    """What became of many memories: the `ids` of those that were stored, of those that were `known` already, and why
    others were `refused`, by id; the rest as in `Stored`. All is empty for a user who is off the record."""

    ids: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    commits: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    expired: tuple[str, ...] = ()
    paused: str | None = None
    degraded: tuple[str, ...] = ()


class MemoryId(str):
    """The id of a stored memory, a text; "" where nothing was stored. `stored` says more: why not, and what is
    similar."""

    stored: Stored

    def __new__(cls, stored: Stored) -> MemoryId:
        made = super().__new__(cls, stored.id)
        made.stored = stored
        return made

    def __getnewargs__(self) -> tuple[Stored]:  # type: ignore[override]  # a text's own are its characters
        return (self.stored,)


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
    force_save: bool = False,
) -> MemoryId:
    """Store a memory and return its id. It lives `ttl_days` (at least 1; None: for good). `metadata` are further flat
    properties; `source` says where it comes from.

    Where the same memory is there, that one lives on, and the id is its. Similar ones are told (`.stored.similar`): a
    program may go on without looking, so the memory is stored all the same, unless a language model merges the two.
    With `force_save` nobody looks for others. The id is "" for a user who is off the record. Raises `UsageError`, which
    names the value that is wrong or may not be kept, `InvalidId`, `Busy`, and what the disk and git raise.
    """
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
    stored = store(vault, user_id, memory, force_save=force_save)
    if stored.similar and not stored.id:
        kept = store(vault, user_id, memory, force_save=True)
        stored = replace(kept, similar=stored.similar, degraded=_once([*stored.degraded, *kept.degraded]))
    return MemoryId(stored)


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


def remember(
    vault: Vault, user_id: str, content: str, importance: float = IMPORTANT, *, force_save: bool = False
) -> MemoryId:
    """Remember a fact for good, because somebody asked for it; `store_memory` otherwise."""
    return store_memory(vault, user_id, content, "fact", None, importance, None, force_save=force_save)


def memory_id(prefix: str, at: datetime) -> str:
    """A new id that no other process makes at the same time."""
    return memories.new_id(prefix, at, secrets.token_hex(4))


def store(
    vault: Vault,
    user_id: str,
    memory: Memory,
    *,
    author: Author = ASSISTANT,
    replacing: MemoryFile | None = None,
    force_save: bool = False,
    unattended: bool = False,
) -> Stored:
    """Store a memory, without the secrets and private facts in it, unless it is kept already.

    The same memory, word for word, lives on instead. With similar ones nothing is stored, and the caller asks a person
    (`Stored.similar`); a language model may confirm a single one and merge both. With `force_save`, and for one that is
    `replacing` the memory in a note, nobody looks for others. `unattended`: no person can be asked; only the same
    memory is not stored, and nothing is merged. Raises what `store_memory` raises.
    """
    layout.check_user_id(user_id)
    if vault.config.is_off_record(user_id):
        return Stored("")
    memory, redactions = without_secrets(memory)
    asked = Asked()

    def now() -> Verdict | Question:
        if force_save or replacing:
            return Verdict()
        try:
            return judged(vault, user_id, memory, asked, unattended=unattended)
        except (Busy, IndexUnusable) as error:  # a memory is stored all the same
            asked.degraded.append(f"nobody looked for similar memories: {error}")
            return Verdict()

    for _ in range(MAX_ROUNDS):
        verdict = now()
        if isinstance(verdict, Question):
            ask(vault, memory, verdict, asked)
            continue
        told = Stored("", redactions=redactions, similar=tuple(each.similar for each in verdict.similar))
        if verdict.waits:
            return replace(told, degraded=_once(asked.degraded))
        old = verdict.same
        if old and not _outlives(memory, old.memory):
            lives = renew(vault, user_id, [old.source], at_once=not unattended)
            return replace(
                told,
                id=old.memory.id,
                commits=lives.commits,
                paused=lives.paused,
                reinforced=True,
                degraded=_once(asked.degraded),
            )
        new, said = memory, None
        if verdict.text:
            old = verdict.similar[0].file
            at = vault.now().astimezone(vault.config.zone())
            new = memories.merged(memory, old.memory, verdict.text, memory_id("mem", at), at)
            said = replace(memory, superseded_by=new.id)
        elif old := old or verdict.instead:
            lasts = memory.expires_at is None or old.memory.expires_at is None
            new = replace(memory, supersedes=old.memory.id, expires_at=None if lasts else memory.expires_at)

        def is_as_judged(was: Verdict = verdict) -> bool:
            return now() == was

        done = _write(vault, user_id, new, said, old or replacing, author, is_as_judged, is_told=not unattended)
        if done.result is None:  # others have stored what changes the verdict
            continue
        index = [f"index: {done.index_problem}"] if done.index_problem else []
        return replace(
            told,
            id=new.id,
            commits=done.commits,
            expired=done.result.gone,
            paused=done.paused,
            degraded=_once([*asked.degraded, *filter(None, [done.result.problem]), *index]),
            similar=() if verdict.text or verdict.same else told.similar,
            merged=(old.memory.id,) if verdict.text and old else (),
        )
    raise Busy(f"the memories of {layout.user_dir(user_id)} keep changing: try again")


def store_all(
    vault: Vault,
    user_id: str,
    found: Sequence[Memory],
    *,
    author: Author = ASSISTANT,
    dry_run: bool = False,
) -> StoredAll:
    """Store memories that were made at any time, without the secrets and private facts in them, whatever others are
    similar. Those whose id is known, past and archived ones too, stay as they are. One commit for up to 200 of them.
    With `dry_run` nothing is written. Raises what `store_memory` raises of the disk and git."""
    folder = layout.user_dir(layout.check_user_id(user_id))
    if vault.config.is_off_record(user_id):
        return StoredAll()
    counts: Counter[str] = Counter()
    refused: dict[str, str] = {}
    notes: dict[str, FileChange] = {}
    for each in found:
        try:
            kept, left_out = without_secrets(each)
            notes.setdefault(each.id, FileChange(folder / memories.source_of(kept), None, _note(folder, kept)))
            counts.update(left_out)
        except UsageError as error:
            refused[each.id] = str(error)

    def known_ids() -> set[str]:
        return {row.memory_id for row in memory_rows(vault, user_id, notes)} if vault.is_user(user_id) else set()

    def message(ids: Sequence[str]) -> str:
        count = "1 memory" if len(ids) == 1 else f"{len(ids):,} memories"
        return trailers.render(f"memories({user_id}): add {count}", "", Trailers(user=user_id))

    stays = ""

    def overflow(added: Sequence[FileChange]) -> tuple[Sequence[Draft], tuple[str, ...]]:
        nonlocal stays
        drafts, gone, stays = overflow_drafts(vault, user_id, added, is_told=True)
        return drafts, gone

    done = add_notes(vault, user_id, notes, known_ids, message, author, overflow=overflow, dry_run=dry_run)
    return StoredAll(
        ids=done.result.new,
        known=done.result.known,
        refused=refused,
        commits=done.commits,
        redactions=dict(counts),
        expired=() if dry_run else done.result.gone,
        paused=done.paused,
        degraded=tuple(filter(None, [stays, done.index_problem and f"index: {done.index_problem}"])),
    )


def _write(
    vault: Vault,
    user_id: str,
    new: Memory,
    said: Memory | None,
    old: MemoryFile | None,
    author: Author,
    is_as_judged: Callable[[], bool],
    *,
    is_told: bool,
) -> Written[Overflow | None]:
    """Commit the note of a new memory, that of what was said if the new one is a merge with it, and which memory takes
    the `old` one's place. The result is which memories had to go (`is_told`: whoever stores it reads that); None, and
    nothing is written, if the verdict is another one when the user's lock is held."""
    folder = layout.user_dir(user_id)
    notes = {folder / memories.source_of(each): _note(folder, each) for each in (new, said) if each}
    verb = "merge" if said else "replace" if old else "add"
    subject = f"memories({user_id}): {verb} {new.type} {new.heading}"
    message = trailers.render(subject, "", Trailers(user=user_id, source=new.source or None, memory=new.id))

    def decide() -> Plan[Overflow | None]:
        if not is_as_judged():
            return Plan(None)
        changes = [FileChange(path, None, note) for path, note in notes.items()]
        if old:
            changes.append(_with_successor(vault, user_id, old, new.id))
        over = overflow_drafts(vault, user_id, [] if old else changes, is_told=is_told)
        return Plan(over, [Draft(message, author, tuple(changes)), *over.drafts])

    # The next one who stores a memory looks for the same in the index.
    paths = [*notes, *([folder / old.source] if old else [])]
    done = write(vault, user_id, paths, decide, index_first=True)
    if done.result is not None:
        note_in_session(vault, user_id, created=1)
    return done


def _note(folder: PurePosixPath, memory: Memory) -> bytes:
    """The memory's note. Raises `UsageError` if it would hold a secret."""
    note = memories.encode(memory).encode()
    if found := secrets_added(folder / memories.source_of(memory), [None], note):
        raise UsageError(f"the memory would hold what looks like a secret ({places(found)}): say it without")
    return note


def _outlives(new: Memory, old: Memory) -> bool:
    """Whether the one is for good and the other is not."""
    return new.expires_at is None and old.expires_at is not None


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


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
    if counts and is_all_left_out(content):
        raise UsageError(f"nothing of this may be a memory: it is private ({', '.join(counts)}); {_KEEP_IT_YOURSELF}")
    said = {tag: kept(tag.replace("-", " ")) for tag in memory.tags}  # its blanks have become hyphens
    tags = tuple(tag for tag in memory.tags if said[tag] == tag.replace("-", " ") and kept(tag) == tag)
    metadata = {kept(key): kept(value) for key, value in memory.metadata.items()}
    left_out = dict(counts)  # the title is mostly the beginning of the content, and would count twice
    return replace(memory, content=content, title=kept(memory.title), tags=tags, metadata=metadata), left_out


def is_all_left_out(text: str) -> bool:
    """Whether nothing is left of what `public` was given."""
    return not any(map(str.isalnum, _LEFT_OUT.sub("", text)))


def public(text: str, left_out: Counter[str]) -> str:
    """The text without secrets and private facts, whose number by category is added to `left_out`."""
    said, private = without_private(text)
    redacted = redact(said)
    left_out.update(private)
    left_out.update(redacted.counts)
    return redacted.text
