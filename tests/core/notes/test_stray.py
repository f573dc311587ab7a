"""Conversation records and indexes that were moved or copied out of their place."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sqlite3
from datetime import datetime
from pathlib import Path, PurePosixPath

import pytest

from vault_memory.core.notes.journal import Reply, Turn
from vault_memory.core.notes.stray import is_stray
from vault_memory.services.admin.backup import backup
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

TURN = Turn("c", "alice", datetime(2026, 1, 30, 14, 5), "tea?", "Green.").line()
REPLY = Reply("c", "alice", "2026-01-30T14:05:00", "Green.", datetime(2026, 1, 30, 14, 6), 0).line()


@pytest.mark.parametrize(
    ("path", "text", "is_record"),
    [
        ("old/alice/conversations/2026-01-30.jsonl", TURN, True),
        ("talks.JSONL", f'{{"conversation_id": "c", "us\n{TURN}\n', True),  # its first line was cut by a kill
        ("talks.jsonl", REPLY, True),
        ("talks.jsonl", '{"timestamp": "2026-01-30T14:05", "user": "tea?", "assistant": "Green."}', True),
        ("pretty.jsonl", json.dumps(json.loads(TURN), indent=2), True),  # as `jq .` writes it
        ("all.json", f"[{TURN}]", True),
        ("saved/.jsonl", f"\ufeff{TURN}\n", True),  # some editors save with a byte order mark
        ("memory/alice/conversations/2026-01-30.jsonl", TURN, False),  # private by its place
        ("notes/format.md", TURN, False),
        ("log.jsonl", '{"timestamp": "2026-01-30T14:05", "user": "alice", "action": "log-in"}', False),
        ("set.jsonl", '["assistant"]\n{"user": "tea?", "assistant": "Green."}\n\n', False),
    ],
)
def test_a_record_is_known_wherever_it_lies(path: str, text: str, is_record: bool) -> None:
    assert is_stray(PurePosixPath(path), lambda: text.encode().splitlines(keepends=True)) == is_record


@pytest.mark.parametrize("name", ["index 2.db", "Copy of index.db", "alice.sqlite", "index_copy", "index.db (1).old"])
def test_a_copy_of_an_index_is_known_wherever_it_lies(vault: Vault, name: str) -> None:
    record_turn(vault, "alice", "My zebra talk", "ok")
    vault.index("alice").close()
    data = vault.index_path("alice").read_bytes()
    assert is_stray(PurePosixPath("memory/alice", name), lambda: [data]) is (not name.startswith("index.db"))
    assert is_stray(PurePosixPath("old", "x.db-wal"), lambda: [b"\x37\x7f\x06\x82 pages"])


def test_a_database_of_another_program_is_no_index(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE notes (text)")
    data = (tmp_path / "x.db").read_bytes()
    assert not is_stray(PurePosixPath("x.db"), lambda: io.BytesIO(data))


def test_a_backup_is_known_wherever_it_lies(vault: Vault, tmp_path: Path) -> None:
    record_turn(vault, "alice", "My zebra talk", "ok")
    backup(vault, tmp_path / "b.tar.gz")
    data = (tmp_path / "b.tar.gz").read_bytes()
    assert is_stray(PurePosixPath("Backups/b.tar.gz"), lambda: io.BytesIO(data))
    assert not is_stray(PurePosixPath("Backups/b.tar.gz"), lambda: [gzip.compress(b"notes")])
    assert not is_stray(PurePosixPath("Backups/b.tar.gz"), lambda: [b"\x1f\x8b damaged, damaged, damaged"])
