"""Entries in logs wait for the next commit, and become one; nothing of them is lost or counted as the person's."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import PERSON, Vault
from tests.adapters.history.killed_writer import DAILY, log
from tests.conftest import TAIPEI
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.adapters.history.intents import MAX_LOG_BYTES, MAX_LOGS, MAX_LOGS_OF_ONE
from vault_memory.core import trailers
from vault_memory.errors import Changed

KILLED = "tests.adapters.history.killed_writer"
BOBS = PurePosixPath("memory/bob/daily/2026-01-30.md")


def noon(hour: int = 12, minute: int = 0, day: int = 30) -> datetime:
    return datetime(2026, 1, day, hour, minute, tzinfo=TAIPEI)


class Times:
    """A clock that stands until a test sets it."""

    def __init__(self) -> None:
        self.now = noon()

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def times(vault: Vault) -> Times:
    vault.add(b"begin")
    times = Times()
    vault.history = History(vault.root, now=times)
    return times


def waits_for_the_next_second() -> None:
    """Git tells in whole seconds when it did something."""
    began = int(time.time())
    while int(time.time()) == began:
        time.sleep(0.01)


def turn(vault: Vault, number: int, path: PurePosixPath = DAILY) -> tuple[str, ...]:
    while True:
        try:
            flushed = vault.history.commit(log(vault.root, number, path))
            break
        except Changed:
            continue
    assert flushed.paused is None and flushed.waiting == 0
    return flushed.commits


def turns(vault: Vault, subject: str) -> list[str]:
    return trailers.turns_of(vault.git("log", "-1", "--format=%B", f"--grep=^{subject}"))


def intents(vault: Vault) -> list[str]:
    return sorted(path.name for path in (vault.history.git_dir / "vault-memory/intents").iterdir())


def test_logs_wait_as_one_and_a_flush_commits_them(vault: Vault, times: Times) -> None:
    for number in range(1, 4):
        assert turn(vault, number) == ()
        times.now += timedelta(minutes=1)
    assert vault.subjects() == ["add begin"] and len(intents(vault)) == 3
    state = vault.history.state()
    assert (state.waiting, state.logs) == (0, 3) and not vault.history.uncommitted()
    assert not vault.history.logs_are_due()
    assert len(vault.history.flush().commits) == 1 and intents(vault) == []
    assert vault.subjects()[1:] == ["log(alice): 3 turns, 2026-01-30 12:01 to 12:03"]
    assert turns(vault, "log") == [f"{number:08x}" for number in (1, 2, 3)]
    vault.assert_clean()
    assert vault.git("log", "-1", "--format=%an") == ASSISTANT.name + "\n"


def told(vault: Vault, number: int) -> list[Draft]:
    """What a turn changes that tells a preference."""
    theme = vault.draft(b"theme")
    return [replace(theme, message="theme = dark"), *log(vault.root, number)]


def test_a_preference_takes_the_logs_along(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.history.commit(told(vault, 2))
    assert vault.subjects() == ["add begin", "theme = dark"] and turns(vault, "theme") == ["00000001", "00000002"]
    assert vault.read(DAILY) == b"log 1\nlog 2\n"
    vault.assert_clean()


def test_what_else_is_committed_takes_them_along_in_a_commit_of_their_own(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.add(b"other", PurePosixPath("tea.md"))
    assert vault.subjects() == ["add begin", "log(alice): 2026-01-30 12:01", "add other"]
    turn(vault, 2)
    vault.write(b"begin\nby hand\n")
    vault.history.commit_edits([Draft("by hand", PERSON, tuple(vault.history.uncommitted()))])
    assert vault.subjects()[3:] == ["log(alice): 2026-01-30 12:02", "by hand"]
    vault.assert_clean()


@pytest.mark.parametrize(
    ("later", "is_due"),
    [
        (timedelta(minutes=9), False),
        (timedelta(minutes=11), True),
        (timedelta(hours=11, minutes=59), True),
        (timedelta(minutes=-1), True),  # the clock was set back
    ],
)
def test_ten_quiet_minutes_and_the_next_turn_commits(
    vault: Vault, times: Times, later: timedelta, is_due: bool
) -> None:
    turn(vault, 1)
    times.now += later
    assert vault.history.logs_are_due() is is_due
    assert bool(turn(vault, 2)) is is_due
    assert vault.history.state().logs == (1 if is_due else 2)


def test_a_days_logs_are_due_at_its_end(vault: Vault, times: Times) -> None:
    times.now = noon(23, 58)
    turn(vault, 1)
    times.now = noon(0, 1, day=31)
    assert vault.history.logs_are_due() and turn(vault, 2)


def test_users_wait_apart(vault: Vault, times: Times) -> None:
    for number, path in enumerate((DAILY, BOBS, DAILY, BOBS), 1):
        turn(vault, number, path)
    vault.history.flush()
    assert vault.subjects()[1:] == [
        "log(alice): 2 turns, 2026-01-30 12:01 to 12:03",
        "log(bob): 2 turns, 2026-01-30 12:02 to 12:04",
    ]
    vault.assert_clean()


def test_a_turn_of_one_user_leaves_the_logs_of_others(vault: Vault, times: Times) -> None:
    """In a class each preference made a commit of the logs of everybody else, and `git log` was full of them."""
    for number, path in enumerate((DAILY, BOBS, BOBS), 1):
        turn(vault, number, path)
    vault.history.commit(told(vault, 4))
    assert vault.subjects()[1:] == ["theme = dark"] and turns(vault, "theme") == ["00000001", "00000004"]
    assert vault.history.state().logs == 2 and not vault.history.uncommitted()
    times.now += timedelta(minutes=11)
    vault.history.commit(told(vault, 5))
    assert sorted(vault.subjects()[2:]) == ["log(bob): 2 turns, 2026-01-30 12:02 to 12:03", "theme = dark"]


def test_logs_wait_two_hours_at_most_while_others_go_on_talking(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    for number in range(2, 17):
        times.now += timedelta(minutes=8)
        assert vault.history.logs_are_due() is (number == 16)
        assert bool(turn(vault, number, BOBS)) is (number == 16)


def test_so_many_logs_of_one_user_wait_and_no_more(vault: Vault, times: Times) -> None:
    turn(vault, 100, BOBS)
    commits = [turn(vault, number) for number in range(MAX_LOGS_OF_ONE + 1)]
    assert [len(each) for each in commits] == [0] * MAX_LOGS_OF_ONE + [1]
    assert vault.history.state().logs == 1


def test_logs_of_many_users_do_not_wait_without_end(vault: Vault, times: Times) -> None:
    for number in range(MAX_LOGS + 5):
        turn(vault, number, PurePosixPath(f"memory/u{number}/daily/2026-01-30.md"))
        assert len(intents(vault)) <= MAX_LOGS
    vault.history.flush()
    vault.assert_clean()


def test_a_log_that_the_person_edits_meanwhile_is_both(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.write((vault.read(DAILY) or b"") + b"my remark\n", DAILY)
    (edit,) = vault.history.uncommitted()
    assert edit.before == b"log 1\n"
    vault.history.commit_edits([Draft("by hand", PERSON, (edit,))])
    turn(vault, 2)
    vault.history.flush()
    assert vault.read(DAILY) == b"log 1\nmy remark\nlog 2\n"
    by = vault.git("log", f"--author={PERSON.name.split()[0]}", "--format=", "-p", "--", str(DAILY))
    assert "+my remark" in by and "+log" not in by
    vault.assert_clean()


def test_logs_that_the_person_commits_are_not_committed_again(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.git("add", "-A")
    vault.git("commit", "-qm", "all of it")
    assert vault.history.flush().commits == () and intents(vault) == []
    turn(vault, 2)
    vault.git("commit", "-qam", "again")
    turn(vault, 3)
    vault.history.flush()
    assert vault.subjects()[1:] == ["all of it", "again", "log(alice): 2026-01-30 12:03"]
    assert vault.read(DAILY) == b"log 1\nlog 2\nlog 3\n"
    vault.assert_clean()


@pytest.mark.parametrize("command", ["reset -q --hard", "stash -q -u"])
def test_logs_that_git_takes_away_come_back(vault: Vault, times: Times, command: str) -> None:
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI)  # git's own clock says when it did something
    turn(vault, 2)
    vault.git(*command.split())
    assert vault.read(DAILY) == b"log 1\n"
    turn(vault, 3)
    vault.history.flush()
    assert vault.read(DAILY) == b"log 1\nlog 2\nlog 3\n"
    vault.assert_clean()


@pytest.mark.parametrize("taking", ["reset -q --hard", "stash -q"])
def test_what_is_said_after_a_commit_of_the_persons_comes_back_too(vault: Vault, times: Times, taking: str) -> None:
    """The commit has taken in what waited before it; of that nothing is to come back."""
    times.now = datetime.now(TAIPEI)  # git's own clock says when it did something
    turn(vault, 1)
    vault.git("add", "-A")
    vault.git("commit", "-qm", "mine")
    waits_for_the_next_second()
    times.now = datetime.now(TAIPEI)
    for number in (2, 3):
        turn(vault, number)
    vault.git(*taking.split())
    assert vault.read(DAILY) == b"log 1\n"
    turn(vault, 4)
    vault.history.flush()
    assert vault.read(DAILY) == b"log 1\nlog 2\nlog 3\nlog 4\n"
    vault.assert_clean()


def test_what_the_person_commits_a_log_without_does_not_come_back_with_a_reset(vault: Vault, times: Times) -> None:
    times.now = datetime.now(TAIPEI)
    for number in (1, 2):
        turn(vault, number)
    waits_for_the_next_second()
    vault.write(b"log 1\n", DAILY)
    vault.git("add", "-A")
    vault.git("commit", "-qm", "without")
    vault.git("reset", "-q", "--hard")
    turn(vault, 3)
    vault.history.flush()
    assert vault.read(DAILY) == b"log 1\nlog 3\n"
    vault.assert_clean()


def test_a_line_of_another_machine_of_the_same_number_is_another_one(vault: Vault, times: Times) -> None:
    """Each machine counts the turns of its own records."""
    times.now = datetime.now(TAIPEI)
    theirs = b"- 08:00 tea \xe2\x86\x92 done \xc2\xb7 conversations/2026-01-30.jsonl:1\n"
    ours = theirs.replace(b"08:00 tea", b"09:00 coffee")
    vault.write(theirs, DAILY)
    vault.git("add", "-A")
    vault.git("commit", "-qm", "from the other machine")
    draft = log(vault.root, 1)[0]
    change = FileChange(DAILY, theirs, theirs + ours)
    vault.history.commit([replace(draft, changes=(change,))])
    vault.git("reset", "-q", "--hard")
    turn(vault, 2)
    vault.history.flush()
    assert vault.read(DAILY) == theirs + ours + b"log 2\n"
    vault.assert_clean()


def test_during_a_merge_they_wait_on(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    (vault.history.git_dir / "MERGE_HEAD").write_text(vault.git("rev-parse", "HEAD"))
    flushed = vault.history.flush()
    assert flushed.commits == () and flushed.waiting == 1 and vault.history.state().logs == 1
    (vault.history.git_dir / "MERGE_HEAD").unlink()
    assert len(vault.history.flush().commits) == 1
    vault.assert_clean()


def test_a_staged_log_waits_with_what_joins_it(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.git("add", "-A")
    turn(vault, 2)
    assert vault.history.flush().waiting == 2
    vault.git("reset", "-q")
    assert len(vault.history.flush().commits) == 1 and vault.read(DAILY) == b"log 1\nlog 2\n"
    vault.assert_clean()


def test_large_logs_are_committed_at_once(vault: Vault, times: Times) -> None:
    """Every writer reads what waits."""
    vault.add(b"x" * MAX_LOG_BYTES, DAILY)
    assert turn(vault, 1) and intents(vault) == []


STEPS = ["objects written", "index prepared", "branch moved", "index published", "intent struck off"]


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("is_told", [False, True])
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_commit_of_logs_that_waited_is_killed_at_each_step(
    vault: Vault, times: Times, step: str, is_told: bool, is_edited: bool
) -> None:
    vault.history = History(vault.root)  # with the clock that the other process has
    turn(vault, 1)
    turn(vault, 2)
    process = subprocess.run(
        [sys.executable, "-m", KILLED, str(vault.root), "-4" if is_told else "-3", f"{step}#1"],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.DEVNULL,
        timeout=60,
    )
    assert process.returncode == -signal.SIGKILL, f"the step {step!r} was not reached"
    if is_edited:
        vault.write((vault.read(DAILY) or b"") + b"my remark\n", DAILY)
    turn(vault, 4)
    vault.history.flush()
    if edits := vault.history.uncommitted():
        vault.history.commit_edits([Draft("by hand", PERSON, tuple(edits))])
    vault.history.flush()
    lines = [b"log 1", b"log 2", b"log 3", *([b"my remark"] if is_edited else []), b"log 4"]
    assert (vault.read(DAILY) or b"").split(b"\n")[:-1] == lines
    named = [turn for body in vault.git("log", "--format=%B%x00").split("\0") for turn in trailers.turns_of(body)]
    assert sorted(named) == [f"{number:08x}" for number in (1, 2, 3, 4)], "each in one commit"
    assert vault.subjects().count("theme = dark") == is_told
    for commit in vault.git("log", "--author=Alice", "--format=%H", "--", str(DAILY)).split():
        assert "+log" not in vault.git("show", "--format=", commit), "the assistant's words under the person's name"
    vault.assert_clean()


def test_what_a_person_keeps_out_of_commits_is_in_none(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    turn(vault, 2)
    vault.git("add", "-N", str(DAILY))
    vault.git("update-index", "--skip-worktree", str(DAILY))
    vault.write((vault.read(DAILY) or b"") + b"PRIVATE WORDS\n", DAILY)
    turn(vault, 3)
    vault.history.flush()
    assert "PRIVATE" not in vault.git("log", "--all", "-p")


def test_words_between_two_turns_are_the_persons(vault: Vault, times: Times) -> None:
    """An edit that could not be committed between them, as another git held the lock."""
    turn(vault, 1)
    vault.write((vault.read(DAILY) or b"") + b"MY OWN WORDS\n", DAILY)
    turn(vault, 2)
    vault.history.flush()
    vault.history.commit_edits([Draft("by hand", PERSON, tuple(vault.history.uncommitted()))])
    by = {row.split(")")[-1].strip(): "Alice" in row for row in vault.git("blame", str(DAILY)).splitlines()}
    assert by == {"log 1": False, "MY OWN WORDS": True, "log 2": False}
    vault.assert_clean()


def test_entries_below_a_secret_stay_the_assistants(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.write((vault.read(DAILY) or b"") + b"password: Xk29!fooBarz\n", DAILY)
    turn(vault, 2)
    turn(vault, 3)
    assert vault.history.flush().waiting == 2 and "Xk29" not in vault.git("log", "-p")
    vault.write(b"".join(f"log {number}\n".encode() for number in (1, 2, 3)), DAILY)
    vault.history.flush()
    assert not vault.history.uncommitted() and vault.git("log", "--author=Alice", "--format=%h") == ""
    vault.assert_clean()


def test_logs_do_not_join_what_the_person_changes(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    theme, entry = told(vault, 2)
    vault.history.commit([replace(theme, author=PERSON), replace(entry, author=PERSON, waits=False)])
    assert [row.split("\t")[1] for row in vault.git("log", "--format=%s%x09%an").splitlines()][1:] == [
        PERSON.name,
        ASSISTANT.name,
        ASSISTANT.name,
    ]


@pytest.mark.parametrize("how", ["staged", "secret"])
def test_a_preference_does_not_wait_for_its_logs(vault: Vault, times: Times, how: str) -> None:
    turn(vault, 1)
    if how == "staged":
        vault.git("add", "-A")
    else:
        vault.write((vault.read(DAILY) or b"") + b"password: Xk29!fooBarz\n", DAILY)
    flushed = vault.history.commit(told(vault, 2))
    assert "theme = dark" in vault.subjects() and flushed.waiting == (2 if how == "staged" else 1)


def test_the_drafts_of_a_planted_intent_do_not_wait_for_ever(vault: Vault, times: Times) -> None:
    """Its time may be one that no clock has."""
    turn(vault, 1)
    (path,) = (vault.history.git_dir / "vault-memory/intents").iterdir()
    for when in ("999999999999 +0000", "1 +9999"):
        text = path.read_text()
        start = text.index('"when": "') + len('"when": "')
        path.write_text(text[:start] + when + text[text.index('"', start) :])
        assert vault.history.logs_are_due()


@pytest.mark.parametrize("command", ["reset -q --hard", "stash -q"])
def test_logs_that_git_takes_away_come_back_below_what_the_person_writes_then(
    vault: Vault, times: Times, command: str
) -> None:
    """They were deleted in the person's name."""
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI)
    turn(vault, 2)
    turn(vault, 3)
    vault.git(*command.split())
    vault.write(b"log 1\nmy remark\n", DAILY)
    commit_edits(vault)
    assert sorted((vault.read(DAILY) or b"").split(b"\n")) == [b"", b"log 1", b"log 2", b"log 3", b"my remark"]
    assert "\n-" not in vault.git("log", "--author=Alice", "--format=", "-p", "-U0", "--", str(DAILY)).replace(
        "\n---", ""
    )
    vault.assert_clean()


@pytest.mark.parametrize("command", ["restore", "checkout --", "checkout HEAD --"])
def test_what_waits_and_git_restore_takes_away_is_deleted(vault: Vault, times: Times, command: str) -> None:
    """It leaves no trace: nobody can tell it from a deletion by hand."""
    turn(vault, 1)
    vault.history.flush()
    turn(vault, 2)
    vault.git(*command.split(), str(DAILY))
    turn(vault, 3)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 1\nlog 3\n" and "log 2" not in vault.git("log", "-p")
    vault.assert_clean()


def commit_edits(vault: Vault) -> None:
    """As a writer does."""
    for _ in range(2):  # a line that the person has deleted is committed first
        while edits := vault.history.uncommitted():
            with contextlib.suppress(Changed):
                vault.history.commit_edits([Draft("by hand", PERSON, tuple(edits))])
        vault.history.flush()


def test_a_person_deletes_what_waits_and_that_is_their_edit(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    turn(vault, 2)
    vault.write(b"log 2\n", DAILY)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 2\n"
    vault.assert_clean()


def test_a_line_that_waits_and_is_replaced_again_is_nobodys_edit(vault: Vault, times: Times) -> None:
    """A memory's counts: of three changes that wait each replaces a line of the one before."""
    note = PurePosixPath("memory/alice/memories/2026-01/tea.md")
    states = [f"---\naccess_count: {n}\nlast: day {n}\n---\ntea\n".encode() for n in range(4)]
    vault.history.commit([Draft("tea", ASSISTANT, (FileChange(note, None, states[0]),))])
    for before, after in itertools.pairwise(states):
        vault.history.commit(
            [Draft("log(alice): 2026-01-30 12:00", ASSISTANT, (FileChange(note, before, after),), waits=True)]
        )
    vault.history.flush()
    assert vault.history.uncommitted() == [] and vault.history.blob(note) == states[-1]
    vault.assert_clean()


def test_what_waits_and_the_person_deletes_stays_deleted(vault: Vault, times: Times) -> None:
    """The file is then as HEAD has it, as after `git restore`; and it came back."""
    turn(vault, 1)
    vault.history.flush()
    turn(vault, 2)
    vault.write(b"log 1\n", DAILY)
    vault.git("status")  # it writes the index
    turn(vault, 3)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 1\nlog 3\n" and "log 2" not in vault.git("log", "-p")
    vault.assert_clean()


@pytest.mark.parametrize("deleted", [2, 3])
def test_what_the_person_deletes_after_git_has_moved_files_stays_deleted(
    vault: Vault, times: Times, deleted: int
) -> None:
    """One entry waited when git moved files, and whatever waited later came back with it, also twice."""
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=5)
    turn(vault, 2)
    vault.git("switch", "-q", "-c", "x")
    vault.git("switch", "-q", "-")
    times.now += timedelta(seconds=10)
    turn(vault, 3, BOBS)
    path = DAILY if deleted == 2 else BOBS
    vault.write((vault.read(path) or b"").replace(b"log %d\n" % deleted, b""), path)
    vault.git("add", str(path))
    vault.git("commit", "-qm", "mine", "--", str(path), ok=False)  # without 2 there is nothing to commit
    turn(vault, 4)
    commit_edits(vault)
    kept = {DAILY: b"log 1\nlog 4\n" if deleted == 2 else b"log 1\nlog 2\nlog 4\n", BOBS: b"log 3\n"}
    for path, text in (kept | ({BOBS: b""} if deleted == 3 else {})).items():
        assert (vault.read(path) or b"") == text
    assert f"log {deleted}\n" not in vault.git("log", "-p")
    vault.assert_clean()


@pytest.mark.parametrize("is_all", [True, False])
def test_a_log_that_the_person_commits_without_what_waits_stays_without_it(
    vault: Vault, times: Times, is_all: bool
) -> None:
    turn(vault, 1)
    vault.history.flush()
    turn(vault, 2)
    if is_all:
        (vault.root / DAILY).unlink()
    else:
        vault.write(b"log one\n", DAILY)
    vault.git("commit", "-qam", "forget")
    turn(vault, 3)
    commit_edits(vault)
    assert vault.read(DAILY) == (b"log 3\n" if is_all else b"log one\nlog 3\n")
    vault.assert_clean()


@pytest.mark.parametrize("taking", [["reset -q --hard old"], ["stash -q", "switch -q old"]])
def test_what_waits_goes_to_another_branch_without_the_rest_of_its_file(
    vault: Vault, times: Times, taking: list[str]
) -> None:
    """The whole file came along, and was committed there as the person's."""
    vault.git("branch", "old")
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=5)
    turn(vault, 2)
    for command in taking:
        vault.git(*command.split())
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 2\n"
    assert vault.git("log", "-1", "--format=%an") == ASSISTANT.name + "\n"
    vault.assert_clean()


@pytest.mark.parametrize("how", ["merge -q --no-edit other", "switch -q other", "checkout -q -f other"])
def test_what_the_person_deletes_does_not_come_back_with_another_version_of_the_log(
    vault: Vault, times: Times, how: str
) -> None:
    """It was all that waited there; the next merge brought it back, and it was committed."""
    turn(vault, 1)
    vault.history.flush()
    vault.git("switch", "-q", "-c", "other")
    vault.write(b"log 1\nfrom another machine\n", DAILY)
    vault.git("commit", "-qam", "another")
    vault.git("switch", "-q", "-")
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=5)
    turn(vault, 2)
    vault.write(b"log 1\n", DAILY)
    turn(vault, 3, BOBS)
    vault.git(*how.split())
    turn(vault, 4, BOBS)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 1\nfrom another machine\n" and "log 2" not in vault.git("log", "-p", "--all")
    assert vault.read(BOBS) == b"log 3\nlog 4\n"
    vault.assert_clean()


def test_what_came_back_after_a_reset_and_the_person_then_deletes_stays_deleted(vault: Vault, times: Times) -> None:
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=5)
    turn(vault, 2)
    vault.git("reset", "-q", "--hard")
    turn(vault, 3, BOBS)
    assert vault.read(DAILY) == b"log 1\nlog 2\n", "it came back"
    vault.write(b"log 1\nmy remark\n", DAILY)
    turn(vault, 4, BOBS)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 1\nmy remark\n" and "log 2" not in vault.git("log", "-p")
    vault.assert_clean()


@pytest.mark.parametrize("command", ["reset -q --hard", "stash -q"])
def test_what_a_reset_takes_out_comes_back_though_a_turn_came_before_its_line_in_the_log(
    vault: Vault, times: Times, command: str
) -> None:
    """Git writes the files, then its log, and on a busy machine the second has changed."""
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=8)
    turn(vault, 2)
    turn(vault, 3)
    times.now = datetime.now(TAIPEI) - timedelta(seconds=3)
    vault.write(b"log 1\n", DAILY)  # as the reset writes it
    turn(vault, 4)
    logs = vault.history.git_dir / "logs" / "HEAD"
    before = logs.read_bytes()
    (vault.root / "x.md").write_text("x\n")
    vault.git("add", "x.md")
    saved = vault.read(DAILY) or b""
    vault.git(*command.split())
    assert logs.read_bytes() != before
    vault.write(saved, DAILY)
    os.utime(vault.root / DAILY, (time.time() - 3, time.time() - 3))
    turn(vault, 5)
    commit_edits(vault)
    assert sorted((vault.read(DAILY) or b"").split(b"\n")[:-1]) == [b"log %d" % each for each in (1, 2, 3, 4, 5)]
    vault.assert_clean()


@pytest.mark.parametrize("reset", ["reset -q", "stash -q"])
def test_what_the_person_deletes_before_a_reset_stays_deleted(vault: Vault, times: Times, reset: str) -> None:
    """Git had nothing to put back into that file."""
    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI) - timedelta(seconds=20)
    turn(vault, 2)
    vault.write(b"log 1\n", DAILY)
    os.utime(vault.root / DAILY, (time.time() - 15, time.time() - 15))
    vault.write(b"a note\n", PurePosixPath("note.md"))
    vault.git("add", "note.md")
    vault.git(*reset.split())
    turn(vault, 3, BOBS)
    commit_edits(vault)
    assert vault.read(DAILY) == b"log 1\n" and "log 2" not in vault.git("log", "-p")
    vault.assert_clean()


def test_a_line_that_waits_and_was_corrected_after_a_reset_stands_once(vault: Vault, times: Times) -> None:
    """It names its turn, whatever the person makes of it."""
    place = "conversations/2026-01-30.jsonl:12"

    def tell(words: str) -> None:
        before = vault.read(DAILY)
        change = FileChange(DAILY, before, (before or b"") + f"- 12:02 {words} · {place}\n".encode())
        vault.history.commit([replace(log(vault.root, 2)[0], changes=(change,))])

    turn(vault, 1)
    vault.history.flush()
    times.now = datetime.now(TAIPEI)
    tell("walked")
    vault.git("reset", "-q", "--soft", "HEAD")
    vault.write((vault.read(DAILY) or b"").replace(b"walked", b"walked (with Eve)").replace(b"\n", b"\r\n"), DAILY)
    commit_edits(vault)
    assert (vault.read(DAILY) or b"").count(place.encode()) == 1
    vault.assert_clean()


def test_words_in_a_line_that_is_completed_are_the_persons(vault: Vault, times: Times) -> None:
    """While their edit cannot be committed: they were committed with the whole line, as ours."""
    vault.add(b"- 12:01 walked", DAILY)
    text = b"- 12:01 walked PERSONDIARY\n"
    vault.write(text, DAILY)
    done = FileChange(DAILY, text, b"- 12:01 walked PERSONDIARY -> done\n- 12:02 more\n")
    vault.history.commit([replace(log(vault.root, 2)[0], changes=(done,))])
    vault.history.flush()
    assert "PERSONDIARY" not in vault.git("log", "-p") and "12:02 more" in vault.git("show", f"HEAD:{DAILY}")
    assert vault.read(DAILY) == done.after
    commit_edits(vault)
    assert "PERSONDIARY" in vault.git("log", "--author=Alice", "-p")
    vault.assert_clean()


def counted(vault: Vault) -> tuple[PurePosixPath, bytes]:
    """A note that counts, four times before its commit: each draft replaces a line of the one before."""
    path = PurePosixPath("memory/alice/LEARNING.md")
    before: bytes | None = None
    for number in range(4):
        after = b"# count\n\n- " + str(number).encode() + b"\n- topic %d\n" % (number // 3)
        message = trailers.render(trailers.logs_subject("alice", "2026-01-30 12:00"))
        vault.history.commit([Draft(message, ASSISTANT, (FileChange(path, before, after),), waits=True)])
        before = after
    assert before is not None
    return path, before


def test_what_waits_and_is_replaced_meanwhile_is_committed_as_it_is_now(vault: Vault, times: Times) -> None:
    """None of the lines that are gone is the person's doing."""
    path, last = counted(vault)
    (commit,) = vault.history.flush().commits
    assert vault.git("show", f"{commit}:{path}").encode() == last
    assert vault.git("status", "--porcelain", "--", str(path)) == ""


def test_what_waits_is_replaced_and_then_deleted_by_the_person_comes_into_no_commit(vault: Vault, times: Times) -> None:
    path, _ = counted(vault)
    (vault.root / path).write_text("# count\n")
    vault.history.flush()
    assert "topic" not in vault.git("log", "-p", "--all", "--", str(path))
