"""`kill -9` at any step of a commit: the next writer finds content, author and message, each once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

import pytest

from tests.adapters.conftest import PERSON, USER, Vault
from tests.adapters.history.killed_writer import DAILY, PRIVATE, SAID_AT
from vault_memory.adapters.history import ASSISTANT, Author, Draft

pytestmark = pytest.mark.slow

STEPS = [
    "intent written",
    "file written",
    "intent marked",
    "objects written",
    "index prepared",
    "index locked",
    "branch locked",
    "branch moved",
    "index published",
    "intent struck off",
]


def start(vault: Vault, number: int, fatal: str) -> subprocess.Popen[str]:
    """A writer in a process of its own, which has just become ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.adapters.history.killed_writer", str(vault.root), str(number), fatal],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def recover(vault: Vault, number: int) -> None:
    """What the next turn does: it finds whatever was left, commits the person's edits, and adds its own."""
    vault.history.flush()
    if edits := vault.history.uncommitted():
        vault.history.commit_edits([Draft(f"edit {USER}", PERSON, tuple(edits))])
    vault.history.commit([vault.draft(f"after {number}".encode(), PurePosixPath("memory/bob/USER.md"))])


def assert_nothing_lost(vault: Vault, numbers: range) -> None:
    """Every turn is there once or, killed before its intent was durable, not at all."""
    vault.assert_clean()
    authors = vault.authors()
    subjects = vault.subjects()
    assert len(set(subjects)) == len(subjects), "a commit is there twice"
    user, daily = ((vault.read(path) or b"").decode().splitlines() for path in (USER, DAILY))
    assert len(set(user)) == len(user) and len(set(daily)) == len(daily)
    for number in numbers:
        lines = [f"first {number}" in user, f"second {number}" in user, f"log {number}" in daily]
        assert all(lines) or not any(lines), "half a turn"
        for subject in (f"first {number}", f"second {number}", f"log {number}"):
            assert authors.get(subject, ASSISTANT.name) == ASSISTANT.name
            assert (subject in authors) == lines[0], "a line without its commit, or a commit without its line"
    for commit in vault.git("log", f"--author={PERSON.name}", "--format=%H").split():
        added = [row for row in vault.git("show", "--format=", commit).splitlines() if row.startswith("+")]
        assert not [row for row in added if row[1:].split()[0] in ("first", "second", "log", "after")], (
            "the assistant's words under the person's name"
        )


@pytest.fixture
def edited(vault: Vault) -> Vault:
    """A vault whose person has typed something that nobody has committed."""
    vault.git("config", "user.name", PERSON.name)
    vault.git("config", "user.email", PERSON.email)
    vault.add(b"begin")
    vault.write(b"begin\nby hand\n")
    return vault


@pytest.mark.parametrize("step", [f"{step}#1" for step in STEPS] + ["file written#2"])
def test_killed_at_each_step(edited: Vault, step: str) -> None:
    process = start(edited, 1, step)
    assert process.wait(30) == -signal.SIGKILL, f"the step {step!r} was not reached"
    recover(edited, 1)
    assert_nothing_lost(edited, range(1, 2))
    assert "first 1" in edited.subjects(), "the intent was durable, so the turn must be there"
    ((made_at, committed_at),) = (
        map(int, row.split()) for row in edited.git("log", "--grep=^first 1$", "--format=%at %ct").splitlines()
    )
    assert made_at == SAID_AT.timestamp() and abs(time.time() - committed_at) < 600
    assert edited.authors()[f"edit {USER}"] == PERSON.name


@pytest.mark.parametrize("step", [f"{step}#1" for step in STEPS if step != "intent written"])
def test_killed_and_edited_before_anybody_recovers(edited: Vault, step: str) -> None:
    """The person goes on typing, and commits by hand unless a lock that was left prevents it."""
    start(edited, 1, step).wait(30)
    text = edited.read() or b""
    edited.write(text + b"typed after\n")
    edited.git("commit", "-qam", "by hand", ok=False)
    recover(edited, 1)
    changes = edited.history.uncommitted()
    edited.history.commit([Draft("the rest", Author(*PERSON), tuple(changes))] if changes else [])
    edited.assert_clean()
    assert (edited.read() or b"").decode().splitlines()[-1] == "typed after"
    assert edited.subjects().count("first 1") == 1 and edited.authors()["first 1"] == ASSISTANT.name


EDIT_STEPS = ["objects written", "index prepared", "index locked", "branch locked", "branch moved", "index published"]


@pytest.mark.parametrize("is_unlocked", [False, True])
@pytest.mark.parametrize("step", EDIT_STEPS)
def test_a_commit_of_an_edit_is_killed_at_each_step(edited: Vault, step: str, is_unlocked: bool) -> None:
    """No intent tells of it; the person may delete git's lock, as git says, before anybody recovers."""
    assert start(edited, -1, f"{step}#1").wait(30) == -signal.SIGKILL, f"the step {step!r} was not reached"
    if is_unlocked:
        (edited.root / ".git" / "index.lock").unlink(missing_ok=True)
    edited.write((edited.read() or b"") + b"typed after\n")
    recover(edited, 1)
    edited.assert_clean()
    assert (edited.read() or b"").decode().splitlines() == ["begin", "by hand", "typed after"]
    assert edited.history.blob(USER) == edited.read()


@pytest.mark.parametrize(
    "step",
    [
        *("objects written", "ref made", "index prepared", "index locked", "branch locked", "branch moved"),
        "index published",
    ],
)
def test_taking_a_file_out_is_killed_at_each_step(edited: Vault, step: str) -> None:
    """Either branch is there then, each with its index; whoever does it again ends with the new one."""
    edited.write(b"private\n", PRIVATE)
    edited.write(b"staged\n", PurePosixPath("staged.md"))
    edited.git("add", str(PRIVATE))
    edited.git("commit", "-qm", "by hand", "--", str(PRIVATE))
    edited.git("add", "staged.md")
    old, listed = edited.git("rev-parse", "HEAD").strip(), edited.git("status", "--porcelain")
    assert start(edited, -2, f"{step}#1").wait(30) == -signal.SIGKILL, f"the step {step!r} was not reached"
    edited.history.flush()
    is_moved = edited.git("rev-parse", "HEAD").strip() != old
    assert is_moved == (step in ("branch moved", "index published"))
    now = f"{listed}?? {PRIVATE}\n" if is_moved else listed
    assert sorted(edited.git("status", "--porcelain").splitlines()) == sorted(now.splitlines())
    start(edited, -2, "never#1").wait(30)
    assert str(PRIVATE) not in edited.git("log", "--format=", "--name-only")
    assert sorted(edited.git("status", "--porcelain").splitlines()) == sorted(f"{listed}?? {PRIVATE}\n".splitlines())
    assert edited.git("rev-parse", f"refs/vault-memory/before/{old[:10]}").strip() == old
    assert edited.git("fsck", "--strict", "--no-dangling") == "" and edited.read(PRIVATE) == b"private\n"


MERGED = {"added.md": b"new\n", "changed.md": b"two\n", "gone.md": None, "large.bin": b"y" * 1_000_000}


@pytest.fixture
def forked(vault: Vault) -> Vault:
    """A vault with a branch `other` that adds, changes and deletes files, and a commit of its own beside it."""
    for name, content in {"changed.md": b"one\n", "gone.md": b"gone\n", "large.bin": b"x" * 1_000_000}.items():
        vault.write(content, PurePosixPath(name))
    vault.git("add", ".")
    vault.git("commit", "-qm", "base")
    vault.git("checkout", "-qb", "other")
    for name, after in MERGED.items():
        if after is None:
            (vault.root / name).unlink()
        else:
            vault.write(after, PurePosixPath(name))
    vault.git("add", ".")
    vault.git("commit", "-qm", "theirs")
    vault.git("checkout", "-q", "main")
    vault.add(b"ours")
    return vault


@pytest.mark.parametrize("step", [*(f"{step}#1" for step in STEPS), "file written#2", "file written#3"])
def test_a_merge_that_takes_files_from_git_is_killed_at_each_step(forked: Vault, step: str) -> None:
    process = start(forked, 0, step)
    assert process.wait(30) == -signal.SIGKILL, f"the step {step!r} was not reached"
    for intent in (forked.history.git_dir / "vault-memory" / "intents").iterdir():
        assert intent.stat().st_size < 5_000, "an intent repeats nothing that git holds"
    recover(forked, 1)
    forked.assert_clean()
    assert forked.subjects().count("merge 0") == 1
    assert len(forked.git("log", "--format=%P", "--grep=merge 0").split()) == 2
    assert {name: forked.read(PurePosixPath(name)) for name in MERGED} == MERGED


def test_a_file_that_is_saved_while_a_merge_is_dead_keeps_both_texts(forked: Vault) -> None:
    """What the merge had not written yet was committed as the person's deletion, and pushed."""
    start(forked, 0, "file written#1").wait(30)
    forked.write(b"by hand\none\n", PurePosixPath("changed.md"))
    forked.write(b"\0 by hand", PurePosixPath("large.bin"))
    recover(forked, 1)
    assert forked.read(PurePosixPath("changed.md")) == b"by hand\ntwo\n"
    assert forked.read(PurePosixPath("large.bin")) == b"\0 by hand", "what is not text cannot be merged"
    diff = forked.git("log", f"--author={PERSON.name}", "-p", "-1", "--format=", "--", "changed.md")
    assert "\n+by hand\n" in diff and "\n-" not in diff.partition("@@")[2]


def test_killed_twice_in_a_row(edited: Vault) -> None:
    start(edited, 1, "branch moved#1").wait(30)
    start(edited, 2, "index locked#1").wait(30)
    recover(edited, 2)
    assert_nothing_lost(edited, range(1, 3))


@pytest.mark.parametrize("after", [[], ["typed after"]])
def test_a_save_that_was_displaced_at_the_moment_of_the_kill_is_put_back(vault: Vault, after: list[str]) -> None:
    vault.add(b"begin")
    start(vault, 1, "intent written#1").wait(30)
    # As if the kill had come right after the exchange, and the exchange had displaced a save of the person's.
    vault.write("".join(f"{line}\n" for line in ["begin", "first 1", "second 1", *after]).encode())
    dead = subprocess.Popen(["true"])
    dead.wait()
    vault.write(b"begin\nby hand\n", USER.with_name(f".USER.md.{dead.pid}-0.vault-memory.tmp"))
    recover(vault, 1)
    assert (vault.read() or b"").decode().splitlines() == ["begin", "first 1", "second 1", *after, "by hand"]
    diff = vault.git("log", f"--author={PERSON.name}", "-p", "-1", "--format=")
    assert "\n+by hand\n" in diff and "\n-" not in diff.partition("@@")[2]
    assert "first 1" in vault.subjects()


def test_a_killed_writer_whose_parent_did_not_wait_leaves_nothing(vault: Vault) -> None:
    """Its process number is still in use, and may later be another process's."""
    vault.add(b"begin")
    start(vault, 1, "intent written#1").wait(30)
    left = USER.with_name(f".USER.md.{os.getpid()}-999.vault-memory.tmp")
    vault.write(b"begin\nfirst", left)
    recover(vault, 1)
    assert vault.read(left) is None
    assert vault.read() == b"begin\nfirst 1\nsecond 1\n"


def test_what_another_writer_left_long_before_is_not_put_back(vault: Vault) -> None:
    """A writer that was killed earlier left the text it had displaced; since then the file has moved on."""
    vault.add(b"begin")
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = USER.with_name(f".USER.md.{dead.pid}-0.vault-memory.tmp")
    vault.write(b"before begin\n", left)
    time.sleep(0.02)  # the kernel's clock of files ticks every few milliseconds
    start(vault, 1, "intent written#1").wait(30)
    recover(vault, 1)
    assert vault.read() == b"begin\nfirst 1\nsecond 1\n"
    assert "first 1" in vault.subjects()


def kill_at_random(vault: Vault, rounds: int, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(rounds):
        if number % 3:
            process = start(vault, number, chance.choice(STEPS) + f"#{chance.choice((1, 1, 2))}")
        else:
            process = start(vault, number, "never#1")
            time.sleep(chance.uniform(0, 0.06))  # the kill itself is what is timed here
            process.kill()
        process.wait(30)
        if number % 7 == 0:
            recover(vault, number)
    recover(vault, rounds)
    assert_nothing_lost(vault, range(rounds))


def test_killed_again_and_again(edited: Vault) -> None:
    kill_at_random(edited, 24, seed=2)


@pytest.mark.soak
def test_killed_two_hundred_times(edited: Vault) -> None:
    kill_at_random(edited, 200, seed=1)
