"""Taking back what was learned, one change at a time, whatever happened between."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from tests.conftest import Clock
from vault_memory.errors import NotFound
from vault_memory.services.forgetting import forget, prepare_forgetting
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories import list_memories, reinforce
from vault_memory.services.profiles import list_preferences, set_preference, unset_preference
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import steps, undo, undone_sources
from vault_memory.services.vault import Vault


def values(vault: Vault) -> set[str]:
    return {f"{each.key}={each.value}" for each in list_preferences(vault, "alice") if each.key != "joined"}


def contents(vault: Vault) -> list[str]:
    return [file.memory.content for file in list_memories(vault, "alice")]


def test_each_change_is_taken_back_once_whatever_happened_between(vault: Vault) -> None:
    """E8: a preference, a memory, a removal by the person, and again: no undo is stuck on another."""
    record_turn(vault, "alice", "我喜歡暗色主題")
    record_turn(vault, "alice", "I use Docker")
    unset_preference(vault, "alice", "tools", "Docker")
    record_turn(vault, "alice", "我喜歡芒果")
    told = [(step.did.split()[0], step.state) for step in steps(vault, "alice")]
    assert told == [("add", "learned"), ("add", "learned"), ("tools:", "changed"), ("theme:", "learned")]
    assert undo(vault, "alice") == "undone: add preference 我喜歡芒果"
    assert undo(vault, "alice") == "undone: add fact I use Docker"
    record_turn(vault, "alice", "我喜歡亮色主題")
    assert undo(vault, "alice") == "theme = dark (restored)"
    assert undo(vault, "alice") == "theme = (nothing) (restored)"
    with pytest.raises(NotFound, match="left to undo"):
        undo(vault, "alice")
    assert values(vault) == set() and contents(vault) == []
    assert {step.state for step in steps(vault, "alice")} == {"undone", "changed"}


def test_what_falls_into_one_second_is_taken_back_in_the_order_of_its_commits(vault: Vault, clock: Clock) -> None:
    """E8: git keeps whole seconds, and clocks go back: a memory of one turn, a preference of the next, and again."""
    record_turn(vault, "alice", "我喜歡芒果")
    record_turn(vault, "alice", "我喜歡暗色主題")
    clock.time -= timedelta(minutes=10)
    record_turn(vault, "alice", "I use Docker")
    clock.time -= timedelta(minutes=10)
    record_turn(vault, "alice", "Please always answer me briefly")
    told = [undo(vault, "alice") for _ in range(5)]
    assert "response_style" in told[0] and "Docker" in told[1] + told[2]
    assert told[3:] == ["theme = (nothing) (restored)", "undone: add preference 我喜歡芒果"]


def test_a_memory_whose_place_was_taken_holds_again(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡芒果")
    record_turn(vault, "alice", "我現在討厭芒果")
    assert contents(vault) == ["我現在討厭芒果"]
    undo(vault, "alice")
    assert contents(vault) == ["我喜歡芒果"]
    undo(vault, "alice")
    assert contents(vault) == []


def test_a_memory_that_was_forgotten_comes_back(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡芒果")
    record_turn(vault, "alice", "把我喜歡芒果的事忘了")
    assert contents(vault) == []
    undo(vault, "alice")
    assert contents(vault) == ["我喜歡芒果"]


def test_what_was_forgotten_is_not_brought_back(vault: Vault) -> None:
    """B6, E8: neither a memory that a turn forgot, nor a value that it removed."""
    set_preference(vault, "alice", "tools", "Docker")
    record_turn(vault, "alice", "我不再用 Docker 了")
    record_turn(vault, "alice", "我喜歡芒果")
    record_turn(vault, "alice", "把我喜歡芒果的事忘了")
    for text in ("芒果", "Docker"):
        code = prepare_forgetting(vault, "alice", text=text).code
        forget(vault, "alice", code, text=text)
    with pytest.raises(NotFound, match="left to undo"):
        undo(vault, "alice")
    assert values(vault) == set() and contents(vault) == []


def test_counts_keep_nothing_from_being_undone_and_the_persons_words_do(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡芒果")
    record_turn(vault, "alice", "我每天騎車上班")
    second, first = list_memories(vault, "alice")
    reinforce(vault, "alice", first.memory.id)
    path = vault.path("alice", second.source)
    path.write_text(path.read_text().replace(second.memory.content, f"{second.memory.content}，下雨也騎"))
    left = len(contents(vault))
    undo(vault, "alice")
    assert len(contents(vault)) == left - 1 and any("下雨" in each for each in contents(vault))


def test_what_was_undone_is_not_learned_again_from_its_turn(vault: Vault, clock: Clock) -> None:
    """E8: the same turn delivered again, a look at all files, and the end of its conversation."""
    said = {"conversation_id": "talk", "created_at": clock().isoformat()}
    for _ in range(2):
        record_turn(vault, "alice", "我喜歡暗色主題，我也喜歡芒果", "好", **said)  # type: ignore[arg-type]
        for _ in range(3):
            try:
                undo(vault, "alice")
            except NotFound:
                break
        reconcile(vault, "alice", full_hash=True)
        assert values(vault) == set() and contents(vault) == []
    (source,) = undone_sources(vault, "alice")
    assert re.fullmatch(r"conversations/\S+:1", source)


def test_what_the_person_has_set_is_theirs(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    set_preference(vault, "alice", "theme", "light")
    with pytest.raises(NotFound):
        undo(vault, "alice")
    assert values(vault) == {"theme=light"}
