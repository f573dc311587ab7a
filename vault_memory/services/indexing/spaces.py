"""Which vectors answer a search, decided for each index from what it holds; and the building of vectors.

    the configured model's    once they are complete; then also while some new passages still have none
    the former model's        while the configured one's are being built beside them
    a local model's           where the configured one's endpoints fail, if the index holds its vectors
    the offline ones          where none of these can be used; they need no network, so every index holds them

Vectors of two spaces are never compared: a query is embedded by the model whose vectors answer it. For a model that has
left the settings, `.vault-memory/embedding.json` holds how it is asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping

from vault_memory.adapters import child
from vault_memory.adapters.embedding import (
    CLIENT,
    HTTP,
    LOCAL,
    OFFLINE,
    Embedder,
    OfflineEmbedder,
    save_settings,
    settings_of,
)
from vault_memory.adapters.index import Index, Space
from vault_memory.core import layout
from vault_memory.errors import ConfigError, EndpointError
from vault_memory.services.vault import Vault, open_vault

COMPLETE_SHARE = 0.9
"""Without a former space, a space with vectors for this share of the passages answers; words find the rest
meanwhile."""
MAX_PLAIN_PASSAGES = 500
"""Of more than these a child computes the offline vectors: it takes a second to load scikit-learn."""
_PLAIN_BATCH, _BULK = 8, 512
"""Passages at once, in plain Python (for more the embedder would load scikit-learn) and in a child."""
_POLL_S = 0.02


def answering(spaces: Mapping[str, Space], target: str) -> str:
    """The name of the space whose vectors answer, in an index that is to hold `target`."""
    if target.startswith(OFFLINE):
        return target
    built = spaces.get(target, Space(0, 0, 1))
    former = max(
        (name for name in spaces if name != target and not name.startswith((OFFLINE, CLIENT))),
        key=lambda name: spaces[name].vectors,
        default=None,
    )
    is_behind = former is not None and former.startswith(LOCAL) and target.startswith(HTTP) and _is_built(built)
    if built.pending and former and spaces[former].vectors > built.vectors and not is_behind:
        return former
    return target if _is_built(built) else OfflineEmbedder.space


def sources(spaces: Mapping[str, Space], target: str) -> list[str]:
    """The names of the spaces that may answer, in the order in which they are tried: the one that answers, where that
    needs an endpoint those of local models, and the offline one, which never fails."""
    first = answering(spaces, target)
    local = [name for name, space in spaces.items() if name.startswith(LOCAL) and _is_built(space)]
    return list(dict.fromkeys([first, *(local if first.startswith(HTTP) else ()), OfflineEmbedder.space]))


def _is_built(space: Space) -> bool:
    return space.vectors >= COMPLETE_SHARE * (space.vectors + space.pending)


def lacking(index: Index, space: str) -> int:
    """How many passages of an index have no vector in a space."""
    return _lacking(index, index.spaces(), space)


def _lacking(index: Index, held: Mapping[str, Space], space: str) -> int:
    return held[space].pending if space in held else index.stats().chunks


def progress(index: Index, space: str) -> str:
    """`1,200 of 9,000 passages in space http:bge-m3`"""
    chunks = index.stats().chunks
    return f"{chunks - lacking(index, space):,} of {chunks:,} passages in space {space}"


def gaps(index: Index, held: Mapping[str, Space], target: str, name: str | None) -> str:
    """A line for people when passages have no vector, in an index that holds these spaces, where vectors of the space
    `name` answer (None: words alone are asked) and `target` is the configured one; "" when nothing is missing."""
    is_offline = name is not None and name.startswith(OFFLINE)
    alone = "no offline vectors exist, so words alone answer"
    has_none = is_offline and not held.get(str(name), Space(0, 0, 0)).vectors
    if _lacking(index, held, target):
        others = "words alone find the others"
        if name not in (None, target):
            others = f"{'words and offline vectors answer' if is_offline else f'{name} answers'} meanwhile"
        return f"{progress(index, target)}; {alone if has_none else others}"
    if name is None or not _lacking(index, held, name):
        return ""
    return alone if has_none else f"{progress(index, name)}; words alone find the others"


def building(index: Index, target: str) -> str:
    """How far the configured model's vectors are, and what answers meanwhile; empty when they answer themselves."""
    name = answering(index.spaces(), target)
    if name == target or not index.stats().chunks:
        return ""
    meanwhile = "offline vectors answer" if name.startswith(OFFLINE) else f"{name} answers"
    return f"{progress(index, target)}; {meanwhile} meanwhile"


def embed_offline(vault: Vault, scope: str, at_most: int | None = None, stop: threading.Event | None = None) -> None:
    """Compute the offline vectors that an index lacks, of `at_most` passages, or until `stop` is set.

    In plain Python (2 ms for a passage), so that no writer loads scikit-learn; a child, which does load it, computes
    many vectors in a fifth of the time."""
    index, offline, ended = vault.index(scope), OfflineEmbedder(), stop or threading.Event()
    left = lacking(index, offline.space)
    at_least = max(0, left - at_most) if at_most is not None else 0
    if left - at_least > MAX_PLAIN_PASSAGES:
        arguments = str(vault.root), scope, json.dumps(dict(vault.flags))
        with child.start(embed_offline_in_bulk, *arguments, environ={**os.environ, **vault.environ}) as process:
            while process.poll() is None:
                if ended.wait(_POLL_S):
                    process.kill()  # the vectors it has computed are kept
        left = lacking(index, offline.space)  # what a child could not compute is computed here, or fails with a reason
    while left > at_least and not ended.is_set():
        left = index.embed_pending(offline, min(_PLAIN_BATCH, left - at_least))


def embed_offline_in_bulk(root: str, scope: str, flags: str) -> None:
    """In the child: all offline vectors that a scope of the vault at `root` lacks. `flags` are settings, as JSON."""
    index = open_vault(root, **json.loads(flags)).index(scope)
    while index.embed_pending(OfflineEmbedder(), _BULK):
        pass


def build(vault: Vault, scope: str, limit: int = 256) -> int:
    """Compute vectors for up to `limit` chunks of a scope that have none; returns how many are left.

    Offline ones first, then the configured model's; when those are complete, spaces of other models are dropped, unless
    embedding settings wait for a yes. Beside a model behind endpoints those of a local one stay, and are completed: it
    answers while the endpoints fail. What a program's own client has computed stays, too. A kill at any moment keeps
    what is computed. Raises `EndpointError` when the model cannot be asked, and `ConfigError` in a process that was
    started before the model changed: two processes would drop each other's vectors.
    """
    if vault.given_embedder is None and settings_of(vault.config) != settings_of(now := vault.settings_now()):
        changed = f"the embedding settings in {layout.SETTINGS_FILE} changed after this process started: restart it"
        raise ConfigError("; ".join([changed, *now.waits()]))
    index, target = vault.index(scope), vault.embedder
    offline = OfflineEmbedder()
    if left := index.embed_pending(offline, limit):
        return left
    if target.space != offline.space:
        if vault.given_embedder is None:
            save_settings(vault.root, target.space, vault.config)
        try:
            if not index.spaces().get(target.space, Space(0, 0, 0)).vectors:
                _check_dimension(vault, target)
            if left := index.embed_pending(target, limit):
                return left
        except EndpointError:
            if left := _embed_behind(vault, index, limit):
                return left
            raise
    if left := _embed_behind(vault, index, limit):
        return left
    brought = {name for name in index.spaces() if name.startswith(CLIENT)}
    if target.space.startswith(CLIENT):
        return 0  # the other spaces are those of the settings
    needed = {offline.space, target.space, *_behind(index, target.space), *brought}
    if index.spaces().keys() - needed and not vault.config.is_waiting("embedding"):
        index.keep_spaces(needed)
    return 0


def dimensions(vault: Vault, space: str) -> Iterator[int]:
    """The dimension of a space in each index that holds vectors of it; all are one, unless another model has taken its
    name."""
    held = (vault.index(scope).spaces().get(space) for scope in vault.scopes())
    return (each.dimension for each in held if each and each.vectors)


def _check_dimension(vault: Vault, embedder: Embedder) -> None:
    """Raise `EndpointError` where a model that gives its first vectors to an index gave the others ones of another
    dimension: one question could be compared with a part of them only."""
    held = next(dimensions(vault, embedder.space), 0)
    if held and held != embedder.dimension:  # asked only where there is something to compare with
        raise EndpointError(other_dimension("the embedding model", embedder.dimension, held, embedder.space))


def other_dimension(who: str, given: int, held: int, space: str) -> str:
    """In words, that a model does not give what it gave before, and the next step."""
    return (
        f"{who} gives {given} dimensions, and the {held} of {space} are in the index: another model has taken its name "
        f"(`vault-memory reindex`, then `vault-memory embedding use {space.partition(':')[0]}`, begins anew)"
    )


def _behind(index: Index, target: str) -> list[str]:
    """The spaces of local models that stay behind a model's endpoints."""
    return [name for name in index.spaces() if name.startswith(LOCAL)] if target.startswith(HTTP) else []


def _embed_behind(vault: Vault, index: Index, limit: int) -> int:
    """Vectors of those local models, for up to `limit` chunks; returns how many are left. One that cannot be loaded any
    more gets none."""
    for embedder in filter(None, map(vault.former_embedder, _behind(index, vault.embedder.space))):
        with contextlib.suppress(EndpointError):
            if left := index.embed_pending(embedder, limit):
                return left
    return 0
