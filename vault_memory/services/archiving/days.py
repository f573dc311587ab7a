"""Days of conversation that are older than `archive.days` go into the files of their months.

A day is in its month's file, durably, and has been read there, before its own file is removed. A kill in between leaves
both, and the next run finishes it. Only days that nobody is at work on: none of whose turns waits to be learned from,
and whose file no program has open for writing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.records import put_days
from vault_memory.core import layout, months
from vault_memory.errors import Changed, HistoryError
from vault_memory.services.archiving.step import Step
from vault_memory.services.vault import Vault
from vault_memory.services.write import index_problem

MAX_BATCH_BYTES = 8_000_000
"""Of days that are packed while turns of that user wait: a third of a second."""


def days_to_pack(vault: Vault, user_id: str) -> dict[date, int]:
    """The user's old days that have a file of their own, and its bytes; oldest first."""
    if not vault.config.archive_days:
        return {}
    today = vault.now().astimezone(vault.config.zone()).date()
    oldest_kept = today - timedelta(days=vault.config.archive_days)
    # The names of markers begin with the day of their turn.
    waiting = {name.partition(".")[0] for name in files.names(vault.unlearned(user_id))}
    folder = vault.root / layout.user_dir(user_id) / layout.CONVERSATIONS_DIR
    found: dict[date, int] = {}
    for name in sorted(files.names(folder)):
        day = layout.recorded_day(f"{layout.CONVERSATIONS_DIR}/{name}")
        if day and day < oldest_kept and day.isoformat() not in waiting:
            with suppress(OSError):  # it is gone by now, or reached through a link, which `doctor` names
                size = _size(folder / name, vault.root)
                found |= {day: size} if 0 < size <= months.MAX_DAY_BYTES else {}
    return found


def _size(path: Path, root: Path) -> int:
    with files.opened_below(path, root) as file:
        return os.fstat(file.fileno()).st_size


def packing_steps(vault: Vault, user_id: str) -> list[Step]:
    """What `pack_days` would do, by months."""
    sizes: dict[str, list[int]] = {}
    for day, size in days_to_pack(vault, user_id).items():
        sizes.setdefault(layout.month_source(day), []).append(size)
    folder = layout.user_dir(user_id)
    return [Step("pack", folder / source, len(each), sum(each)) for source, each in sizes.items()]


def pack_days(vault: Vault, user_id: str) -> Iterator[Step]:
    """Pack the user's old days, some of a month at a time. Raises `HistoryError` where git would take the archived
    records of conversations, and `VaultMemoryError` where the file of a month cannot be read or written."""
    for batch in _batches(days_to_pack(vault, user_id)):
        path = layout.user_dir(user_id) / layout.month_source(batch[0])
        if not vault.history.working_tree.is_ignored(path):
            raise HistoryError(
                f"git does not ignore {path.parent}, and would take conversations that are moved there: `vault-memory "
                "doctor --fix` adds the line to .gitignore"
            )
        with vault.lock(user_id), vault.record_lock(user_id):
            packed = _pack(vault, user_id, batch)
        if packed:
            index_problem(vault, packed)  # what is wrong with the index, `status` says
            yield Step("pack", path, len(packed), sum(packed.values()))


def _batches(sizes: dict[date, int]) -> Iterator[list[date]]:
    """The days in pieces: each of one month, and no larger than `MAX_BATCH_BYTES`, if it is more than a day."""
    batch: list[date] = []
    total = 0
    for day, size in sizes.items():
        if batch and (layout.month_source(day) != layout.month_source(batch[0]) or total + size > MAX_BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(day)
        total += size
    if batch:
        yield batch


def _pack(vault: Vault, user_id: str, batch: list[date]) -> dict[PurePosixPath, int]:
    """Pack some days of one month; the files that went there, and their bytes. The caller holds the user's locks."""
    home = vault.root / layout.user_dir(user_id)
    paths = {day: home / layout.conversation_source(day) for day in days_to_pack(vault, user_id) if day in batch}
    found: dict[date, bytes] = {}
    for day, path in paths.items():
        if not files.is_being_written(path):
            with suppress(OSError), files.opened_below(path, vault.root) as file:
                found[day] = file.read()
    if not found:
        return {}
    put_days(home / layout.month_source(batch[0]), found, vault.root)
    packed = {}
    for day, lines in found.items():
        with suppress(Changed):  # a person has saved it just now: the next run takes that, too
            files.remove(paths[day], lines, vault.root)
            packed[layout.user_dir(user_id) / layout.conversation_source(day)] = len(lines)
    return packed
