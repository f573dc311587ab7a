"""A backup comes back whole, and nothing is overwritten or left behind on the way."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.vaults import write
from vault_memory.adapters import git
from vault_memory.adapters.archive import Limits
from vault_memory.core import layout
from vault_memory.errors import NotFound, UsageError, VaultMemoryError
from vault_memory.services.admin import backup, create_vault, doctor, export, restore
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


def test_a_worktree_whose_history_would_be_missing_is_refused(kept: Vault, tmp_path: Path) -> None:
    git.run(kept.root, "worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"))
    with pytest.raises(UsageError, match="its history is in another folder.*`git clone "):
        backup(open_vault(tmp_path / "linked"), tmp_path / "a.tar.gz")
    assert not (tmp_path / "a.tar.gz").exists()


def test_a_link_that_leads_out_is_left_out_and_named(kept: Vault, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (kept.root / "way-out.md").symlink_to(tmp_path / "secret")
    assert backup(kept, tmp_path / "a.tar.gz") == [
        f"left out: way-out.md: a link to {str(tmp_path / 'secret')!r}, which is not among the notes"
    ]


def test_what_a_restore_refuses_is_left_out_and_named_and_the_rest_comes_back(kept: Vault, tmp_path: Path) -> None:
    home = kept.root / "memory" / "alice"
    os.mkfifo(home / "photo.png")
    with socket.socket(socket.AF_UNIX) as one, tempfile.TemporaryDirectory() as short:  # a name of at most 107 bytes
        one.bind(f"{short}/agent")
        shutil.move(f"{short}/agent", home)
    (home / ".GIT").mkdir()
    (home / ".GIT" / "config").write_text("x")
    (home / "config.md").symlink_to("../../.git/config")
    (home / "absolute.md").symlink_to(home / "USER.md")
    (home / "index.db of mine").mkdir()
    deep = home.joinpath(*["d"] * 110)
    deep.mkdir(parents=True)
    (deep / "x.md").write_text("x")
    (home / "poetry.lock").write_text("a person's own")
    (kept.root / ".git" / "index.lock").write_text("")
    (kept.root / ".git" / "refs" / "heads" / "main.lock").write_text("")
    said = backup(kept, tmp_path / "a.tar.gz")
    named = {line.split(": ")[1] for line in said if line.startswith("left out: ")}
    names = ("photo.png", "agent", ".GIT/config", "config.md", "absolute.md", "index.db of mine", "d/" * 110 + "x.md")
    assert named == {f"memory/alice/{name}" for name in names} and len(said) == len(named), said
    root = restore(tmp_path / "a.tar.gz", tmp_path / "again")
    assert (root / "memory/alice/USER.md").read_bytes() == (home / "USER.md").read_bytes()
    assert (root / "memory/alice/poetry.lock").exists() and not list((root / ".git").rglob("*.lock"))


def test_attachments_are_copied_without_the_users_locks(kept: Vault, tmp_path: Path) -> None:
    (kept.root / "video.mp4").write_bytes(os.urandom(5 << 20))
    with ThreadPoolExecutor() as pool:
        with kept.lock("alice"):
            done = pool.submit(backup, kept, tmp_path / "out" / "a.tar.gz")
            give_up = time.monotonic() + 60
            while sum(path.stat().st_size for path in (tmp_path / "out").glob(".*.part")) < 3 << 20:
                assert time.monotonic() < give_up, "no attachment is copied while somebody else holds the lock"
                time.sleep(0.01)
        assert done.result() == []


def test_what_is_packed_too_well_comes_back(kept: Vault, tmp_path: Path) -> None:
    limits = Limits(more_bytes=1 << 20, more_members=0, bytes_per_archive_byte=20)
    with (kept.root / "disk.img").open("wb") as file:
        file.truncate(8 << 20)
    (kept.root / "empty").mkdir()
    for number in range(300):
        (kept.root / "empty" / f"{number}.md").touch()
        os.utime(kept.root / "empty" / f"{number}.md", (0, 0))
    assert backup(kept, tmp_path / "a.tar.gz", limits=limits) == []
    assert (tmp_path / "a.tar.gz").stat().st_size < 3 << 19
    root = restore(tmp_path / "a.tar.gz", tmp_path / "again", limits=limits)
    assert (root / "disk.img").stat().st_size == 8 << 20 and len(os.listdir(root / "empty")) == 300


def test_a_backup_that_a_restore_would_refuse_is_none(kept: Vault, tmp_path: Path) -> None:
    (kept.root / "large.md").write_bytes(bytes(100_000))
    limits = Limits(more_bytes=90_000, bytes_per_archive_byte=0)
    with pytest.raises(VaultMemoryError, match=r"'large\.md'.* take that file out"):
        backup(kept, tmp_path / "out" / "a.tar.gz", limits=limits)
    assert os.listdir(tmp_path / "out") == []


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
        private = [home / "conversations", *(home / "conversations").glob("*.jsonl"), *home.glob("index.db*")]
        private += [vault.root / ".vault-memory", *(vault.root / ".vault-memory" / "locks").rglob("*")]
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
    (conversation,) = (kept.root / "memory/alice/conversations").glob("*.jsonl")
    write(kept, "alice", "bob/2026-01-29.jsonl", conversation.read_text())  # as `mv memory/bob memory/alice` leaves it
    left_out: list[str] = []
    count = export(kept, "alice", tmp_path / "out", on_left_out=left_out.append)
    (line,) = left_out
    assert line.startswith("left out: memory/alice/bob/2026-01-29.jsonl: it is a conversation record")
    exported = sorted(p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert count == len(exported) and {"USER.md", "conversations/2026-01-30.jsonl"} <= set(exported)
    assert not any("notes" in name or "bob" in name for name in exported)
    with pytest.raises(UsageError, match="not empty"):
        export(kept, "alice", tmp_path / "out")
    with pytest.raises(NotFound):
        export(kept, "nobody", tmp_path / "other")
    (tmp_path / "into").symlink_to(kept.root)
    for folder in (kept.root / "alice-export", kept.root / ".exp", tmp_path / "into" / "x"):
        with pytest.raises(UsageError, match="inside the vault"):  # it would be committed, and sent
            export(kept, "alice", folder)
        assert not folder.exists()
    other = create_vault(tmp_path / "other").root
    for place in (other / "notes" / "alice", other / "memory" / "bob"):
        with pytest.raises(UsageError, match=f"inside the vault {other}"):
            export(kept, "alice", place)
        with pytest.raises(UsageError, match=f"inside the vault {other}"):
            backup(kept, place)
        assert not place.exists()


def test_a_folder_that_no_path_reaches_is_named(kept: Vault, tmp_path: Path) -> None:
    """A path has 4,096 bytes at most; a backup ended, and blamed its own name."""
    number = os.open(kept.root / "memory" / "alice", os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=number)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=number)
        os.close(number)
        number = inner
    os.close(number)
    assert any("File name too long" in line for line in backup(kept, tmp_path / "b.tar.gz"))
    said: list[str] = []
    assert export(kept, "alice", tmp_path / "out", on_left_out=said.append)
    assert any("File name too long" in line for line in said)
    subprocess.run(["rm", "-rf", kept.root], check=True)  # Python's own removal cannot


def test_an_export_waits_for_no_pipe_and_names_what_it_does_not_copy(kept: Vault, tmp_path: Path) -> None:
    home = kept.root / "memory" / "alice"
    os.mkfifo(home / "photo.png")
    (home / "bob.md").symlink_to("../bob/USER.md")
    said: list[str] = []
    count = export(kept, "alice", tmp_path / "out", on_left_out=said.append)
    assert sorted(line.split(": ")[1] for line in said) == ["memory/alice/bob.md", "memory/alice/photo.png"]
    assert count == len([path for path in (tmp_path / "out").rglob("*") if path.is_file()]) >= 3


def test_an_export_needs_the_lock_only_for_what_has_changed_meanwhile(kept: Vault, tmp_path: Path) -> None:
    home, out = kept.root / "memory" / "alice", tmp_path / "out"
    (home / "a.md").write_text("old\n")
    (home / "gone.md").write_text("gone\n")
    before = {path.name for path in home.rglob("*") if path.is_file() and "index.db" not in path.name}
    with ThreadPoolExecutor() as pool:
        with kept.lock("alice"):
            exporting = pool.submit(export, kept, "alice", out)
            give_up = time.monotonic() + 60
            while not before <= {path.name for path in out.rglob("*") if path.stat().st_size}:
                assert time.monotonic() < give_up, "nothing is copied while somebody else holds the lock"
                time.sleep(0.01)
            kept_copy = (out / "USER.md").stat().st_ino
            with (home / "a.md").open("a") as file:
                file.write("new\n")
            (home / "gone.md").unlink()
            (home / "b.md").write_text("b\n")
        count = exporting.result()
    assert (out / "a.md").read_text() == "old\nnew\n" and (out / "b.md").exists() and not (out / "gone.md").exists()
    assert count == len(before) and (out / "USER.md").stat().st_ino == kept_copy


def test_no_copy_is_made_through_a_folder_that_becomes_a_link_meanwhile(kept: Vault, tmp_path: Path) -> None:
    """Whoever may write `memory/` swaps a folder again and again: each file comes from the vault, or is not copied."""
    notes, outside = kept.root / "memory" / "alice" / "notes", tmp_path / "outside"
    parked, way = tmp_path / "parked", tmp_path / "way"
    for folder in (notes, outside):
        folder.mkdir(parents=True)
        for number in range(60):
            (folder / f"{number}.png").write_text(folder.name)
    way.symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(notes, parked)
            os.rename(way, notes)
            os.rename(notes, way)
            os.rename(parked, notes)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(3):
            export(kept, "alice", tmp_path / f"out{number}")
            backup(kept, tmp_path / f"{number}.tar.gz")
    finally:
        stop.set()
        swapper.join()
    found = {path.read_text() for path in tmp_path.glob("out*/notes/*")}
    for archive in tmp_path.glob("*.tar.gz"):
        with tarfile.open(archive) as tar:
            members = [each for each in tar.getmembers() if "notes/" in each.name and each.isfile()]
            found |= {tar.extractfile(each).read().decode() for each in members}  # type: ignore[union-attr]
    assert found <= {"notes"}
