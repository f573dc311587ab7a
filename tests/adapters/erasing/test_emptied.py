"""Of which commits nothing is left, so that their messages go with the files: one rule for all of them."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.adapters.conftest import Vault
from tests.adapters.erasing.leftovers import leftovers
from vault_memory.adapters.erasing import Request, without_changes
from vault_memory.adapters.git import Repository

ALICE = PurePosixPath("memory/alice/notes/b.md")
BOB = PurePosixPath("memory/bob/USER.md")
SHARED = PurePosixPath("shared.md")
SAID = "Kettleworth is expecting in June"


def commit(vault: Vault, path: PurePosixPath, said: str, message: str = "b") -> None:
    vault.write(f"{said}\n".encode(), path)
    vault.git("add", "-A")
    vault.git("commit", "-q", "-m", message)


@pytest.fixture
def parted(vault: Vault) -> Vault:
    """On the branch `side`, with `main` where that began."""
    commit(vault, BOB, "1")
    vault.git("checkout", "-q", "-b", "side")
    return vault


def merged(vault: Vault, *how: str) -> str:
    """The message of a merge of `side` after alice's note has gone."""
    vault.git("checkout", "-q", "main")
    vault.git("merge", "-q", "--no-ff", *how, "side", "-m", SAID)
    return after(vault)


def after(vault: Vault) -> str:
    vault.history.erase(Request(gone=(ALICE,)))
    vault.assert_clean()
    said = vault.git("log", "-1", "--format=%s").strip()
    assert (leftovers(vault.root, "Kettleworth").places == []) == (said == "(erased)")
    return said


def test_a_merge_of_what_is_gone_loses_its_message(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    assert merged(parted) == "(erased)"


def test_so_does_one_where_the_branch_had_gone_on(parted: Vault) -> None:
    """What others did on the branch itself was not brought in by the merge."""
    commit(parted, ALICE, "1")
    parted.git("checkout", "-q", "main")
    commit(parted, SHARED, "1")
    assert merged(parted) == "(erased)"
    assert parted.read(SHARED) == b"1\n"


def test_so_does_one_that_brought_nothing_in_of_a_side_that_is_gone(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    assert merged(parted, "--strategy=ours") == "(erased)"


def test_a_merge_of_what_stays_keeps_its_message(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    commit(parted, SHARED, "1")
    assert merged(parted) == SAID


def test_one_that_left_out_what_others_have_done_keeps_its_message(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    commit(parted, SHARED, "1")
    assert merged(parted, "--strategy=ours") == SAID


def test_a_commit_that_only_deletes_what_is_gone_loses_its_message(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    parted.git("rm", "-q", str(ALICE))
    parted.git("commit", "-q", "-m", SAID)
    assert after(parted) == "(erased)"


def test_a_commit_of_which_something_stays_keeps_its_message(parted: Vault) -> None:
    parted.write(b"2\n", BOB)
    commit(parted, ALICE, "1", SAID)
    assert after(parted) == SAID


def test_a_commit_that_changes_nothing_is_named_and_loses_what_it_says_of_a_text(parted: Vault) -> None:
    """Nobody can tell of which file it speaks, so it stays where only files go."""
    commit(parted, ALICE, "1")
    parted.git("commit", "-q", "--allow-empty", "-m", SAID)
    parted.write(b"2\n", BOB)
    parted.git("stash", "-q")
    assert after(parted) == SAID
    (named,) = without_changes(Repository(parted.root), Request(gone=(ALICE,)))
    assert parted.git("rev-parse", "--short", "HEAD").strip() == named
    parted.history.erase(Request((SAID,)))
    assert leftovers(parted.root, "Kettleworth").places == []
    assert without_changes(Repository(parted.root), Request(gone=(ALICE,))) == []


def test_an_empty_commit_that_names_the_user_loses_its_message(parted: Vault) -> None:
    commit(parted, ALICE, "1")
    parted.git("commit", "-q", "--allow-empty", "-m", f"alice: {SAID}")
    parted.history.erase(Request(gone=(ALICE,), named=("alice",)))
    assert leftovers(parted.root, "Kettleworth").places == []
