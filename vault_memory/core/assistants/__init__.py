"""What assistants are told so that they use a vault: the configuration of each, our entries merged into its text and
taken out of it again, and the rules by which a model remembers and recalls, in three languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.assistants.clients import ASSISTANTS, Assistant, Place, command_in
    from vault_memory.core.assistants.command import Command, program_beside
    from vault_memory.core.assistants.ours import WHOLE_FILE, Ours
    from vault_memory.core.assistants.rules import RULES_LOCALES, SECTION, rules_text, skill_text, with_rules

__all__ = [
    "ASSISTANTS",
    "Assistant",
    "Command",
    "Ours",
    "Place",
    "RULES_LOCALES",
    "SECTION",
    "WHOLE_FILE",
    "command_in",
    "program_beside",
    "rules_text",
    "skill_text",
    "with_rules",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "ASSISTANTS": "clients",
        "Assistant": "clients",
        "Command": "command",
        "Ours": "ours",
        "Place": "clients",
        "RULES_LOCALES": "rules",
        "SECTION": "rules",
        "WHOLE_FILE": "ours",
        "command_in": "clients",
        "program_beside": "command",
        "rules_text": "rules",
        "skill_text": "rules",
        "with_rules": "rules",
    },
)
