"""Notes whose files are gone while the index still holds them, as after the deletion of many at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.vaults import mounted_for_reading, write
from vault_memory.core import layout
from vault_memory.errors import NotFound
from vault_memory.services.daemon.daemon_record import only_daemon
from vault_memory.services.indexing import confirm_deletions, reconcile
from vault_memory.services.retrieval import (
    SearchQuery,
    build_enhanced_prompt,
    read_named,
    related,
    search,
)
from vault_memory.services.retrieval.search import READ_ONLY
from vault_memory.services.vault import Vault

MANY = 60
GONE = (
    f"memory/alice: {MANY} files are gone at once, and what they said is left out: "
    "`vault-memory resume` if you deleted them, else put them back"
)
TAGGED = "---\ntags: [ships]\n---\n"


@pytest.fixture
def notes(vault: Vault) -> Vault:
    """A vault in which a note about a zeppelin is left, and better ones are gone."""
    for n in range(MANY):
        write(
            vault,
            "alice",
            f"old/{n}.md",
            f"---\ntags: [ships]\n---\n# Zeppelin {n}\n\nThe zeppelin lands, see [[Fleet]].\n",
        )
    write(
        vault,
        "alice",
        "Fleet.md",
        "---\ntags: [ships]\n---\nAmong other things we have a long list of ships, and a zeppelin.\n",
    )
    reconcile(vault, "alice")
    return vault


def delete(vault: Vault) -> None:
    shutil.rmtree(vault.path("alice", "old"))


@pytest.mark.parametrize(
    "query",
    [
        SearchQuery("zeppelin lands"),
        SearchQuery("zeppelin", group="note"),
        SearchQuery("zeppelin", mode="keyword", scope="all"),
        SearchQuery("", tags=("ships",), is_typed=True),
    ],
)
def test_no_note_answers_that_is_gone(notes: Vault, query: SearchQuery) -> None:
    """They answered as if they were there; only `status` knew."""
    assert any(hit.source.startswith("old/") for hit in search(notes, "alice", query).hits)
    delete(notes)
    for _ in range(2):  # the search that finds it out, and the one after it
        found = search(notes, "alice", query)
        assert [hit.source for hit in found.hits] == ["Fleet.md"]
        assert found.degraded == [GONE]
        assert found.listed in (None, 1)


def test_they_are_gone_from_prompts_and_around_a_note_too(notes: Vault) -> None:
    assert "old/3.md" in [each.source for each in related(notes, "alice", "Fleet", top_k=80)]
    assert read_named(notes, "alice", "Zeppelin 3").source == "old/3.md"
    delete(notes)
    prompt = build_enhanced_prompt(notes, "alice", "When does the zeppelin land?")
    assert "old/" not in prompt.text and prompt.degraded == [GONE]
    assert not [each for each in related(notes, "alice", "Fleet", top_k=80) if each.source.startswith("old/")]
    [hit] = search(notes, "alice", SearchQuery("zeppelin", backlinks=True)).hits
    assert hit.backlinks == ()
    with pytest.raises(NotFound, match="no note is called"):
        read_named(notes, "alice", "Zeppelin 3")


def test_those_that_are_put_back_or_confirmed_are_no_matter_any_more(notes: Vault, tmp_path: Path) -> None:
    old, away = notes.path("alice", "old"), tmp_path / "away"
    shutil.move(old, away)
    query = SearchQuery("zeppelin lands")
    assert search(notes, "alice", query).degraded == [GONE]
    shutil.move(away, old)
    found = search(notes, "alice", query)
    assert found.hits[0].source.startswith("old/") and found.degraded == []
    delete(notes)
    confirm_deletions(notes)
    assert search(notes, "alice", query).degraded == []


def test_a_folder_that_is_a_link_by_now_is_not_followed(notes: Vault, tmp_path: Path) -> None:
    """Notes that were moved to another disk, with a link in their place: the index takes none through a link."""
    old = notes.path("alice", "old")
    shutil.move(old, tmp_path / "old")
    old.symlink_to(tmp_path / "old")
    found = search(notes, "alice", SearchQuery("zeppelin lands"))
    assert [hit.source for hit in found.hits] == ["Fleet.md"] and found.degraded == [GONE]


def test_beside_a_daemon_that_has_not_seen_it_yet(notes: Vault) -> None:
    with only_daemon(notes.root):
        notes.path("alice", "old/3.md").unlink()
        found = search(notes, "alice", SearchQuery("Zeppelin 3"))
        assert "old/3.md" not in [hit.source for hit in found.hits] and found.hits and not found.degraded
        delete(notes)
        assert search(notes, "alice", SearchQuery("zeppelin")).degraded == [GONE]


def test_of_the_shared_notes_too(notes: Vault) -> None:
    for n in range(MANY):
        write(notes, layout.SHARED, f"fleet/{n}.md", "The airship lands.\n")
    query = SearchQuery("airship", scope="all")
    assert search(notes, "alice", query).hits
    shutil.rmtree(notes.path(layout.SHARED, "fleet"))
    found = search(notes, "alice", query)
    assert not found.hits and found.degraded == [GONE.replace("memory/alice", "shared notes")]


def test_where_the_vault_may_only_be_read_it_says_that(notes: Vault) -> None:
    delete(notes)
    with mounted_for_reading(notes.root):
        found = search(notes, "alice", SearchQuery("zeppelin"))
        assert [hit.source for hit in found.hits] == ["Fleet.md"] and found.degraded == [READ_ONLY]
