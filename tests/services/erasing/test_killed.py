"""`kill -9` at any step: the next command goes on, says so, and leaves nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.adapters.erasing.leftovers import leftovers
from tests.conftest import Cli
from tests.services.erasing.planting import SECRET, git, planted
from tests.vaults import fill, small_disk
from vault_memory import api
from vault_memory.errors import Busy, DiskFull, HistoryError
from vault_memory.services.daemon.jobs import COMMITS
from vault_memory.services.erasing import erase, finish_erasing, of_texts
from vault_memory.services.vault import Vault, open_vault

STEPS = (
    "asked",
    "known again",
    "stores cleared",
    "rows deleted",
    "history made anew",
    "private files cleared",
    "indexes made",
    "looked again",
)


def killed_at(root: Path, steps: Sequence[str]) -> None:
    for step in steps:
        done = subprocess.run([sys.executable, "-m", "tests.services.erasing.planting", str(root), step])
        assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("steps", [(STEPS[0],), (STEPS[4],), (STEPS[6],), STEPS])
def test_it_goes_on_wherever_it_was_killed(vault: Vault, steps: Sequence[str]) -> None:
    """Also where the one that goes on is killed at each step in turn."""
    planted(vault)
    killed_at(vault.root, steps)
    receipt = finish_erasing(open_vault(vault.root, now=vault.now))
    assert receipt is not None and receipt.was_resumed and receipt.left == ()
    assert leftovers(vault.root, SECRET).places == []
    assert git(vault.root, "status", "--porcelain") == "" and git(vault.root, "fsck", "--strict") == ""
    assert not (vault.root / ".vault-memory/erasing").exists()


def test_the_next_command_goes_on_and_says_so(cli: Cli) -> None:
    """G5: whatever command it is."""
    planted(open_vault(cli.folder))
    killed_at(cli.folder, ["stores cleared"])
    said = cli.run("search", "--user", "alice", "Zanzibar")
    assert "an erasing that was interrupted is done now" in said.stderr and "Zanzibar" not in said.stdout
    assert leftovers(cli.folder, SECRET).places == []
    assert "interrupted" not in cli.run("user", "list").stderr


def test_killed_when_all_is_done_it_leaves_nothing_to_do(cli: Cli) -> None:
    """What says what was to be erased is being overwritten: it is not read as a damaged one."""
    planted(open_vault(cli.folder))
    killed_at(cli.folder, ["noted as done"])
    journal = cli.folder / ".vault-memory/erasing"
    assert json.loads(b"{" + journal.read_bytes()[1:])["request"]["texts"] == [SECRET]
    assert cli.run("search", "--user", "alice", "Zanzibar").stderr == ""
    assert leftovers(cli.folder, SECRET).places == [] and not journal.exists()


def killed_with_remains(root: Path, until: Path) -> None:
    """Killed while it started a process, which has copies of its locks until the file is there."""
    done = subprocess.run([sys.executable, "-m", "tests.services.erasing.planting", str(root), "asked", str(until)])
    assert done.returncode == -signal.SIGKILL


def test_what_a_killed_eraser_left_running_is_waited_for(cli: Cli, tmp_path: Path) -> None:
    """Its lock looks like that of an eraser at work: the next command waits, and then goes on."""
    planted(open_vault(cli.folder))
    until = tmp_path / "ended"
    killed_with_remains(cli.folder, until)
    with pytest.raises(Busy, match=r"another command is erasing in .*: wait until it is done"):
        finish_erasing(open_vault(cli.folder), wait_s=0.1)
    ends = threading.Timer(1.0, until.touch)
    ends.start()
    said = cli.run("search", "--user", "alice", "Zanzibar")
    ends.join()
    assert "an erasing that was interrupted is done now" in said.stderr and "Zanzibar" not in said.stdout
    assert leftovers(cli.folder, SECRET).places == []


@pytest.mark.slow
def test_a_command_that_has_waited_in_vain_says_so_and_answers_nothing(cli: Cli, tmp_path: Path) -> None:
    """Half a minute: neither a command nor a Python program answers from a vault that somebody erases from."""
    planted(open_vault(cli.folder))
    until = tmp_path / "ended"
    killed_with_remains(cli.folder, until)
    searching = cli.start("search", "--user", "alice", "Zanzibar")
    with pytest.raises(Busy, match="another command is erasing"):
        api.open_vault(cli.folder)
    said, _ = searching.communicate(timeout=60)
    until.touch()
    assert searching.returncode == 1
    assert re.fullmatch(r"\S.*another command is erasing in .*: wait until it is done, then try again\n", said)


@pytest.mark.parametrize("most", [0, 4_000, 300_000, 600_000])
def test_a_full_disk_loses_nothing_and_it_goes_on_when_there_is_room(vault: Vault, most: int) -> None:
    """No file may grow beyond so many bytes, as on a disk that is full: an error in words that names what could not be
    written and the next step, and the same again then."""
    planted(vault)
    (vault.root / "shared.md").write_text(f"{SECRET}\n" + os.urandom(400_000).hex())
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qam", "large")
    limited = f"import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most})); "
    limited += "runpy.run_module('tests.services.erasing.planting', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", limited, str(vault.root), "never"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    told = done.stderr.strip().split("\n")[-1]
    assert re.match(r"vault_memory\.errors\.\w+: .*/.*(space|ulimit)", told), told
    assert git(vault.root, "fsck", "--strict", "--no-dangling") == ""
    again = open_vault(vault.root, now=vault.now)
    receipt = finish_erasing(again) or erase(again, of_texts(again, "", [SECRET]))
    assert receipt.left == ()
    assert leftovers(vault.root, SECRET).places == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("step", ["", "known again", "history made anew"])
def test_a_full_disk_is_told_with_what_is_left_to_do(vault: Vault, tmp_path: Path, step: str) -> None:
    """Whatever could not be written: SQLite says nothing of the disk."""
    planted(vault)
    with small_disk(tmp_path / "disk", 16) as disk:
        small = open_vault(shutil.copytree(vault.root, disk / "vault", symlinks=True), now=vault.now)
        wanted = of_texts(small, "", [SECRET])
        if not step:
            fill(disk)
        left = "not all is erased yet: free some space, then the next command goes on with it"
        left = left if step else "nothing was erased: free some space, then erase it again"
        with pytest.raises(DiskFull, match=f"the disk is full, and {left} \\(.*{disk}"):
            erase(small, wanted, lambda reached: (fill(disk), None)[1] if reached == step else None)
        (disk / "filling").unlink()
        receipt = finish_erasing(small) or erase(small, wanted)
        assert receipt.was_resumed == bool(step) and receipt.left == ()
        assert leftovers(small.root, SECRET).places == []


@pytest.mark.skipif(os.name == "nt", reason="no file has a limit there")
def test_no_half_written_file_is_left_beside_a_note(vault: Vault) -> None:
    """Killed in the middle of a file."""
    planted(vault)
    (vault.root / "shared.md").write_text(f"{SECRET}\n" + os.urandom(400_000).hex())
    git(vault.root, "-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qam", "large")
    limited = "import resource, runpy, signal; resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)); "
    limited += "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); "
    limited += "runpy.run_module('tests.services.erasing.planting', run_name='__main__')"
    killed = subprocess.run([sys.executable, "-c", limited, str(vault.root), "never"], check=False)
    assert killed.returncode == -signal.SIGXFSZ
    assert [path.name[:10] for path in vault.root.rglob("*.vault-memory.tmp")] == [".shared.md"]
    assert finish_erasing(open_vault(vault.root, now=vault.now)) is not None
    assert [*vault.root.rglob("*.vault-memory.tmp")] == [] and leftovers(vault.root, SECRET).places == []


def test_the_daemons_job_goes_on_too(vault: Vault) -> None:
    planted(vault)
    killed_at(vault.root, ["history made anew"])
    assert "an erasing that was interrupted is done now" in COMMITS.run(vault)
    assert leftovers(vault.root, SECRET).places == []


@pytest.mark.parametrize("kind", ["folder", "dangling link"])
def test_what_is_no_file_in_the_place_of_a_journal_is_told(cli: Cli, kind: str) -> None:
    """It is not made anew, nor counts as none: what was to be erased is not known."""
    vault = open_vault(cli.folder)
    planted(vault)
    ours, of_git = vault.root / ".vault-memory/erasing", vault.root / ".git/vault-memory/erasing"
    for journal in (ours, of_git):
        if kind == "folder":
            journal.mkdir()
        else:
            journal.symlink_to(vault.root / "nowhere")
    assert f"{ours} is damaged: delete it, then erase again" in cli.run("user", "list").stderr
    with pytest.raises(HistoryError, match=f"{of_git} is damaged: delete it, then erase again"):
        vault.history.flush()
