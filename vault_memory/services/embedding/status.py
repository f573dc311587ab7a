"""How far the vectors of each scope are, whether their model can be asked, and what answers meanwhile."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vault_memory.adapters.embedding import HTTP, Vector
from vault_memory.core import layout
from vault_memory.errors import EndpointError
from vault_memory.services.indexing import spaces
from vault_memory.services.retrieval import refresh
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    from vault_memory.config import Config

REACH_TIMEOUT_MS = 5_000
"""How long each endpoint is waited for; one that loads its model first may need some seconds."""
GREETING = "vault-memory asks whether this model answers."
"""The text that is sent; it is nobody's."""


@dataclass(frozen=True)
class Reached:
    """Whether a model answered: `where` it is (a host, or "this machine"), and the milliseconds and the dimension of
    its answer, or what went wrong (`problem`)."""

    where: str
    ms: int = 0
    dimension: int = 0
    problem: str = ""


@dataclass(frozen=True)
class ScopeVectors:
    """The passages of a scope, how many have a vector of the configured model, which space answers now, and a line for
    people where vectors are missing."""

    scope: str
    passages: int
    vectors: int
    answers: str
    gap: str


@dataclass(frozen=True)
class EmbeddingStatus:
    """The configured model, by kind and space; whether it answers; the vectors of each scope; settings that wait."""

    kind: str
    space: str
    reached: tuple[Reached, ...]
    scopes: tuple[ScopeVectors, ...]
    degraded: tuple[str, ...]


def embedding_status(vault: Vault) -> EmbeddingStatus:
    """The state of search by meaning. One short text of this program's own goes to each endpoint, nothing of the
    vault's. Raises `IndexUnusable`."""
    refresh(vault, vault.scopes())
    found = [reached for reached, _ in ask_each(vault)]
    scopes = tuple(_scope(vault, scope, found) for scope in vault.scopes())
    degraded = [*vault.config.waits(), *_changed_dimensions(vault, found), *_too_slow(vault, found)]
    return EmbeddingStatus(vault.config.embedding_kind, vault.embedder.space, tuple(found), scopes, tuple(degraded))


def _changed_dimensions(vault: Vault, found: Sequence[Reached]) -> list[str]:
    space = vault.embedder.space
    held = sorted({*spaces.dimensions(vault, space)})
    problems = [changed_dimension(space, reached, dimension) for reached in found for dimension in held]
    return list(dict.fromkeys(filter(None, problems)))


def _too_slow(vault: Vault, found: Sequence[Reached]) -> list[str]:
    longest = vault.config.embedding_query_timeout_ms
    if vault.config.embedding_kind != "http" or any(each.ms <= longest for each in found if not each.problem):
        return []
    return [
        f"{each.where} takes {each.ms:,} ms, and a question waits {longest:,}: words and offline vectors answer then "
        "(a larger embedding.query_timeout_ms waits longer)"
        for each in found
        if not each.problem
    ]


def changed_dimension(space: str, reached: Reached, held: int) -> str:
    """In words, that a model which answered gives vectors of another dimension than those of its space in the index
    (0: there are none); "" where it does not."""
    if reached.problem or held in (0, reached.dimension):
        return ""
    return spaces.other_dimension(reached.where, reached.dimension, held, space)


def _scope(vault: Vault, scope: str, found: Sequence[Reached]) -> ScopeVectors:
    index, target = vault.index(scope), vault.embedder.space
    held = index.spaces()
    dimension = held[target].dimension if target in held else 0
    can_answer = (not (each.problem or changed_dimension(target, each, dimension)) for each in found)
    is_there = not found or any(can_answer)
    names = spaces.sources(held, target)
    name = names[0] if is_there or names[0] != target else names[1]
    chunks = index.stats().chunks
    gap = spaces.gaps(index, held, target, name)
    return ScopeVectors(layout.label(scope), chunks, chunks - spaces.lacking(index, target), name, gap)


def ask_each(vault: Vault) -> list[tuple[Reached, Vector | None]]:
    """Each endpoint of the configured model, or the model on this machine, with the vector that it gave for
    `GREETING`; nothing for the offline vectors."""
    config = replace(vault.config, embedding_query_timeout_ms=REACH_TIMEOUT_MS)
    if vault.embedder.space.startswith(HTTP):
        return [
            _ask(vault, replace(config, embedding_endpoints=[endpoint]), endpoint["url"])
            for endpoint in config.embedding_endpoints
        ]
    return [_ask(vault, config, "")] if config.embedding_kind == "local" else []


def _ask(vault: Vault, config: Config, url: str) -> tuple[Reached, Vector | None]:
    from vault_memory.adapters.embedding import Endpoint

    where = Endpoint(url).host if url else "this machine"
    began = time.perf_counter()
    try:
        vectors: Sequence[Vector] = replace(vault, config=config).embedder.embed([GREETING], "query")
    except EndpointError as error:
        return Reached(where, problem=str(error)), None
    return Reached(where, round((time.perf_counter() - began) * 1000), len(vectors[0])), vectors[0]
