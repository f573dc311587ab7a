"""The entries of MEMORY.md and the lines of feedback.jsonl from earlier years go into the archive, by one commit.

A year is over a day after its end: a program may say after midnight how a task of New Year's Eve has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, reading, rotation, trailers
from vault_memory.core.notes import note
from vault_memory.core.privacy import places, secrets_added, shown_path
from vault_memory.core.trailers import Trailers
from vault_memory.errors import HistoryError
from vault_memory.services.archiving.step import Step
from vault_memory.services.profiles import evidence_sources, profile_timezone
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write


def rotation_steps(vault: Vault, user_id: str) -> list[Step]:
    """What `rotate_logs` would do."""
    return [step for step, _ in _planned(vault, user_id, files.read)]


def rotate_logs(vault: Vault, user_id: str) -> list[Step]:
    """Move what the user's logs hold of earlier years; a step for each file that it goes to. Raises `HistoryError`
    where that cannot be committed now, and what `write` raises."""
    planned = _planned(vault, user_id, files.read)
    if not planned:
        return []
    if reason := vault.history.stopped():
        raise HistoryError(reason)
    vault.history.flush()  # entries that wait are a commit of their own, not a part of this one
    cache = ReadCache()

    def decide() -> Plan[list[Step]]:
        changes: list[FileChange] = []
        steps: list[Step] = []
        for step, of_step in _planned(vault, user_id, cache.read):
            steps.append(step)
            changes += of_step
        for change in changes:
            refuse_uncommitted(vault, change.path, change.before)
            if found := secrets_added(change.path, [change.before], change.after):
                raise HistoryError(
                    f"{shown_path(change.path)} would hold what looks like a secret, {places(found)}, so nothing is "
                    "moved there: take it out of the log"
                )
        message = trailers.render(f"archive({user_id}): logs of earlier years", "", Trailers(user=user_id))
        return Plan(steps, [Draft(message, ASSISTANT, tuple(changes))] if changes else [])

    paths = [change.path for _, changes in planned for change in changes]
    return write(vault, user_id, paths, decide, cache=cache).result


def _planned(vault: Vault, user_id: str, read: Callable[[Path], bytes | None]) -> list[tuple[Step, list[FileChange]]]:
    """Each step, and the files that it changes: the archive of a year, and with the last one of a log the log."""
    zone = vault.config.zone(profile_timezone(vault, user_id))
    year = (vault.now() - timedelta(days=1)).astimezone(zone).year
    folder = layout.user_dir(user_id)
    planned: list[tuple[Step, list[FileChange]]] = []
    for log in rotation.LOGS:
        before = read(vault.path(user_id, log)) or b""
        reading.check_utf_8(folder / log, before)
        if note.conflicts_in(before.decode("utf-8", "replace")):
            continue  # a person decides first which lines there are
        years = [found for source in evidence_sources(vault, user_id) if (found := layout.year_of(log, _name(source)))]
        kept, moved = rotation.rotated(log, before, year, max(years, default=None))
        for number, (old_year, pieces) in enumerate(moved.items(), 1):
            source = layout.year_source(log, old_year)
            stored = read(vault.path(user_id, source))
            after = rotation.with_pieces(log, stored, before, old_year, pieces)
            changes = [FileChange(folder / source, stored, after)] if after != stored else []
            if number == len(moved):
                changes.append(FileChange(folder / log, before, kept or None))
            planned.append((Step("move", folder / source, len(pieces), sum(map(len, pieces))), changes))
    return planned


def _name(source: str) -> str:
    return source.rpartition("/")[2]
