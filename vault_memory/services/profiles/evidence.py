"""The evidence of preferences on the disk: feedback.jsonl, and the files of the archive with that of earlier years."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.services.vault import Vault


def evidence_sources(vault: Vault, user_id: str) -> list[str]:
    """The sources of the files with a user's evidence, oldest first: those of the archive, and feedback.jsonl, which
    need not be there."""
    names = files.names(vault.root / layout.user_dir(user_id) / layout.ARCHIVE_DIR)
    years = sorted(year for name in names if (year := layout.year_of(layout.FEEDBACK, name)) is not None)
    return [*(layout.year_source(layout.FEEDBACK, year) for year in years), layout.FEEDBACK]


def all_evidence(vault: Vault, user_id: str, read: Callable[[Path], bytes | None] = files.read) -> bytes:
    """Every line of a user's evidence, oldest first. What rotates into the archive changes nothing here."""
    found = filter(None, (read(vault.path(user_id, source)) for source in evidence_sources(vault, user_id)))
    return b"".join(lines if lines.endswith(b"\n") else lines + b"\n" for lines in found)
