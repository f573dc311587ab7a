"""A person uses git beside the assistant: what they discard stays discarded, and what another branch holds stays there.

The daemon is played by `look`, which commits the person's edits as it does, and by turns in between.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Clock, forget_the_machine, wait_until
from tests.services.test_person_edits import git, read, save, subjects
from vault_memory.services.admin import status
from vault_memory.services.person_edits import commit_person_edits, withheld
from vault_memory.services.turns import learn_waiting, record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

NOTE, USER = PurePosixPath("notes/idea.md"), PurePosixPath("memory/alice/USER.md")


@pytest.fixture(scope="session")
def two_branches(new_vault: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, datetime]:
    """A vault to be copied, and the time at its end."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        forget_the_machine(patch, tmp_path_factory.mktemp("home"))
        root = shutil.copytree(new_vault, tmp_path_factory.mktemp("branches") / "vault", symlinks=True)
        vault = open_vault(root, now=clock)
        record_turn(vault, "alice", "I prefer dark mode", "Noted.")
        save(vault, NOTE, "begin\n")
        look(vault)
        git(vault, "switch", "-qc", "other")
        save(vault, NOTE, "of the other branch\n")
        save(vault, PurePosixPath("notes/only-there.md"), "x\n")
        save(vault, USER, read(vault, USER).replace("dark", "light"))
        git(vault, "add", ".")
        git(vault, "commit", "-qm", "other")
        git(vault, "switch", "-q", "main")
    return root, clock.time


@pytest.fixture
def branches(two_branches: tuple[Path, datetime], tmp_path: Path, clock: Clock) -> Vault:
    """Alice's vault with a note and a preference, and a branch `other` on which both differ."""
    root, clock.time = two_branches
    vault = open_vault(shutil.copytree(root, tmp_path / "vault", symlinks=True), now=clock)
    git(vault, "update-index", "-q", "--refresh")
    return vault


def look(vault: Vault) -> int:
    """What the daemon does again and again."""
    vault.history.flush()
    return commit_person_edits(vault, None)


def diff(vault: Vault) -> str:
    return git(vault, "status", "--porcelain")


def test_an_aborted_merge_leaves_nothing_behind(branches: Vault) -> None:
    vault = branches
    save(vault, NOTE, "mine\n")
    assert look(vault) == 1
    before, text = subjects(vault), read(vault, NOTE)
    with pytest.raises(subprocess.CalledProcessError):
        git(vault, "merge", "other")
    assert "<<<<<<<" in read(vault, NOTE)
    assert look(vault) == 0
    git(vault, "merge", "--abort")
    assert look(vault) == 0
    assert subjects(vault) == before and read(vault, NOTE) == text and diff(vault) == ""


def test_conflict_marks_are_never_committed(branches: Vault) -> None:
    """The person takes the conflict out of git's index; the marks in the file are still no text of theirs."""
    vault = branches
    save(vault, NOTE, "mine\n")
    assert look(vault) == 1
    with pytest.raises(subprocess.CalledProcessError):
        git(vault, "merge", "other")
    git(vault, "reset", "-q", "--mixed")
    assert "<<<<<<<" in read(vault, NOTE) and " M notes/idea.md\n" in diff(vault)
    assert look(vault) == 0 and vault.history.blob(NOTE) == b"mine\n"
    assert {(found.path, found.line, found.kind) for found in withheld(vault)} == {
        (str(NOTE), 1, "conflict mark"),
        (str(USER), 0, "checkout"),  # what the merge has brought without a conflict
        ("notes/only-there.md", 0, "checkout"),
    }
    save(vault, NOTE, "mine, and of the other branch\n")
    assert look(vault) == 1 and {found.kind for found in withheld(vault)} == {"checkout"}
    git(vault, "reset", "-q", "--hard")
    (vault.root / "notes/only-there.md").unlink()
    assert look(vault) == 0 and withheld(vault) == ()


@pytest.mark.parametrize(
    "discarding",
    [
        [("stash",), ("switch", "-q", "other")],
        [("reset", "-q", "--hard")],
        [("restore", "--staged", "."), ("checkout", "-q", "--", ".")],
        [("stash",)],
    ],
)
def test_a_staged_draft_that_is_discarded_stays_so(branches: Vault, discarding: list[tuple[str, ...]]) -> None:
    vault = branches
    save(vault, NOTE, "a draft\n")
    save(vault, USER, read(vault, USER).replace("dark", "light"))
    git(vault, "add", ".")
    assert look(vault) == 0
    for words in discarding:
        git(vault, *words)
    before, head = subjects(vault), git(vault, "rev-parse", "HEAD")
    assert look(vault) == 0
    record_turn(vault, "alice", "I prefer short answers", "Noted.")
    look(vault)
    assert "a draft" not in read(vault, NOTE) and diff(vault) == ""
    changed = git(vault, "diff", "--stat", head.strip(), "HEAD", "--", "notes", str(USER))
    assert "notes" not in changed, "nothing but the turn"
    assert "preferred_theme" not in git(vault, "diff", head.strip(), "HEAD", "--", str(USER)).replace(" - ", "")
    assert [line for line in subjects(vault) if line.startswith("edit")] == [
        line for line in before if line.startswith("edit")
    ]


def slow_filter(vault: Vault, tmp_path: Path) -> None:
    """A filter of the person's own, like git-lfs, that takes seconds to fetch one file."""
    script = tmp_path / "smudge.py"
    gate = tmp_path / "gate"
    script.write_text(
        "import os, sys, time\n"
        f"open({str(tmp_path / 'began')!r}, 'w').close()\n"
        f"end = time.monotonic() + 30\n"
        f"while os.path.exists({str(gate)!r}) and time.monotonic() < end: time.sleep(0.02)\n"
        "sys.stdout.buffer.write(sys.stdin.buffer.read())\n"
    )
    gate.touch()
    git(vault, "config", "--global", "filter.slow.smudge", f"{sys.executable} {script}")
    git(vault, "config", "--global", "filter.slow.clean", "cat")


def while_slow(vault: Vault, tmp_path: Path, act: Callable[[], object], *words: str) -> None:
    """Run a git command that is held up by the filter; `act` meanwhile."""
    result: list[BaseException] = []

    def run() -> None:
        try:
            git(vault, *words)
        except BaseException as error:
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        wait_until((tmp_path / "began").exists, "the filter runs")
        act()
    finally:
        (tmp_path / "gate").unlink()
        thread.join(60)
    assert not result


def add_to_other(vault: Vault, video: PurePosixPath, notes: int) -> None:
    """Commit to the branch `other` a video that takes long, and so many notes in folders before and after it."""
    git(vault, "switch", "-q", "other")
    save(vault, video, "a movie of the other branch\n")
    save(vault, PurePosixPath(".gitattributes"), read(vault, PurePosixPath(".gitattributes")) + "*.bin filter=slow\n")
    for name in "az":
        for n in range(notes):
            save(vault, PurePosixPath(f"{name}/{n}.md"), "there\n")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "video")
    git(vault, "switch", "-q", "main")


def test_a_slow_checkout_moves_nothing_between_branches(branches: Vault, tmp_path: Path) -> None:
    vault = branches
    slow_filter(vault, tmp_path)
    add_to_other(vault, PurePosixPath("m-video.bin"), notes=20)
    main, other = (git(vault, "rev-parse", name) for name in ("main", "other"))

    def meanwhile() -> None:
        look(vault)
        record_turn(vault, "alice", "I prefer short answers", "Noted.")
        look(vault)

    while_slow(vault, tmp_path, meanwhile, "switch", "-q", "other")
    look(vault)
    assert git(vault, "diff", "--stat", main.strip(), "main", "--", "notes", "a", "z") == ""
    assert git(vault, "diff", "--stat", other.strip(), "other", "--", "notes", "a", "z") == ""
    assert "light" not in git(vault, "show", f"main:{USER}")
    git(vault, "switch", "-q", "main")
    look(vault)
    assert git(vault, "diff", "--stat", main.strip(), "main", "--", "notes", "a", "z") == ""
    assert "light" not in git(vault, "show", f"main:{USER}") and "light" in git(vault, "show", f"other:{USER}")
    assert diff(vault) == ""


@pytest.mark.parametrize("how", ["--no-rebase", "--rebase"])
def test_a_slow_pull_is_credited_to_nobody_here_and_loses_nothing(branches: Vault, tmp_path: Path, how: str) -> None:
    vault = branches
    slow_filter(vault, tmp_path)
    git(vault, "clone", "-q", "--bare", ".", str(tmp_path / "remote"))
    git(vault, "remote", "add", "origin", str(tmp_path / "remote"))
    git(vault, "fetch", "-q", "origin")
    git(vault, "branch", "-q", "--set-upstream-to=origin/main")
    elsewhere = tmp_path / "elsewhere"
    git(vault, "clone", "-q", str(tmp_path / "remote"), str(elsewhere))
    for name in ("a.md", "z.md"):
        (elsewhere / name).write_text("of the other machine\n")
    (elsewhere / "m-video.bin").write_text("movie\n")
    with (elsewhere / ".gitattributes").open("a") as file:
        file.write("*.bin filter=slow\n")
    there = ["git", "-C", str(elsewhere), "-c", "user.name=B", "-c", "user.email=b@example.org"]
    subprocess.run([*there, "rm", "-q", str(NOTE)], check=True)
    subprocess.run([*there, "add", "."], check=True)
    subprocess.run([*there, "commit", "-qm", "from there"], check=True)
    (tmp_path / "gate").unlink()
    subprocess.run([*there, "push", "-q"], check=True, capture_output=True)
    (tmp_path / "gate").touch()
    (tmp_path / "began").unlink(missing_ok=True)
    diary = PurePosixPath("memory/alice/notes/diary.md")
    save(vault, diary, "dear diary\n")
    record_turn(vault, "alice", "remember that the spare key is at Bob's", "Noted.")
    look(vault)
    log = read(vault, PurePosixPath("memory/alice/feedback.jsonl"))

    def meanwhile() -> None:
        look(vault)

    while_slow(vault, tmp_path, meanwhile, "pull", "-q", "--no-edit", how)
    look(vault)
    assert read(vault, diary) == "dear diary\n" and vault.history.blob(diary) == b"dear diary\n"
    assert read(vault, PurePosixPath("memory/alice/feedback.jsonl")) == log
    assert read(vault, PurePosixPath("a.md")) == read(vault, PurePosixPath("z.md")) == "of the other machine\n"
    changed = git(vault, "log", "--format=%an", "--", "a.md", "z.md", "m-video.bin", str(NOTE)).split()
    assert changed[0] == "B" and diff(vault) == ""


def test_what_was_learned_during_a_slow_merge_is_kept(branches: Vault, tmp_path: Path) -> None:
    """Git checks the files before it fetches a video, and then writes over what was learned meanwhile."""
    vault = open_vault(branches.root)  # by the real clock, as git
    slow_filter(vault, tmp_path)
    (tmp_path / "gate").unlink()
    git(vault, "switch", "-q", "other")
    save(vault, PurePosixPath("a-video.bin"), "movie\n")
    save(vault, PurePosixPath(".gitattributes"), read(vault, PurePosixPath(".gitattributes")) + "*.bin filter=slow\n")
    record_turn(vault, "alice", "I use Vue", "Noted.")
    daily = max((vault.root / "memory/alice/daily").iterdir())
    daily.write_text(daily.read_text() + "\nwritten there\n")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "video")
    git(vault, "switch", "-q", "main")
    save(vault, PurePosixPath("notes/own.md"), "own\n")
    look(vault)
    (tmp_path / "gate").touch()
    (tmp_path / "began").unlink(missing_ok=True)

    def meanwhile() -> None:
        began = int(time.time())
        wait_until(lambda: time.time() >= began + 1, "the next second: git's times have no parts of one")
        record_turn(vault, "alice", "remember that a spare key is at Bob's", "Noted.")

    while_slow(vault, tmp_path, meanwhile, "merge", "-q", "--no-edit", "other")
    look(vault)
    text = git(vault, "show", f"HEAD:{USER}")
    assert text == read(vault, USER) and "at Bob's" in text and "light" in text
    log = git(vault, "show", f"HEAD:{daily.relative_to(vault.root)}")
    assert log == daily.read_text() and "at Bob's" in log and "written there" in log
    assert diff(vault) == "" and vault.history.state().waiting == 0


def test_a_stopped_rebase_fails_no_turn_and_loses_no_preference(branches: Vault) -> None:
    vault = branches
    save(vault, NOTE, "mine\n")
    look(vault)
    with pytest.raises(subprocess.CalledProcessError):
        git(vault, "rebase", "other")
    assert (vault.history.git_dir / "rebase-merge").is_dir()
    record_turn(vault, "alice", "I prefer short answers", "Noted.")
    save(vault, NOTE, "both\n")
    git(vault, "add", str(NOTE))
    git(vault, "-c", "core.editor=true", "rebase", "--continue")
    record_turn(vault, "alice", "I use Python every day", "Noted.")
    look(vault)
    assert "Python" in git(vault, "show", f"HEAD:{USER}")
    assert any("response_length" in line or "response_style" in line for line in subjects(vault))
    assert diff(vault) == "" and vault.history.state().waiting == 0


def killed_switch(vault: Vault, tmp_path: Path) -> None:
    """Kill a `git switch` to the branch `other` half-way: `a/` and USER.md are written, `notes/gone.md` is deleted, and
    so is the video, which its filter is about to fetch; `z/` is not reached. Then the person deletes git's lock, as git
    says."""
    slow_filter(vault, tmp_path)
    save(vault, PurePosixPath("notes/gone.md"), "only here\n")
    save(vault, PurePosixPath("n-video.bin"), "a movie\n")
    look(vault)
    add_to_other(vault, PurePosixPath("n-video.bin"), notes=3)
    with subprocess.Popen(["git", "switch", "-q", "other"], cwd=vault.root, start_new_session=True) as process:
        wait_until((tmp_path / "began").exists, "the filter runs")
        os.killpg(process.pid, signal.SIGKILL)
    lock = vault.root / ".git/index.lock"
    gone = ("notes/gone.md", "n-video.bin", "z")
    assert lock.exists() and not any((vault.root / name).exists() for name in gone)
    before = git(vault, "rev-parse", "HEAD")
    assert look(vault) == 0
    lock.unlink()
    (tmp_path / "gate").unlink()
    assert look(vault) == 0 and git(vault, "rev-parse", "HEAD") == before


def test_a_killed_checkout_is_no_edit(branches: Vault, tmp_path: Path) -> None:
    vault = branches
    killed_switch(vault, tmp_path)
    held = {found.path: found for found in withheld(vault)}
    gone = {"notes/gone.md", "n-video.bin"}
    assert {"a/0.md", "a/1.md", "a/2.md", ".gitattributes", str(USER)} | gone == held.keys()
    assert {found.kind for found in held.values()} == {"checkout"} and "branch other" in held[str(USER)].why
    save(vault, PurePosixPath("mine.md"), "mine\n")
    turn = record_turn(vault, "alice", "I prefer short answers", "Noted.")
    assert turn.source and "branch other" in (turn.paused or "")
    assert look(vault) == 1 and "light" in read(vault, USER) and "light" not in git(vault, "show", f"main:{USER}")
    for path in ("a/0.md", "notes/gone.md"):  # one by one: what is left stays withheld
        git(vault, "restore", path) if path.startswith("notes") else (vault.root / path).unlink()
        assert look(vault) == 0 and path not in {found.path for found in withheld(vault)}
    git(vault, "reset", "-q", "--hard")
    shutil.rmtree(vault.root / "a")
    assert look(vault) == 0
    assert learn_waiting(vault, "alice") == 0
    assert "notes/gone.md" in git(vault, "ls-files") and "light" not in git(vault, "show", f"main:{USER}")
    (vault.root / "n-video.bin").unlink()  # a file that was withheld before and came back
    assert look(vault) == 1 and withheld(vault) == () and diff(vault) == ""
    assert "response" in " ".join(subjects(vault)) and diff(vault) == ""


def test_what_a_killed_checkout_left_is_committed_on_purpose_or_edited_further(branches: Vault, tmp_path: Path) -> None:
    vault = branches
    killed_switch(vault, tmp_path)
    save(vault, PurePosixPath("a/0.md"), "there, and mine\n")
    assert look(vault) == 1 and vault.history.blob(PurePosixPath("a/0.md")) == b"there, and mine\n"
    git(vault, "add", "a/1.md")
    git(vault, "commit", "-qm", "on purpose")
    assert look(vault) == 0 and {"a/0.md", "a/1.md"}.isdisjoint(found.path for found in withheld(vault))
    assert "a/2.md" in {found.path for found in withheld(vault)}
    git(vault, "branch", "-D", "other")
    assert withheld(vault) == () and look(vault) == 5, "no branch holds it: it is an edit"


def test_a_killed_checkout_of_a_branch_that_is_behind_is_no_edit(branches: Vault) -> None:
    """Like that of `main` from a branch that went on. One file alone as it was is an edit of the person's."""
    vault = branches
    git(vault, "branch", "behind")
    save(vault, NOTE, "new\n")
    save(vault, PurePosixPath("notes/new.md"), "new\n")
    assert look(vault) == 2
    save(vault, NOTE, "begin\n")
    assert look(vault) == 1, "an undo in an editor"
    save(vault, NOTE, "newer\n")
    assert look(vault) == 1
    save(vault, NOTE, "begin\n")
    (vault.root / "notes/new.md").unlink()
    assert look(vault) == 0 and {found.kind for found in withheld(vault)} == {"checkout"}
    git(vault, "reset", "-q", "--hard")
    assert look(vault) == 0 and withheld(vault) == ()
    (vault.root / "notes/new.md").unlink()
    assert look(vault) == 1 and withheld(vault) == (), "a deletion alone"


def test_what_a_checkout_wrote_before_a_filter_failed_is_no_edit(branches: Vault) -> None:
    """Git then takes its lock away by itself."""
    vault = branches
    for key, value in (("smudge", "false"), ("clean", "cat"), ("required", "true")):
        git(vault, "config", "--global", f"filter.bad.{key}", value)
    git(vault, "switch", "-q", "other")
    save(vault, PurePosixPath("n-video.bin"), "movie\n")
    save(vault, PurePosixPath(".gitattributes"), read(vault, PurePosixPath(".gitattributes")) + "*.bin filter=bad\n")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "video")
    git(vault, "switch", "-q", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(vault, "switch", "other")
    assert "light" in read(vault, USER) and not (vault.root / ".git/index.lock").exists()
    assert look(vault) == 0 and {found.path for found in withheld(vault)} == {".gitattributes", str(USER)}


def test_what_a_pull_wrote_before_a_filter_failed_is_no_edit(branches: Vault, tmp_path: Path) -> None:
    vault = branches
    for key, value in (("smudge", "false"), ("clean", "cat"), ("required", "true")):
        git(vault, "config", "--global", f"filter.bad.{key}", value)
    git(vault, "clone", "-q", ".", str(tmp_path / "elsewhere"))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / NOTE).write_text("of the other machine\n")
    (elsewhere / "a.md").write_text("new\n")
    (elsewhere / "z-video.bin").write_text("movie\n")
    with (elsewhere / ".gitattributes").open("a") as file:
        file.write("*.bin filter=bad\n")
    there = ["git", "-C", str(elsewhere), "-c", "user.name=B", "-c", "user.email=b@example.org"]
    subprocess.run([*there, "add", "."], check=True)
    subprocess.run([*there, "commit", "-qm", "from there"], check=True)
    before = subjects(vault)
    with pytest.raises(subprocess.CalledProcessError):
        git(vault, "pull", "-q", "--no-rebase", str(elsewhere), "main")
    assert read(vault, NOTE) == "of the other machine\n" and not (vault.root / ".git/index.lock").exists()
    assert look(vault) == 0 and subjects(vault) == before
    assert {found.path for found in withheld(vault)} == {".gitattributes", "a.md", str(NOTE)}
    git(vault, "reset", "-q", "--hard")
    git(vault, "clean", "-qfd")
    assert withheld(vault) == () and diff(vault) == ""


def test_edits_that_wait_for_a_lock_that_a_crashed_git_left_are_told_of(branches: Vault) -> None:
    vault, lock = branches, branches.root / ".git/index.lock"
    save(vault, NOTE, "mine\n")
    lock.touch()
    assert look(vault) == 0 and not status(vault).unhealthy, "a git may be at work"
    os.utime(lock, (lock.stat().st_mtime - 100,) * 2)
    assert [str(lock) in line and "delete it" in line for line in status(vault).unhealthy] == [True]
    lock.unlink()
    assert look(vault) == 1 and not status(vault).unhealthy


def test_the_assistants_change_outlives_the_branch_on_which_it_waited(branches: Vault) -> None:
    vault = branches
    git(vault, "rm", "-q", "--cached", str(USER))
    assert "is staged" in (record_turn(vault, "alice", "I use Python every day", "Noted.").paused or "")
    git(vault, "reset", "-q")
    git(vault, "switch", "-q", "-m", "other")
    git(vault, "branch", "-D", "main")
    look(vault)
    text = git(vault, "show", f"other:{USER}")
    assert "Python" in text and "light" in text and diff(vault) == "" and vault.history.state().waiting == 0


def test_two_worktrees_keep_to_their_branches(branches: Vault, tmp_path: Path) -> None:
    here = branches
    git(here, "worktree", "add", "-q", str(tmp_path / "second"), "other")
    there = open_vault(tmp_path / "second")
    save(here, NOTE, "mine here\n")
    save(there, NOTE, "mine there\n")
    record_turn(here, "alice", "I use Rust every day", "Noted.")
    record_turn(there, "alice", "I use Python every day", "Noted.")
    assert look(here) == look(there) == 1 and withheld(here) == withheld(there) == ()
    assert (here.history.blob(NOTE), there.history.blob(NOTE)) == (b"mine here\n", b"mine there\n")
    assert "Python" not in git(here, "show", f"main:{USER}") and "Rust" not in git(here, "show", f"other:{USER}")
    assert diff(here) == diff(there) == ""


def test_a_clock_that_jumps_back_holds_up_no_edit(branches: Vault) -> None:
    vault, later = branches, time.time() + 3600
    save(vault, NOTE, "mine\n")
    for path in (vault.root / ".git/index", vault.root / NOTE):
        os.utime(path, (later, later))
    assert look(vault) == 1
    save(vault, NOTE, "more\n")
    assert look(vault) == 1 and diff(vault) == ""
