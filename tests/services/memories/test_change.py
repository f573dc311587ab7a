"""A memory is changed, or another one takes its place."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.errors import NotFound, UsageError
from vault_memory.services.memories import (
    edit_memory,
    expire_memories,
    list_memories,
    memory_files,
    prepare_deletion,
    remember,
    store_memory,
    supersede,
)
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, recall, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def test_another_memory_takes_its_place(vault: Vault, home: Home) -> None:
    """E: the old one is linked, hidden by default and shown with its history."""
    old = store_memory(vault, "alice", "我住的地方附近有咖啡店", "fact", "walks", 0.8, tags=["x"])
    made = supersede(vault, "alice", old, "我家附近的咖啡店關了")
    before, after = home.file(old).memory, home.file(made.id).memory
    assert (before.superseded_by, after.supersedes) == (made.id, old)
    assert (after.type, after.skill_id, after.importance, after.tags) == ("fact", "walks", 0.8, ("x",))
    assert after.created_at and after.expires_at == after.created_at + timedelta(days=7)
    assert len(made.commits) == 1 and home.log()[0].subject.startswith("memories(alice): replace fact")
    assert [each.id for each in recall(vault, "alice", "咖啡店")] == [made.id]
    assert {each.id for each in recall(vault, "alice", "咖啡店", history=True)} == {old, made.id}
    assert [file.memory.id for file in list_memories(vault, "alice")] == [made.id]
    assert len(list_memories(vault, "alice", history=True)) == 2
    prompt = build_enhanced_prompt(vault, "alice", "咖啡店").text
    assert "關了" in prompt and "附近有" not in prompt
    assert len(search(vault, "alice", SearchQuery("咖啡店")).hits) == 1
    assert len(search(vault, "alice", SearchQuery("咖啡店", history=True)).hits) == 2
    with pytest.raises(UsageError, match=made.id):
        supersede(vault, "alice", old, "once more")
    assert home.is_clean()


def test_properties_change_in_the_note(vault: Vault, home: Home, clock: Clock) -> None:
    memory_id = store_memory(vault, "alice", "tea is nice", "fact")
    path = home.path / home.file(memory_id).source
    path.write_text(path.read_text("utf-8").replace("title:", "# mine\ncolour: green\ntitle:"), "utf-8")
    after = edit_memory(vault, "alice", memory_id, importance=0.9, tags=["hot"], is_permanent=True, memory_type="note")
    text = path.read_text("utf-8")
    assert "# mine\ncolour: green\n" in text and "expires_at" not in text and text.endswith("---\ntea is nice\n")
    assert (after.importance, after.tags, after.type, after.expires_at) == (0.9, ("hot",), "note", None)
    assert [entry.subject for entry in home.log(2)] == [
        "memories(alice): edit note tea is nice",
        f"edit tea is nice (memory/alice/{home.file(memory_id).source})",
    ]
    edit_memory(vault, "alice", memory_id, ttl_days=1)
    assert expire_memories(vault, "alice") == ()
    clock.time += timedelta(days=1)
    assert expire_memories(vault, "alice") == (memory_id,)


def test_what_is_wrong_changes_nothing(vault: Vault, home: Home) -> None:
    memory_id = remember(vault, "alice", "tea is nice")
    before = home.file(memory_id).stored
    for wrong in ({"importance": 7}, {"ttl_days": -1}, {"memory_type": "x"}, {"title": "key AKIAIOSFODNN7EXAMPLE"}):
        with pytest.raises(UsageError):
            edit_memory(vault, "alice", memory_id, **wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="mem_1_x"):
        edit_memory(vault, "alice", "mem_1_x", importance=0.1)
    with pytest.raises(NotFound, match="mem_1_x"):
        supersede(vault, "alice", "mem_1_x", "tea")
    assert home.file(memory_id).stored == before


def test_which_of_two_copies_is_meant_is_asked(vault: Vault, home: Home) -> None:
    memory_id = remember(vault, "alice", "tea is nice")
    (home.path / "memories/copy.md").write_bytes(home.file(memory_id).stored)
    with pytest.raises(UsageError, match="memories/copy.md"):
        edit_memory(vault, "alice", memory_id, importance=0.9)
    assert len(prepare_deletion(vault, "alice", ids=[memory_id]).memories) == 2


def test_a_note_that_cannot_be_read_is_left_alone(vault: Vault, home: Home) -> None:
    """Bad input of the memories' issue: a note that a person has edited into nonsense is kept and reported."""
    memory_id = remember(vault, "alice", "tea is nice")
    path = home.path / home.file(memory_id).source
    path.write_text("---\ntype: [broken\n---\ntea\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not valid YAML"):
        edit_memory(vault, "alice", memory_id, importance=0.1)
    with pytest.raises(UsageError, match="not valid YAML"):
        supersede(vault, "alice", memory_id, "coffee")
    assert path.read_text("utf-8") == "---\ntype: [broken\n---\ntea\n" and len(home.names()) == 1
    assert home.file(memory_id).memory.content == "tea", "its id is that of its name"


def test_a_note_with_a_name_of_its_own_is_replaced(vault: Vault) -> None:
    """Written by hand in Obsidian: its name is its id, and the memory that takes its place gets one of ours."""
    for name in ("早晨", "morning_tea", "Tea"):
        note = vault.root / f"memory/alice/memories/{name}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"first thing: {name}\n", encoding="utf-8")
        made = supersede(vault, "alice", name, f"first thing: water, not {name}")
        assert made.id.startswith("mem_")
        (new,) = memory_files(vault, "alice", [made.id])
        assert new.memory.supersedes == name
    task = store_memory(vault, "alice", "Implement the login", prefix="task")
    assert supersede(vault, "alice", task, "Implement the logout").id.startswith("task_")


def test_one_answers_again_whose_successor_is_gone(vault: Vault, home: Home) -> None:
    """Hidden only while the other exists, in the archive too; said again then, it is found as the same."""
    old = store_memory(vault, "alice", "我喜歡喝咖啡", "preference", ttl_days=None)
    made = supersede(vault, "alice", old, "我喜歡喝茶")
    note = home.path / home.file(made.id).source
    assert [file.memory.id for file in list_memories(vault, "alice")] == [made.id]
    text = note.read_bytes()
    note.unlink()
    assert [file.memory.id for file in list_memories(vault, "alice")] == [old]
    assert [each.id for each in recall(vault, "alice", "咖啡")] == [old]
    assert "咖啡" in build_enhanced_prompt(vault, "alice", "咖啡").text
    assert record_turn(vault, "alice", "我超愛喝咖啡").memories[0].id == old, "the index knows what it is about"
    archived = home.path / "archive/memories" / note.name
    archived.parent.mkdir(parents=True, exist_ok=True)
    archived.write_bytes(text)
    assert list_memories(vault, "alice") == []
    archived.unlink()
    note.write_bytes(text)
    assert [file.memory.id for file in list_memories(vault, "alice")] == [made.id]
