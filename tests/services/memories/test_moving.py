"""E8: memories and their state go along when a user is renamed, exported, backed up; nothing is left for the next."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from vault_memory.core import memories
from vault_memory.errors import UsageError
from vault_memory.services.admin import backup, export, rename_user, restore
from vault_memory.services.memories import (
    accesses,
    delete_memories,
    expire_memories,
    list_memories,
    prepare_deletion,
    remember,
    store_memory,
    supersede,
)
from vault_memory.services.retrieval import recall
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def ids(vault: Vault, clock: Clock) -> dict[str, str]:
    """Alice's memories: one that lives, one in its place, one that is archived; the first was recalled twice."""
    archived = store_memory(vault, "alice", "the car is red", "lesson")
    clock.time += timedelta(days=9)
    expire_memories(vault, "alice")
    old = remember(vault, "alice", "tea is nice")
    new = supersede(vault, "alice", old, "green tea is nice").id
    for _ in range(2):
        assert [each.id for each in recall(vault, "alice", "tea")] == [new]
    return {"archived": archived, "old": old, "new": new}


def all_of(vault: Vault, user_id: str) -> set[str]:
    return {file.memory.id for file in list_memories(vault, user_id, history=True)}


def test_a_rename_takes_memories_archive_and_counts_along(vault: Vault, ids: dict[str, str]) -> None:
    code = prepare_deletion(vault, "alice", ids=[ids["new"]]).code
    rename_user(vault, "alice", "an")
    assert all_of(vault, "an") == {*ids.values()} and accesses(vault, "an") == {ids["new"]: 2}
    assert [each.id for each in recall(vault, "an", "tea")] == [ids["new"]]
    remember(vault, "alice", "coffee is nice")
    assert accesses(vault, "alice") == {} and len(all_of(vault, "alice")) == 1
    for user_id in ("alice", "an"):
        with pytest.raises(UsageError, match="no deletion waits"):
            delete_memories(vault, user_id, code)
    state = vault.root / ".vault-memory"
    names = ids["new"].encode()
    assert [path.name for path in state.rglob("*") if path.is_file() and names in path.read_bytes()] == ["an.json"]
    assert delete_memories(vault, "an", prepare_deletion(vault, "an", ids=[ids["new"]]).code).ids == (ids["new"],)
    assert accesses(vault, "an") == {}


def test_a_backup_holds_what_is_counted(vault: Vault, ids: dict[str, str], tmp_path: Path, clock: Clock) -> None:
    """Counts are in the state, which is in no backup: they are written into the notes before."""
    assert backup(vault, tmp_path / "a.tar.gz") == []
    again = open_vault(restore(tmp_path / "a.tar.gz", tmp_path / "again"), now=clock)
    assert all_of(again, "alice") == {*ids.values()}
    (found,) = recall(again, "alice", "tea")
    assert (found.id, found.access_count) == (ids["new"], 2)
    assert not again.history.uncommitted()


def test_an_export_holds_memories_archive_and_counts(vault: Vault, ids: dict[str, str], tmp_path: Path) -> None:
    export(vault, "alice", tmp_path / "out")
    notes = [*(tmp_path / "out").rglob("mem_*.md")]
    found = {memory.id: memory for memory in (memories.decode(note.read_text("utf-8")) for note in notes)}
    assert found.keys() == {*ids.values()} and found[ids["new"]].access_count == 2


def test_off_the_record_memories_are_seen_and_deleted_but_nothing_is_kept(vault: Vault, ids: dict[str, str]) -> None:
    off = open_vault(vault.root, now=vault.now, off_record=["alice"])
    assert [each.id for each in recall(off, "alice", "tea")] == [ids["new"]]
    assert accesses(off, "alice") == {ids["new"]: 2}
    assert remember(off, "alice", "coffee is nice") == "" == supersede(off, "alice", ids["new"], "coffee").id
    assert delete_memories(off, "alice", prepare_deletion(off, "alice", query="tea").code).ids
    assert all_of(off, "alice") == {ids["archived"]}
