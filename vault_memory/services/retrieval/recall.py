"""Recall typed memories: what a search finds, weighed by what each memory is by itself. The notes of the profile are
memories, too: what was asked to be remembered is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.core import layout, memories, reading
from vault_memory.core.memorable import is_liking
from vault_memory.core.memories import Memory, categories
from vault_memory.core.profile import NOTE, Profile
from vault_memory.core.text import tokens
from vault_memory.errors import Busy, ForeignFile, HistoryError, TooLarge, Unwritable
from vault_memory.services.memories import IMPORTANT, accesses, note_accesses, read_memory, renew
from vault_memory.services.retrieval.query import MAX_TOP_K, Hit, SearchQuery, SearchResult
from vault_memory.services.retrieval.search import QueryVectors, find_now, find_passages
from vault_memory.services.vault import Vault

RENEWED_AFTER = timedelta(days=1)
"""A recall lets the time of what was said in conversation begin anew if so much of it is over: the note is written
then, at most once a day."""
RENEWAL_WAIT_S = 0.5
MIN_SHARED = 0.5
"""A memory with so much of the question's words answers it."""
MAX_LOOKED_AT = 200
"""So many of the newest memories are looked at for likes of things that are in no list."""
SPARE_HITS = 10
"""Hits searched for beyond three for each memory: some are of one note, and the order changes by weight."""


@dataclass(frozen=True, kw_only=True)
class Recalled(Memory):
    """A recalled memory. `score` is 0 to 1; `explain` has its parts, which sum up to it, and why the search found it;
    `path` is its note's, relative to the vault."""

    score: float = 0.0
    explain: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""
    hit: Hit | None = field(default=None, repr=False, compare=False)
    """What the search found of it; None where only its kind of thing was asked for."""
    fit: float = field(default=0.0, repr=False, compare=False)
    """How much it holds of the kinds of thing that are asked for, 0 to 1."""

    def as_dict(self) -> dict[str, Any]:
        return {**super().as_dict(), "score": self.score, "path": self.path, "explain": dict(self.explain)}


class Recollection(list[Recalled]):
    """Recalled memories, best first; `degraded` says in words what could not be used for them."""

    def __init__(self, found: Iterable[Recalled] = (), degraded: Iterable[str] = ()) -> None:
        super().__init__(found)
        self.degraded = list(degraded)


def recall(
    vault: Vault,
    user_id: str,
    query: str,
    skill_id: str | None = None,
    top_k: int = 5,
    memory_types: Sequence[str] | None = None,
    *,
    history: bool = False,
) -> Recollection:
    """The `top_k` memories that answer `query` best: of that skill, and of one of these types, if they are given. Notes
    of the profile answer with the type `note`; their id is their place, `USER.md:31`.

    Expired and replaced ones answer only with `history`. Each one that is returned counts as recalled, and what was
    said in conversation lives on by that. None for a user whom the vault does not know. Raises `UsageError`.
    """
    found = recollect(vault, user_id, query, skill_id, top_k, memory_types, history=history)
    try:
        _count(vault, user_id, found)
    except (Busy, Unwritable, ForeignFile) as error:
        found.degraded.append(f"this recall is not counted: {error}")
    if skill_id is None and "preference" in (memory_types or ("preference",)) and len(found) < top_k:
        found.extend(_of_no_list(vault, user_id, query, found, top_k - len(found)))
    return found


def recollect(
    vault: Vault,
    user_id: str,
    query: str,
    skill_id: str | None = None,
    top_k: int = 5,
    memory_types: Sequence[str] | None = None,
    *,
    skill_or_none: bool = False,
    history: bool = False,
    vectors: QueryVectors | None = None,
) -> Recollection:
    """What `recall` finds, with `skill_or_none` of those of no skill, too; nothing is counted. The index is brought up
    to date first, unless the caller has done so and computes the question's `vectors`."""
    types = tuple(map(memories.checked_type, memory_types or ()))
    wish = categories.expand(query, vault.config.categories)
    asked = SearchQuery(
        wish.content,
        top_k,
        kinds=("memory",),
        memory_types=types,
        skill_id=skill_id,
        skill_or_none=skill_or_none,
        history=history,
    )
    if not vault.is_user(layout.check_user_id(user_id)):
        return Recollection()
    now, many = vault.now(), replace(asked, top_k=min(MAX_TOP_K, 3 * top_k + SPARE_HITS))
    if vectors is None:
        result = find_now(vault, user_id, many)
    elif vault.index(user_id).active_memories(now.timestamp()):
        result = find_passages(vault, user_id, many, vectors)
    else:  # no model need be asked
        result = SearchResult([], [])
    hits = {hit.source: hit for hit in reversed(result.hits)}  # of a note its best passage
    counts = accesses(vault, user_id)
    weighed: list[Recalled] = []
    for source in dict.fromkeys([*hits, *_members(vault, user_id, asked, wish)]):
        memory, hit = _memory_of(vault, user_id, source), hits.get(source)
        if memory is None or memories.is_emptied(memory.content) or (memory.is_past(now) and not history):
            continue
        memory = replace(memory, access_count=memory.access_count + counts.get(memory.id, 0))
        held = wish.lists.meanings(memory.content)
        relevance = wish.score(hit.score if hit else 0.0, held)
        if relevance:
            score, fit = memories.score(memory, relevance, now), wish.fit(held)
            weighed.append(replace(_recalled(user_id, source, memory, score, hit), fit=fit))
    if (skill_id is None or skill_or_none) and (not types or "note" in types):
        weighed += _notes(vault, user_id, wish, now)
    return Recollection(sorted(weighed, key=lambda each: -each.score)[:top_k], result.degraded)


def _is_countable(memory: Recalled, at: datetime) -> bool:
    """Whether it has a note of its own, and is not past."""
    return PurePosixPath(memory.path).name != layout.PROFILE and not memory.is_past(at)


def _count(vault: Vault, user_id: str, found: Recollection) -> None:
    """Count that these memories were recalled, in the state; in its note where its time begins anew by that."""
    now, home = vault.now(), layout.user_dir(user_id)
    active = {each.id: str(PurePosixPath(each.path).relative_to(home)) for each in found if _is_countable(each, now)}
    due = [
        active[each.id]
        for each in found
        if each.id in active
        and memories.is_of_conversation(each)
        and (each.expires_at or now) - (memories.reinforced(each, now).expires_at or now) <= -RENEWED_AFTER
    ]
    renewed: list[str] = []
    if due:
        with suppress(Busy, Unwritable, ForeignFile, HistoryError):  # it is counted in the state then
            renewed = renew(vault, user_id, due, RENEWAL_WAIT_S).result
    note_accesses(vault, user_id, [each for each, source in active.items() if source not in renewed])


def recall_memory(vault: Vault, user_id: str, query: str, top_k: int = 3) -> Recollection:
    """`recall` of any memory, as an assistant's tool calls it."""
    return recall(vault, user_id, query, top_k=top_k)


def _members(vault: Vault, user_id: str, asked: SearchQuery, wish: categories.Expansion) -> list[str]:
    """The sources of the memories that hold a member of what the question asks for: a search by the question's own
    words does not find them. Of a long list of words each is looked for, none weighed."""
    terms = tokens.query_terms(" ".join(wish.members)).search_terms
    if not terms:
        return []
    only = asked.filter(vault.now())
    found = vault.index(user_id).search(tokens.QueryTerms(terms, ()), None, only, MAX_TOP_K)
    return [chunk.source for chunk in found.chunks if wish.fit(chunk.text)]


def _of_no_list(vault: Vault, user_id: str, query: str, found: Sequence[Recalled], most: int) -> Iterator[Recalled]:
    """For a question of the person about a kind of thing: the newest likes of things that are in no list, of any kind.
    They come behind all that are known to answer, and do not count as recalled: nobody knows whether they answer."""
    wish = categories.expand(query, vault.config.categories)
    if not (wish.categories and wish.is_of_person and vault.is_user(user_id)):
        return
    now, known = vault.now(), {each.id for each in found}
    for row in vault.index(user_id).latest_memories(now.timestamp(), MAX_LOOKED_AT):
        if row.type != "preference" or row.memory_id in known:
            continue
        memory = _memory_of(vault, user_id, row.source)
        if memory is None or memory.is_past(now) or not (is_liking(memory.content) and wish.may_hold(memory.content)):
            continue
        yield _recalled(user_id, row.source, memory, memories.score(memory, 0.0, now), None)
        if not (most := most - 1):
            return


def _notes(vault: Vault, user_id: str, wish: categories.Expansion, at: datetime) -> Iterator[Recalled]:
    """The notes of the profile that answer: those with half of the question's words, or with what it asks for."""
    try:
        stored = files.read(vault.path(user_id, layout.PROFILE)) or b""
        notes = [item.value for item in Profile.decode(stored).items(NOTE) if not memories.is_emptied(item.value)]
    except TooLarge:  # the prompt says so, and `status`
        return
    lines = reading.lines(stored.decode("utf-8", "replace")) if notes else []
    asked = set(tokens.query_terms(wish.content).search_terms)
    for content in notes:
        likeness = len(asked.intersection(tokens.query_terms(content).search_terms)) / max(1, len(asked))
        fit = wish.fit(content)
        if fit or likeness >= MIN_SHARED:
            line = next((number for number, line in enumerate(lines, 1) if content in line), 1)
            memory = Memory(id=f"{layout.PROFILE}:{line}", content=content, title=content, importance=IMPORTANT)
            score = memories.score(memory, wish.score(likeness, content), at)
            yield replace(_recalled(user_id, layout.PROFILE, memory, score, None), fit=fit)


def _memory_of(vault: Vault, user_id: str, source: str) -> Memory | None:
    """The memory as its note is now; None where that is gone."""
    file = read_memory(vault, user_id, source)
    return file.memory if file and file.stored else None


def _recalled(user_id: str, source: str, memory: Memory, score: memories.Score, hit: Hit | None) -> Recalled:
    own = {each.name: getattr(memory, each.name) for each in fields(Memory)}
    explain = {**score.explained(), "search": dict(hit.explain) if hit else {}}
    path = layout.user_dir(user_id) / source
    return Recalled(**own, score=round(score.total, 6), explain=explain, path=str(path), hit=hit)
