"""Keeping the summary of a task that a program reports, in MEMORY.md and the daily log (the design's
`MemoryManager.update_memory`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, reading, trailers
from vault_memory.core.diary import daily, tasks
from vault_memory.core.privacy import redact, secrets_added, without_private
from vault_memory.core.trailers import Trailers
from vault_memory.services.memories import note_in_session
from vault_memory.services.profiles import profile_timezone
from vault_memory.services.redactor import LEFT_OUT
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write


def update_memory(vault: Vault, user_id: str, summary: str) -> bool:
    """Keep the summary of a task; whether that changed a log.

    A turn with a long answer has made an entry for its task: what the summary adds to that is how the task ended. So it
    is with the line of its request in the daily log.
    Nothing is kept of a user who is off the record. Raises `InvalidId`, `Busy`, and what the disk and git raise.
    """
    layout.check_user_id(user_id)
    if not tasks.bullets(summary, str) or vault.config.is_off_record(user_id):
        return False
    at = vault.now().astimezone(vault.config.zone(profile_timezone(vault, user_id)))
    sources = layout.MEMORY_LOG, layout.daily_source(at.date())

    def changes(kept: Callable[[str], str]) -> list[FileChange]:
        lines = tasks.bullets(summary, kept)
        words, outcome = tasks.told(lines)
        edits = (partial(tasks.with_task, at=at, lines=lines), partial(_with_outcome, at, words, outcome))
        return [_changed(vault, user_id, source, edit) for source, edit in zip(sources, edits, strict=True)]

    ended = 0

    def decide() -> Plan[bool]:
        nonlocal ended
        told = changes(lambda value: redact(without_private(value)[0]).text)
        if any(secrets_added(change.path, [change.before], change.after) for change in told):
            told = changes(lambda value: LEFT_OUT)  # bullets that are no secret alone may be one together
        logs = tuple(change for change in told if change.after != (change.before or b""))
        ended = tasks_ended(logs)
        if not logs:
            return Plan(False)
        subject = trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}")
        message, waits = trailers.render(subject, "", Trailers(user=user_id)), vault.config.git_log_commits != "turn"
        return Plan(True, [Draft(message, ASSISTANT, logs, waits=waits)])

    done = write(vault, user_id, [layout.user_dir(user_id) / source for source in sources], decide).result
    note_in_session(vault, user_id, completed=ended)
    return done


def tasks_ended(logs: Iterable[FileChange]) -> int:
    """How many more tasks have ended well after a change of MEMORY.md, among changes of logs."""
    return sum(
        tasks.completed((log.after or b"").decode("utf-8", "replace"))
        - tasks.completed((log.before or b"").decode("utf-8", "replace"))
        for log in logs
        if log.path.name == layout.MEMORY_LOG
    )


def _with_outcome(at: datetime, words: str, outcome: str, text: str) -> str:
    return daily.with_outcome(text, at, words, outcome)


def _changed(vault: Vault, user_id: str, source: str, edit: Callable[[str], str]) -> FileChange:
    before = files.read(vault.path(user_id, source))
    path = layout.user_dir(user_id) / source
    reading.check_utf_8(path, before or b"")
    text = (before or b"").decode("utf-8", "surrogateescape")
    return FileChange(path, before, edit(text).encode("utf-8", "surrogateescape"))
