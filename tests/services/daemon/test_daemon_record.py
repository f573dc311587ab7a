"""One daemon per vault, and the record by which other programs know of it."""

from __future__ import annotations

import pytest

from vault_memory.core import layout
from vault_memory.errors import Busy
from vault_memory.services.daemon.daemon_record import DaemonRecord, is_running, only_daemon, read_record, write_record
from vault_memory.services.vault import Vault


@pytest.mark.slow
def test_a_second_daemon_is_refused_and_the_first_named(bare_vault: Vault) -> None:
    root = bare_vault.root
    assert not is_running(root)
    with only_daemon(root):
        write_record(root, DaemonRecord(pid=4711, started="2026-01-30T14:05:00+08:00"))
        assert is_running(root)
        with pytest.raises(Busy, match="process 4711, since 2026-01-30"), only_daemon(root):
            pytest.fail("two daemons")
    assert not is_running(root)
    with only_daemon(root):
        assert is_running(root), "the lock is free again"


def test_asking_whether_one_runs_creates_nothing(bare_vault: Vault) -> None:
    assert not is_running(bare_vault.root)
    assert not (bare_vault.root / layout.STATE_DIR).exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"pid": 1, "of_another_version": 2}', b"\xff"])
def test_a_record_that_cannot_be_read_is_none_and_the_next_one_replaces_it(bare_vault: Vault, damage: bytes) -> None:
    assert read_record(bare_vault.root) is None
    record = DaemonRecord(pid=1, problems={"alice": "disk full"}, held={"memory/alice": 3})
    write_record(bare_vault.root, record)
    assert read_record(bare_vault.root) == record
    (bare_vault.root / layout.STATE_DIR / "daemon.json").write_bytes(damage)
    assert read_record(bare_vault.root) is None
    write_record(bare_vault.root, record)
    assert read_record(bare_vault.root) == record
