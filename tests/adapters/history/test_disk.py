"""Disks that are full or read-only: the old files stay, no lock is left, and the next write with room works."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import USER, Vault
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.errors import Unwritable, VaultMemoryError

pytestmark = pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount a small disk")
DAILY = PurePosixPath("memory/alice/daily/2026-01-30.md")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Vault]:
    """A vault on a disk of 600 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)], capture_output=True
    ).returncode:
        pytest.skip("this machine lets nobody mount")
    yield Vault(folder, History.create(folder))
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(vault: Vault, leave: int) -> Path:
    """Fill the disk but for some bytes."""
    ballast = vault.root / ".git" / "ballast"
    room = os.statvfs(vault.root)
    ballast.write_bytes(os.urandom(max(room.f_bavail * room.f_frsize - leave, 0)))
    return ballast


@pytest.mark.slow
@pytest.mark.parametrize("leave_kib", [0, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64])
def test_a_disk_that_fills_up_at_any_point(small: Vault, leave_kib: int) -> None:
    small.add(b"one")
    small.add(b"day", DAILY)
    ballast = fill(small, leave_kib * 1024)
    big = os.urandom(6000).hex().encode()
    changes = tuple(FileChange(p, b, b + big + b"\n") for p, b in ((USER, b"one\n"), (DAILY, b"day\n")))
    try:
        flushed = small.history.commit([Draft("big", ASSISTANT, changes)])
    except Unwritable:
        assert small.read() == b"one\n" and small.read(DAILY) == b"day\n" and small.history.state().waiting == 0
    else:
        assert small.read() == changes[0].after and small.history.state().waiting == flushed.waiting
        assert flushed.commits if not flushed.waiting else "No space left" in (flushed.paused or "")
    assert not list(small.history.git_dir.rglob("*.lock"))
    assert not list(small.root.rglob("*.vault-memory.tmp"))
    ballast.unlink()
    small.history.flush()
    small.assert_clean()
    if small.history.state().head and small.read() == b"one\n":
        small.history.commit([Draft("big", ASSISTANT, changes)])
    assert small.git("log", "-1", "--format=%s").strip() == "big"
    small.assert_clean()


def test_a_disk_that_another_program_fills_while_files_are_written(small: Vault) -> None:
    """What is half-written and cannot be taken back is finished later: it was committed whole, and then the files that
    had not been written as the person's deletions."""
    small.add(b"one")
    small.add(b"day", DAILY)
    big = os.urandom(6000).hex().encode()
    changes = tuple(FileChange(p, b, b + big + b"\n") for p, b in ((USER, b"one\n"), (DAILY, b"day\n")))

    def fill_up(step: str) -> None:
        if step == "file written":
            fill(small, 0)

    with pytest.raises(Unwritable):
        History(small.root, step=fill_up).commit([Draft("big", ASSISTANT, changes)])
    assert (small.read(), small.read(DAILY)) == (changes[0].after, b"day\n"), "otherwise it shows nothing"
    (small.root / ".git" / "ballast").unlink()
    small.history.flush()
    small.assert_clean()
    assert (small.read(), small.read(DAILY)) == tuple(change.after for change in changes)
    assert small.git("log", "-1", "--format=%s").strip() == "big" and not small.history.uncommitted()


def test_a_read_only_vault(small: Vault) -> None:
    small.add(b"one")
    subprocess.run(["mount", "-o", "remount,ro", str(small.root)], check=True)
    with pytest.raises(VaultMemoryError):
        small.history.commit([small.draft(b"two")])
    assert small.history.state().waiting == 0 and small.read() == b"one\n"
    assert small.history.blob(USER) == b"one\n" and small.history.uncommitted([USER]) == []
    assert [entry.subject for entry in small.history.log()] == ["add one"]
    subprocess.run(["mount", "-o", "remount,rw", str(small.root)], check=True)
    small.add(b"two")
    small.assert_clean()


def test_a_folder_without_permission() -> None:
    """As an ordinary user: the folder of one note is read-only."""
    root = Path(tempfile.mkdtemp())
    os.chown(root, 1234, 1234)

    def act() -> None:
        os.environ |= {"HOME": str(root), "GIT_CONFIG_GLOBAL": os.devnull}
        vault = Vault(root, History.create(root))
        vault.add(b"one")
        folder = (root / USER).parent
        folder.chmod(0o555)
        with pytest.raises(Unwritable, match=r"USER\.md.*permissions"):
            vault.history.commit([vault.draft(b"two")])
        folder.chmod(0o755)
        assert vault.read() == b"one\n" and vault.history.state().waiting == 0
        vault.add(b"two")
        vault.assert_clean()

    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(1234, 1234, 1234)
            os.setresuid(1234, 1234, 1234)
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    shutil.rmtree(root)
