"""Reading a note by any of its names, and whose notes are read when nobody was named."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

import vault_memory
from tests.vaults import write
from vault_memory.errors import InvalidId, NotFound, UsageError
from vault_memory.services.retrieval import SearchQuery, read_named, related, search, whose
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault

TEA = "---\naliases: [茶]\n---\n# Steeping\n\nThree minutes.\n"


@pytest.fixture
def notes(vault: Vault) -> Vault:
    write(vault, "", "drink/Tea.md", TEA)
    write(vault, "", "Other.md", "---\naliases: [Tea]\n---\nNo leaves.\n")
    write(vault, "", "a/Twin.md", "one\n")
    write(vault, "", "b/Twin.md", "two\n")
    write(vault, "", "at 5:30.md", "early\n")
    return vault


@pytest.mark.parametrize("name", ["drink/Tea.md", "drink/Tea", "/drink/Tea", "TEA", "tea.md", "茶", "steeping"])
def test_a_note_is_read_by_any_of_its_names(notes: Vault, name: str) -> None:
    found = read_named(notes, "", name, "shared")
    assert (found.source, found.content, found.line_range, found.commit) == ("drink/Tea.md", TEA, (1, 6), "")


def test_lines_of_a_note(notes: Vault) -> None:
    found = read_named(notes, "", "Tea:4-5", "shared")
    assert (found.content, found.line_range) == ("# Steeping\n\n", (4, 5))
    assert read_named(notes, "", "Tea:6-99", "shared").line_range == (6, 6)
    assert read_named(notes, "", "at 5:30", "shared").content == "early\n", "a name may look like lines"
    for wrong in ("Tea:0", "Tea:7", "Tea:5-4"):
        with pytest.raises(UsageError, match="has the lines 1 to 6"):
            read_named(notes, "", wrong, "shared")


def test_a_name_of_several_notes_is_told(notes: Vault) -> None:
    with pytest.raises(UsageError, match=r"name one by its path \(a/Twin.md, b/Twin.md\)"):
        read_named(notes, "", "twin", "shared")
    assert read_named(notes, "", "b/twin", "shared").content == "two\n"


@pytest.mark.parametrize(
    "name", ["nothing", "../vault-memory.toml", "vault-memory.toml", ".git/config", "", "\0", ":3"]
)
def test_what_is_no_note_is_not_read(notes: Vault, name: str) -> None:
    with pytest.raises(NotFound, match="vault-memory search"):
        read_named(notes, "", name, "shared")


def test_the_commit_is_that_which_holds_the_note_so(notes: Vault) -> None:
    record_turn(notes, "alice", "我喜歡暗色主題", "好的")
    profile = read_named(notes, "alice", "USER")
    assert profile.path == "memory/alice/USER.md"
    assert profile.commit == notes.history.log([PurePosixPath(profile.path)], limit=1)[0].commit
    with notes.path("alice", "USER.md").open("a", encoding="utf-8") as file:
        file.write("\nmine\n")
    assert read_named(notes, "alice", "memory/alice/USER.md").commit == ""


def test_who_names_nobody_reads_what_can_be_meant(notes: Vault) -> None:
    assert whose(notes, None) == ("", "shared")
    assert search(notes, "", SearchQuery("three minutes", scope="shared")).hits[0].source == "drink/Tea.md"
    with pytest.raises(UsageError, match="no user yet"):
        whose(notes, None, "user")
    record_turn(notes, "alice", "hi", "hello")
    assert whose(notes, None) == ("alice", "all") and whose(notes, None, "user") == ("alice", "user")
    assert whose(notes, "bob") == ("bob", "user"), "a search says that there is no such user"
    record_turn(notes, "bob", "hi", "hello")
    assert whose(notes, None, "shared") == ("", "shared")
    with pytest.raises(UsageError, match=r"2 users \(alice, bob\).*--user alice"):
        whose(notes, None)
    with pytest.raises(NotFound):
        search(notes, "carol", SearchQuery("hi", scope="shared"))


def test_a_user_who_is_not_there_reads_nothing(notes: Vault) -> None:
    for scope in ("user", "shared", "all"):
        with pytest.raises(NotFound, match="not in this vault"):
            read_named(notes, "carol", "tea", scope)
        with pytest.raises(NotFound, match="not in this vault"):
            related(notes, "carol", "tea", scope)
    assert notes.user_ids() == [] and not (notes.root / "memory").exists()


def test_a_program_need_name_no_user(notes: Vault) -> None:
    """As in commands: the shared notes of a vault without users, those of the only user, too; else one is named."""
    assert vault_memory.search(notes, query="three minutes").hits[0].source == "drink/Tea.md"
    assert vault_memory.search(notes, None, path="drink").listed == 1
    assert vault_memory.read_note(notes, name="茶").source == "drink/Tea.md"
    assert vault_memory.related(notes, None, "tea") == []
    record_turn(notes, "alice", "三分鐘 three minutes", "hello")
    found = vault_memory.search(notes, query="three minutes")
    assert {hit.scope for hit in found.hits} == {"", "alice"}
    assert {hit.scope for hit in vault_memory.search(notes, "alice", "three minutes").hits} == {"alice"}
    assert vault_memory.read_note(notes, "alice", "Tea").scope == "", "a user reads shared notes, too"
    record_turn(notes, "bob", "hi", "hello")
    with pytest.raises(UsageError, match="2 users"):
        vault_memory.search(notes, query="three minutes")
    assert vault_memory.search(notes, query="three minutes", scope="shared").hits
    with pytest.raises(InvalidId, match="None"):
        vault_memory.list_memories(notes, None)  # type: ignore[arg-type]
