"""What a turn says about its person: `extract` hears preferences, `redact` and `without_private` keep secrets out."""

from __future__ import annotations

from collections.abc import Mapping

from vault_memory.core.extraction.privacy import is_private, private_spans, without_private
from vault_memory.core.extraction.secrets import Redacted, redact
from vault_memory.core.preference import Signal

__all__ = ["Redacted", "Signal", "extract", "is_private", "private_spans", "redact", "without_private"]


def extract(
    user_msg: str, assistant_msg: str = "", existing: Mapping[str, str | list[str]] | None = None
) -> list[Signal]:
    """The preferences heard in one turn, in the order of the message. Pure and deterministic."""
    return []
