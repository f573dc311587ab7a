"""Search a user's memory by words and by meaning."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol

from vault_memory.adapters.embedding import LOCAL, OFFLINE, Embedder, OfflineEmbedder, Vector
from vault_memory.adapters.index import Index, Space
from vault_memory.config import Config
from vault_memory.core import layout, reading
from vault_memory.core.notes import naming
from vault_memory.core.ranking import (
    AS_TYPED,
    NOT_CALLED,
    RECORD,
    Candidate,
    Candidates,
    Excerpt,
    Filter,
    Spread,
    excerpt,
    floor,
    fusion,
    passage,
    rank,
    together,
)
from vault_memory.core.text import synonyms, tokens, typed
from vault_memory.errors import EndpointError, HistoryError, VaultMemoryError
from vault_memory.services.daemon import is_running, request_scan
from vault_memory.services.indexing import is_mass_deletion, reconcile, spaces
from vault_memory.services.notes import Commits, Folders, gone, read_day
from vault_memory.services.retrieval.query import (
    MAX_QUERY_CHARS,
    MAX_TOP_K,
    Evidence,
    Hit,
    Mode,
    Scope,
    SearchQuery,
    SearchResult,
)
from vault_memory.services.vault import Vault

MAX_CANDIDATES = 32
"""Chunks that each of words and vectors may add, unless more hits are wanted."""
MAX_GROUPED = 320
"""The same where one note alone has filled them, and other notes are asked for."""
INSTRUCTION_SHARE = 0.6
"""How much what tells an assistant how to work (`layout.is_instruction`) counts beside a user's own notes: the skill
for deploying answers no question of when somebody deploys, though its name and description have the word."""
VECTOR_MODE_WEIGHT = 0.99
"""In vector mode words still choose the line inside a chunk."""
READ_ONLY = "index: the vault may only be read, so what changed since it was indexed is not found"
OFFLINE_WEIGHT = 0.05
"""Measured: hashed words repeat what keywords know; more weight helps English and hurts Chinese."""


class Searchable(Folders, Protocol):
    """What a search reads: a vault, or the folders of a benchmark."""

    @property
    def config(self) -> Config: ...

    @property
    def embedder(self) -> Embedder: ...

    @property
    def now(self) -> Callable[[], datetime]: ...

    def former_embedder(self, space: str) -> Embedder | None: ...

    def index(self, scope: str) -> Index: ...


def search(vault: Vault, user_id: str, query: SearchQuery) -> SearchResult:
    """The passages of a user's memory that answer a query best, as the files stand now. Shared notes are nobody's: who
    searches them alone need be no user (""). Raises `NotFound`."""
    result = find_now(vault, user_id, query)
    hits, unread = _with_commits(vault, result.hits)
    return replace(result, hits=hits, degraded=[*result.degraded, *unread])


def find_now(vault: Vault, user_id: str, query: SearchQuery) -> SearchResult:
    """`search` without the commits of the files, which take a look at each."""
    with reader(vault, user_id, query.scope):
        degraded = refresh(vault, query.scopes(user_id))
        result = find_passages(vault, user_id, query)
        return replace(result, degraded=[*degraded, *result.degraded])


def _with_commits(vault: Vault, hits: list[Hit]) -> tuple[list[Hit], list[str]]:
    """The hits with the commits of their files; and in words why these are not known."""
    commits = Commits(vault)
    try:
        return [replace(hit, commit=commits.of(layout.scope_dir(hit.scope) / hit.source)) for hit in hits], []
    except (HistoryError, OSError) as error:
        return hits, [f"commits: {error}"]


def reader(vault: Vault, user_id: str, scope: Scope) -> AbstractContextManager[None]:
    """`Vault.reading` for a user; nothing for nobody (""), who reads shared notes alone."""
    return nullcontext() if user_id == layout.SHARED and scope == "shared" else vault.reading(user_id)


def refresh(vault: Vault, scopes: Iterable[str]) -> list[str]:
    """Bring the indexes of these scopes up to date, unless a daemon does: it has seen an edit within half a second. It
    is asked to look at all files where an index is new.

    Returns in words why one could not be, as on a disk that is mounted for reading: it is searched as it is."""
    if is_running(vault.root):
        new = [scope for scope in scopes if vault.index(scope).is_new]
        if new:
            request_scan(vault.root)
        return [f"the index of {layout.label(scope)} is being made: not all files can be found yet" for scope in new]
    degraded: dict[str, None] = {}
    for scope in scopes:
        if vault.index(scope).is_read_only:
            degraded[READ_ONLY] = None
        else:
            reconcile(vault, scope)
    return list(degraded)


def find_passages(
    vault: Searchable, user_id: str, query: SearchQuery, vectors: QueryVectors | None = None
) -> SearchResult:
    """The passages that answer a query best, from the indexes as they are; none for a query without words. Two searches
    for one question share its `vectors`. A note of which only the index is left does not answer."""
    text = query.text[:MAX_QUERY_CHARS]
    asked = typed.read(text) if query.is_typed else typed.Typed(text)
    find: Callable[[Mapping[str, Filter]], SearchResult] = partial(_list, vault, query)
    if not query.is_listing:
        find = partial(_find, vault, replace(query, text=asked.text), asked, vectors or QueryVectors(vault, asked.text))
    at, scopes = vault.now(), query.scopes(user_id)
    filters = {scope: query.filter(at, scope, vault.root) for scope in scopes}
    result = find(filters)
    lost = {scope: _lost(vault, scope, result.hits) for scope in scopes}
    if any(lost.values()):
        result = find({scope: replace(only, gone=lost[scope]) for scope, only in filters.items()})
    degraded = [*result.degraded, *(line for scope in scopes if (line := _loss(vault, scope, lost[scope])))]
    return replace(result, hits=_with_backlinks(vault, result.hits, query), degraded=degraded)


def _lost(vault: Searchable, scope: str, hits: Sequence[Hit]) -> tuple[str, ...]:
    """All notes that the index of a scope holds and that are not there any more, if one of the hits is."""
    if not gone(vault, scope, {hit.source for hit in hits if hit.scope == scope}):
        return ()
    return tuple(gone(vault, scope, vault.index(scope).stamps()))


def _loss(vault: Searchable, scope: str, lost: Sequence[str]) -> str:
    """What to say of notes that are gone; nothing of a few, nor where it is said that the index stays as it is."""
    index = vault.index(scope)
    if not lost or index.is_read_only or not is_mass_deletion(len(lost), len(index.stamps())):
        return ""
    return (
        f"{layout.label(scope)}: {len(lost)} files are gone at once, and what they said is left out: "
        "`vault-memory resume` if you deleted them, else put them back"
    )


def _find(
    vault: Searchable, query: SearchQuery, asked: typed.Typed, vectors: QueryVectors, filters: Mapping[str, Filter]
) -> SearchResult:
    """What answers among the notes that the filter of each scope lets through."""
    terms = synonyms.query_terms(asked.text, vault.config.search_synonyms)
    terms = terms._replace(
        search_terms=(*terms.search_terms, *asked.prefixes), name=naming.key(asked.text), phrases=asked.phrases
    )
    if not terms.search_terms and not terms.name:
        return SearchResult([], vault.config.waits())
    files = _Files(vault)
    found = _search_scopes(vault, query, filters, terms, vectors)
    hits = _hits(found, query, files)
    if query.group and 0 < len(hits) < query.top_k and any(each.is_full for each in found):
        hits = _hits(_search_scopes(vault, query, filters, terms, vectors, MAX_GROUPED), query, files)
    best_fit = max((each.fit for each in found if each.scored), default=0.0)
    degraded = [*vault.config.waits(), *vectors.degraded, *files.degraded]
    listed = None
    if not hits and query.has_filters:
        listed = sum(vault.index(scope).listed(only, 1)[0] for scope, only in filters.items())
    return SearchResult(hits, degraded, best_fit, listed)


def _hits(found: Sequence[_Scoped], query: SearchQuery, files: _Files) -> list[Hit]:
    """The best hits of all scopes, of each note one if they are grouped."""
    fitting = [each for each in found if each.fit >= query.min_fit]
    count = MAX_TOP_K if query.group else query.top_k
    hits = [hit for each in fitting for hit in each.hits(files, fitting, count)]
    hits = sorted(hits, key=lambda hit: -hit.score)[:count]
    return (_by_note(hits) if query.group else hits)[: query.top_k]


def _by_note(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit of each note, and how many other passages of it there are."""
    notes: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        notes.setdefault((hit.scope, hit.source), []).append(hit)
    return [replace(of[0], more=sum(len(each.passages) for each in of) - 1) for of in notes.values()]


def _with_backlinks(vault: Searchable, hits: list[Hit], query: SearchQuery) -> list[Hit]:
    if not query.backlinks:
        return hits
    linking = {}
    for place in {(hit.scope, hit.source) for hit in hits}:
        index = vault.index(place[0])
        sources = [each for each in index.linking(index.ties(place[1]).names) if each != place[1]]
        lost = gone(vault, place[0], sources)
        linking[place] = tuple(each for each in sources if each not in lost)
    return [replace(hit, backlinks=linking[hit.scope, hit.source]) for hit in hits]


class _Files:
    """The lines of the files of which hits are, each read when it is asked for. `degraded` says in words which
    conversation records could not be read: of these nobody knows who said what."""

    def __init__(self, vault: Searchable) -> None:
        self._vault = vault
        self._zone = vault.config.zone()
        self._read: dict[tuple[str, str], list[bytes]] = {}
        self.degraded: list[str] = []

    def excerpts(self, scope: str, found: passage.Passage, scored: Sequence[rank.ScoredSegment]) -> tuple[Excerpt, ...]:
        """What is shown of a passage."""
        file = self._lines(scope, found.seed.candidate) if excerpt.needs_file(found, scored) else ()
        return excerpt.cut(found, scored, file, scope, self._zone)

    def _lines(self, scope: str, candidate: Candidate) -> list[bytes]:
        source = candidate.source
        if (scope, source) not in self._read:
            try:
                data = read_day(self._vault, scope, source)
            except (VaultMemoryError, OSError) as error:
                if candidate.kind == RECORD:
                    self.degraded.append(f"who said what in {source} is not known: {error}")
                data = b""
            self._read[scope, source] = reading.lines(data)
        return self._read[scope, source]


def _list(vault: Searchable, query: SearchQuery, filters: Mapping[str, Filter]) -> SearchResult:
    """The notes that the filters let through, each by its beginning."""
    hits, listed, files = [], 0, _Files(vault)
    for scope, only in filters.items():
        count, found = vault.index(scope).listed(only, query.top_k)
        listed += count
        for candidate in found:
            scored = [rank.ScoredSegment(candidate, n, 0.0, {}, 1.0) for n in range(len(candidate.segments))]
            if scored:
                hits.append(_hit(files, scope, passage.opening(scored), scored, None, fusion.Weights(0.0, 0.0)))
    hits = (_by_note(hits) if query.group else hits)[: query.top_k]
    degraded = [*vault.config.waits(), *files.degraded]
    return SearchResult(hits, degraded, 1.0 if hits else 0.0, listed)


@dataclass(frozen=True)
class _Scoped:
    """What a scope gives for a question: its scored segments, the vectors' space and weights, and how well the best
    fits (`core.ranking.floor`). `is_full`: more chunks might answer, of `total` ones that were searched."""

    scope: str
    space: str | None
    spread: Spread | None
    scored: list[rank.ScoredSegment]
    weights: fusion.Weights
    fit: float
    is_full: bool
    total: int

    @property
    def best(self) -> float:
        """The best line's score by words."""
        return max((segment.keyword for segment in self.scored), default=0.0)

    @property
    def called(self) -> float:
        """How the question names a note here (`Candidate.called`), the most of all."""
        return max((segment.candidate.called for segment in self.scored), default=NOT_CALLED)

    def hits(self, files: _Files, scopes: Sequence[_Scoped], top_k: int) -> list[Hit]:
        """The passages, measured by the best line and the nearest chunk of all `scopes`: the best of the shared notes
        may have one word of the question, where the user's own hold its answer."""
        spread = self.spread
        if spread is not None:
            nearest = (each.spread.best for each in scopes if each.spread and each.space == self.space)
            spread = replace(spread, best=max(nearest))
        fusion.blend(
            self.scored, spread, self.weights, max(each.best for each in scopes), max(each.called for each in scopes)
        )
        if self.scope == layout.SHARED and len(scopes) > 1:
            for segment in self.scored:
                if layout.is_instruction(PurePosixPath(segment.candidate.source)) and not segment.candidate.called:
                    segment.score *= INSTRUCTION_SHARE
        rarest = rank.rarity(1, self.total)
        return [
            _hit(files, self.scope, each, self.scored, self.space, self.weights, rarest)
            for each in passage.build(self.scored, top_k)
        ]


def _search_scopes(
    vault: Searchable,
    query: SearchQuery,
    filters: Mapping[str, Filter],
    terms: tokens.QueryTerms,
    vectors: QueryVectors,
    most: int = MAX_CANDIDATES,
) -> list[_Scoped]:
    """What each scope gives. Words are weighed by all of them: one that everybody's notes are full of is not rare
    because a few notes of one scope hardly have it."""
    begun = [
        word
        for term in terms.search_terms
        if term.endswith("*")
        for scope in filters
        for word in vault.index(scope).written(term[:-1])
    ]
    terms = terms._replace(search_terms=tuple(dict.fromkeys((*terms.search_terms, *begun))))
    limit = max(most, query.top_k)
    asked, found = [], []
    for scope, only in filters.items():
        index = vault.index(scope)
        vector = vectors.of(index, query.mode) if terms.search_terms else None  # else it can only be a name
        is_lexical = vector is not None and query.mode == "hybrid" and _is_lexical(vault, vector[0])
        asked.append((scope, vector))
        found.append(index.search(terms, vector, only, limit, vectors_add_chunks=not is_lexical))
    return [
        _scored(vault, scope, query, terms, vector, candidates, is_full=len(candidates.chunks) >= limit)
        for (scope, vector), candidates in zip(asked, together(found), strict=True)
    ]


def _scored(
    vault: Searchable,
    scope: str,
    query: SearchQuery,
    terms: tokens.QueryTerms,
    vector: tuple[str, Vector] | None,
    candidates: Candidates,
    *,
    is_full: bool,
) -> _Scoped:
    candidates = replace(candidates, chunks=[_as_typed(each, query.text) for each in candidates.chunks])
    scored = rank.score_segments(query.text, terms, candidates)
    rank.require_phrases(terms.phrases, scored)
    fit = 1.0  # who asks for words or vectors alone wants to see what they give
    is_exact = terms.phrases or any(chunk.called for chunk in candidates.chunks)
    if query.mode == "hybrid" and not is_exact:
        is_model = vector is not None and not _is_lexical(vault, vector[0])
        fit = floor.fit(query.text[:MAX_QUERY_CHARS], terms, candidates, scored, is_model=is_model)
    weights = _weights(vault, query, vector, candidates, scored)
    space = vector[0] if vector else None
    return _Scoped(scope, space, candidates.spread, scored, weights, fit, is_full, candidates.total)


def _as_typed(candidate: Candidate, text: str) -> Candidate:
    """The chunk, called so the more where its file's name is the question sign for sign: of two notes that differ in
    their script alone, the one of the question's comes first."""
    is_typed = (
        candidate.called and tokens.is_han(text) and _one_form(PurePosixPath(candidate.source).stem) == _one_form(text)
    )
    return replace(candidate, called=candidate.called + AS_TYPED) if is_typed else candidate


def _one_form(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _is_fixed(vault: Searchable, space: str) -> bool:
    """Whether the settings fix the weight of these vectors."""
    return vault.config.search_weight == "fixed" and space == vault.embedder.space


def _is_lexical(vault: Searchable, space: str) -> bool:
    """Whether these vectors know hardly more than words: then they only rank what words found."""
    return space.startswith(OFFLINE) and not _is_fixed(vault, space)


def _weights(
    vault: Searchable,
    query: SearchQuery,
    vector: tuple[str, Vector] | None,
    candidates: Candidates,
    scored: list[rank.ScoredSegment],
) -> fusion.Weights:
    """The vectors' shares of the score."""
    if vector is None or candidates.spread is None:
        return fusion.Weights(0.0, 0.0)
    if query.mode == "vector":
        return fusion.Weights(VECTOR_MODE_WEIGHT, VECTOR_MODE_WEIGHT)
    if _is_fixed(vault, vector[0]):
        return fusion.Weights(vault.config.search_vector_weight, vault.config.search_vector_weight)
    if _is_lexical(vault, vector[0]):
        return fusion.Weights(OFFLINE_WEIGHT, OFFLINE_WEIGHT)
    best = max((segment.keyword for segment in scored), default=0.0)
    return fusion.weights(candidates.knowledge, tokens.is_han(query.text), candidates.spread, best)


def _hit(
    files: _Files,
    scope: str,
    best: passage.Passage,
    scored: list[rank.ScoredSegment],
    space: str | None,
    weights: fusion.Weights,
    rarest: float = 0.0,
) -> Hit:
    seed, candidate = best.seed, best.seed.candidate
    return Hit(
        passages=files.excerpts(scope, best, scored),
        source=candidate.source,
        line_range=(scored[best.first].line - best.heading_lines, scored[best.last].line),
        score=round(best.score, 6),
        kind=candidate.kind,
        scope=scope,
        evidence=Evidence(
            keyword_score=seed.keyword,
            cosine=candidate.cosine,
            vector_weight=weights.of(candidate.text),
            vector_space=None if candidate.cosine is None else space,
            terms=tuple(term for term in seed.own_terms if not term.startswith(tokens.DATE_MARK)),
            repeated_at=tuple(best.repeated_at),
            rarest=rarest,
        ),
    )


class QueryVectors:
    """A query's vector in each space that a search meets, each computed once. `degraded` says in words which model
    failed, and where passages have no vector."""

    def __init__(self, vault: Searchable, text: str) -> None:
        self._vault, self._text = vault, text
        self._by_space: dict[str, Vector] = {}
        self._failed: set[str] = set()
        self.degraded: list[str] = []

    def of(self, index: Index, mode: Mode) -> tuple[str, Vector] | None:
        """The space whose vectors answer for an index, and the query's vector in it; None if only words are asked."""
        held, target = index.spaces(), self._vault.embedder.space
        found = None
        if mode != "keyword":
            vectors = ((name, self._in(name, held)) for name in spaces.sources(held, target))
            found = next(((name, vector) for name, vector in vectors if vector is not None), None)
        if gap := spaces.gaps(index, held, target, found[0] if found else None):
            self._degrade(gap)
        return found

    def _in(self, space: str, held: Mapping[str, Space]) -> Vector | None:
        """The query's vector in a space; None where its model cannot be asked."""
        if space == OfflineEmbedder.space:
            if space not in self._by_space:
                self._by_space[space] = OfflineEmbedder().embed([self._text], "query")[0]
            return self._by_space[space]
        configured = self._vault.embedder
        embedder = configured if space == configured.space else self._vault.former_embedder(space)
        if embedder is None:
            self._degrade(f"the settings of {space} are lost")
            return None
        return self._ask(embedder, held[space].dimension)

    def _ask(self, embedder: Embedder, dimension: int) -> Vector | None:
        """The query's vector; None when the model fails. After one failure no endpoint is waited for again."""
        space = embedder.space
        if space not in self._by_space:
            if space in self._failed or (self._failed and not space.startswith(LOCAL)):
                return None
            try:
                self._by_space[space] = embedder.embed([self._text], "query")[0]
            except EndpointError as error:
                self._failed.add(space)
                self._degrade(str(error))
                return None
        vector = self._by_space[space]
        if len(vector) != dimension:
            self._degrade(f"{space} gave {len(vector)} dimensions, the index holds {dimension}")
            return None
        return vector

    def _degrade(self, reason: str) -> None:
        line = f"embedding: {reason}"
        if line not in self.degraded:
            self.degraded.append(line)
