"""Secrets (keys, passwords, card and identity numbers) and private facts (health, family, money, addresses) in a text.

Secrets leave a turn before it is recorded; private facts stay in its record, its index and its prompts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.privacy import private, secrets
    from vault_memory.core.privacy.private import PRIVATE, is_private, without_private
    from vault_memory.core.privacy.secrets import redact

__all__ = [
    "PRIVATE",
    "is_private",
    "private",
    "redact",
    "secrets",
    "without_private",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "PRIVATE": "private",
        "is_private": "private",
        "redact": "secrets",
        "without_private": "private",
    },
)
