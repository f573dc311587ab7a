"""A user's daily logs: the last ones, up to a day."""

from __future__ import annotations

from datetime import date

import pytest

from tests.vaults import write
from vault_memory.errors import NotFound
from vault_memory.services.notes import daily_log, daily_logs
from vault_memory.services.vault import Vault


@pytest.fixture
def kept(bare_vault: Vault) -> Vault:
    bare_vault.new_user("alice")
    for day in ("2026-01-28", "2026-01-30", "2026-01-29", "2026-02-31", "notes"):
        write(bare_vault, "alice", f"daily/{day}.md", f"# {day}\n")
    return bare_vault


def test_the_last_logs_newest_first(kept: Vault) -> None:
    assert [log.date.day for log in daily_logs(kept, "alice", 9)] == [30, 29, 28], "a file of no day is no log"
    assert [log.source for log in daily_logs(kept, "alice", 1)] == ["daily/2026-01-30.md"]


def test_none_after_the_day_that_is_asked_for(kept: Vault) -> None:
    assert [log.date.day for log in daily_logs(kept, "alice", 9, until=date(2026, 1, 29))] == [29, 28]


def test_a_day_without_a_log_and_a_user_nobody_knows(kept: Vault) -> None:
    assert daily_log(kept, "alice", date(2026, 1, 28)).content == "# 2026-01-28\n"
    with pytest.raises(NotFound, match="2026-01-27"):
        daily_log(kept, "alice", date(2026, 1, 27))
    with pytest.raises(NotFound, match="nobody"):
        daily_logs(kept, "nobody", 1)
