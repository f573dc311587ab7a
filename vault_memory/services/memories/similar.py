"""Finding out whether a memory is kept already: by the words that it shares with others, then by the language model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from vault_memory.adapters.index import Index
from vault_memory.core import memories
from vault_memory.core.memorable import compared, still_so
from vault_memory.core.memories import Memory, merging
from vault_memory.core.text import same
from vault_memory.errors import Busy, EndpointError, IndexUnusable
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories.files import MemoryFile, read_memory
from vault_memory.services.vault import Vault

MAX_CANDIDATES = 16
"""So many notes are read to see how much they share."""
MAX_SIMILAR = 10
"""So many are listed."""
MAX_ABOUT = 24
"""So many memories of one thing are compared with what is said of it."""
_TOLD_TYPES = ("preference", "fact", "decision", "lesson")
"""Of these types are the memories that may say the same in other words."""

T = TypeVar("T")


@dataclass(frozen=True)
class Similar:
    """A memory that may say the same as one that was to be stored: how much of their words they share, or how sure the
    language model is (0 to 1), and why in words."""

    id: str
    score: float
    reason: str
    content: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {"id": self.id, "score": round(self.score, 4), "reason": self.reason, "content": self.content}


@dataclass(frozen=True)
class Alike:
    """A memory's note, and as what it was found similar."""

    file: MemoryFile
    similar: Similar
    is_same: bool = False
    """The same word for word, of the same skill."""


@dataclass
class Asked:
    """What the language model has said of a memory so far. `seen` are the ids among which it has looked for one that
    says the same, `found` what it found; `merged` is its merge, by id and content of the memory that it was asked about
    (None: it cannot be used), and `degraded` says why it could not be used."""

    seen: set[str] = field(default_factory=set)
    found: list[Similar] = field(default_factory=list)
    merged: dict[tuple[str, str], merging.Merge | None] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Verdict:
    """What becomes of a memory beside those that are `similar`: it is stored; or it is the `same` as one; or it takes
    the place of one (`instead`); or `text` is its merge with the only one; or it `waits` for a person to decide. Two of
    the same content are equal."""

    similar: tuple[Alike, ...] = ()
    same: MemoryFile | None = None
    instead: MemoryFile | None = None
    text: str = ""
    waits: bool = False


@dataclass(frozen=True)
class Question:
    """What the language model must be asked before: which of `among` says the same, or how it is merged with `one`."""

    among: tuple[MemoryFile, ...] = ()
    one: MemoryFile | None = None


def judged(vault: Vault, user_id: str, memory: Memory, asked: Asked, *, unattended: bool) -> Verdict | Question:
    """What becomes of a memory by what the files and the index hold now and by what the model was asked; it asks
    nothing itself, so it may run under the user's lock. `unattended`: nobody is there to decide, so one that is not the
    same as another is stored. Raises `Busy` or `IndexUnusable`."""
    if not vault.is_user(user_id):
        return Verdict()
    found = by_overlap(vault, user_id, memory)
    if found and found[0].is_same:
        return Verdict((found[0],), same=found[0].file)
    if unattended:
        known, gone = (None, []) if memory.skill_id else told_otherwise(vault, user_id, memory.content, memory.type)
        whole = [] if known else [file for file in gone if still_so(file.memory.content, memory.content) == ""]
        return Verdict(tuple(found), same=known, instead=whole[0] if whole else None)
    if not found and vault.config.llm_enabled:
        newest = latest(vault, user_id)
        if new := tuple(file for file in newest if file.memory.id not in asked.seen):
            return Question(among=new)
        named = {similar.id: similar for similar in asked.found}
        found = [Alike(file, named[file.memory.id]) for file in newest if file.memory.id in named]
    if not found:
        return Verdict()
    one = found[0]
    skills = {memory.skill_id, one.file.memory.skill_id} - {None}
    if len(found) > 1 or not vault.config.llm_enabled or len(skills) > 1:
        return Verdict(tuple(found), waits=True)
    key = (one.similar.id, one.similar.content)
    if key not in asked.merged:
        return Question(one=one.file)
    merge = asked.merged[key]
    if merge is None:
        return Verdict((one,), waits=True)
    said = f"{one.similar.reason}; the language model: {merge.reason}" if merge.reason else one.similar.reason
    one = Alike(one.file, replace(one.similar, reason=said, score=max(one.similar.score, merge.score)))
    return Verdict((one,), text=merge.text, waits=not merge.text)


def by_overlap(vault: Vault, user_id: str, memory: Memory) -> list[Alike]:
    """The active memories that share so many of their words with one that they may say the same, the most alike first;
    none that tell another case. It takes as long among many. Raises `Busy` or `IndexUnusable`."""
    now, index, found = vault.now(), read_index(vault, user_id), []
    for row in index.alike_memories(memories.sketch(memory.content), now.timestamp(), MAX_CANDIDATES):
        file = read_memory(vault, user_id, row.source)
        if file is None or file.memory.is_past(now):
            continue
        old = file.memory
        score = memories.overlap(memory.content, old.content)
        is_same = memories.is_same(memory.content, old.content)
        if score < memories.SIMILAR or (not is_same and _is_another_case(vault, memory, old)):
            continue
        reason = "the same words" if is_same else f"{score:.0%} of their words are the same"
        alike = Alike(file, Similar(old.id, score, reason, old.content), is_same and old.skill_id == memory.skill_id)
        found.append(alike)
    return sorted(found, key=lambda each: (not each.is_same, -each.similar.score))[:MAX_SIMILAR]


def told_otherwise(
    vault: Vault, user_id: str, content: str, memory_type: str
) -> tuple[MemoryFile | None, list[MemoryFile]]:
    """The active memory that says the same as a text, in these words or, if it is of this type, in others; and those
    whose place the text takes: of the same thing they say the contrary, or what was so before. What it only swaps for
    another thing of its kind is meant where it is the only one; one is not meant that says more, which is so still and
    cannot be told apart (`still_so` tells of the others what is). None while the index cannot tell. It takes as long
    among many."""
    gone: list[MemoryFile] = []
    swapped: list[MemoryFile] = []
    found = memories_about(vault, user_id, content)
    known = next((file for file in found if same(file.memory.content, content)), None)
    for file in found if known is None else ():
        memory = file.memory
        if memory.skill_id or memory.type not in _TOLD_TYPES:
            continue
        verdict = compared(content, memory.content)
        if verdict == "replaces":
            gone.append(file)
        elif verdict == "swaps":
            swapped.append(file)
        elif verdict == "same" and memory.type == memory_type and known is None:
            known = file
    meant = gone or (swapped if len(swapped) == 1 else [])
    return known, [file for file in meant if still_so(file.memory.content, content) is not None]


def memories_about(vault: Vault, user_id: str, content: str) -> list[MemoryFile]:
    """The active memories that may say the same as a text, or the contrary."""
    if not vault.is_user(user_id):
        return []
    at = vault.now()
    try:
        rows = read_index(vault, user_id).memories_about(content, at.timestamp(), MAX_ABOUT)
        files = [read_memory(vault, user_id, row.source) for row in rows]
    except (Busy, IndexUnusable):
        return []
    return [file for file in files if file and not file.memory.is_past(at)]


def read_index(vault: Vault, user_id: str) -> Index:
    """The index, as writers have left it: to look at every file would take as long as there are. Raises `Busy` or
    `IndexUnusable`."""
    index = vault.index(user_id)
    if index.is_new and not index.is_read_only:  # it knows nothing of the notes that are there
        reconcile(vault, user_id)
    return index


def latest(vault: Vault, user_id: str) -> list[MemoryFile]:
    """The newest active memories, among which the language model looks."""
    now = vault.now()
    rows = vault.index(user_id).latest_memories(now.timestamp(), merging.MAX_LATEST)
    found = (read_memory(vault, user_id, row.source) for row in rows)
    return [file for file in found if file is not None and not file.memory.is_past(now)]


def ask(vault: Vault, memory: Memory, question: Question, asked: Asked) -> None:
    """Ask the language model, and add what it says to `asked`. The caller holds no lock: it may take a minute."""
    if question.one:
        old = question.one.memory
        request = merging.ask_to_merge(memory.content, old.content)
        read = partial(merging.merge_in, new=memory.content, old=old.content)
        merge = _answer(vault, request, merging.MERGE, read, asked, "nothing is merged")
        asked.merged[old.id, old.content] = merge
        return
    asked.seen.update(file.memory.id for file in question.among)
    among = [file.memory for file in question.among if not _is_of_one_template(vault, memory, file.memory)]
    if not among:
        return
    request = merging.ask_to_find(memory.content, [each.content for each in among])
    read_found = partial(merging.found_in, count=len(among))
    found = _answer(vault, request, merging.FIND, read_found, asked, "similar ones were looked for by words alone")
    for each in found or ():
        old = among[each.at]
        asked.found.append(Similar(old.id, each.score, each.reason, old.content))


def _answer(
    vault: Vault,
    request: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
    read: Callable[[str], T],
    asked: Asked,
    otherwise: str,
) -> T | None:
    """The model's answer as it is read; None if there is none that can be used, which `asked.degraded` says."""
    model = vault.chat_model()
    try:
        return read(model.complete(request, schema)) if model else None
    except EndpointError as error:
        asked.degraded.append(f"{otherwise}: {error}")
    except ValueError as error:
        asked.degraded.append(f"{otherwise}: the answer of {vault.config.llm_model} cannot be used: {error}")
    return None


def _is_of_one_template(vault: Vault, new: Memory, old: Memory) -> bool:
    """Whether two memories share words and tell two cases: no model needs to look at them."""
    return memories.overlap(new.content, old.content) >= memories.SAMPLED and _is_another_case(vault, new, old)


def _is_another_case(vault: Vault, new: Memory, old: Memory) -> bool:
    return memories.is_another_case(new.content, old.content, vault.config.categories)
