"""What is redacted in a user's turns, and counts of it by category; the words themselves are not kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.core.privacy import secrets
from vault_memory.services.vault import Vault


class Redactor:
    """Redacts the secrets in everything that is kept of a turn, and counts them by category."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            redacted = secrets.redact(_utf8(value))
            self.counts.update(redacted.counts)
            return redacted.text
        if isinstance(value, Mapping):
            return {self(key): self(inner) for key, inner in value.items()}
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # no JSON has it
        return [self(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _utf8(text: str) -> str:
    """The text without surrogates, which UTF-8 cannot encode: a pair becomes its character, a lone one U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def redactions(vault: Vault, user_id: str) -> dict[str, int]:
    """Category (`api-key`, `health`, …) → how many redactions so far."""
    return {category: count for category, count in _state(vault, user_id).read().items() if isinstance(count, int)}


def add_redactions(vault: Vault, user_id: str, counts: Mapping[str, int]) -> None:
    """Add to the user's counts. Raises `Busy`."""
    with vault.lock(user_id):  # not the file's own lock: `rename_redactions` is called under the user's
        total = Counter(redactions(vault, user_id))
        total.update(counts)
        _state(vault, user_id).write(dict(sorted(total.items())))


def rename_redactions(vault: Vault, old: str, new: str) -> None:
    """Move a user's counts to the user's new id. The caller holds the locks of both ids."""
    if counts := _state(vault, old).read():
        _state(vault, new).write(counts)
        _state(vault, old).remove()


def _state(vault: Vault, user_id: str) -> StateFile:
    return StateFile(vault.root, f"redactions/{layout.check_user_id(user_id)}")
