"""The files of a scope: saving and restoring a note, its history, reading skills, daily logs and recorded turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.notes.conversations import (
        bring_back,
        file_of,
        newest_turns,
        read_day,
        record_files,
        turn_at,
    )
    from vault_memory.services.notes.daily_logs import daily_log, daily_logs
    from vault_memory.services.notes.file_history import file_blame, file_diff, file_log
    from vault_memory.services.notes.restore import restore_file
    from vault_memory.services.notes.save import save_note
    from vault_memory.services.notes.skills import Skill, skill
    from vault_memory.services.notes.tables import Tables, write_tables

__all__ = [
    "Skill",
    "Tables",
    "bring_back",
    "daily_log",
    "daily_logs",
    "file_blame",
    "file_diff",
    "file_log",
    "file_of",
    "newest_turns",
    "read_day",
    "record_files",
    "restore_file",
    "save_note",
    "skill",
    "turn_at",
    "write_tables",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Skill": "skills",
        "Tables": "tables",
        "bring_back": "conversations",
        "daily_log": "daily_logs",
        "daily_logs": "daily_logs",
        "file_blame": "file_history",
        "file_diff": "file_history",
        "file_log": "file_history",
        "file_of": "conversations",
        "newest_turns": "conversations",
        "read_day": "conversations",
        "record_files": "conversations",
        "restore_file": "restore",
        "save_note": "save",
        "skill": "skills",
        "turn_at": "conversations",
        "write_tables": "tables",
    },
)
