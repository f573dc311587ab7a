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
    from vault_memory.adapters.shortterm.used import USED, note_used, used_addresses

__all__ = [
    "USED",
    "Dropped",
    "EmbeddedStore",
    "MirroredStore",
    "RedisStore",
    "ShortTermStore",
    "note_used",
    "used_addresses",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "USED": "used",
        "Dropped": "base",
        "EmbeddedStore": "embedded",
        "MirroredStore": "mirrored",
        "RedisStore": "redis_store",
        "ShortTermStore": "base",
        "note_used": "used",
        "used_addresses": "used",
    },
)
