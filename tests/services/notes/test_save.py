"""A note saved or restored over what a person wrote meanwhile: merged, kept beside, or refused; never overwritten."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.vaults import write
from vault_memory.errors import Changed, NotFound
from vault_memory.services.notes import restore_file, save_note
from vault_memory.services.vault import Vault

NOTE = PurePosixPath("memory/alice/notes/tea.md")
BASE = b"# Tea\n\ngreen\n\nblack\n\nwhite\n"


@pytest.fixture
def noted(vault: Vault) -> Vault:
    """A vault with a note, committed as the person's."""
    vault.new_user("alice")
    assert save(vault, None, BASE) == []
    return vault


def save(vault: Vault, base: bytes | None, text: bytes, **more: bool) -> list[tuple[int, int]]:
    return save_note(vault, NOTE, base, text, "tea", vault.history.person(), **more)


def on_disk(vault: Vault) -> bytes:
    return (vault.root / NOTE).read_bytes()


def subjects(vault: Vault) -> list[str]:
    return [entry.subject for entry in vault.history.log(paths=[NOTE])]


def test_a_save_made_meanwhile_is_committed_first_and_merged_in(noted: Vault) -> None:
    write(noted, "alice", "notes/tea.md", BASE.decode().replace("white", "white, 75 degrees"))
    assert save(noted, BASE, BASE.replace(b"green", b"green, 80 degrees")) == []
    assert b"green, 80 degrees" in on_disk(noted) and b"white, 75 degrees" in on_disk(noted)
    assert len(subjects(noted)) == 3 and subjects(noted)[0] == "tea", "the person's save has a commit of its own"


def test_where_both_changed_the_same_line_both_texts_stay(noted: Vault) -> None:
    write(noted, "alice", "notes/tea.md", BASE.decode().replace("green", "sencha"))
    conflicts = save(noted, BASE, BASE.replace(b"green", b"matcha"))
    assert len(conflicts) == 1 and b"sencha" in on_disk(noted) and b"matcha" in on_disk(noted)


def test_without_merging_a_save_made_meanwhile_refuses_this_one(noted: Vault) -> None:
    write(noted, "alice", "notes/tea.md", "mine\n")
    with pytest.raises(Changed):
        save(noted, BASE, b"yours\n", merging=False)
    assert on_disk(noted) == b"mine\n"


def test_the_same_text_makes_no_commit(noted: Vault) -> None:
    assert save(noted, BASE, BASE) == [] and subjects(noted) == ["tea"]


def test_a_file_comes_back_as_it_was_and_what_stood_there_stays_in_history(noted: Vault) -> None:
    first = noted.history.log(paths=[NOTE])[0].commit
    write(noted, "alice", "notes/tea.md", "spoiled\n")
    assert restore_file(noted, NOTE, first) and on_disk(noted) == BASE
    newest, before, _ = noted.history.log(paths=[NOTE])
    assert newest.trailers["Vault-Restores"] == first
    assert noted.history.blob(NOTE, before.commit) == b"spoiled\n"
    assert not restore_file(noted, NOTE, first), "nothing is left to do"


def test_a_file_that_was_not_there_then_is_not_restored(noted: Vault) -> None:
    with pytest.raises(NotFound, match=r"coffee\.md"):
        restore_file(noted, NOTE.with_name("coffee.md"), noted.history.log(limit=1)[0].commit)
