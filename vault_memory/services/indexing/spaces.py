"""Which vectors answer a search, decided for each index from what it holds; and the building of vectors.

    the configured model's    once they are complete; then also while some new passages still have none
    the former model's        while the configured one's are being built beside them
    the offline ones          where neither can be used; they need no network, so every index holds them

Vectors of two spaces are never compared: a query is embedded by the model whose vectors answer it. For a model that has
left the settings, `.vault-memory/embedding.json` holds how it is asked.
"""

from __future__ import annotations

from collections.abc import Mapping

from vault_memory.adapters.embedding import OFFLINE, OfflineEmbedder, save_settings, settings_of
from vault_memory.adapters.index import Index, Space
from vault_memory.core import layout
from vault_memory.errors import ConfigError
from vault_memory.services.vault import Vault

COMPLETE_SHARE = 0.9
"""Without a former space, a space with vectors for this share of the passages answers; words find the rest
meanwhile."""


def answering(spaces: Mapping[str, Space], target: str) -> str:
    """The name of the space whose vectors answer, in an index that is to hold `target`."""
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
    is_there = built.vectors >= COMPLETE_SHARE * (built.vectors + built.pending)
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
    meanwhile = "offline vectors answer" if name.startswith(OFFLINE) else f"{name} answers"
    return f"{progress(index, target)}; {meanwhile} meanwhile"


def build(vault: Vault, scope: str, limit: int = 256) -> int:
    """Compute vectors for up to `limit` chunks of a scope that have none; returns how many are left.

    Offline ones first, then the configured model's; when those are complete, spaces of other models are dropped, unless
    embedding settings wait for a yes. A kill at any moment keeps what is computed. Raises `EndpointError` when the
    model cannot be asked, and `ConfigError` in a process that was started before the model changed: two processes would
    drop each other's vectors.
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
        if left := index.embed_pending(target, limit):
            return left
    if index.spaces().keys() - (needed := {offline.space, target.space}) and not vault.config.is_waiting("embedding"):
        index.keep_spaces(needed)
    return 0
