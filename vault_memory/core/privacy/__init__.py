"""Secrets (keys, passwords, card and identity numbers) and private facts (health, family, money, addresses) in a text.

Secrets leave a turn before it is recorded; private facts stay in its record, its index and its prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.privacy import private, secrets
    from vault_memory.core.privacy.addresses import shown_address, without_credentials
    from vault_memory.core.privacy.private import (
        ERASED,
        PRIVATE,
        PRIVATE_CATEGORIES,
        is_private,
        names_a_contact,
        states_a_value,
        without_private,
    )
    from vault_memory.core.privacy.secrets import (
        Finding,
        Moved,
        places,
        redact,
        redact_parts,
        secrets_added,
        shown_path,
    )

__all__ = [
    "Finding",
    "Moved",
    "ERASED",
    "PRIVATE",
    "PRIVATE_CATEGORIES",
    "is_private",
    "names_a_contact",
    "places",
    "private",
    "redact",
    "redact_parts",
    "secrets",
    "secrets_added",
    "shown_address",
    "shown_path",
    "states_a_value",
    "without_credentials",
    "without_private",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Finding": "secrets",
        "Moved": "secrets",
        "ERASED": "private",
        "PRIVATE": "private",
        "PRIVATE_CATEGORIES": "private",
        "is_private": "private",
        "names_a_contact": "private",
        "places": "secrets",
        "redact": "secrets",
        "redact_parts": "secrets",
        "secrets_added": "secrets",
        "shown_address": "addresses",
        "shown_path": "secrets",
        "states_a_value": "private",
        "without_credentials": "addresses",
        "without_private": "private",
    },
)
