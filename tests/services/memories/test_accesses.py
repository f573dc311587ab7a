"""E1: how often a memory is recalled is counted in a state file, and written to the notes in one daily commit."""

from __future__ import annotations

import stat

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.services.admin import rename_user
from vault_memory.services.daemon import heartbeat
from vault_memory.services.memories import accesses, delete_memories, prepare_deletion, remember, write_accesses
from vault_memory.services.retrieval import recall
from vault_memory.services.vault import Vault


def test_recalls_are_counted_and_written_once_a_day(vault: Vault, home: Home) -> None:
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the car is red"))
    commits = len(home.log())
    for _ in range(3):
        recall(vault, "alice", "tea")
    recall(vault, "alice", "car")
    assert len(home.log()) == commits and home.file(tea).memory.access_count == 0
    (found,) = recall(vault, "alice", "tea")
    assert found.access_count == 3, "it counts at once"
    assert accesses(vault, "alice") == {tea: 4, car: 1}
    (outcome,) = heartbeat(vault, "memories", force=True)
    assert outcome.said == "recalls of 2 memories counted"
    assert len(home.log()) == commits + 1 and home.is_clean()
    memory = home.file(tea).memory
    assert memory.access_count == 4 and memory.last_accessed_at is not None
    assert accesses(vault, "alice") == {}
    assert write_accesses(vault, "alice") == 0 and len(home.log()) == commits + 1


def test_the_counts_are_private(vault: Vault) -> None:
    remember(vault, "alice", "tea is nice")
    recall(vault, "alice", "tea")
    file = vault.root / ".vault-memory/recalls/alice.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_writing_that_was_interrupted_counts_once(vault: Vault, home: Home, clock: Clock) -> None:
    """Killed after the commit, before the state says so."""
    tea = remember(vault, "alice", "tea is nice")
    recall(vault, "alice", "tea")
    file = vault.root / ".vault-memory/recalls/alice.json"
    write_accesses(vault, "alice")
    count = {"written": {tea: [1, home.file(tea).memory.last_accessed_at.isoformat()]}}  # type: ignore[union-attr]
    import json

    file.write_text(json.dumps(count), encoding="utf-8")
    recall(vault, "alice", "tea")
    assert write_accesses(vault, "alice") == 0
    assert home.file(tea).memory.access_count == 1
    assert write_accesses(vault, "alice") == 1
    assert home.file(tea).memory.access_count == 2


def test_damaged_counts_and_notes_do_no_harm(vault: Vault, home: Home) -> None:
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the tea car is red"))
    recall(vault, "alice", "tea")
    path = home.path / home.file(car).source
    path.write_text("---\ntype: [\n---\nbroken\n", encoding="utf-8")
    assert write_accesses(vault, "alice") == 1
    assert path.read_text("utf-8") == "---\ntype: [\n---\nbroken\n"
    file = vault.root / ".vault-memory/recalls/alice.json"
    for text in ("{", "[1]", '{"new": 3, "written": {"x": [1]}}', f'{{"new": {{"{tea}": ["a", "b"]}}}}'):
        file.write_text(text, encoding="utf-8")
        assert write_accesses(vault, "alice") == 0
    assert [each.id for each in recall(vault, "alice", "nice")] == [tea]


def test_a_note_that_is_withheld_keeps_no_other_waiting(vault: Vault, home: Home) -> None:
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the tea car is red"))
    recall(vault, "alice", "tea")
    path = home.path / home.file(car).source
    kept = path.read_text("utf-8")
    path.write_text(kept + "AKIAIOSFODNN7EXAMPLE\n", encoding="utf-8")
    assert write_accesses(vault, "alice") == 1
    assert home.log()[0].subject == "memories(alice): recalls of 1 counted"
    assert accesses(vault, "alice") == {car: 1}
    path.write_text(kept, encoding="utf-8")
    recall(vault, "alice", "red car")
    assert write_accesses(vault, "alice") == 1 and home.file(car).memory.access_count == 2
    assert home.file(tea).memory.access_count == 1 and home.is_clean()


def test_counts_of_memories_that_are_gone_are_dropped(vault: Vault) -> None:
    tea = remember(vault, "alice", "tea is nice")
    recall(vault, "alice", "tea")
    delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[tea]).code)
    assert write_accesses(vault, "alice") == 0 and accesses(vault, "alice") == {}


def test_counts_follow_a_user_to_another_id(vault: Vault) -> None:
    tea = remember(vault, "alice", "tea is nice")
    recall(vault, "alice", "tea")
    rename_user(vault, "alice", "alicia")
    assert accesses(vault, "alicia") == {tea: 1} and accesses(vault, "alice") == {}
