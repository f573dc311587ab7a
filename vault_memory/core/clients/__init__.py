"""What is known of chat clients: how each writes what is not the person's words, by what marks programs in general show
it, and which headers say it outright."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.clients.frames import end_of_typed, is_template
    from vault_memory.core.clients.hook_events import (
        COMPACT,
        END,
        HOOK_CLIENTS,
        HOOK_EVENTS,
        PROMPT,
        START,
        STOP,
        HookEvent,
        read_hook_event,
    )
    from vault_memory.core.clients.rules import (
        MAX_SIGN_CHARS,
        Command,
        Rules,
        Wrapper,
        conversation_of,
        is_of_nobody,
        rules_for,
    )

__all__ = [
    "COMPACT",
    "END",
    "HOOK_CLIENTS",
    "HOOK_EVENTS",
    "HookEvent",
    "PROMPT",
    "START",
    "STOP",
    "read_hook_event",
    "Command",
    "MAX_SIGN_CHARS",
    "Rules",
    "Wrapper",
    "conversation_of",
    "end_of_typed",
    "is_of_nobody",
    "is_template",
    "rules_for",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "COMPACT": "hook_events",
        "Command": "rules",
        "END": "hook_events",
        "HOOK_CLIENTS": "hook_events",
        "HOOK_EVENTS": "hook_events",
        "HookEvent": "hook_events",
        "PROMPT": "hook_events",
        "START": "hook_events",
        "STOP": "hook_events",
        "read_hook_event": "hook_events",
        "MAX_SIGN_CHARS": "rules",
        "Rules": "rules",
        "Wrapper": "rules",
        "conversation_of": "rules",
        "end_of_typed": "frames",
        "is_of_nobody": "rules",
        "is_template": "frames",
        "rules_for": "rules",
    },
)
