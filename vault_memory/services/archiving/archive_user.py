"""All that is archived of one user, and what would be."""

from __future__ import annotations

from collections.abc import Iterator

from vault_memory.errors import VaultMemoryError
from vault_memory.services.archiving.days import pack_days, packing_steps
from vault_memory.services.archiving.retention import delete_months, deletion_steps
from vault_memory.services.archiving.step import Step
from vault_memory.services.archiving.years import rotate_logs, rotation_steps
from vault_memory.services.vault import Vault


def archive_user(vault: Vault, user_id: str) -> Iterator[Step]:
    """Pack the user's old days, delete old months if the settings say so, rotate the logs; each step when it is done.

    It can be repeated, and interrupted anywhere. Where one of the three fails the others are done, then this raises
    `VaultMemoryError`.
    """
    failed: dict[str, None] = {}
    for work in (pack_days, delete_months, rotate_logs):
        try:
            yield from work(vault, user_id)
        except VaultMemoryError as error:
            failed[str(error)] = None
    if failed:
        raise VaultMemoryError("; ".join(failed))


def planned_steps(vault: Vault, user_id: str) -> list[Step]:
    """What `archive_user` would do now; and which archived months it would delete if `archive.retention` were `delete`.
    Changes nothing."""
    return [*packing_steps(vault, user_id), *deletion_steps(vault, user_id), *rotation_steps(vault, user_id)]
