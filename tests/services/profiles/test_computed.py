"""Computed fields: from the turns, committed only when they change, and never against the person's own edit."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.profiles.computed import compute_interaction
from vault_memory.services.profiles.history import history
from vault_memory.services.profiles.preferences import list_preferences, set_preference, unset_preference
from vault_memory.services.turns.record import record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


@pytest.fixture
def vault(vault: Vault) -> Vault:
    """A vault with the real clock, since git's own times are compared with the turns'."""
    return open_vault(vault.root)


def talk(vault: Vault, count: int, message: str = "這是什麼", *, skill: str | None = None, days: float = 0) -> None:
    """Turns, some days from now."""
    at = datetime.now().astimezone() + timedelta(days=days)
    for number in range(count):
        record_turn(vault, "alice", message, skill=skill, created_at=at + timedelta(seconds=number))


def values(vault: Vault, key: str) -> list[str]:
    return [p.value for p in list_preferences(vault, "alice") if p.key == key]


def test_the_heartbeat_computes_and_commits_only_what_changes(vault: Vault) -> None:
    """A17, item 6: most_used_modules, feedback_frequency, question_style, as the assistant's commits."""
    talk(vault, 12, skill="coding-agent", days=-1)
    (outcome,) = heartbeat(vault, "interaction", force=True)
    assert (outcome.ok, outcome.said) == (True, "changed for alice")
    assert values(vault, "most_used_modules") == ["coding-agent"]
    assert values(vault, "question_style") == ["brief"]
    assert values(vault, "feedback_frequency") == ["rarely_adjusts"]
    keys = ("most_used_modules", "question_style", "feedback_frequency")
    made = [change for change in history(vault, "alice") if change.key in keys]
    assert len(made) == 3 and {change.author for change in made} == {"vault-memory"}
    head = vault.history.state().head
    (outcome,) = heartbeat(vault, "interaction", force=True)
    assert outcome.said == "nothing has changed"
    assert vault.history.state().head == head
    assert vault.history.uncommitted() == []


def test_a_person_without_turns_has_nothing_to_compute(vault: Vault) -> None:
    vault.path("bob", "note.md").parent.mkdir(parents=True)
    vault.path("bob", "note.md").write_text("hi\n")
    assert compute_interaction(vault, "bob") == []
    assert not vault.path("bob", "USER.md").exists()


def test_adjustments_are_counted_from_the_evidence(vault: Vault) -> None:
    talk(vault, 8, days=-1)
    talk(vault, 3, "改成暗色主題", days=-0.5)
    compute_interaction(vault, "alice")
    assert values(vault, "feedback_frequency") == ["frequent_adjustments"]


def test_the_persons_hand_wins_until_there_is_new_evidence(vault: Vault) -> None:
    talk(vault, 12, skill="coding-agent", days=-2)
    compute_interaction(vault, "alice")
    profile = vault.path("alice", "USER.md")
    profile.write_text(profile.read_text().replace("提問風格：brief", "提問風格：detailed"))
    assert compute_interaction(vault, "alice") == []
    talk(vault, 9, days=1)
    assert compute_interaction(vault, "alice") == [], "nine turns since the edit are not enough"
    talk(vault, 1, days=2)
    assert [change.summary() for change in compute_interaction(vault, "alice")] == ["question_style = brief"]


def test_what_a_person_took_out_or_undid_stays_out(vault: Vault) -> None:
    talk(vault, 12, skill="coding-agent", days=-2)
    compute_interaction(vault, "alice")
    unset_preference(vault, "alice", "most_used_modules")
    set_preference(vault, "alice", "feedback_frequency", "frequent_adjustments")
    undo(vault, "alice")  # question_style, the last thing computed
    before = vault.path("alice", "USER.md").read_bytes()
    assert compute_interaction(vault, "alice") == []
    assert vault.path("alice", "USER.md").read_bytes() == before


def test_a_module_that_is_no_longer_used_goes(vault: Vault) -> None:
    talk(vault, 12, skill="coding-agent", days=-20)
    compute_interaction(vault, "alice")
    for name in ("a", "b", "c", "d", "e"):
        talk(vault, 13, skill=name, days=-10)
    compute_interaction(vault, "alice")
    assert sorted(values(vault, "most_used_modules")) == ["a", "b", "c", "d", "e"]


def test_an_issue_returns_three_times_and_stays_out_once_taken_out(vault: Vault) -> None:
    """Item 7: common issues only from repetition, never from one question."""
    for days in (-5, -4):
        talk(vault, 1, "什麼是遞迴", days=days)
    assert compute_interaction(vault, "alice") == []
    talk(vault, 1, "可以教我什麼是遞迴嗎", days=-3)
    compute_interaction(vault, "alice")
    assert values(vault, "common_issues") == ["遞迴"]
    assert compute_interaction(vault, "alice") == []
    unset_preference(vault, "alice", "common_issues")
    assert compute_interaction(vault, "alice") == []


def test_evidence_nested_without_end_is_passed_over(vault: Vault) -> None:
    talk(vault, 12, skill="coding-agent", days=-1)
    file = vault.path("alice", "feedback.jsonl")
    deep = '{"key": "theme", "created_at": ' + "[" * 50_000 + "]" * 50_000 + "}\n"
    file.write_text((file.read_text() if file.exists() else "") + deep)
    assert [change.key for change in compute_interaction(vault, "alice")]
    record_turn(vault, "alice", "我喜歡暗色主題")
    assert values(vault, "theme") == ["dark"]
