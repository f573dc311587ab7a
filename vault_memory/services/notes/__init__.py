"""The files of a scope: saving and restoring a note, its history, reading skills, daily logs, recorded turns and what
is known of ended conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.notes.commits import Commits
    from vault_memory.services.notes.conversations import (
        Folders,
        bring_back,
        file_of,
        newest_turns,
        read_day,
        record_files,
        turn_at,
    )
    from vault_memory.services.notes.daily_logs import daily_log, daily_logs
    from vault_memory.services.notes.ended import (
        ENDED_FILE,
        EndedConversations,
        context_summary,
        drop_summary,
        ending,
        key_of,
        read_ended,
        write_ended,
    )
    from vault_memory.services.notes.file_history import file_blame, file_diff, file_log
    from vault_memory.services.notes.gone import gone
    from vault_memory.services.notes.read import NoteText, note_sources, note_stamp, read_note
    from vault_memory.services.notes.restore import restore_file
    from vault_memory.services.notes.save import save_note
    from vault_memory.services.notes.skills import Skill, skill
    from vault_memory.services.notes.tables import Tables, write_tables

__all__ = [
    "Commits",
    "ENDED_FILE",
    "EndedConversations",
    "Folders",
    "ending",
    "key_of",
    "read_ended",
    "write_ended",
    "NoteText",
    "Skill",
    "Tables",
    "bring_back",
    "context_summary",
    "daily_log",
    "daily_logs",
    "drop_summary",
    "file_blame",
    "file_diff",
    "file_log",
    "file_of",
    "gone",
    "newest_turns",
    "note_sources",
    "note_stamp",
    "read_day",
    "read_note",
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
        "Commits": "commits",
        "ENDED_FILE": "ended",
        "EndedConversations": "ended",
        "Folders": "conversations",
        "ending": "ended",
        "key_of": "ended",
        "read_ended": "ended",
        "write_ended": "ended",
        "Skill": "skills",
        "Tables": "tables",
        "bring_back": "conversations",
        "context_summary": "ended",
        "daily_log": "daily_logs",
        "daily_logs": "daily_logs",
        "drop_summary": "ended",
        "file_blame": "file_history",
        "file_diff": "file_history",
        "file_log": "file_history",
        "file_of": "conversations",
        "gone": "gone",
        "newest_turns": "conversations",
        "read_day": "conversations",
        "record_files": "conversations",
        "NoteText": "read",
        "note_sources": "read",
        "note_stamp": "read",
        "read_note": "read",
        "restore_file": "restore",
        "save_note": "save",
        "skill": "skills",
        "turn_at": "conversations",
        "write_tables": "tables",
    },
)
