"""Whose vectors answer a search, decided for each index from what it holds.

    the configured model's    once they are complete; from then on also while some new passages still have none
    the former model's        while the configured one's are being built beside them
    the offline ones          where neither can be used; they need no network, so that every index holds them

Vectors of two spaces are never compared: a query is embedded by the very model whose vectors answer it. So that a model
can be asked after the settings have left it, `embedding_record` remembers how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from vault_memory.adapters.embedding.base import OFFLINE, Embedder, Vector
from vault_memory.adapters.embedding.embedding_record import remember, settings_of
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index.base import Index, Space
from vault_memory.core import layout
from vault_memory.errors import ConfigError, EndpointError
from vault_memory.services.vault import Vault

NEARLY = 0.9
"""A space of which so much is there answers, if there is no former one: what is new is found by its words meanwhile."""


class Embedding(Protocol):
    """What is needed to embed a query: a vault, or a benchmark's stand-in."""

    @property
    def embedder(self) -> Embedder: ...

    def former_embedder(self, space: str) -> Embedder | None: ...


class QueryVectors:
    """One query's vector in each space that a search meets, each made once. `degraded` says in words what failed."""

    def __init__(self, vault: Embedding, query: str) -> None:
        self._vault, self._query = vault, query
        self._made: dict[str, Vector] = {}
        self.degraded: list[str] = []

    def of(self, index: Index) -> tuple[str, Vector]:
        """The space that answers for an index, and the query's vector in it."""
        target = self._vault.embedder
        if not target.space.startswith(OFFLINE):  # else there is nothing to look up
            spaces = index.spaces()
            name = answering(spaces, target.space)
            if name == target.space:
                vector = self._ask(target, spaces[name].dimension)
            elif name == OfflineEmbedder.space:
                vector = None
                if index.stats().chunks:
                    self._tell(f"{progress(index, target.space)}; words and offline vectors answer meanwhile")
            elif former := self._vault.former_embedder(name):
                vector = self._ask(former, spaces[name].dimension)
            else:
                vector = None
                self._tell(f"how {name} is asked is forgotten; {progress(index, target.space)}")
            if vector is not None:
                return name, vector
        offline = OfflineEmbedder()
        if offline.space not in self._made:
            self._made[offline.space] = offline.embed([self._query], "query")[0]
        return offline.space, self._made[offline.space]

    def _ask(self, embedder: Embedder, dimension: int) -> Vector | None:
        """The query's vector, None when it cannot be had; a model that failed once is not waited for again."""
        if embedder.space not in self._made:
            if self.degraded:
                return None
            try:
                self._made[embedder.space] = embedder.embed([self._query], "query")[0]
            except EndpointError as error:
                self._tell(str(error))
                return None
        vector = self._made[embedder.space]
        if len(vector) != dimension:
            self._tell(f"{embedder.space} gave {len(vector)} dimensions, the index holds {dimension}")
            return None
        return vector

    def _tell(self, what: str) -> None:
        line = f"embedding: {what}"
        if line not in self.degraded:
            self.degraded.append(line)


def answering(spaces: Mapping[str, Space], target: str) -> str:
    """The name of the space that answers in an index that is to hold `target`."""
    if target.startswith(OFFLINE):
        return target
    built = spaces.get(target, Space(0, 0, 1))
    former = max(
        (name for name in spaces if name != target and not name.startswith(OFFLINE)),
        key=lambda name: spaces[name].vectors,
        default=None,
    )
    if built.pending and former and spaces[former].vectors > built.vectors:
        return former
    is_there = built.vectors >= NEARLY * (built.vectors + built.pending)
    return target if is_there else OfflineEmbedder.space


def progress(index: Index, space: str) -> str:
    """`1,200 of 9,000 passages in space http:bge-m3`"""
    stats = index.stats()
    return f"{stats.chunks - stats.pending.get(space, stats.chunks):,} of {stats.chunks:,} passages in space {space}"


def building(index: Index, target: str) -> str:
    """How far the configured model's vectors are, and what answers meanwhile; empty when they answer themselves."""
    name = answering(index.spaces(), target)
    if name == target or not index.stats().chunks:
        return ""
    return f"{progress(index, target)}; {'offline vectors answer' if name.startswith(OFFLINE) else f'{name} answers'} meanwhile"


def build(vault: Vault, scope: str, limit: int = 256) -> int:
    """Compute vectors for up to `limit` chunks of a scope that have none; returns how many are left.

    Offline ones first, then the configured model's; when those are complete, spaces of other models are forgotten. May be
    killed anywhere: what is computed is kept. Raises `EndpointError` when the model cannot be asked, and `ConfigError` in a
    process that was started before the model changed: two of them would drop each other's vectors.
    """
    if vault.given_embedder is None and settings_of(vault.config) != settings_of(vault.settings_now()):
        raise ConfigError(
            f"the embedding settings in {layout.SETTINGS_FILE} are no longer those this process began with: restart it"
        )
    index, target = vault.index(scope), vault.embedder
    offline = OfflineEmbedder()
    if left := index.embed_pending(offline, limit):
        return left
    if target.space != offline.space:
        if vault.given_embedder is None:
            remember(vault.root, target.space, vault.config)
        if left := index.embed_pending(target, limit):
            return left
    if index.spaces().keys() - (needed := {offline.space, target.space}):
        index.keep_spaces(needed)
    return 0
