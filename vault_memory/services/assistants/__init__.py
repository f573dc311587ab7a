"""The assistants on this machine: connecting one with a vault, taking that back, and which are connected and get an
answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.assistants.connect import Edit, connect, disconnect, write_edits
    from vault_memory.services.assistants.connections import Connection, connections

__all__ = ["Connection", "Edit", "connect", "connections", "disconnect", "write_edits"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Connection": "connections",
        "Edit": "connect",
        "connect": "connect",
        "connections": "connections",
        "disconnect": "connect",
        "write_edits": "connect",
    },
)
