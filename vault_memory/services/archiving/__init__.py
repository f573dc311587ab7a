"""What is old goes into a user's archive: days of conversation into the files of their months, entries and evidence of
earlier years out of their logs. Old months are deleted, if the person wants that. Also what all this would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.archiving.archive_user import archive_user, planned_steps
    from vault_memory.services.archiving.moves import with_moves_followed
    from vault_memory.services.archiving.step import Step, in_words

__all__ = ["Step", "archive_user", "in_words", "planned_steps", "with_moves_followed"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Step": "step",
        "archive_user": "archive_user",
        "in_words": "step",
        "planned_steps": "archive_user",
        "with_moves_followed": "moves",
    },
)
