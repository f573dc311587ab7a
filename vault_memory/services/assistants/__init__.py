"""The assistants on this machine: connecting one with a vault, taking that back, and which are connected and get an
answer; and what was heard of their hooks, which are silent where a person works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.assistants.connect import Edit, connect, disconnect, write_edits
    from vault_memory.services.assistants.connections import Connection, connections
    from vault_memory.services.assistants.heard import Heard, heard_hooks, note_heard

__all__ = [
    "Connection",
    "Edit",
    "Heard",
    "connect",
    "connections",
    "disconnect",
    "heard_hooks",
    "note_heard",
    "write_edits",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Connection": "connections",
        "Edit": "connect",
        "Heard": "heard",
        "connect": "connect",
        "connections": "connections",
        "disconnect": "connect",
        "heard_hooks": "heard",
        "note_heard": "heard",
        "write_edits": "connect",
    },
)
