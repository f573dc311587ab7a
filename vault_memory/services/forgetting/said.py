"""What a turn asks to be forgotten of the memories that turns have left behind, and what is taken back: planned, to be
written with the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import memories
from vault_memory.core.memorable import Forget
from vault_memory.core.memories import Memory
from vault_memory.core.ranking import Filter
from vault_memory.core.text import comparable, tokens
from vault_memory.errors import Busy, IndexUnusable
from vault_memory.services.memories import (
    NOTHING_KEPT,
    Kept,
    KeptOfTurn,
    MemoryFile,
    memories_about,
    memory_rows,
    message_of,
    place_of,
    read_index,
    read_memory,
)
from vault_memory.services.vault import Vault

_LOOKED_AT = 24
"""So many memories are compared with what is to be forgotten: its words find the same words first."""


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
    only the part that is meant. So do those that they had replaced, as far as the request means them, or such alone
    where it fits no active one; what it does not mean of them holds no more. What is taken back is as if it had not
    been said: what it had replaced holds again. One commit for all; git's history keeps them. What a person has stored,
    or edited and not committed, stays. The caller holds the user's lock, and writes.
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
            is_active = bool(meant.fitting or meant.doubted)
            may_be = _replaced_by(vault, user_id, gone) if is_active else _replaced(vault, user_id, each)
            former = [file for file in may_be if _is_meant(each, file) and not _is_later(file.memory, said_until)]
            gone += [file for file in former if _may_go(vault, user_id, file)]
            if not gone:
                missed.append(_why_kept(each, meant))
                continue
            for file in gone:
                going[file.source] = going.get(file.source, _Going(file)).without(each)
            rest |= {file.source: file for file in (*meant.saying, *former)}
    except (Busy, IndexUnusable) as error:  # `memory delete` is left
        return KeptOfTurn(not_found=(f"the memories could not be searched ({error}): `vault-memory memory delete`",))
    going = {
        source: each
        for source, each in going.items()
        if _is_kept(vault, user_id, each.file) and not _is_later(each.file.memory, said_until)
    }
    if not going:
        return KeptOfTurn(not_found=tuple(missed))
    if asked:
        going = _with_ends(vault, user_id, going)
    told = [each for each in going.values() if each.gone]
    changes = [change for each in going.values() for change in _forgetting(user_id, each, vault.now())]
    message = message_of(user_id, "forget", [each.file.memory for each in told], source)
    draft = Draft(message, ASSISTANT, tuple(changes))
    kept = tuple(each.kept() for each in told)
    return KeptOfTurn(
        kept,
        (draft,),
        not_found=tuple(missed),
        left=_still_said([file for source, file in rest.items() if not (source in going and going[source].gone)]),
    )


def is_forgotten_by(asked: Sequence[Forget], memories_of_turn: Sequence[Kept]) -> Callable[[str], bool]:
    """Tells of a sentence whether these requests mean it, beside the memories that go for them: of one that says more
    than is asked for, only where no memory says just that."""
    gone = [each.content for each in memories_of_turn if each.became == "forgotten"]
    least = [(each, max(map(each.fits, gone), default=0) or 1) for each in asked]
    return lambda sentence: any(each.fits(sentence) >= fit for each, fit in least)


def still_said(
    vault: Vault, user_id: str, sentences: Sequence[str], memories_of_turn: Sequence[Kept]
) -> tuple[str, ...]:
    """Which active memories say one of these sentences after a turn has taken back those that go, and the next step."""
    left = {each.id: each.stays for each in memories_of_turn if each.became == "forgotten"}
    found: dict[str, MemoryFile] = {}
    for sentence in sentences:
        alike = {file.source: file for look in (_alike, memories_about) for file in look(vault, user_id, sentence)}
        for file in alike.values():
            content = left.get(file.memory.id, file.memory.content)
            if comparable(sentence) in comparable(content):
                found[file.source] = file
    return _still_said([*found.values()])


def _of_turn(vault: Vault, user_id: str, line: str, at: datetime) -> list[MemoryFile]:
    """The memories that the turn on a line of the record, of that time, has left behind."""
    prefix = f"{memories.SAID_PREFIX}_{int(at.timestamp() * 1000)}_"
    rows = [row for row in memory_rows(vault, user_id) if row.memory_id.startswith(prefix)]
    files = (read_memory(vault, user_id, row.source) for row in rows)
    return [file for file in files if file and file.memory.source == line]


@dataclass(frozen=True)
class _Going:
    """A memory of which something goes: what so far, and what is `left` of it (None: nothing was taken yet). If it
    `is_ended`, that holds no more."""

    file: MemoryFile
    gone: tuple[str, ...] = ()
    left: str | None = None
    is_more: bool = False
    is_ended: bool = False

    @property
    def content(self) -> str:
        return self.file.memory.content if self.left is None else self.left

    def whole(self) -> _Going:
        return replace(self, gone=(*self.gone, self.content), left="")

    def without(self, asked: Forget) -> _Going:
        cut = asked.cut(self.content)
        if not (self.content and cut.fit):
            return self
        return replace(self, gone=(*self.gone, cut.gone), left=cut.left, is_more=self.is_more or cut.is_more)

    def kept(self) -> Kept:
        memory = self.file.memory
        return Kept(memory.id, memory.type, "; ".join(self.gone), "forgotten", self.left or "", self.is_more)


class _Meant(NamedTuple):
    """The active memories that a request fits (`fitting`: those alone that fit best), those that it fits if its capital
    means nothing, and all that say what it names."""

    fitting: list[MemoryFile]
    doubted: list[MemoryFile]
    saying: list[MemoryFile]


def _meant(vault: Vault, user_id: str, asked: Forget, said_until: datetime | None) -> _Meant:
    looks = (look(vault, user_id, text) for text in asked.found_by for look in (_alike, memories_about))
    found = {file.source: file for files in looks for file in files}
    alike = [file for file in found.values() if not _is_later(file.memory, said_until)]
    doubted = [file for file in alike if asked.is_in_doubt(file.memory.content)]
    sure = [(asked.cut(file.memory.content).fit, file) for file in alike if file not in doubted]
    best = max((fit for fit, _ in sure), default=0)
    fitting = [file for fit, file in sure if 0 < best == fit]
    return _Meant(fitting, doubted, [file for _, file in sure if asked.is_said_in(file.memory.content)])


def _is_meant(asked: Forget, file: MemoryFile) -> bool:
    return asked.cut(file.memory.content).fit > 0 and not asked.is_in_doubt(file.memory.content)


def _replaced_by(vault: Vault, user_id: str, files: Sequence[MemoryFile]) -> list[MemoryFile]:
    """The memories whose place these have taken, and those whose place they had taken, and so on, the latest first."""
    rows = read_index(vault, user_id).memories(None)
    found: dict[str, MemoryFile] = {}
    seen = {file.source for file in files}
    after = list(files)
    while after:
        ids = {file.memory.id for file in after}
        former = {each for file in after for each in (file.memory.supersedes or "").split(", ")}
        due = [row.source for row in rows if row.successor in ids or row.memory_id in former]
        after = [file for each in due if each not in seen and (file := read_memory(vault, user_id, each))]
        found |= {file.source: file for file in after}
        seen |= {*due}
    return [*found.values()]


def _replaced(vault: Vault, user_id: str, asked: Forget) -> list[MemoryFile]:
    """The replaced memories that share most words with what is to be forgotten."""
    found = {file.source: file for text in asked.found_by for file in _alike(vault, user_id, text, is_past=True)}
    return [file for file in found.values() if file.memory.superseded_by]


def _with_ends(vault: Vault, user_id: str, going: Mapping[str, _Going]) -> dict[str, _Going]:
    """What goes, with the ends of the memories whose place was taken by one that goes as a whole. These would be
    recalled again, as nothing has their place any more, and their person has said that they hold no more."""
    gone = {each.file.memory.id: each.file for each in going.values() if not each.content}
    ended = {
        file.source: replace(going.get(file.source, _Going(file)), is_ended=True)
        for file in _replaced_by(vault, user_id, [*gone.values()])
        if file.memory.superseded_by in gone and not file.is_archived and _is_kept(vault, user_id, file)
    }
    return {**going, **{source: each for source, each in ended.items() if each.content}}


def _forgetting(user_id: str, going: _Going, at: datetime) -> list[FileChange]:
    """The changes of files with which a memory goes, a part of it goes, or it holds no more from a time on: its title
    and the name of its file say no more than is left either."""
    file, left = going.file, going.content
    path = place_of(user_id, file)
    if not left:
        return [FileChange(path, file.stored, None)]
    after = memories.with_less(file.memory, left) if going.gone else file.memory
    if going.is_ended:
        after = replace(after, superseded_by=None, expires_at=min(at, after.expires_at or at))
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
    return memories.is_of_conversation(file.memory) and _is_kept(vault, user_id, file)


def _is_kept(vault: Vault, user_id: str, file: MemoryFile) -> bool:
    return vault.history.is_kept(place_of(user_id, file), file.stored)


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
        return (
            f"nothing found to forget: {asked.words} (`vault-memory memory list` and `pref list` show what is kept, "
            "and `vault-memory forget TEXT` finds turns by words that they say)"
        )
    why = "you stored or edited it yourself" if meant.fitting else "its capital letter may make it something else"
    ids = " ".join(file.memory.id for file in found)
    content = found[0].memory.content
    return f"not forgotten, because {why}: {content} (`vault-memory memory delete {ids}` deletes it)"


def _alike(vault: Vault, user_id: str, text: str, *, is_past: bool = False) -> list[MemoryFile]:
    """The active memories that share most words with a text, or those that are past."""
    terms, at = tokens.query_terms(text).search_terms, vault.now()
    if not terms:
        return []
    only = Filter(kinds=("memory",), at=None if is_past else at.timestamp())
    index = read_index(vault, user_id)
    chunks = index.search(tokens.QueryTerms(terms, ()), None, only, _LOOKED_AT).chunks
    files = (read_memory(vault, user_id, source) for source in dict.fromkeys(chunk.source for chunk in chunks))
    return [file for file in files if file and file.memory.is_past(at) == is_past]
