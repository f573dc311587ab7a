"""Undo on two machines that share a vault: each change is taken back once, on whichever of them."""

from __future__ import annotations

import pytest

from tests.services.sync.conftest import Machine
from vault_memory.errors import NotFound
from vault_memory.services.memories import list_memories
from vault_memory.services.profiles import list_preferences
from vault_memory.services.turns import record_turn
from vault_memory.services.undoing import steps, undo


def known(machine: Machine) -> set[str]:
    """The preferences and memories of a machine."""
    of_profile = {f"{each.key}={each.value}" for each in list_preferences(machine.vault, "alice")}
    return of_profile | {file.memory.content for file in list_memories(machine.vault, "alice")}


def undone(machine: Machine) -> list[str]:
    """Undo all that is left, one by one; what each has said."""
    said = []
    while True:
        try:
            said.append(undo(machine.vault, "alice"))
        except NotFound:
            return said
        assert len(said) < 20


def both_sync(one: Machine, two: Machine) -> None:
    for machine in (one, two, one):
        machine.sync()


def test_after_a_sync_the_changes_of_both_are_walked_back_each_once(one: Machine, two: Machine) -> None:
    """E8: what both machines have learned meanwhile, the newest first, on one of them; the other has nothing left."""
    before = known(one)
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好")
    record_turn(two.vault, "alice", "I use Docker", "ok")
    record_turn(one.vault, "alice", "我喜歡芒果", "好")
    record_turn(two.vault, "alice", "我討厭榴槤", "好")
    both_sync(one, two)
    assert known(one) == known(two) != before
    learned = [step.did for step in steps(one.vault, "alice") if step.state == "learned"]
    assert learned == [step.did for step in steps(two.vault, "alice") if step.state == "learned"]
    said = undone(two)
    assert len(said) == len({*said}) == len(learned) >= 5
    assert known(two) == before
    both_sync(one, two)
    assert known(one) == before and undone(one) == []
    assert {step.state for step in steps(one.vault, "alice")} == {"undone"}
    one.assert_clean()


def test_what_the_other_machine_undid_is_not_undone_again(one: Machine, two: Machine) -> None:
    """One undoes the newest, the other gets that and goes on with the one before; what was learned after the undo
    stays in its turn."""
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好")
    record_turn(one.vault, "alice", "我喜歡芒果", "好")
    both_sync(one, two)
    assert "芒果" in undo(one.vault, "alice")
    both_sync(one, two)
    assert undo(two.vault, "alice").startswith("theme = (nothing)")
    both_sync(one, two)
    assert undone(one) == undone(two) == []
    record_turn(two.vault, "alice", "我喜歡芒果", "好")  # said again: learned anew, and a change of its own
    both_sync(one, two)
    assert "芒果" in undo(one.vault, "alice")
    assert undone(one) == []


def test_both_undo_the_same_before_they_sync(one: Machine, two: Machine) -> None:
    """The same change, by each for itself: after the sync it is undone once, and nothing before it with it."""
    record_turn(one.vault, "alice", "我喜歡芒果", "好")
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好")
    both_sync(one, two)
    for machine in (one, two):
        assert undo(machine.vault, "alice").startswith("theme = (nothing)")
    both_sync(one, two)
    assert any("芒果" in each for each in known(one)) and known(one) == known(two)
    assert "芒果" in undo(two.vault, "alice")
    both_sync(one, two)
    assert known(one) == known(two) and undone(one) == undone(two) == []


@pytest.mark.parametrize("is_undone_first", [False, True])
def test_an_undo_here_and_a_change_of_the_same_there(one: Machine, two: Machine, is_undone_first: bool) -> None:
    """The newer words win; what was undone does not come back."""
    record_turn(one.vault, "alice", "我喜歡暗色主題", "好")
    both_sync(one, two)
    acts = [lambda: undo(one.vault, "alice"), lambda: record_turn(two.vault, "alice", "我喜歡亮色主題", "好")]
    for act in acts if is_undone_first else acts[::-1]:
        act()
    both_sync(one, two)
    assert known(one) == known(two) and not {each for each in known(one) if each == "theme=dark"}
    said = undone(one)
    assert len(said) == len({*said})
    both_sync(one, two)
    assert known(one) == known(two) and undone(two) == []
