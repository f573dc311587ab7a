"""Months are deleted only if the person wants that, on this machine; what would go is shown before."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath

import pytest

from tests.conftest import TAIPEI, Clock
from tests.services.archiving.conftest import Home, archived, talk
from tests.vaults import say_yes
from vault_memory.core import layout
from vault_memory.services.admin import status
from vault_memory.services.archiving import Step, planned_steps
from vault_memory.services.daemon import heartbeat
from vault_memory.services.notes import newest_turns, turn_at
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.vault import Vault, open_vault

AUGUST = PurePosixPath("memory/alice/archive/conversations/2025-08.jsonl.gz")
DELETE = '[archive]\nretention = "delete"\n'


def opened(vault: Vault, clock: Clock, text: str) -> Vault:
    (vault.root / layout.SETTINGS_FILE).write_text(f"format = 1\n{text}")
    return open_vault(vault.root, now=clock)


def deletions(steps: list[Step]) -> list[PurePosixPath]:
    return [step.path for step in steps if step.kind == "delete"]


@pytest.fixture
def packed(talked: Vault, home: Home, clock: Clock) -> Vault:
    """August and a part of October 2025 are packed; now is 20 January 2026, 90 days after 22 October."""
    clock.time = datetime(2026, 1, 20, 9, tzinfo=TAIPEI)
    talk(talked, *(f"十月的第 {number} 句話" for number in range(1, 3)), at=datetime(2025, 10, 1, 9, tzinfo=TAIPEI))
    archived(talked)
    assert home.months() == ["2025-08.jsonl.gz", "2025-10.jsonl.gz"]
    return talked


def test_nothing_is_deleted_without_being_asked(packed: Vault, home: Home, clock: Clock) -> None:
    """A8: deleting is opt-in; the preview says what would go."""
    assert deletions(planned_steps(packed, "alice")) == [AUGUST]
    step = next(each for each in planned_steps(packed, "alice") if each.kind == "delete")
    assert (step.count, step.size) == (5, (packed.root / AUGUST).stat().st_size)
    clock.time = clock.time.replace(year=2030)
    assert deletions(archived(packed)) == [] and "2025-08.jsonl.gz" in home.months()


def test_settings_from_elsewhere_delete_nothing_before_this_machine_says_yes(
    packed: Vault, home: Home, clock: Clock
) -> None:
    """A remote that sends `retention = "delete"` must not delete conversations, which it does not even have."""
    vault = opened(packed, clock, DELETE)
    assert vault.config.archive_retention == "keep"
    assert any("archive.retention in vault-memory.toml not in force" in line for line in status(vault).degraded)
    assert deletions(archived(vault)) == [] and len(home.months()) == 2


def test_a_shorter_retention_from_elsewhere_waits_too(packed: Vault, home: Home, clock: Clock) -> None:
    """The yes was for ten years: until this machine has agreed to another time nothing is deleted."""
    opened(packed, clock, DELETE + "retention_days = 3650\n")
    say_yes(packed.root)
    vault = opened(packed, clock, DELETE + "retention_days = 1\n")
    assert vault.config.archive_retention == "keep"
    assert deletions(archived(vault)) == [] and len(home.months()) == 2


def test_old_months_go_and_the_log_and_status_name_them(packed: Vault, home: Home, clock: Clock) -> None:
    vault = opened(packed, clock, DELETE)
    say_yes(vault.root)
    vault = open_vault(vault.root, now=clock)
    assert len([*newest_turns(vault, "alice", 99)]) == 8
    (outcome,) = heartbeat(vault, "archive", force=True)
    assert outcome.ok and f"deleted {AUGUST} (5 days, " in outcome.said
    assert [job.last.said for job in status(vault).jobs if job.name == "archive" and job.last] == [outcome.said]
    assert home.months() == ["2025-10.jsonl.gz"]
    assert len([*newest_turns(vault, "alice", 99)]) == 3
    found = search(vault, "alice", SearchQuery("八月的第 3 句話", kinds=("conversation",)))
    assert not any("八月" in hit.content for hit in found.hits)
    alice = status(vault, "alice").scopes[0]
    assert not alice.held and not alice.pending, "no mass deletion waits for a person"
    assert turn_at(vault, "alice", "conversations/2025-08-01.jsonl:1") is None
    (again,) = heartbeat(vault, "archive", force=True)
    assert again.said == "nothing is old enough"


def test_a_month_goes_as_a_whole_when_its_last_day_is_old_enough(packed: Vault, home: Home, clock: Clock) -> None:
    vault = opened(packed, clock, DELETE + "retention_days = 151\n")
    say_yes(vault.root)
    clock.time = datetime(2026, 1, 29, 12, tzinfo=TAIPEI)  # 31 August is 151 days ago
    assert deletions(archived(open_vault(vault.root, now=clock))) == []
    clock.time = datetime(2026, 1, 30, 12, tzinfo=TAIPEI)
    assert deletions(archived(open_vault(vault.root, now=clock))) == [AUGUST]


def test_a_month_that_cannot_be_read_stays(packed: Vault, home: Home, clock: Clock) -> None:
    """Nobody can say what would be lost."""
    vault = opened(packed, clock, DELETE)
    say_yes(vault.root)
    (vault.root / AUGUST).write_bytes(b"no gzip")
    assert deletions(archived(open_vault(vault.root, now=clock))) == [] and len(home.months()) == 2
