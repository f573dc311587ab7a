"""What git takes away comes back; what the person takes away does not."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import PERSON, USER, Vault
from vault_memory.adapters.history import ASSISTANT, Draft, History
from vault_memory.errors import Changed

OWN = PurePosixPath("own.md")


def rest(vault: Vault) -> None:
    """As if git had written its last file some seconds ago: nothing waits for it."""
    for path in vault.history.git_dir.glob("ORIG_HEAD"):
        os.utime(path, (time.time() - 4, time.time() - 4))


@pytest.fixture
def begun(vault: Vault) -> Vault:
    """A vault with two commits of the person's and one of the assistant's."""
    vault.add(b"begin")
    for content in (b"0\n", b"1\n"):
        vault.write(content, OWN)
        vault.git("add", str(OWN))
        vault.git("commit", "-qm", f"person {content.decode().strip()}")
    return vault


@pytest.mark.slow
@pytest.mark.parametrize("taking", [("reset", "--hard"), ("stash",), ("checkout", "-f", "main")])
def test_text_that_waits_is_put_back(begun: Vault, taking: tuple[str, ...]) -> None:
    begun.history.stage([begun.draft(b"a turn")])
    begun.git(*taking)
    assert begun.read() == b"begin\n"
    rest(begun)
    assert begun.history.flush().paused is None
    assert begun.read() == b"begin\na turn\n"
    begun.assert_clean()
    assert begun.authors()["add a turn"] == ASSISTANT.name


def test_several_turns_that_wait_are_put_back_in_order(begun: Vault) -> None:
    for line in (b"one", b"two", b"three"):
        begun.history.stage([begun.draft(line)])
    begun.git("reset", "--hard")
    rest(begun)
    begun.history.flush()
    assert begun.read() == b"begin\none\ntwo\nthree\n"
    begun.assert_clean()


def test_the_next_turn_is_written_on_top_of_what_came_back(begun: Vault) -> None:
    """A caller that read the file in between must read again, or the first turn would look deleted by hand."""
    begun.history.stage([begun.draft(b"one")])
    begun.git("reset", "--hard")
    rest(begun)
    with pytest.raises(Changed):
        begun.history.stage([begun.draft(b"two")])
    assert begun.read() == b"begin\none\n"
    begun.add(b"two")
    assert begun.read() == b"begin\none\ntwo\n"
    begun.assert_clean()


def test_a_commit_that_a_rebase_has_dropped_is_made_again(begun: Vault) -> None:
    """A rebase reads the branch, we commit, it writes its first file; its abort moves the branch back."""
    begun.git("rebase", "-q", "-i", "HEAD~1", GIT_SEQUENCE_EDITOR="sed -i 1ibreak")
    git_dir = begun.history.git_dir
    detached = (git_dir / "HEAD").read_bytes()
    (git_dir / "rebase-merge").rename(git_dir / "hidden")
    begun.git("symbolic-ref", "HEAD", "refs/heads/main")
    begun.git("reset", "-q", "--hard")
    rest(begun)
    said_at = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert begun.history.commit([replace(begun.draft(b"a turn"), made_at=said_at)]).commits
    times = begun.git("log", "-1", "--format=%aI %ct")
    (git_dir / "hidden").rename(git_dir / "rebase-merge")
    (git_dir / "HEAD").write_bytes(detached)
    begun.git("rebase", "--abort")
    assert begun.read() == b"begin\n"
    assert "add a turn" not in begun.subjects()
    rest(begun)
    begun.write(b"begin\nby hand\n")
    with pytest.raises(Changed):
        begun.history.stage([begun.draft(b"another turn")])
    assert len(begun.history.flush().commits) == 1
    begun.add(b"another turn")
    assert sorted((begun.read() or b"").splitlines()) == [b"a turn", b"another turn", b"begin", b"by hand"]
    assert [s for s in begun.subjects() if s.startswith("add")] == ["add begin", "add a turn", "add another turn"]
    assert begun.git("log", "-1", "--format=%an", "--grep=add a turn").strip() == ASSISTANT.name
    assert begun.git("log", "-1", "--format=%aI %ct", "--grep=add a turn") == times, "said then, and committed then"
    (edit,) = begun.history.uncommitted([USER])
    assert b"by hand" not in (edit.before or b"") and edit.after == begun.read(), "the person's line, and nothing else"


def test_a_commit_that_a_failing_merge_took_out_of_the_files_is_put_back(begun: Vault) -> None:
    """A merge reads HEAD, we commit, it reads the git index, finds that it is not HEAD's, and "restores" both."""
    head = begun.git("rev-parse", "HEAD").strip()
    History(begun.root, now=lambda: datetime.now().astimezone() - timedelta(seconds=9)).commit([begun.draft(b"a turn")])
    begun.git("update-ref", "ORIG_HEAD", head)
    begun.git("read-tree", "--reset", "-u", head)
    assert begun.read() == b"begin\n"
    assert begun.git("status", "--porcelain") == f"M  {USER}\n", "the commit looks undone, and that is staged"
    rest(begun)
    with pytest.raises(Changed):
        begun.history.commit([Draft("edit", PERSON, tuple(begun.history.uncommitted()))])
    assert begun.history.flush().paused is None
    assert begun.read() == b"begin\na turn\n"
    begun.assert_clean()
    assert begun.subjects().count("add a turn") == 1
    begun.git("checkout", "-q", head, "--", str(USER))
    begun.git("commit", "-qm", "as it was")
    begun.history.flush()
    assert begun.read() == b"begin\n", "what the person takes back and commits is taken back"


@pytest.mark.parametrize("turns", [1, 2])
def test_text_that_a_failing_merge_takes_out_before_its_commit_is_put_back(begun: Vault, turns: int) -> None:
    """A merge that gives up resets the files to its HEAD, and no log tells of it: the note was missing on the disk
    after our commit, and its absence was committed as the person's edit."""
    head = begun.git("rev-parse", "HEAD").strip()
    begun.git("update-ref", "ORIG_HEAD", head)
    os.utime(begun.history.git_dir / "ORIG_HEAD", (time.time() - 20, time.time() - 20))
    left = [head]

    def give_up(step: str) -> None:
        if step == "objects written" and left and turn == turns:
            begun.git("read-tree", "--reset", "-u", left.pop())

    for turn in range(1, turns + 1):
        History(begun.root, step=give_up).commit([begun.draft(b"turn %d" % turn)])
    begun.git("reset", "-q", "--merge")
    assert begun.history.flush().paused is None
    assert begun.read() == b"begin\n" + b"".join(b"turn %d\n" % turn for turn in range(1, turns + 1))
    begun.assert_clean()
    assert begun.subjects().count("add turn 1") == 1


@pytest.mark.slow
def test_a_slow_merge_may_take_out_several_commits_at_once(begun: Vault) -> None:
    """On a busy machine a merge takes seconds, and several turns are committed meanwhile."""
    head = begun.git("rev-parse", "HEAD").strip()
    begun.git("update-ref", "ORIG_HEAD", head)
    os.utime(begun.history.git_dir / "ORIG_HEAD", (time.time() - 20, time.time() - 20))
    for line in (b"one", b"two", b"three"):
        begun.history.commit([begun.draft(line)])
    begun.git("read-tree", "--reset", "-u", head)
    assert begun.read() == b"begin\n"
    begun.history.flush()
    assert begun.read() == b"begin\none\ntwo\nthree\n"
    begun.assert_clean()
    assert [begun.subjects().count(f"add {line}") for line in ("one", "two", "three")] == [1, 1, 1]


def test_a_commit_that_a_merge_took_out_of_the_files_is_not_made_twice_while_another_waits(begun: Vault) -> None:
    """What waits was staged after that commit. It came first, so the commit was made again, empty, and what waited went
    out of the file."""
    head = begun.git("rev-parse", "HEAD").strip()
    begun.git("update-ref", "ORIG_HEAD", head)
    os.utime(begun.history.git_dir / "ORIG_HEAD", (time.time() - 20, time.time() - 20))
    History(begun.root, now=lambda: datetime.now().astimezone() - timedelta(seconds=3)).commit([begun.draft(b"one")])
    begun.history.stage([begun.draft(b"two")])
    begun.git("read-tree", "--reset", "-u", head)
    begun.history.flush()
    assert begun.read() == b"begin\none\ntwo\n"
    begun.assert_clean()
    assert [begun.subjects().count(f"add {line}") for line in ("one", "two")] == [1, 1]


def test_a_commit_that_a_reset_of_the_index_has_dropped_is_made_again(begun: Vault) -> None:
    """`git reset` reads HEAD, we commit, and it moves the branch to where HEAD was."""
    head = begun.git("rev-parse", "HEAD").strip()
    begun.history.commit([begun.draft(b"a turn")])
    begun.git("update-ref", "-m", "reset: moving to HEAD", "HEAD", head)
    begun.git("read-tree", head)
    assert "add a turn" not in begun.subjects() and begun.read() == b"begin\na turn\n"
    begun.history.flush()
    assert begun.subjects().count("add a turn") == 1 and begun.read() == b"begin\na turn\n"
    begun.assert_clean()


def test_what_is_taken_back_long_after_a_merge_stays_so(begun: Vault) -> None:
    head = begun.git("rev-parse", "HEAD").strip()
    begun.git("update-ref", "ORIG_HEAD", head)
    os.utime(begun.history.git_dir / "ORIG_HEAD", (time.time() - 120, time.time() - 120))
    begun.history.commit([begun.draft(b"a turn")])
    begun.git("checkout", "-q", head, "--", str(USER))
    begun.history.flush()
    assert begun.read() == b"begin\n"


def test_what_the_person_deletes_while_it_waits_stays_deleted(begun: Vault) -> None:
    begun.history.stage([begun.draft(b"a turn")])
    begun.write(b"begin\n")
    begun.history.flush()
    assert begun.read() == b"begin\n"
