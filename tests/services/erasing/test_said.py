"""What the program writes by itself is never taken for what was erased."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.services.erasing.planting import git
from vault_memory.errors import UsageError
from vault_memory.services.admin import backup, create_vault, restore
from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.memories import remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

WHO = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def test_a_time_of_day_that_was_erased_stops_nothing(vault: Vault, clock: Clock, tmp_path: Path) -> None:
    """At that time turns are recorded, learned from and committed, memories are stored, and a backup is restored."""
    record_turn(vault, "alice", "My train leaves at 16:30 from hall 01.31", "ok")
    assert erase(vault, of_texts(vault, "alice", ["16:30", "01.31"])).left == ()
    clock.time = clock.time.replace(hour=16, minute=30) + timedelta(days=1)
    assert record_turn(vault, "alice", "I like the dark theme", "ok").paused is None
    remember(vault, "alice", "a plain fact")
    vault.history.flush()
    assert git(vault.root, "status", "--porcelain") == ""
    assert "16:30" in (vault.root / "memory/alice/daily/2026-01-31.md").read_text()
    backup(vault, tmp_path / "after.tar.gz")
    restore(tmp_path / "after.tar.gz", tmp_path / "again")
    with pytest.raises(UsageError, match="was erased"):
        record_turn(vault, "alice", "It leaves at 16:30", "ok")
    with pytest.raises(UsageError, match="was erased"):
        remember(vault, "alice", "hall 01.31")


def test_a_backup_of_another_vault_may_say_it(vault: Vault, tmp_path: Path) -> None:
    """Known by their first commits: also where an erasing has made that one anew."""
    other = open_vault(create_vault(tmp_path / "other").root)
    backups = [tmp_path / name for name in ("own.tar.gz", "others.tar.gz")]
    for each, archive in zip((vault, other), backups, strict=True):
        git(each.root, *WHO, "commit", "-q", "--amend", "-m", f"begun by Zanzibar {archive.name}")
        record_turn(each, "alice", "My codeword is Zanzibar", "ok")
        backup(each, archive)
    begun = git(vault.root, "rev-list", "--max-parents=0", "--all")
    for _ in range(2):
        assert erase(vault, of_texts(vault, "alice", ["Zanzibar"])).left == ()
        assert git(vault.root, "rev-list", "--max-parents=0", "--all") != begun
        with pytest.raises(UsageError, match="was erased on this machine"):
            restore(backups[0], tmp_path / "own")
    restore(backups[1], tmp_path / "others")
    assert any("Zanzibar" in path.read_text() for path in (tmp_path / "others/memory/alice").rglob("*.jsonl"))
