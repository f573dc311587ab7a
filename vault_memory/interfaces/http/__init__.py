"""The HTTP interface: the endpoints and the chat proxy behind one guard, and the server that runs them with the daemon.
Its dependencies come with the extra `serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.interfaces.http.server import serve

__all__ = ["serve"]

__getattr__ = lazy_exports(__name__, {"serve": "server"})
