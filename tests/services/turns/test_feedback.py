"""A13, Phase D: adjustments become preferences, and three of them a strong one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vault_memory.services.profiles.history import history
from vault_memory.services.profiles.preferences import Preference, list_preferences
from vault_memory.services.profiles.suggestions import list_suggestions
from vault_memory.services.turns.feedback import classify_adjustment, extract_params, record_adjustment
from vault_memory.services.vault import Vault, open_vault


def evidence(vault: Vault) -> list[dict[str, Any]]:
    return [json.loads(line) for line in vault.path("alice", "feedback.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("改暗色主題", {"theme": "dark"}),
        ("改成深色模式吧", {"theme": "dark"}),
        ("换成浅色主题", {"theme": "light"}),
        ("make it shorter", {"response_style": "concise"}),
        ("再詳細一點", {"response_style": "detailed"}),
        ("可以加註解嗎", {"code_style": "with_comments"}),
        ("暗色", {"theme": "dark"}),
        ("dark", {"theme": "dark"}),
        ("英文", {"language": "en"}),
        ("謝謝", {}),
        ("把標題改成紅色", {}),
        ("", {}),
    ],
)
def test_an_adjustment_is_classified_and_its_parameters_read(text: str, params: dict[str, str]) -> None:
    """A13: classify_adjustment, extract_params."""
    assert extract_params(text) == params
    assert classify_adjustment(text) == next(iter(params), None)


def test_phase_d_an_adjustment_is_recorded_in_the_profile_at_once(vault: Vault) -> None:
    """Phase D, first check: 「改暗色主題」 → USER.md has theme=dark, with its commit and its words."""
    (change,) = record_adjustment(vault, "alice", "改暗色主題", skill="web-deploy")
    assert change.summary() == "theme = dark"
    assert "- 主題偏好：dark\n" in vault.path("alice", "USER.md").read_text()
    (entry,) = history(vault, "alice", "theme")
    assert (entry.strength, entry.reason, entry.source) == (
        "adjustment",
        "改暗色主題",
        "conversations/2026-01-30.jsonl:1",
    )
    assert "web-deploy" in vault.path("alice", "daily/2026-01-30.md").read_text()


def test_phase_d_the_third_time_makes_it_the_suggested_default(vault: Vault) -> None:
    """Phase D, second check: the same preference three times → suggested_default, in the evidence and the profile."""
    for text in ("改暗色主題", "換成深色模式"):
        record_adjustment(vault, "alice", text)
    assert Preference("theme", "dark", False) in list_preferences(vault, "alice")
    (change,) = record_adjustment(vault, "alice", "暗色")
    assert change.op == "strengthen"
    assert "- 主題偏好：dark（強偏好）\n" in vault.path("alice", "USER.md").read_text()
    assert [row["suggested_default"] for row in evidence(vault)] == [False, False, True]
    assert [row["count"] for row in evidence(vault)] == [1, 2, 3]
    assert [entry.op for entry in history(vault, "alice", "theme")] == ["strengthen", "set"]


def test_a_bare_word_counts_once(vault: Vault) -> None:
    record_adjustment(vault, "alice", "暗色")
    counted = [row for row in evidence(vault) if "suggestion" not in row]  # the word alone is in doubt, first
    assert [(row["value"], row["count"]) for row in counted] == [("dark", 1)]
    assert list_suggestions(vault, "alice") == []
    assert history(vault, "alice", "theme")[0].source == "conversations/2026-01-30.jsonl:1"


def test_an_adjustment_off_the_record_is_none(vault: Vault) -> None:
    silent = open_vault(vault.root, off_record=["alice"])
    named = open_vault(vault.root, off_record=["telegram:1"], identities={"telegram:1": "alice"})
    for each in (silent, named):
        assert record_adjustment(each, "alice", "改暗色主題") == []
    assert not (vault.root / "memory/alice").exists()
