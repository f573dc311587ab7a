"""A backup comes back whole, and nothing is overwritten or left behind on the way."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from tests.vaults import write
from vault_memory.core import layout
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.admin import backup, doctor, export, restore
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(vault: Vault) -> Vault:
    record_turn(vault, "alice", "我喜歡暗色主題")
    return vault


def test_notes_conversations_and_history_come_back_and_derived_files_do_not(kept: Vault, tmp_path: Path) -> None:
    (kept.root / "memory/alice/index.db").write_bytes(b"derived")
    assert backup(kept, tmp_path / "a.tar.gz") == []
    again = open_vault(restore(tmp_path / "a.tar.gz", tmp_path / "again"))
    for source in ("USER.md", "conversations/2026-01-30.jsonl"):
        assert again.path("alice", source).read_bytes() == kept.path("alice", source).read_bytes()
    assert [e.commit for e in again.history.log()] == [e.commit for e in kept.history.log()]
    assert again.index("alice").files().keys() >= {"USER.md"}, "the index is made anew"
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        derived = (layout.STATE_DIR, layout.INDEX_FILE)
        assert not any(part in name for name in tar.getnames() for part in derived), "no index, no lock, no token"
    assert (tmp_path / "a.tar.gz").stat().st_mode & 0o077 == 0


def test_a_link_that_leads_out_is_left_out_and_named(kept: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (kept.root / "way-out.md").symlink_to(tmp_path / "secret")
    assert backup(kept, tmp_path / "a.tar.gz") == ["way-out.md: a link to outside the vault"]


def test_a_backup_overwrites_nothing_and_does_not_hold_itself(kept: Vault, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for target in (tmp_path / "taken", kept.root / "a.tar.gz"):
        with pytest.raises(UsageError):
            backup(kept, target)
    assert (tmp_path / "taken").read_text() == "mine" and not (kept.root / "a.tar.gz").exists()


def test_a_restore_needs_an_empty_folder_and_leaves_nothing_of_a_broken_backup(kept: Vault, tmp_path: Path) -> None:
    backup(kept, tmp_path / "a.tar.gz")
    whole = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "half.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match="nothing was restored"):
        restore(tmp_path / "half.tar.gz", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(UsageError, match="not empty"):
        restore(tmp_path / "a.tar.gz", kept.root)
    with pytest.raises(UsageError, match="no file"):
        restore(tmp_path / "none.tar.gz", tmp_path / "new")


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_conversations_and_what_holds_them_are_private_from_the_start(vault: Vault, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        record_turn(vault, "alice", "我喜歡暗色主題")
        home = vault.root / "memory" / "alice"
        private = [home / "conversations", *(home / "conversations").iterdir(), *home.glob("index.db*")]
        private += [vault.root / ".vault-memory", *(vault.root / ".vault-memory" / "locks").iterdir()]
        assert len(private) >= 4 and not [path for path in private if path.stat().st_mode & 0o077]
        assert (home / "USER.md").stat().st_mode & 0o777 == 0o666 & ~umask, "a note has the mode that the umask gives"
        (home / "USER.md").chmod(0o640)
        record_turn(vault, "alice", "叫我阿明")
        assert (home / "USER.md").stat().st_mode & 0o777 == 0o640, "and keeps the one that the person gave it"
        for path in private:
            path.chmod(0o755 if path.is_dir() else 0o644)  # as an older version left them
        export(vault, "alice", tmp_path / "out")
        copies = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
        assert len(copies) > 4 and not [path for path in copies if path.stat().st_mode & 0o077]
        premade = tmp_path / ".a.tar.gz.part"
        premade.touch()
        premade.chmod(0o666)
        backup(vault, tmp_path / "a.tar.gz")
        assert (tmp_path / "a.tar.gz").stat().st_mode & 0o077 == 0
        [finding] = [finding for finding in doctor(vault) if finding.name == "privacy"]
        assert not finding.ok and "--fix" in finding.next_step
        [finding] = [finding for finding in doctor(vault, fix=True) if finding.name == "privacy"]
        assert finding.ok and not [path for path in private if path.exists() and path.stat().st_mode & 0o077]
    finally:
        os.umask(before)


def test_one_user_s_files_alone_are_exported(kept: Vault, tmp_path: Path) -> None:
    write(kept, "bob", "notes/a.md", "bob's\n")
    count = export(kept, "alice", tmp_path / "out")
    exported = sorted(p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert count == len(exported) and {"USER.md", "conversations/2026-01-30.jsonl"} <= set(exported)
    assert not any("notes" in name for name in exported)
    with pytest.raises(UsageError, match="not empty"):
        export(kept, "alice", tmp_path / "out")
    with pytest.raises(NotFound):
        export(kept, "nobody", tmp_path / "other")
