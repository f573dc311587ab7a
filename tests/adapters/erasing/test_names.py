"""Files whose names held a text stay apart, and stay what they were by the endings of their names."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import Vault
from tests.adapters.erasing.leftovers import leftovers
from tests.adapters.erasing.test_erase import SECRET
from vault_memory.adapters.erasing import Request
from vault_memory.adapters.history import History

NOTES = PurePosixPath("memory/alice/notes")


def commit(vault: Vault, **said: str) -> None:
    """Commit notes, each by its name with the words in it; none for one that goes."""
    for name, words in said.items():
        if words:
            vault.write(f"{words}\n".encode(), NOTES / name)
        else:
            (vault.root / NOTES / name).unlink()
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", "notes")


def told(vault: Vault) -> dict[str, str]:
    return {path.name: path.read_text().strip() for path in (vault.root / NOTES).iterdir()}


@pytest.mark.parametrize("ending", [".md", ".canvas", ".base", ".tar.gz", ""])
def test_a_number_goes_before_the_ending(vault: Vault, ending: str) -> None:
    names = [f"{name}{ending}" for name in ("Jo Fell", "jo-fell", "Jo  Fell")]
    commit(vault, **{name: f"{at}" for at, name in enumerate(names)})
    done = vault.history.erase(Request(("Jo Fell",)))
    now = {f"(erased){ending}", f"(erased) 2{ending}", f"(erased) 3{ending}"}
    assert {*told(vault)} == now and sorted(told(vault).values()) == ["0", "1", "2"]
    assert {path.name for path in done.renamed} == now, "and it is told which these are"
    vault.assert_clean()


def test_a_note_that_was_renamed_is_one(vault: Vault) -> None:
    """A name that it had before is no other file's, and its past is found under the one name."""
    commit(vault, **{"Jo Fell.md": "1", "keep.md": "1"})
    commit(vault, **{"Jo Fell.md": "", "jo-fell.md": "2"})
    vault.history.erase(Request(("Jo Fell",)))
    assert told(vault) == {"(erased).md": "2", "keep.md": "1"}
    assert vault.git("log", "--format=%s", "--", f"{NOTES}/(erased).md").split() == ["notes", "notes"]
    vault.assert_clean()


def test_two_that_stood_together_once_stay_two(vault: Vault) -> None:
    """The one that is there today has no number."""
    commit(vault, **{"Jo Fell.md": "gone", "jo-fell.md": "stays"})
    commit(vault, **{"Jo Fell.md": ""})
    vault.history.erase(Request(("Jo Fell",)))
    assert told(vault) == {"(erased).md": "stays"}
    assert vault.git("show", f"HEAD~1:{NOTES}/(erased) 2.md") == "gone\n"
    vault.assert_clean()


def test_a_number_that_another_file_has_is_passed_over(vault: Vault) -> None:
    """One from an erasing before, one that only git's index has, and one of which that is the whole name."""
    commit(vault, **{"Jo Fell.md": "1", "jo-fell.md": "2", "(erased) 2.md": "3", "Jo Fell 3.md": "4"})
    (vault.root / NOTES / "Jo Fell.md").unlink()
    before = [row[:2] for row in vault.git("status", "--porcelain").split("\n")]
    vault.history.erase(Request(("Jo Fell",)))
    assert sorted(told(vault).items()) == [("(erased) 2.md", "3"), ("(erased) 3.md", "4"), ("(erased) 4.md", "2")]
    assert [row[:2] for row in vault.git("status", "--porcelain").split("\n")] == before
    vault.git("checkout", "-q", "--", str(NOTES))
    assert told(vault)["(erased).md"] == "1"


def test_a_text_with_the_ending_of_a_note_leaves_that(vault: Vault) -> None:
    commit(vault, **{"Jo Fell.md": "1"})
    vault.history.erase(Request(("Jo Fell.md",)))
    assert told(vault) == {"(erased).md": "1"}
    vault.assert_clean()


def test_what_is_ignored_stays_apart_from_what_git_has(vault: Vault) -> None:
    vault.write(b"jo-fell.md\n", NOTES / ".gitignore")
    commit(vault, **{"Jo Fell.md": "1"})
    vault.write(b"2\n", NOTES / "jo-fell.md")
    vault.history.erase(Request(("Jo Fell",)))
    assert {told(vault)["(erased).md"], told(vault)["(erased) 2.md"]} == {"1", "2"}


@pytest.mark.parametrize("step", ["map written", "files written", "references moved"])
def test_killed_it_goes_on_with_the_names_that_it_gave(vault: Vault, step: str) -> None:
    slug = "-".join(SECRET.split())
    commit(vault, **{f"{slug}.md": "new"})
    commit(vault, **{f"{SECRET}.md": "old", f"{SECRET}..md": "third"})
    before = vault.git("status", "--porcelain")
    command = [sys.executable, "-m", "tests.adapters.erasing.killed_eraser", str(vault.root), SECRET, step]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    History(vault.root).flush()
    assert leftovers(vault.root, SECRET).places == []
    assert sorted(told(vault).values()) == ["new", "old", "third"]
    assert all(name.endswith(".md") for name in told(vault))
    assert vault.git("status", "--porcelain") == before
    vault.assert_clean()


def test_two_files_that_are_called_alike_then_stay_two(vault: Vault) -> None:
    vault.write(b"1\n", NOTES / "Zanzibar.md")
    vault.write(b"2\n", NOTES / "zanzibar.md")
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", "two")
    vault.history.erase(Request(("zanzibar",)))
    assert sorted(path.read_bytes() for path in (vault.root / NOTES).iterdir()) == [b"1\n", b"2\n"]
    vault.assert_clean()


def test_what_is_called_by_the_mark_since_an_erasing_before_stays_another_file(vault: Vault) -> None:
    """Of the two files the one that is newer got its name first."""
    for name in ("second", "first"):
        vault.write(f"{name}\n".encode(), NOTES / f"the {name} codeword.md")
        vault.git("add", "-A")
        vault.git("commit", "-q", "-m", "a note")
    vault.history.erase(Request(("the first codeword",)))
    vault.history.erase(Request(("the second codeword",)))
    assert sorted(path.read_bytes() for path in (vault.root / NOTES).iterdir()) == [b"first\n", b"second\n"]
    assert len(vault.git("ls-tree", "--name-only", "-r", "HEAD", str(NOTES)).split("\n")) == 3
    vault.assert_clean()
