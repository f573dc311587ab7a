"""What the program writes by itself is never taken for what was erased."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.services.erasing.planting import git
from vault_memory.errors import UsageError
from vault_memory.services.admin import backup, restore
from vault_memory.services.erasing import erase, of_texts
from vault_memory.services.memories import remember
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


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
