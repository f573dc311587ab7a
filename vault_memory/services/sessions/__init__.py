"""The sessions of assistants that call hooks: a process of the vault's own keeps them, gives each the memory that bears
on it, and has its turns recorded. Also how a hook asks that process, which must take no time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.sessions.answering import answer_hooks
    from vault_memory.services.sessions.asking import ask
    from vault_memory.services.sessions.sessions import Sessions

__all__ = ["Sessions", "answer_hooks", "ask"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Sessions": "sessions",
        "answer_hooks": "answering",
        "ask": "asking",
    },
)
