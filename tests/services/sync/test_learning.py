"""Two machines that both quizzed a learner between two exchanges."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.conftest import Clock
from tests.services.sync.conftest import Machine, git
from vault_memory.services.learning import learning_profile, update_user
from vault_memory.services.sync import install_merge_driver

NOTE = "memory/alice/LEARNING.md"


def quiz(topic: str, rate: float) -> dict[str, Any]:
    return {"intent": "quiz", "topic": topic, "metadata": {"difficulty": "hard", "correct_rate": rate}}


def quizzed_apart(one: Machine, two: Machine, clock: Clock) -> None:
    """Both know 极限; then each quizzes it and a topic of its own."""
    update_user(one.vault, "alice", quiz("极限", 0.5))
    one.vault.history.flush()
    git(one.root, "push", "-q", "origin", "main")
    git(two.root, "pull", "-q", "origin", "main")
    for machine, own, rate in ((one, "代数", 0.0), (two, "几何", 1.0)):
        clock.time += timedelta(minutes=1)
        update_user(machine.vault, "alice", quiz("极限", rate))
        update_user(machine.vault, "alice", quiz(own, rate))


def check(machine: Machine) -> None:
    profile = learning_profile(machine.vault, "alice")
    assert profile.mastery.keys() == {"极限", "代数", "几何"} and profile.quiz_sessions == 5 and not profile.problems
    assert profile.topics["极限"].score == 0.7, "the later quiz, of the second machine"
    assert "<<<" not in machine.read(NOTE) and machine.read(NOTE).count("| 极限 |") == 1


def test_a_sync_merges_by_topic(one: Machine, two: Machine, clock: Clock) -> None:
    """C1: no conflict marks, no quiz is lost, and both machines end up with the same."""
    quizzed_apart(one, two, clock)
    for machine in (one, two, one):
        machine.sync()
    for machine in (one, two):
        check(machine)
        machine.assert_clean()
    assert one.read(NOTE) == two.read(NOTE)


def test_plain_git_merges_by_topic(one: Machine, two: Machine, clock: Clock) -> None:
    quizzed_apart(one, two, clock)
    for machine in (one, two):
        install_merge_driver(machine.root)
        machine.vault.history.flush()
    git(one.root, "push", "-q", "origin", "main")
    git(two.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    check(two)
