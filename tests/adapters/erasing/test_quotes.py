"""Nothing of a commit is left: what git has written of its message into others, and into its logs, goes as well."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import Vault
from tests.adapters.erasing.leftovers import leftovers
from vault_memory.adapters.erasing import Request, tags_that_say
from vault_memory.adapters.git import Repository
from vault_memory.core.erasing import Part

NOTES = PurePosixPath("memory/alice/notes")
BOB = PurePosixPath("memory/bob/USER.md")
SUBJECT = 'Said "Kettleworth" on June: abcdef12 (x)'
BODY = "more of Kettleworth"


def commit(vault: Vault, path: PurePosixPath, said: str, message: str) -> str:
    vault.write(f"{said}\n".encode(), path)
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", message)
    return vault.git("rev-parse", "HEAD").strip()


@pytest.fixture
def quoted(vault: Vault) -> Vault:
    """A vault in which git has quoted the message of a commit of alice's wherever it does so."""
    commit(vault, BOB, "1", "update")
    commit(vault, NOTES / "plan.md", "1", "update")
    said = commit(vault, NOTES / "diary.md", "clinic", f"{SUBJECT}\n\n{BODY}")
    vault.git("notes", "add", "-m", "a note on Kettleworth", said)
    vault.write(b"put away\n", BOB)
    vault.write(b"put away\n", NOTES / "diary.md")
    vault.git("stash", "-q")
    vault.write(b"private\n", NOTES / "diary.md")
    vault.git("stash", "push", "-q", "-m", "Kettleworth again")
    vault.git("checkout", "-q", "-b", "side")
    commit(vault, NOTES / "side.md", "1", "Kettleworth aside")
    commit(vault, PurePosixPath("shared.md"), "1", "for all")
    vault.git("checkout", "-q", "main")
    vault.git("-c", "merge.log=true", "merge", "-q", "--no-edit", "side")
    vault.git("revert", "--no-commit", said)
    reverted = commit(vault, BOB, "2", f'Revert "{SUBJECT}"\n\nThis reverts commit {said}.')
    commit(vault, BOB, "3", f'Reapply "{SUBJECT}"\n\nThis reverts commit {reverted}.')
    commit(vault, BOB, "4", f"fixup! fixup! {SUBJECT}")
    commit(vault, BOB, "5", f"why\n\nThis reverts commit {said[:7]} ({SUBJECT}, 2026-01-30).")
    squashed = "".join(f"    {line}\n" for line in (SUBJECT, "", BODY))
    commit(vault, BOB, "6", f"Squashed commit of the following:\n\ncommit {said}\n\n{squashed}")
    commit(vault, BOB, "7", f"Merge pull request #1 from bob/side\n\n{SUBJECT}")
    return vault


@pytest.mark.parametrize("what", ["user", "note"])
def test_what_git_quotes_of_an_emptied_commit_goes(quoted: Vault, what: str) -> None:
    assert len(leftovers(quoted.root, "Kettleworth").places) > 12
    paths = (NOTES.parent,) if what == "user" else (NOTES / "diary.md", NOTES / "side.md")
    quoted.history.erase(Request(gone=paths))
    assert leftovers(quoted.root, "Kettleworth").places == []
    quoted.assert_clean()
    log = quoted.git("log", "--format=%s")
    assert log.split("\n")[:6] == [
        "Merge pull request #1 from bob/side",
        "Squashed commit of the following:",
        "why",
        "fixup! fixup! (erased)",
        'Reapply "(erased)"',
        'Revert "(erased)"',
    ]
    assert log.count("update") == (1 if what == "user" else 2), "a commit that is merely called alike keeps its message"
    now = quoted.git("log", "--format=%H", "--", str(BOB)).split()[-1]
    assert quoted.git("log", "-1", "--format=%s", now).strip() == "update"


def test_git_reads_its_logs_and_stashes_afterwards(quoted: Vault) -> None:
    """Where HEAD was, what is put away, and the branch before: git finds these in the logs of references."""
    before = quoted.git("log", "-g", "--format=%gd %an %ct", "main")
    quoted.history.erase(Request(gone=(NOTES.parent,)))
    assert quoted.git("log", "-g", "--format=%gd %an %ct", "main") == before
    moves = quoted.git("reflog")
    assert "checkout: moving from main to side" in moves and 'commit: Revert "(erased)"' in moves
    head = quoted.git("rev-parse", "--short=7", "stash@{1}^").strip()
    assert quoted.git("stash", "list").split("\n")[:2] == [
        "stash@{0}: On main: (erased)",
        f"stash@{{1}}: WIP on main: {head} (erased)",
    ]
    assert quoted.git("rev-parse", "--abbrev-ref", "@{-1}").strip() == "side"
    assert quoted.git("rev-parse", "main@{1}") == quoted.git("rev-parse", "HEAD~1")
    quoted.git("stash", "drop", "-q")
    quoted.git("reset", "-q", "--hard", "HEAD~7")
    quoted.git("stash", "pop", "-q")
    assert quoted.read(BOB) == b"put away\n"


def test_gits_logs_lose_the_first_line_of_a_message_that_says_the_text_over_two(vault: Vault) -> None:
    commit(vault, BOB, "0", "Kettleworth is the\nplace to be")
    commit(vault, BOB, "1", "She said: Kettleworth is the\nplace to be")
    commit(vault, BOB, "2", "after it")
    vault.write(b"put away\n", BOB)
    vault.git("stash", "push", "-q", "-m", "now Kettleworth is the\nplace to be")
    vault.history.erase(Request(("Kettleworth is the place to be",)))
    assert leftovers(vault.root, "Kettleworth").places == []
    told = vault.git("reflog")
    assert "commit (initial): (erased)" in told and "commit: She said: (erased)" in told and "commit: after it" in told
    assert vault.git("stash", "list").startswith("stash@{0}: On main: now (erased)")


def test_what_a_tag_says_of_a_commit_goes_with_it(vault: Vault) -> None:
    commit(vault, BOB, "1", "update")
    vault.git("tag", "-a", "-m", "bob's first", "t1")
    commit(vault, NOTES / "diary.md", "clinic", "she went")
    vault.git("tag", "-a", "-m", "Kettleworth", "t2")
    vault.git("tag", "-a", "-m", "tag of Kettleworth", "t3", "t2")
    vault.history.erase(Request(gone=(NOTES.parent,)))
    assert leftovers(vault.root, "Kettleworth").places == []
    assert tags_that_say(Repository(vault.root)) == ["t1"]
    assert vault.git("rev-parse", "t3^{commit}") == vault.git("rev-parse", "main")
    vault.assert_clean()


def test_parts_of_a_text_go_from_messages_of_the_user_and_from_a_persons_where_they_are_known(vault: Vault) -> None:
    memory = PurePosixPath("memory/alice/memories/2026-10/said_1790813700000_6d5547d5-i-ski.md")
    messages = [
        "memories(alice): add 2 memories\n\n- fact I ski\n- fact I teach Latin",
        "memories(bob): add fact I teach Latin",
        "docs(notes): I teach Latin and I ski",
        'Revert "memories(alice): add fact I ski"',
    ]
    for number, message in enumerate(messages):
        commit(vault, BOB, str(number), message)
    commit(vault, memory, "---\ntitle: I ski\n---\nI ski. I teach Latin.", "b")
    commit(vault, NOTES / "plan.md", "I ski. I teach Latin.", "c")
    vault.history.erase(Request(("Kettleworth",), parts=(Part(memory, ("I ski", "I teach Latin")),)))
    told = vault.git("log", "-4", "--skip=2", "--reverse", "--format=%B").split("\n\n")
    assert "(erased)" in told[1] and "ski" not in told[1] and "Latin" not in told[1]
    assert told[2:5] == [messages[1], "docs(notes): (erased) and I ski", 'Revert "memories(alice): add fact (erased)"']
    assert (vault.root / NOTES / "plan.md").read_text() == "I ski. I teach Latin.\n"
    (emptied,) = (vault.root / memory.parent).iterdir()
    assert emptied.name == "said_1790813700000_6d5547d5-(erased).md"
    assert emptied.read_text() == "---\ntitle: (erased)\n---\n(erased). (erased).\n"
    vault.assert_clean()
