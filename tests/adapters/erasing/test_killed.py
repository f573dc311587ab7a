"""`kill -9` at any step of an erasing: the next change of anybody ends it first."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.conftest import Vault
from tests.adapters.erasing.leftovers import leftovers
from tests.adapters.erasing.test_erase import NOTE, SECRET, planted
from tests.vaults import fill, small_disk
from vault_memory.adapters.erasing import Request
from vault_memory.adapters.history import History
from vault_memory.errors import DiskFull, HistoryError

STEPS = (
    "asked",
    "objects written",
    "map written",
    "files written",
    "references moved",
    "head moved",
    "index written",
    "logs written",
    "packed",
    "pruned",
)


@pytest.mark.parametrize("steps", [*((each,) for each in STEPS), STEPS])
def test_killed_at_each_step_it_goes_on_by_itself(vault: Vault, steps: tuple[str, ...]) -> None:
    """Also if the one that goes on is killed, at each step in turn, and on the branch whose name holds the text."""
    old = planted(vault)
    vault.git("switch", "-q", "the-codeword-is-zanzibar-七號")
    vault.git("merge", "-q", "main")
    vault.write(f"staged {SECRET}\n".encode(), NOTE)
    vault.git("add", "-A")
    before = vault.git("status", "--porcelain")
    for step in steps:
        killed = subprocess.run(
            [sys.executable, "-m", "tests.adapters.erasing.killed_eraser", str(vault.root), SECRET, step]
        )
        assert killed.returncode == -signal.SIGKILL
    history = History(vault.root)
    history.flush()
    assert leftovers(vault.root, SECRET).places == []
    assert not [*vault.history.git_dir.rglob("*.lock")]
    assert not (vault.history.git_dir / "vault-memory/erasing").exists()
    assert vault.git("status", "--porcelain") == before
    assert vault.git("symbolic-ref", "HEAD").strip() == "refs/heads/(erased)"
    assert vault.git("fsck", "--strict") == ""
    assert history.commit_named(old["last"]) == vault.git("rev-parse", "HEAD").strip()
    vault.git("commit", "-q", "-m", "staged")
    vault.add(b"goes on")
    vault.assert_clean()


@pytest.mark.parametrize("command", ["repack", "prune"])
def test_a_git_that_outlives_the_eraser_is_waited_for(vault: Vault, tmp_path: Path, command: str) -> None:
    """What a git of the killed one still deletes could be what the next one has just written."""
    planted(vault)
    ended, programs = tmp_path / "ended", tmp_path / "programs"
    programs.mkdir()
    slow = programs / "git"
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *\' {command} \'*) kill -9 $PPID; sleep 3; {shutil.which("git")} "$@"\n'
        f'touch {ended}; exit;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    killed = subprocess.run(
        [sys.executable, "-m", "tests.adapters.erasing.killed_eraser", str(vault.root), SECRET, "never"],
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
    )
    assert killed.returncode == -signal.SIGKILL and not ended.exists()
    vault.add(b"goes on")
    assert ended.exists()
    assert leftovers(vault.root, SECRET).places == []
    assert vault.git("fsck", "--strict") == ""
    vault.assert_clean()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("step", ["asked", "files written", "references moved", "logs written"])
def test_a_full_disk_is_told_and_not_in_gits_words_alone(vault: Vault, tmp_path: Path, step: str) -> None:
    """Git says why it could not write, or does not."""
    planted(vault)
    vault.add(os.urandom(200_000).hex().encode())
    with small_disk(tmp_path / "disk", 8) as disk:
        root = shutil.copytree(vault.root, disk / "vault", symlinks=True)
        history = History(root, step=lambda reached: (fill(disk), None)[1] if reached == step else None)
        with pytest.raises(DiskFull, match="the disk is full, and not all is erased yet: free some space, then"):
            history.erase(Request((SECRET,)))
        with pytest.raises(DiskFull, match="the disk is full"):
            History(root).flush()
        (disk / "filling").unlink()
        History(root).flush()
        assert leftovers(root, SECRET).places == []


def test_a_damaged_request_is_named(vault: Vault) -> None:
    """Nobody can tell what was to be erased: that is said, and no change goes over it in silence."""
    vault.add(b"before")
    journal = Path(vault.history.git_dir) / "vault-memory/erasing"
    journal.write_bytes(b'{"texts": ')
    journal.chmod(0o600)
    with pytest.raises(HistoryError, match="erase again"):
        vault.history.flush()
    journal.unlink()
    vault.history.flush()
