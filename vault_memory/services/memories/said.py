"""What a turn says that is worth a memory (`core.memorable`) becomes a memory of some days, in the words of its person.
Said again, it is reinforced; taken back, it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memorable import Forget, Memorable, compared
from vault_memory.core.memories import Memory
from vault_memory.core.privacy import secrets_added
from vault_memory.core.ranking import Filter
from vault_memory.core.text import comparable, tokens
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Busy, IndexUnusable, UsageError
from vault_memory.services.memories.expire import overflow_drafts
from vault_memory.services.memories.files import MemoryFile, memory_rows, read_memory
from vault_memory.services.memories.reinforce import reinforcement
from vault_memory.services.memories.similar import memories_about, read_index, told_otherwise
from vault_memory.services.memories.store import memory_id, without_secrets
from vault_memory.services.vault import Vault

_MOSTLY = 0.6
"""A memory of which so much is known already says nothing new."""
_LOOKED_AT = 24
"""So many memories are compared with what is to be forgotten: its words find the same words first."""


@dataclass(frozen=True)
class Kept:
    """A memory that a turn has left behind, let live on, or taken back: what `became` of it. Of one of which a part was
    forgotten, `content` is that part, and `stays` what the memory says now."""

    id: str
    type: str
    content: str
    became: Literal["remembered", "reinforced", "forgotten"] = "remembered"
    stays: str = ""

    def summary(self) -> str:
        """It in words, as commands and logs say it."""
        return f"{self.type}: {self.in_words()}"

    def in_words(self) -> str:
        """Its content, and what stays of it."""
        return self.content + (f"; what stays: {self.stays}" if self.stays else "")


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

    def __add__(self, later: KeptOfTurn) -> KeptOfTurn:
        """Both; what goes later does not live on."""
        gone = {change.path for draft in later.drafts for change in draft.changes}
        left = tuple(change for change in self.reinforced if change.path not in gone)
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
) -> KeptOfTurn:
    """Plan the memories of a turn: what it `said` on the line `source` of the record, at that time in the person's time
    zone. They live from now on.

    What the profile has is not kept twice: what is `known` there, in the person's words or as a note. What a memory
    says already, in other words too, lets that one live on; what contradicts it takes its place. What only ends
    something is kept where a memory says that. Secrets and private facts stay out. One commit for all. The caller
    holds the user's lock, and writes.
    """
    now = vault.now().astimezone(vault.config.zone())
    at = min(said_at, now.astimezone(said_at.tzinfo))
    held = [comparable(text) for text in known]
    new: dict[str, Memory] = {}
    again: dict[str, Kept] = {}
    renewed: dict[str, FileChange] = {}
    replaced: dict[str, list[FileChange]] = {}
    for each in said:
        if any(_is_said_in(each.content, text) for text in held):
            continue
        for memory in list(new.values()):  # «I hate durian. Actually I love it now»
            if compared(each.content, memory.content) == "replaces":
                del new[memory.id]
                replaced.pop(memory.id, None)
        known_as, gone = told_otherwise(vault, user_id, each.content, each.kind)
        if known_as:
            change = reinforcement(vault, user_id, known_as.source, now, at.date())
            if change and known_as.source not in renewed:
                renewed[known_as.source] = change
                again[known_as.source] = Kept(
                    known_as.memory.id, known_as.memory.type, known_as.memory.content, "reinforced"
                )
        elif each.is_only_a_change and not gone:
            pass  # nothing is known that it ends
        elif any(_last_said(old.memory) > at for old in gone):
            pass  # a turn that comes late: what was said since then holds
        elif any(
            memory.type == each.kind and compared(each.content, memory.content) == "same" for memory in new.values()
        ):
            pass
        elif made := _memory(vault, user_id, each, source, said_at, now):
            taken = [(old.memory, _succeeded(vault, user_id, old, made.id)) for old in gone]
            new[made.id] = _in_place_of(made, [old for old, change in taken if change])
            replaced[made.id] = [change for _, change in taken if change]
    successions = {change.path: change for each in replaced.values() for change in each}
    folder = layout.user_dir(user_id)
    stays = [kept for place, kept in again.items() if folder / place not in successions]
    alive = KeptOfTurn(tuple(stays), (), tuple(change for change in renewed.values() if change.path not in successions))
    if not new:
        return alive
    notes = [FileChange(_path(user_id, memory), None, memories.encode(memory).encode()) for memory in new.values()]
    # Too many is one for the next turn, where some go anyway: it may be the same one.
    over, expired, _ = overflow_drafts(vault, user_id, [] if successions else notes, is_told=False)
    verb = "replace" if successions and len(new) == 1 else "add"
    message = _message(user_id, verb, list(new.values()), source)
    drafts = (Draft(message, ASSISTANT, (*notes, *successions.values())), *over)
    added = tuple(Kept(memory.id, memory.type, memory.content) for memory in new.values())
    return alive + KeptOfTurn(added, drafts, (), expired)


def forget_said(
    vault: Vault,
    user_id: str,
    asked: Sequence[Forget],
    turn_before: tuple[str, datetime] | None,
    source: str,
    *,
    said_until: datetime | None = None,
) -> KeptOfTurn:
    """Plan that memories of conversations go: those that a person has `asked` to be forgotten, and those of the turn
    before (its line and its time), if that is taken back. `source` is the line that asks for it. What was said after
    `said_until` stays.

    Of several that a request fits those go that say just that, if there are such; of one that says something else, too,
    only the part that is meant. One commit for all; git's history keeps them. What a person has stored, or edited and
    not committed, stays. The caller holds the user's lock, and writes.
    """
    if not vault.is_user(user_id):
        return NOTHING_KEPT
    going: dict[str, _Going] = {}
    rest: dict[str, MemoryFile] = {}
    missed: list[str] = []
    try:
        if turn_before:
            going |= {file.source: _Going(file).whole() for file in _of_turn(vault, user_id, *turn_before)}
        for each in asked:
            meant = _meant(vault, user_id, each, said_until)
            gone = [file for file in meant.fitting if _may_go(vault, user_id, file)]
            going |= {file.source: going.get(file.source, _Going(file)).without(each) for file in gone}
            if gone:
                rest |= {file.source: file for file in meant.saying}
            else:
                missed.append(_why_kept(each, meant))
    except (Busy, IndexUnusable) as error:  # `memory delete` is left
        return KeptOfTurn(not_found=(f"the memories could not be searched ({error}): `vault-memory memory delete`",))
    going = {
        source: each
        for source, each in going.items()
        if vault.history.is_kept(_place(user_id, each.file), each.file.stored)
        and not _is_later(each.file.memory, said_until)
    }
    if not going:
        return KeptOfTurn(not_found=tuple(missed))
    changes = [change for each in going.values() for change in _forgetting(user_id, each)]
    message = _message(user_id, "forget", [each.file.memory for each in going.values()], source)
    draft = Draft(message, ASSISTANT, tuple(changes))
    kept = tuple(each.kept() for each in going.values())
    return KeptOfTurn(
        kept,
        (draft,),
        not_found=tuple(missed),
        left=_still_said([file for source, file in rest.items() if source not in going]),
    )


def is_forgotten_by(asked: Sequence[Forget], memories_of_turn: Sequence[Kept]) -> Callable[[str], bool]:
    """Tells of a sentence whether these requests mean it, beside the memories that go for them: of one that says more
    than is asked for, only where no memory says just that."""
    gone = [each.content for each in memories_of_turn if each.became == "forgotten"]
    least = [(each, max(map(each.fits, gone), default=0) or 1) for each in asked]
    return lambda sentence: any(each.fits(sentence) >= fit for each, fit in least)


def _of_turn(vault: Vault, user_id: str, line: str, at: datetime) -> list[MemoryFile]:
    """The memories that the turn on a line of the record, of that time, has left behind."""
    prefix = f"{memories.SAID_PREFIX}_{int(at.timestamp() * 1000)}_"
    rows = [row for row in memory_rows(vault, user_id) if row.memory_id.startswith(prefix)]
    files = (read_memory(vault, user_id, row.source) for row in rows)
    return [file for file in files if file and file.memory.source == line]


@dataclass(frozen=True)
class _Going:
    """A memory of which something goes: what so far, and what is `left` of it (None: nothing was taken yet)."""

    file: MemoryFile
    gone: tuple[str, ...] = ()
    left: str | None = None

    @property
    def content(self) -> str:
        return self.file.memory.content if self.left is None else self.left

    def whole(self) -> _Going:
        return replace(self, gone=(*self.gone, self.content), left="")

    def without(self, asked: Forget) -> _Going:
        cut = asked.cut(self.content)
        return replace(self, gone=(*self.gone, cut.gone), left=cut.left) if self.content and cut.fit else self

    def kept(self) -> Kept:
        memory = self.file.memory
        return Kept(memory.id, memory.type, "; ".join(self.gone), "forgotten", self.left or "")


class _Meant(NamedTuple):
    """The active memories that a request fits (`fitting`: those alone that fit best), those that it fits if its capital
    means nothing, and all that say what it names."""

    fitting: list[MemoryFile]
    doubted: list[MemoryFile]
    saying: list[MemoryFile]


def _meant(vault: Vault, user_id: str, asked: Forget, said_until: datetime | None) -> _Meant:
    about = memories_about(vault, user_id, asked.what if asked.is_said else f"I like {asked.what}")
    found = {file.source: file for file in (*_alike(vault, user_id, asked.what), *about)}
    alike = [file for file in found.values() if not _is_later(file.memory, said_until)]
    doubted = [file for file in alike if asked.is_in_doubt(file.memory.content)]
    sure = [(asked.cut(file.memory.content).fit, file) for file in alike if file not in doubted]
    best = max((fit for fit, _ in sure), default=0)
    fitting = [file for fit, file in sure if 0 < best == fit]
    return _Meant(fitting, doubted, [file for _, file in sure if asked.is_said_in(file.memory.content)])


def _forgetting(user_id: str, going: _Going) -> list[FileChange]:
    """The changes of files with which a memory goes, or a part of it: its title and the name of its file say no more
    than is left either."""
    file, left = going.file, going.left
    path = _place(user_id, file)
    if not left:
        return [FileChange(path, file.stored, None)]
    after = memories.with_less(file.memory, left)
    text = memories.with_content(file.text, file.memory, after).encode("utf-8", "surrogateescape")
    is_named = path.name == memories.file_name(file.memory)
    place = path.with_name(memories.file_name(after)) if is_named else path
    if place == path:
        return [FileChange(path, file.stored, text)]
    return [FileChange(path, file.stored, None), FileChange(place, None, text)]


def _still_said(files: Sequence[MemoryFile]) -> tuple[str, ...]:
    """Which memories say what was forgotten, too, and the next step."""
    if not files:
        return ()
    said = "; ".join(file.memory.heading for file in files)
    ids = " ".join(file.memory.id for file in files)
    return (f"still said elsewhere: {said} (`vault-memory memory delete {ids}` deletes it)",)


def _may_go(vault: Vault, user_id: str, file: MemoryFile) -> bool:
    """Whether a memory is of a conversation, without an edit of its person's that is in no commit."""
    return memories.is_of_conversation(file.memory) and vault.history.is_kept(_place(user_id, file), file.stored)


def _is_later(memory: Memory, said_until: datetime | None) -> bool:
    return bool(said_until and memory.created_at and memory.created_at > said_until)


def _why_kept(asked: Forget, meant: _Meant) -> str:
    """Why nothing goes, and the next step."""
    if asked.is_everything:
        return (
            "not forgotten: a sentence deletes no more than it names (`vault-memory memory delete` deletes by words or "
            "type, `pref unset` a value of the profile)"
        )
    found = meant.fitting or meant.doubted
    if not found:
        return f"nothing found to forget: {asked.words} (`vault-memory memory list` and `pref list` show what is kept)"
    why = "you stored or edited it yourself" if meant.fitting else "its capital letter may make it something else"
    ids = " ".join(file.memory.id for file in found)
    content = found[0].memory.content
    return f"not forgotten, because {why}: {content} (`vault-memory memory delete {ids}` deletes it)"


def _place(user_id: str, file: MemoryFile) -> PurePosixPath:
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


def _last_said(memory: Memory) -> datetime:
    """When a memory was said, the last time by its days."""
    made = memory.created_at or datetime.min.replace(tzinfo=UTC)
    days = [datetime.combine(date.fromisoformat(day), time.min, made.tzinfo) for day in memory.said_on[-1:]]
    return max([made, *days])


def _alike(vault: Vault, user_id: str, text: str) -> list[MemoryFile]:
    """The active memories that share most words with a text."""
    terms, at = tokens.query_terms(text).search_terms, vault.now()
    if not terms:
        return []
    only = Filter(kinds=("memory",), at=at.timestamp())
    index = read_index(vault, user_id)
    chunks = index.search(tokens.QueryTerms(terms, ()), None, only, _LOOKED_AT).chunks
    files = (read_memory(vault, user_id, source) for source in dict.fromkeys(chunk.source for chunk in chunks))
    return [file for file in files if file and not file.memory.is_past(at)]


def _succeeded(vault: Vault, user_id: str, file: MemoryFile, successor: str) -> FileChange | None:
    """The change of a note that says which memory takes its place; None for one that holds an edit of its person's
    which is in no commit, or that cannot be read."""
    path = _place(user_id, file)
    if not vault.history.is_kept(path, file.stored):
        return None
    try:
        text = memories.with_properties(file.text, file.memory, replace(file.memory, superseded_by=successor))
    except UsageError:
        return None
    return FileChange(path, file.stored, text.encode("utf-8", "surrogateescape"))


def _path(user_id: str, memory: Memory) -> PurePosixPath:
    return layout.user_dir(user_id) / memories.source_of(memory)


def _message(user_id: str, verb: str, changed: Sequence[Memory], source: str) -> str:
    """The message of a commit that adds or forgets memories, because of the turn on the line `source`."""
    if len(changed) == 1:
        subject = f"memories({user_id}): {verb} {changed[0].type} {changed[0].heading}"
        return trailers.render(subject, "", Trailers(user=user_id, source=source or None, memory=changed[0].id))
    head = trailers.render(f"memories({user_id}): {verb} {len(changed)} memories").rstrip("\n")
    listed = "\n".join(trailers.single_line(f"- {each.type} {each.heading}") for each in changed)
    named = [("user", user_id), ("source", source), *(("memory", each.id) for each in changed)]
    lines = "".join(f"{trailers.KEYS[key]}: {trailers.single_line(value)}\n" for key, value in named if value)
    return f"{head}\n\n{listed}\n\n{lines}"
