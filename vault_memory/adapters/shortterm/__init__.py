"""The short-term store: values and bounded lists that expire. Embedded in the vault's state, or in Redis for many
machines, with the embedded one beside it for the time when Redis is away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.shortterm.base import Dropped, ShortTermStore
    from vault_memory.adapters.shortterm.embedded import EmbeddedStore
    from vault_memory.adapters.shortterm.mirrored import MirroredStore
    from vault_memory.adapters.shortterm.redis_store import RedisStore

__all__ = [
    "Dropped",
    "EmbeddedStore",
    "MirroredStore",
    "RedisStore",
    "ShortTermStore",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Dropped": "base",
        "EmbeddedStore": "embedded",
        "MirroredStore": "mirrored",
        "RedisStore": "redis_store",
        "ShortTermStore": "base",
    },
)
