"""Search a user's memory by words and by meaning."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any, Literal, Protocol, get_args

from vault_memory.adapters.embedding import LOCAL, OFFLINE, Embedder, OfflineEmbedder, Vector
from vault_memory.adapters.index import Index, Space
from vault_memory.config import Config
from vault_memory.core import layout
from vault_memory.core.notes import naming
from vault_memory.core.ranking import NOT_CALLED, Candidates, Filter, Spread, floor, fusion, passage, rank
from vault_memory.core.text import synonyms, tokens, typed
from vault_memory.errors import EndpointError, UsageError
from vault_memory.services.daemon import is_running, request_scan
from vault_memory.services.indexing import reconcile, spaces
from vault_memory.services.vault import Vault

Mode = Literal["hybrid", "vector", "keyword"]
Scope = Literal["user", "shared", "all"]
MAX_TOP_K = 100
MAX_QUERY_CHARS = 2_000
"""How much of a query is read; its first words say what it is about."""
MAX_CANDIDATES = 32
"""Chunks that each of words and vectors may add, unless more hits are wanted."""
VECTOR_MODE_WEIGHT = 0.99
"""In vector mode words still choose the line inside a chunk."""
READ_ONLY = "index: the vault may only be read, so what changed since it was indexed is not found"
OFFLINE_WEIGHT = 0.05
"""Measured: hashed words repeat what keywords know; more weight helps English and hurts Chinese."""


@dataclass(frozen=True)
class SearchQuery:
    """What to search for: `top_k` (1 to 100) passages that answer `text`, from notes of these kinds, of the days from
    `since` to `until` (inclusive), with all these tags (or tags below them), in the folder `path` (or the one note).

    `is_typed`: a person has typed the text, with phrases in quotation marks and stars behind how words begin (see
    `core.text.typed`); without a text the filters then list notes, each by its beginning. Of a scope where nothing fits
    as well as `min_fit` (0: as badly as may be) there are no hits; only `hybrid` asks for that. With `memory_types` or
    `skill_id` only typed memories of these answer, with `skill_or_none` those of no skill, too. Past ones (expired,
    superseded, archived) answer only with `history`. Raises `UsageError`."""

    text: str
    top_k: int = 5
    mode: Mode = "hybrid"
    scope: Scope = "user"
    kinds: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    tags: tuple[str, ...] = ()
    min_fit: float = floor.MIN_FIT
    memory_types: tuple[str, ...] = ()
    skill_id: str | None = None
    skill_or_none: bool = False
    history: bool = False
    path: str = ""
    is_typed: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.top_k <= MAX_TOP_K:
            raise UsageError(f"top_k must be 1 to {MAX_TOP_K}, not {self.top_k}")
        if self.scope not in get_args(Scope):
            raise UsageError(f"scope must be one of {', '.join(get_args(Scope))}, not {self.scope!r}")
        if self.mode not in get_args(Mode):
            raise UsageError(f"mode must be one of {', '.join(get_args(Mode))}, not {self.mode!r}")
        if empty := [tag for tag in self.tags if not naming.tag(tag)]:
            raise UsageError(f"a tag to search for is a word or several, not {empty[0]!r}")

    def scopes(self, user_id: str) -> list[str]:
        """The scopes of the vault that a search for this user reads."""
        return [*([user_id] if self.scope != "shared" else []), *([layout.SHARED] if self.scope != "user" else [])]

    def _skills(self) -> tuple[str, ...] | None:
        return None if self.skill_id is None else (self.skill_id, "") if self.skill_or_none else (self.skill_id,)

    @property
    def is_listing(self) -> bool:
        """Whether it asks for notes by what they are, and for no words."""
        return (
            self.is_typed and not self.text.strip() and any((self.kinds, self.since, self.until, self.tags, self.path))
        )

    def filter(self, at: datetime, scope: str = layout.SHARED) -> Filter:
        """Which notes of a scope may answer at a time. A path is one in the scope, or from the root of the vault."""
        path = PurePosixPath(self.path.replace("\\", "/").lstrip("/"))
        home = layout.scope_dir(scope)
        path = path.relative_to(home) if path.is_relative_to(home) else path
        return Filter(
            tuple(self.kinds),
            self.since,
            self.until,
            tuple(map(naming.tag, self.tags)),
            tuple(self.memory_types),
            self._skills(),
            None if self.history else at.timestamp(),
            "" if path == PurePosixPath() else path.as_posix(),
        )


@dataclass(frozen=True)
class Evidence:
    """Why a passage was found: its best line's score by words and the question's terms that stand in it, themselves or
    by a synonym, the cosine of its chunk (None without a vector), and the weight and the space of the vectors.
    `repeated_at` lists where else it stands."""

    keyword_score: float
    cosine: float | None
    vector_weight: float
    vector_space: str | None
    terms: tuple[str, ...]
    repeated_at: tuple[str, ...]

    def explained(self) -> dict[str, Any]:
        """The evidence as people and JSON see it."""
        return {
            "keyword": round(self.keyword_score, 4),
            "vector": None if self.cosine is None else round(self.cosine, 4),
            "weight": round(self.vector_weight, 3),
            "space": self.vector_space,
            "terms": list(self.terms),
            "collapsed": list(self.repeated_at),
        }


@dataclass(frozen=True)
class Hit:
    """A passage that answers: `line_range` is (first, last), 1-based and inclusive; `score` is between 0 and 1."""

    content: str
    source: str
    line_range: tuple[int, int]
    score: float
    kind: str
    scope: str
    evidence: Evidence

    @property
    def explain(self) -> Mapping[str, Any]:
        """The parts of the score and why the passage was found, for people; code reads `evidence`."""
        return self.evidence.explained()

    def as_dict(self) -> dict[str, Any]:
        """The hit as JSON shows it, with `explain`."""
        names = ("content", "source", "line_range", "score", "kind", "scope", "explain")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first; `degraded` says in words what could not be used. `listed` is how many notes the filters of a
    query without words let through (None: it had words). `fit` tells how well the best fits the
    question (`core.ranking.floor`), also when it is below the floor and not among the hits."""

    hits: list[Hit]
    degraded: list[str]
    fit: float = 0.0
    listed: int | None = None


class Searchable(Protocol):
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
    with reader(vault, user_id, query.scope):
        degraded = refresh(vault, query.scopes(user_id))
        result = find_passages(vault, user_id, query)
        return replace(result, degraded=[*degraded, *result.degraded])


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
    for one question share its `vectors`."""
    if query.is_listing:
        return _list(vault, user_id, query)
    text = query.text[:MAX_QUERY_CHARS]
    asked = typed.read(text) if query.is_typed else typed.Typed(text)
    query, text = replace(query, text=asked.text), asked.text
    terms = synonyms.query_terms(text, vault.config.search_synonyms)
    terms = terms._replace(
        search_terms=(*terms.search_terms, *asked.prefixes), name=naming.key(text), phrases=asked.phrases
    )
    if not terms.search_terms and not terms.name:
        return SearchResult([], vault.config.waits())
    vectors = vectors or QueryVectors(vault, text)
    found = [_search_scope(vault, scope, query, terms, vectors) for scope in query.scopes(user_id)]
    fitting = [each for each in found if each.fit >= query.min_fit]
    hits = [hit for each in fitting for hit in each.hits(fitting, query.top_k)]
    hits.sort(key=lambda hit: -hit.score)
    best_fit = max((each.fit for each in found if each.scored), default=0.0)
    return SearchResult(hits[: query.top_k], [*vault.config.waits(), *vectors.degraded], best_fit)


def _list(vault: Searchable, user_id: str, query: SearchQuery) -> SearchResult:
    """The notes that the filters let through, each by its beginning."""
    hits, listed = [], 0
    for scope in query.scopes(user_id):
        count, found = vault.index(scope).listed(query.filter(vault.now(), scope), query.top_k)
        listed += count
        for candidate in found:
            scored = [rank.ScoredSegment(candidate, n, 0.0, {}, 1.0) for n in range(len(candidate.segments))]
            if scored:
                hits.append(_hit(scope, passage.opening(scored), scored, None, fusion.Weights(0.0, 0.0)))
    return SearchResult(hits[: query.top_k], vault.config.waits(), 1.0 if hits else 0.0, listed)


@dataclass(frozen=True)
class _Scoped:
    """What a scope gives for a question: its scored segments, the vectors' space and weights, and how well the best
    fits (`core.ranking.floor`)."""

    scope: str
    space: str | None
    spread: Spread | None
    scored: list[rank.ScoredSegment]
    weights: fusion.Weights
    fit: float

    @property
    def best(self) -> float:
        """The best line's score by words."""
        return max((segment.keyword for segment in self.scored), default=0.0)

    @property
    def called(self) -> int:
        """How the question names a note here (`Candidate.called`), the most of all."""
        return max((segment.candidate.called for segment in self.scored), default=NOT_CALLED)

    def hits(self, scopes: Sequence[_Scoped], top_k: int) -> list[Hit]:
        """The passages, measured by the best line and the nearest chunk of all `scopes`: the best of the shared notes
        may have one word of the question, where the user's own hold its answer."""
        spread = self.spread
        if spread is not None:
            nearest = (each.spread.best for each in scopes if each.spread and each.space == self.space)
            spread = replace(spread, best=max(nearest))
        fusion.blend(
            self.scored, spread, self.weights, max(each.best for each in scopes), max(each.called for each in scopes)
        )
        return [
            _hit(self.scope, each, self.scored, self.space, self.weights) for each in passage.build(self.scored, top_k)
        ]


def _search_scope(
    vault: Searchable, scope: str, query: SearchQuery, terms: tokens.QueryTerms, vectors: QueryVectors
) -> _Scoped:
    index = vault.index(scope)
    begun = [each for term in terms.search_terms if term.endswith("*") for each in index.written(term[:-1])]
    terms = terms._replace(search_terms=tuple(dict.fromkeys((*terms.search_terms, *begun))))
    vector = vectors.of(index, query.mode) if terms.search_terms else None  # else it can only be a name
    is_lexical = query.mode == "hybrid" and vector is not None and _is_lexical(vault, vector[0])
    only, limit = query.filter(vault.now(), scope), max(MAX_CANDIDATES, query.top_k)
    candidates = index.search(terms, vector, only, limit, vectors_add_chunks=not is_lexical)
    scored = rank.score_segments(query.text, terms, candidates)
    rank.require_phrases(terms.phrases, scored)
    fit = 1.0  # who asks for words or vectors alone wants to see what they give
    is_exact = terms.phrases or any(chunk.called for chunk in candidates.chunks)
    if query.mode == "hybrid" and not is_exact:
        text = query.text[:MAX_QUERY_CHARS]
        fit = floor.fit(text, terms, candidates, scored, is_model=vector is not None and not is_lexical)
    weights = _weights(vault, query, vector, candidates, scored)
    return _Scoped(scope, vector[0] if vector else None, candidates.spread, scored, weights, fit)


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
    scope: str, best: passage.Passage, scored: list[rank.ScoredSegment], space: str | None, weights: fusion.Weights
) -> Hit:
    segments = scored[best.first : best.last + 1]
    seed, candidate = best.seed, best.seed.candidate
    return Hit(
        content=_content(segments, best.heading_lines),
        source=candidate.source,
        line_range=(segments[0].line - best.heading_lines, segments[-1].line),
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
        ),
    )


def _content(segments: list[rank.ScoredSegment], lines_above: int) -> str:
    """The passage's text, and so many lines above it: each chunk's part as it stands in the file."""
    pieces = []
    for candidate, group in itertools.groupby(segments, key=lambda segment: segment.candidate):
        numbers = [segment.number for segment in group]
        start, end = candidate.segments[numbers[0]].start, candidate.segments[numbers[-1]].end
        pieces.append(candidate.text[start:end])
    first = segments[0].candidate.text[: segments[0].candidate.segments[segments[0].number].start].split("\n")
    above = first[len(first) - 1 - lines_above : -1]
    return "\n".join([*above, *pieces])


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
