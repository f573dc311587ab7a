"""`status` reports the real state of the vault."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.vaults import copied, write
from vault_memory.errors import NotFound
from vault_memory.services.admin.doctor import doctor
from vault_memory.services.admin.status import LARGE_USER_BYTES, ScopeStatus, ignored_notes, status
from vault_memory.services.daemon.daemon_record import DaemonRecord, only_daemon, write_record
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(tmp_path: Path, new_vault: Path) -> Vault:
    vault = open_vault(copied(new_vault, tmp_path / "vault"))
    write(vault, "alice", "USER.md", "# 使用者資料\n\n喜歡暗色主題\n")
    return vault


def of(vault: Vault, user_id: str = "alice") -> ScopeStatus:
    [scope] = status(vault, user_id).scopes
    return scope


def test_pending_until_it_is_indexed(vault: Vault) -> None:
    assert (of(vault).indexed, of(vault).pending) == (0, ("USER.md",))
    assert not vault.index_path("alice").exists(), "looking changes nothing"
    reconcile(vault, "alice", embed_at_once=0)
    assert (of(vault).indexed, of(vault).pending) == (1, ())
    assert of(vault).vectors_pending == 1
    embed(vault, "alice")
    assert of(vault).vectors_pending == 0
    assert of(vault).index_bytes > 0
    vault.path("alice", "USER.md").unlink()
    assert of(vault).pending == ("USER.md",)


def test_what_failed_and_why(vault: Vault) -> None:
    write(vault, "alice", "bad.md", "").write_bytes(b"\xff\n")
    vault.path("alice", "USER.md").with_name("link.md").symlink_to("/etc/passwd")
    reconcile(vault, "alice")
    assert "UTF-8" in of(vault).warned["bad.md"], "it is read"
    assert of(vault).failed.keys() == {"link.md"} and "link" in of(vault).failed["link.md"]
    assert of(vault).pending == ()


def test_deletions_that_wait(vault: Vault) -> None:
    for n in range(10):
        write(vault, "alice", f"{n}.md", f"{n}\n")
    reconcile(vault, "alice")
    for n in range(6):
        vault.path("alice", f"{n}.md").unlink()
    reconcile(vault, "alice")
    assert len(of(vault).held) == 6
    assert any("vault-memory resume" in line for line in status(vault).unhealthy)


def test_well_and_unwell(vault: Vault) -> None:
    for scope in vault.scopes():
        reconcile(vault, scope)
    assert status(vault).unhealthy == ()
    write(vault, "alice", "big.md", "x" * (LARGE_USER_BYTES + 1))
    assert any("8.0 MB" in line for line in status(vault).degraded) and not status(vault).unhealthy


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount a folder for reading")
def test_a_vault_that_cannot_be_written_is_not_well(vault: Vault) -> None:
    for scope in vault.scopes():
        reconcile(vault, scope)
    if subprocess.run(["mount", "--bind", vault.root, vault.root], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", vault.root], check=True)
        assert any("cannot be written" in line and "no turn is kept" in line for line in status(vault).unhealthy)
    finally:
        subprocess.run(["umount", "-l", vault.root], check=True)


def test_the_archive_and_the_conversations_do_not_count(vault: Vault) -> None:
    """A14: what git tracks of a user, archives and index not counted."""
    before = of(vault).tracked_bytes
    write(vault, "alice", "archive/MEMORY-2025.md", "x" * 1000)
    write(vault, "alice", "conversations/2026-01-30.jsonl", "{}\n")
    write(vault, "alice", "feedback.jsonl", "{}\n")
    assert of(vault).tracked_bytes == before + 3


def test_the_daemon(vault: Vault) -> None:
    assert not status(vault).daemon.running
    with only_daemon(vault.root):
        write_record(vault.root, DaemonRecord(state="watching", problems={"memory/alice": "index.db is locked"}))
        found = status(vault)
        assert found.daemon.running
        assert found.daemon.record is not None
        assert found.daemon.record.pid == os.getpid()
        assert any("index.db is locked" in line for line in found.unhealthy)
    assert not status(vault).daemon.running


def test_a_daemon_that_died_is_told(vault: Vault) -> None:
    for scope in vault.scopes():
        reconcile(vault, scope)
    write_record(vault.root, DaemonRecord(pid=4711, state="watching", beat="2026-01-30T14:05:00+08:00"))
    assert any("4711" in line and "died" in line for line in status(vault).unhealthy)
    write_record(vault.root, DaemonRecord(pid=4711, state="stopped"))
    assert status(vault).unhealthy == ()


def test_a_file_that_is_newer_than_the_index_for_a_minute_is_unhealthy(vault: Vault) -> None:
    for scope in vault.scopes():
        reconcile(vault, scope)
    write(vault, "alice", "new.md", "new\n")
    assert not of(open_vault(vault.root)).stale
    later = open_vault(vault.root, now=lambda: datetime.now(UTC) + timedelta(seconds=61))
    assert of(later).stale == ("new.md",)
    assert any("new.md" in line for line in status(later).unhealthy)


def test_an_index_that_cannot_be_opened_is_told(vault: Vault) -> None:
    vault.index_path("alice").mkdir()
    assert of(vault).problem
    assert any("index.db" in line for line in status(vault).unhealthy)


@pytest.mark.parametrize("pattern", ["*", "memory/", "*.md"])
def test_a_pattern_that_hides_the_programs_own_notes_from_git_is_named(vault: Vault, pattern: str) -> None:
    write(vault, "alice", "USER.md", "# Alice\n")
    assert ignored_notes(vault) == ""
    with (vault.root / ".gitignore").open("a") as patterns:
        patterns.write(f"/memory/alice/notes/mine/\nprivate*.md\n!/memory/alice/daily/\n{pattern}\n")
    lines = len((vault.root / ".gitignore").read_text().splitlines())
    assert f"memory/alice/USER.md (.gitignore:{lines}:{pattern})" in ignored_notes(vault)
    assert ignored_notes(vault) in status(vault).unhealthy
    assert any("take that pattern out" in found.next_step for found in doctor(vault))


def test_a_pattern_of_the_persons_for_other_notes_is_not_named(vault: Vault) -> None:
    write(vault, "alice", "USER.md", "# Alice\n")
    with (vault.root / ".gitignore").open("a") as patterns:
        patterns.write("/memory/*/notes/mine/\nprivate*.md\nmemory/alice/*.md\n!memory/alice/*.md\n")
    assert ignored_notes(vault) == ""


def test_the_rest_of_it(vault: Vault) -> None:
    found = status(vault)
    assert found.history.branch == "main"
    assert found.vectors_by in ("sqlite-vec", "numpy")
    assert {job.name for job in found.jobs} >= {"full-check", "commits", "vectors"}
    assert [scope.scope for scope in found.scopes] == ["", "alice"]
    json.dumps(dataclasses.asdict(found), default=str)
    with pytest.raises(NotFound):
        status(vault, "nobody")
