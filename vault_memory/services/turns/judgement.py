"""What the judge would make of a message, and why. Nothing is recorded."""

from __future__ import annotations

from typing import Any

from vault_memory.adapters import files
from vault_memory.core import extraction
from vault_memory.services.profiles import ProfileFiles
from vault_memory.services.vault import Vault


def explain_message(vault: Vault, user_id: str, message: str, reply: str = "") -> list[dict[str, Any]]:
    """The preferences that may be in a message, most likely first (`extraction.explain`).

    `reply` is what was said before it. Raises `NotFound` for an unknown user.
    """
    with vault.reading(user_id):
        existing = ProfileFiles.read(vault, user_id, vault.now(), files.read).profile.values()
    return extraction.explain(message, reply, existing, vault.lexicon())
