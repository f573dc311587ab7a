"""What turns leave for a person to read: a day's log with an entry for each conversation, MEMORY.md with one for each
task, and the digest of logs that a prompt gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.core.diary import daily, labels, tasks
    from vault_memory.core.diary.digest import Told, digest
    from vault_memory.core.diary.labels import outcome, quoted

__all__ = [
    "Told",
    "daily",
    "digest",
    "labels",
    "outcome",
    "quoted",
    "tasks",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Told": "digest",
        "digest": "digest",
        "outcome": "labels",
        "quoted": "labels",
    },
)
