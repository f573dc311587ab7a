"""Turns text into vectors: through an endpoint, a model on this machine, or offline by hashed words.
Also records how each model is asked: its vectors can still be used after the settings have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.adapters.embedding.base import CLIENT, HTTP, LOCAL, OFFLINE, Embedder, Vector
    from vault_memory.adapters.embedding.client import ClientEmbedder, ComputeClient
    from vault_memory.adapters.embedding.http import Endpoint, HttpEmbedder, outgoing
    from vault_memory.adapters.embedding.local import LocalEmbedder
    from vault_memory.adapters.embedding.offline import OfflineEmbedder
    from vault_memory.adapters.embedding.space_settings import config_of_space, save_settings, settings_of

__all__ = [
    "CLIENT",
    "ClientEmbedder",
    "ComputeClient",
    "Embedder",
    "Endpoint",
    "HTTP",
    "HttpEmbedder",
    "LOCAL",
    "LocalEmbedder",
    "OFFLINE",
    "OfflineEmbedder",
    "Vector",
    "config_of_space",
    "outgoing",
    "save_settings",
    "settings_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "CLIENT": "base",
        "ClientEmbedder": "client",
        "ComputeClient": "client",
        "Embedder": "base",
        "Endpoint": "http",
        "HTTP": "base",
        "HttpEmbedder": "http",
        "LOCAL": "base",
        "LocalEmbedder": "local",
        "OFFLINE": "base",
        "OfflineEmbedder": "offline",
        "Vector": "base",
        "config_of_space": "space_settings",
        "outgoing": "http",
        "save_settings": "space_settings",
        "settings_of": "space_settings",
    },
)
