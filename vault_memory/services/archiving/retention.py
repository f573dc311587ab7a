"""Months of conversation that are older than the retention are deleted, if the person has asked for that
(`archive.retention`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.records import month_files, opened_month
from vault_memory.core import layout, months
from vault_memory.errors import VaultMemoryError
from vault_memory.services.archiving.step import Step
from vault_memory.services.indexing import reconcile
from vault_memory.services.vault import Vault


def deletion_steps(vault: Vault, user_id: str) -> list[Step]:
    """What `delete_months` would delete, whether `archive.retention` is `delete` or not."""
    return [_step(vault, path, days) for path, days in _old_months(vault, user_id)]


def delete_months(vault: Vault, user_id: str) -> Iterator[Step]:
    """Delete the user's months that are older than the retention, and take them out of the index. Nothing, unless
    `archive.retention` is `delete`."""
    if vault.config.archive_retention != "delete":
        return
    for path, days in _old_months(vault, user_id):
        step = _step(vault, path, days)
        with vault.lock(user_id), vault.record_lock(user_id):
            files.remove_private(path, path.parent.parent, vault.root)
        yield step
        reconcile(vault, user_id, map(layout.conversation_source, days), confirm_deletions=True)


def _old_months(vault: Vault, user_id: str) -> Iterator[tuple[Path, list[date]]]:
    """The archived months that ended before the retention, and their days; none that cannot be read."""
    today = vault.now().astimezone(vault.config.zone()).date()
    oldest_kept = today - timedelta(days=vault.config.archive_retention_days)
    for month, path in month_files(vault.root / layout.user_dir(user_id)):
        if months.last_day(month) >= oldest_kept:
            return
        try:
            with opened_month(path, vault.root) as opened:
                yield path, opened.days
        except (FileNotFoundError, NotADirectoryError, VaultMemoryError):
            continue


def _step(vault: Vault, path: Path, days: list[date]) -> Step:
    return Step("delete", PurePosixPath(path.relative_to(vault.root).as_posix()), len(days), path.stat().st_size)
