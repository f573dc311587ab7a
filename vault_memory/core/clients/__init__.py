"""What is known of chat clients: how each writes what is not the person's words, and which headers say it outright."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.clients.rules import (
        MAX_SIGN_CHARS,
        Command,
        Rules,
        Wrapper,
        conversation_of,
        is_of_nobody,
        rules_for,
    )

__all__ = ["MAX_SIGN_CHARS", "Command", "Rules", "Wrapper", "conversation_of", "is_of_nobody", "rules_for"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Command": "rules",
        "MAX_SIGN_CHARS": "rules",
        "Rules": "rules",
        "Wrapper": "rules",
        "conversation_of": "rules",
        "is_of_nobody": "rules",
        "rules_for": "rules",
    },
)
