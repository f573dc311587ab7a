"""What git calls: the pre-commit check and the merge driver, with real git and the real command on the PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, wait_until
from vault_memory.core.notes import note

pytestmark = pytest.mark.slow

USER = "memory/alice/USER.md"


class Person:
    """Somebody who commits with git in a vault, with `vault-memory` on the PATH or not."""

    def __init__(self, folder: Path, path: str) -> None:
        self.folder = folder
        self.environ = os.environ | {"PATH": path, "GIT_AUTHOR_NAME": "Alice", "GIT_AUTHOR_EMAIL": "a@x"}
        self.environ |= {"GIT_COMMITTER_NAME": "Alice", "GIT_COMMITTER_EMAIL": "a@x"}

    def git(self, *args: str, ok: bool = True) -> str:
        done = subprocess.run(
            ["git", *args], cwd=self.folder, capture_output=True, text=True, timeout=60, env=self.environ
        )
        assert (done.returncode == 0) == ok, f"{args}: {done.stdout}{done.stderr}"
        return done.stdout if ok else done.stderr

    def write(self, name: str, text: str, *, add: bool = True) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        if add:
            self.git("add", name)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def command(tmp_path: Path) -> str:
    """A PATH on which `vault-memory` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "vault-memory").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vault_memory "$@"\n')
    (folder / "vault-memory").chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


@pytest.fixture
def alice(cli: Cli, command: str) -> Person:
    return Person(cli.folder, command)


def test_good_notes_are_committed_without_a_word(alice: Person) -> None:
    alice.write("memory/alice/notes/a.md", "---\ntitle: 想法\n---\n# 好\n")
    alice.write(USER, "- 主題偏好：dark\n")
    assert alice.git("commit", "-m", "fine").count("\n") > 0


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (USER, "# 使用者資料\n- 主題偏好：purple\n", f"{USER}: line 2: theme must be one of dark, light"),
        ("notes/日記.md", "---\ntags: [a\n---\ntext\n", "notes/日記.md: front matter (lines 1-3) is not valid YAML"),
        (
            "a.md",
            f"{note.CONFLICT_OPEN}\na\n=======\nb\n{note.CONFLICT_CLOSE}\n",
            "a.md: conflict: lines 1-5 hold two texts",
        ),
        (
            "a.md",
            "key: AKIAIOSFODNN7EXAMPLE\ntoken ghp_abcdefghijklmnopqrstuvwxyz0123456789\n",
            "take out what is secret: git keeps what is committed",
        ),
    ],
)  # fmt: skip
def test_what_would_break_or_leak_is_refused_in_words(alice: Person, name: str, text: str, words: str) -> None:
    alice.write(name, text)
    told = alice.git("commit", "-m", "broken", ok=False)
    assert words in told and "--no-verify" in told and "Traceback" not in told
    alice.git("commit", "-q", "--no-verify", "-m", "all the same")


def test_what_is_committed_counts_and_not_what_lies_in_the_index(alice: Person) -> None:
    """`git commit -a` and `git commit FILE` have an index of their own."""
    alice.write(USER, "- 主題偏好：dark\n")
    alice.git("commit", "-qm", "fine")
    alice.write(USER, "- 主題偏好：purple\n", add=False)
    assert "purple" in alice.git("commit", "-am", "broken", ok=False)
    assert "purple" in alice.git("commit", "-m", "broken", USER, ok=False)
    alice.write("fine.md", "fine\n")
    alice.git("commit", "-qm", "the broken one is not part of this")
    assert "purple" in alice.git("commit", "-m", "broken", USER, ok=False)


def test_what_was_there_before_does_not_hold_up_a_new_commit(alice: Person) -> None:
    alice.write("a.md", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789\n")
    alice.git("commit", "-q", "--no-verify", "-m", "long ago")
    alice.write("a.md", alice.read("a.md") + "one more line\n")
    alice.git("commit", "-qm", "fine")


def test_files_outside_a_vault_are_none_of_our_business(cli: Cli, command: str, tmp_path: Path) -> None:
    top = Person(tmp_path / "large", command)
    top.folder.mkdir()
    top.git("init", "-q", "-b", "main")
    Cli(tmp_path)("init", "large/my vault")
    top.write("code.md", f"---\na: [\n---\n{note.CONFLICT_OPEN}\n")
    top.git("commit", "-qm", "code")
    top.write(f"my vault/{USER}", "- Theme: purple\n")
    assert f"my vault/{USER}: line 1" in top.git("commit", "-m", "broken", ok=False)


def test_a_persons_own_hook_runs_after_ours_and_doctor_upgrades(cli: Cli, alice: Person) -> None:
    hook = cli.folder / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\n# vault-memory hook, version 1\nexit 1\n")
    hook.with_name("pre-commit.local").write_text("#!/bin/sh\necho ran >> own-hook-ran\n")
    hook.with_name("pre-commit.local").chmod(0o755)
    cli.run("doctor", "--fix")
    alice.write("a.md", "fine\n")
    alice.git("commit", "-qm", "fine")
    assert alice.read("own-hook-ran") == "ran\n"
    alice.write(USER, "- 主題偏好：purple\n")
    alice.git("commit", "-m", "broken", ok=False)
    assert alice.read("own-hook-ran") == "ran\n", "ours refused first"


def test_without_the_command_hooks_and_merges_are_harmless(cli: Cli) -> None:
    """As on another machine: another PATH, no Python of ours. Lines that clash get git's own markers."""
    alice = Person(cli.folder, "/usr/bin:/bin")
    hook = cli.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(hook.read_text().replace(sys.executable, "/gone/python"))
    alice.write(USER, "- 主題偏好：purple\n")
    assert alice.git("commit", "-qm", "nobody looks") == ""


def test_a_hook_that_cannot_look_says_so(cli: Cli) -> None:
    alice = Person(cli.folder, "/usr/bin:/bin")
    hook = cli.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text(hook.read_text().replace(sys.executable, "/gone/python"))
    ran = subprocess.run([hook], cwd=cli.folder, capture_output=True, text=True, timeout=60, env=alice.environ)
    assert ran.returncode == 0 and ran.stdout == ""
    assert ran.stderr.startswith("vault-memory cannot be run here") and "`vault-memory doctor --fix`" in ran.stderr


def test_the_hook_looks_whatever_the_path(cli: Cli) -> None:
    """As Obsidian's Git plugin runs git."""
    alice = Person(cli.folder, "/usr/bin:/bin")
    alice.write(USER, "- 主題偏好：purple\n")
    assert "not 'purple'" in alice.git("commit", "-qm", "looked at", ok=False)


def test_without_the_command_lines_that_clash_get_gits_own_marks(cli: Cli) -> None:
    alice = Person(cli.folder, "/usr/bin:/bin")
    alice.write(USER, "- 主題偏好：\n")
    alice.git("commit", "-qm", "none")
    two_sides(alice, "- 主題偏好：dark\n", "- 主題偏好：light\n")
    alice.git("merge", "other", ok=False)
    assert alice.read(USER).count("<<<<<<<") == 1 and "dark" in alice.read(USER) and "light" in alice.read(USER)


def two_sides(person: Person, ours: str, theirs: str) -> None:
    """Two branches, main (checked out) and other, that changed USER.md."""
    person.git("checkout", "-qb", "other")
    person.write(USER, theirs)
    person.git("commit", "-qm", "theirs")
    person.git("checkout", "-q", "main")
    person.write(USER, ours)
    person.git("commit", "-qm", "ours")


def test_plain_git_merges_profiles_by_key(cli: Cli, alice: Person) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    text = alice.read(USER)
    two_sides(alice, text.replace("主題偏好：", "主題偏好：dark"), text.replace("設計風格：", "設計風格：modern"))
    alice.git("merge", "-q", "other")
    assert "- 主題偏好：dark\n- 設計風格：modern\n" in alice.read(USER)
    assert alice.git("status", "--porcelain") == ""


def test_plain_git_leaves_two_values_of_a_key_to_the_person(cli: Cli, alice: Person) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    text = alice.read(USER)
    two_sides(alice, text.replace("主題偏好：", "主題偏好：dark"), text.replace("主題偏好：", "主題偏好：light"))
    assert "both sides changed the same lines" in alice.git("merge", "other", ok=False)
    assert f"{note.CONFLICT_OPEN}\n- 主題偏好：dark\n=======\n- 主題偏好：light\n{note.CONFLICT_CLOSE}\n" in alice.read(
        USER
    )
    alice.git("add", USER)
    assert "hold two texts" in alice.git("commit", "-qm", "not decided", ok=False)


def test_a_clone_gets_the_driver_by_doctor(cli: Cli, tmp_path: Path) -> None:
    cli.git("clone", "-q", ".", str(tmp_path / "clone"))
    clone = Cli(tmp_path / "clone")
    assert "WRONG merge driver" in clone.run("doctor").stdout
    assert "ok    merge driver" in clone.run("doctor", "--fix").stdout
    assert "merge-driver %O %A %B %P" in clone.git("config", "merge.vault-memory-profile.driver")


@pytest.mark.slow
def test_the_daemon_looks_when_a_merge_has_left_its_hint(cli: Cli, daemon: subprocess.Popen[str]) -> None:
    person = Person(cli.folder, "/usr/bin:/bin")
    person.git("checkout", "-qb", "other")
    wait_until(lambda: not (cli.folder / ".vault-memory/rescan").exists(), "the daemon has seen the hint")
    person.write("from-the-other.md", "# 灣岸列車\n")
    person.git("commit", "-qm", "note")
    person.git("checkout", "-q", "main")
    person.git("merge", "-q", "--no-ff", "-m", "merge", "other")
    wait_until(lambda: not (cli.folder / ".vault-memory/rescan").exists(), "the daemon has seen the hint")
    wait_until(lambda: not cli.json("status")["scopes"][0]["pending"], "the note is indexed")
