"""Commit a person's edits under the person's name, before anything else changes the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.person_edits.commit import commit_edits, commit_person_edits, edit_drafts
    from vault_memory.services.person_edits.withheld import Withheld, withheld

__all__ = ["Withheld", "commit_edits", "commit_person_edits", "edit_drafts", "withheld"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Withheld": "withheld",
        "commit_edits": "commit",
        "commit_person_edits": "commit",
        "edit_drafts": "commit",
        "withheld": "withheld",
    },
)
