"""B1, E1, E2: storing typed memories."""

from __future__ import annotations

import multiprocessing
import re
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.services.memories.conftest import Home
from vault_memory.errors import InvalidId, UsageError
from vault_memory.services.admin import status
from vault_memory.services.memories import (
    MemoryId,
    expire_memories,
    list_memories,
    memory_files,
    remember,
    statistics,
    store,
    store_memory,
)
from vault_memory.services.memories.store import draft
from vault_memory.services.retrieval import recall
from vault_memory.services.vault import Vault, open_vault


def test_one_note_and_one_commit(vault: Vault, home: Home) -> None:
    """B1, E2: seven days, the type and its properties, by one commit with trailers."""
    before = len(home.log())
    memory_id = store_memory(vault, "alice", "我喜歡咖啡", "preference", "barista", 0.6, metadata={"mood": "好"})
    assert re.fullmatch(r"mem_\d{13}_[0-9a-f]{8}", memory_id)
    memory = home.file(memory_id).memory
    assert home.names() == [f"{memory_id}-我喜歡咖啡.md"] and not memory.problems
    assert (memory.type, memory.skill_id, memory.importance, memory.metadata) == (
        *("preference", "barista", 0.6),
        {"mood": "好"},
    )
    assert memory.created_at and memory.expires_at == memory.created_at + timedelta(days=7)
    (entry, *rest) = home.log()
    assert len(rest) == before and entry.author == "vault-memory"
    assert entry.subject == "memories(alice): add preference 我喜歡咖啡"
    assert entry.trailers == {"Vault-User": "alice", "Vault-Memory": memory_id}
    assert home.is_clean()


def test_what_is_asked_to_be_remembered_is_permanent(vault: Vault, home: Home) -> None:
    """E2"""
    memory = home.file(remember(vault, "alice", "Bob 有正式環境的權限")).memory
    assert (memory.type, memory.importance, memory.expires_at) == ("fact", 0.7, None)
    assert home.file(store_memory(vault, "alice", "x1", ttl_days=None, prefix="task")).memory.id.startswith("task_")


def test_secrets_and_private_facts_stay_out(vault: Vault, home: Home) -> None:
    """E2: the gates that preferences have."""
    memory_id = store_memory(
        vault, "alice", "我喜歡咖啡。我有糖尿病。", tags=["我有糖尿病"], metadata={"a": "我有糖尿病"}
    )
    note = home.file(memory_id).text
    assert "糖尿病" not in note and "咖啡" in note
    made = draft(vault, "The key is AKIAIOSFODNN7EXAMPLE, and tea is nice", "note")
    assert store(vault, "alice", made).redactions == {"api-key": 1}
    everything = b"".join(path.read_bytes() for path in (home.path / "memories").rglob("*.md"))
    assert b"AKIAIOSFODNN7" not in everything
    count = len(home.names())
    with pytest.raises(UsageError, match="health"):
        store_memory(vault, "alice", "我有糖尿病")
    assert len(home.names()) == count and not any("糖尿" in name for name in home.names())


def test_off_the_record_nothing_is_kept(vault: Vault, home: Home) -> None:
    quiet = replace(vault, config=replace(vault.config, off_record=["alice"]))
    assert store_memory(quiet, "alice", "我喜歡咖啡") == ""
    assert home.names() == [] and not vault.is_user("alice")


def test_what_of_a_note_is_not_understood_is_reported(vault: Vault, home: Home) -> None:
    """Bad input of the memories' issue: a note that a person has edited into nonsense is kept and reported."""
    path = home.path / home.file(store_memory(vault, "alice", "tea is nice")).source
    path.write_text("---\nimportance: very\n---\ntea\n", encoding="utf-8")
    list_memories(vault, "alice")
    (problem,) = status(vault, "alice").scopes[0].warned.values()
    assert problem == "importance: 'very' is not a number from 0 to 1"
    assert path.read_text("utf-8") == "---\nimportance: very\n---\ntea\n"


@pytest.mark.parametrize("user_id", ["../bob", "a/b", "", "con"])
def test_ids_are_checked(vault: Vault, user_id: str) -> None:
    with pytest.raises(InvalidId):
        store_memory(vault, user_id, "tea")


def test_a_title_leads_nowhere_else(vault: Vault, home: Home) -> None:
    memory_id = store_memory(vault, "alice", "tea", title="../../../bob/USER .md \x00")
    assert home.names() == [f"{memory_id}-bob-user-md.md"]


def test_the_least_important_goes_where_there_are_too_many(vault: Vault, home: Home) -> None:
    """E8: 5,000 by default; least important and oldest first, told in the commit, never silently."""
    small = replace(vault, config=replace(vault.config, memories_capacity=3))
    ids = [store_memory(small, "alice", f"number {n}", importance=i) for n, i in enumerate((0.9, 0.2, 0.2))]
    stored = store(small, "alice", draft(small, "number 4", "note", importance=0.3))
    assert stored.expired == (ids[1],), "the oldest of the least important"
    assert len(stored.commits) == 2
    entry = home.log()[0]
    assert entry.subject == "memories(alice): archive 1 memory, over the 3 that are kept (memories.capacity)"
    assert f"- {ids[1]} number 1" in entry.body
    archived = home.file(ids[1])
    assert archived.is_archived and archived.memory.expires_at is not None
    assert statistics(small, "alice").active == 3
    assert expire_memories(small, "alice") == ()
    assert home.is_clean()


def test_an_index_that_cannot_be_read_keeps_no_memory_out(vault: Vault, home: Home) -> None:
    small = replace(vault, config=replace(vault.config, memories_capacity=1))
    store_memory(small, "alice", "tea is nice")
    with closing(sqlite3.connect(home.path / "index.db")) as db:
        db.execute("DROP TABLE memories")
    memory_id = store_memory(small, "alice", "the car is red")
    assert home.file(memory_id).memory.content == "the car is red"
    assert len(expire_memories(small, "alice")) == 1 and len(home.names()) == 1


def test_only_what_this_process_made_is_counted(vault: Vault) -> None:
    """B9: `memoriesCreated` counts this session only; a refused one does not count."""
    before = vault_created(vault)
    with pytest.raises(UsageError):
        store_memory(vault, "alice", "")
    store_memory(vault, "alice", "tea", "fact")
    store_memory(vault, "alice", "coffee", "fact", ttl_days=None)
    found = statistics(vault, "alice").as_dict()
    assert found["memoriesCreated"] == before + 2
    assert (found["memories"], found["byType"], found["permanent"], found["past"]) == (2, {"fact": 2}, 1, 0)


def vault_created(vault: Vault) -> int:
    (vault.root / "memory/alice").mkdir(parents=True)
    (vault.root / "memory/alice/USER.md").write_text("# x\n", encoding="utf-8")
    created: int = statistics(vault, "alice").as_dict()["memoriesCreated"]
    return created


def _store(root: Path) -> MemoryId:
    return store_memory(open_vault(root), "alice", "the same memory")


@pytest.mark.slow
def test_ten_processes_at_once(vault: Vault, home: Home) -> None:
    """B5, bad input of the memories' issue: ten processes store the same memory at once, and one is kept."""
    with ProcessPoolExecutor(10, multiprocessing.get_context("spawn")) as pool:
        ids = [*pool.map(_store, [vault.root] * 10)]
    assert len(set(ids)) == 1 and len(home.names()) == 1
    assert sum(not each.stored.reinforced for each in ids) == 1
    assert home.file(ids[0]).memory.content == "the same memory"
    assert home.is_clean()


def test_a_private_fact_is_refused_with_what_its_person_can_do(vault: Vault, home: Home) -> None:
    """G7: nobody's yes makes us write it; a note of one's own is a memory."""
    with pytest.raises(UsageError, match=r"memory/ID/memories/NAME\.md"):
        remember(vault, "alice", "I have diabetes")
    (home.path / "memories").mkdir(parents=True, exist_ok=True)
    (home.path / "memories/own.md").write_text("I have diabetes\n", encoding="utf-8")
    assert [each.content for each in recall(vault, "alice", "diabetes")] == ["I have diabetes"]


def test_a_tag_that_holds_a_secret_or_a_private_fact_is_left_out(vault: Vault) -> None:
    """G7: also when its blanks have become hyphens."""
    made = store_memory(vault, "alice", "a note about stairs", tags=["door code 4821#", "stairs", "I have diabetes"])
    (file,) = memory_files(vault, "alice", [made])
    assert file.memory.tags == ("stairs",) and sum(made.stored.redactions.values()) == 2
