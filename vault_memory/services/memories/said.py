"""What a turn says that is worth a memory (`core.memorable`) becomes a memory of some days, in the words of its person.
Said again, it is reinforced; what is taken back goes by `services.forgetting`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath
from typing import Literal

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memorable import Memorable, compared, says_what_is_instead, still_so
from vault_memory.core.memories import Memory
from vault_memory.core.privacy import secrets_added
from vault_memory.core.text import comparable
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories.expire import overflow_drafts
from vault_memory.services.memories.files import MemoryFile
from vault_memory.services.memories.reinforce import reinforcement
from vault_memory.services.memories.similar import told_otherwise
from vault_memory.services.memories.store import memory_id, without_secrets
from vault_memory.services.vault import Vault

_MOSTLY = 0.6
"""A memory of which so much is known already says nothing new."""


@dataclass(frozen=True)
class Kept:
    """A memory that a turn has left behind, let live on, or taken back: what `became` of it. Of one of which a part was
    forgotten, `content` is that part, and `stays` what the memory says now; of one that takes the place of a part of
    others, `stays` is the rest of these, which is kept as a memory of its own. `is_more`: that says more than was to be
    forgotten, which could not be told apart, and all of it went."""

    id: str
    type: str
    content: str
    became: Literal["remembered", "reinforced", "forgotten"] = "remembered"
    stays: str = ""
    is_more: bool = False

    def summary(self) -> str:
        """It in words, as commands and logs say it."""
        return f"{self.type}: {self.in_words()}"

    def in_words(self) -> str:
        """Its content, and what stays of it, or that more went than was named."""
        more = (
            "; it says more than you named, and all of it went, for the two could not be told apart "
            "(`vault-memory undo` brings it back from git)"
        )
        return self.content + (more if self.is_more else "") + (f"; what stays: {self.stays}" if self.stays else "")


@dataclass(frozen=True)
class KeptOfTurn:
    """What a turn's memories change: `drafts` are their commit and that of what had to go for them (`expired`, ids);
    `reinforced` are notes that change along with the logs. `not_found` says in words what was to be forgotten and is
    in no memory that may go; `left` which memories say it still, beside those that go."""

    memories: tuple[Kept, ...] = ()
    drafts: tuple[Draft, ...] = ()
    reinforced: tuple[FileChange, ...] = ()
    expired: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def changed(self) -> frozenset[PurePosixPath]:
        """The files that the drafts change."""
        return frozenset(change.path for draft in self.drafts for change in draft.changes)

    def __add__(self, later: KeptOfTurn) -> KeptOfTurn:
        """Both; what goes later does not live on."""
        left = tuple(change for change in self.reinforced if change.path not in later.changed)
        both = (self.memories + later.memories, self.drafts + later.drafts, left + later.reinforced)
        told = (self.expired + later.expired, self.not_found + later.not_found, self.left + later.left)
        return KeptOfTurn(*both, *told)


NOTHING_KEPT = KeptOfTurn()


def keep_said(
    vault: Vault,
    user_id: str,
    said: Sequence[Memorable],
    source: str,
    said_at: datetime,
    known: Iterable[str],
    forgotten: Collection[PurePosixPath] = (),
) -> KeptOfTurn:
    """Plan the memories of a turn: what it `said` on the line `source` of the record, at that time in the person's time
    zone. They live from now on.

    What the profile has is not kept twice: what is `known` there, in the person's words or as a note. What a memory
    says already, in other words too, lets that one live on; what contradicts it takes its place, and what is still so
    of that one is kept as a memory of its own. What only ends something is kept where a memory says that. Of the files
    that the same turn has `forgotten` none lives on, and nothing takes the place of one. Secrets and private facts stay
    out. One commit for all. The caller holds the user's lock, and writes.
    """
    now = vault.now().astimezone(vault.config.zone())
    at = min(said_at, now.astimezone(said_at.tzinfo))
    held = [comparable(text) for text in known]
    new: dict[str, Memory] = {}
    again: dict[str, Kept] = {}
    renewed: dict[str, FileChange] = {}
    replaced: dict[str, list[tuple[Memory, FileChange]]] = {}
    for each in said:
        if any(_is_said_in(each.content, text) for text in held):
            continue
        for memory in list(new.values()):  # «I hate durian. Actually I love it now»
            is_over = compared(each.content, memory.content) == "replaces"
            rest = still_so(memory.content, each.content) if is_over else None
            if rest == "":
                del new[memory.id]
                replaced.pop(memory.id, None)
            elif rest:
                new[memory.id] = memories.with_less(memory, rest)
        known_as, gone = told_otherwise(vault, user_id, each.content, each.kind)
        over = [old for old in gone if place_of(user_id, old) not in forgotten]
        if known_as and place_of(user_id, known_as) not in forgotten:
            change = reinforcement(vault, user_id, known_as.source, now, at.date())
            if change and known_as.source not in renewed:
                renewed[known_as.source] = change
                again[known_as.source] = Kept(
                    known_as.memory.id, known_as.memory.type, known_as.memory.content, "reinforced"
                )
        elif each.is_only_a_change and not (over or (gone and says_what_is_instead(each.content))):
            pass  # nothing is known that it ends, or only what is forgotten
        elif any(_last_said(old.memory) > at for old in gone):
            pass  # a turn that comes late: what was said since then holds
        elif any(
            memory.type == each.kind and compared(each.content, memory.content) == "same" for memory in new.values()
        ):
            pass
        elif made := _memory(vault, user_id, each, source, said_at, now):
            taken = [(old.memory, change) for old in over if (change := _succeeded(vault, user_id, old, made.id))]
            new[made.id] = _in_place_of(made, [old for old, _ in taken])
            replaced[made.id] = taken
    successions = {change.path: change for taken in replaced.values() for _, change in taken}
    folder = layout.user_dir(user_id)
    stays = [kept for place, kept in again.items() if folder / place not in successions]
    alive = KeptOfTurn(tuple(stays), (), tuple(change for change in renewed.values() if change.path not in successions))
    if not new:
        return alive
    going = {each: [old for old, _ in taken] for each, taken in replaced.items()}
    rests = {each: _rests(vault, user_id, going, each, new) for each in going}
    written = [*new.values(), *(rest for each in rests.values() for rest in each)]
    notes = [FileChange(_path(user_id, memory), None, memories.encode(memory).encode()) for memory in written]
    # Too many is one for the next turn, where some go anyway: it may be the same one.
    full, expired, _ = overflow_drafts(vault, user_id, [] if successions else notes, is_told=False)
    verb = "replace" if successions and len(written) == 1 else "add"
    message = message_of(user_id, verb, written, source)
    drafts = (Draft(message, ASSISTANT, (*notes, *successions.values())), *full)
    added = tuple(
        Kept(each.id, each.type, each.content, stays="; ".join(rest.content for rest in rests.get(each.id, ())))
        for each in new.values()
    )
    return alive + KeptOfTurn(added, drafts, (), expired)


def place_of(user_id: str, file: MemoryFile) -> PurePosixPath:
    """Where a memory's file lies in the vault."""
    return layout.user_dir(user_id) / file.source


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
        at = min(said_at, now)  # a clock may be wrong
        began = now if at.date() < now.astimezone(at.tzinfo).date() else None  # its days count from then on
        made = replace(made, created_at=at, said_on=(at.date().isoformat(),), reinforced_at=began)
        made, _ = without_secrets(made)
    except UsageError:
        return None
    is_secret = secrets_added(_path(user_id, made), [None], memories.encode(made).encode())
    return None if is_secret else made


def _in_place_of(memory: Memory, old: Sequence[Memory]) -> Memory:
    """The memory with those whose place it takes: it lasts if one of them does."""
    if not old:
        return memory
    lasts = any(each.expires_at is None for each in old)
    supersedes = ", ".join(each.id for each in old)
    return replace(memory, supersedes=supersedes, expires_at=None if lasts else memory.expires_at)


def _rests(
    vault: Vault, user_id: str, going: Mapping[str, Sequence[Memory]], successor: str, new: Mapping[str, Memory]
) -> list[Memory]:
    """Of memories whose place one takes, what is still so after all `new` ones, each as a memory of its own that lives
    as long as the old one; not what a memory says already that is not `going` itself."""
    gone = {memory.id for olds in going.values() for memory in olds}
    found: list[Memory] = []
    for memory in going[successor]:
        rest = memory.content
        for each in new.values():
            left = still_so(rest, each.content)
            rest = rest if left is None else left
        known, _ = told_otherwise(vault, user_id, rest, memory.type)
        if rest in ("", memory.content) or (known and known.memory.id not in gone):
            continue
        made = memory_id(memories.prefix_of(memory.id), memory.created_at or vault.now())
        part = memories.with_less(memory, rest)
        found.append(replace(part, id=made, supersedes=memory.id, superseded_by=None))
    return found


def _last_said(memory: Memory) -> datetime:
    """When a memory was said, the last time by its days."""
    made = memory.created_at or datetime.min.replace(tzinfo=UTC)
    days = [datetime.combine(date.fromisoformat(day), time.min, made.tzinfo) for day in memory.said_on[-1:]]
    return max([made, *days])


def _succeeded(vault: Vault, user_id: str, file: MemoryFile, successor: str) -> FileChange | None:
    """The change of a note that says which memory takes its place; None for one that holds an edit of its person's
    which is in no commit, or that cannot be read."""
    path = place_of(user_id, file)
    if not vault.history.is_kept(path, file.stored):
        return None
    try:
        text = memories.with_properties(file.text, file.memory, replace(file.memory, superseded_by=successor))
    except UsageError:
        return None
    return FileChange(path, file.stored, text.encode("utf-8", "surrogateescape"))


def _path(user_id: str, memory: Memory) -> PurePosixPath:
    return layout.user_dir(user_id) / memories.source_of(memory)


def message_of(user_id: str, verb: str, changed: Sequence[Memory], source: str) -> str:
    """The message of a commit that adds or forgets memories, because of the turn on the line `source`."""
    if len(changed) == 1:
        subject = f"memories({user_id}): {verb} {changed[0].type} {changed[0].heading}"
        return trailers.render(subject, "", Trailers(user=user_id, source=source or None, memory=changed[0].id))
    head = trailers.render(f"memories({user_id}): {verb} {len(changed)} memories").rstrip("\n")
    listed = "\n".join(trailers.single_line(f"- {each.type} {each.heading}") for each in changed)
    named = [("user", user_id), ("source", source), *(("memory", each.id) for each in changed)]
    lines = "".join(f"{trailers.KEYS[key]}: {trailers.single_line(value)}\n" for key, value in named if value)
    return f"{head}\n\n{listed}\n\n{lines}"
