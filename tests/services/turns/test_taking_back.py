"""A turn that takes back the one before it: «scratch that», 當我沒說."""

from __future__ import annotations

import pytest

from vault_memory.services.profiles import set_preference
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault


def said(vault: Vault, message: str, conversation: str | None = None) -> list[str]:
    changes = record_turn(vault, "alice", message, conversation_id=conversation).changes
    return [change.summary() for change in changes]


@pytest.mark.parametrize(
    "message", ["scratch that", "Oh no, actually forget that please.", "當我沒說", "算了，剛剛說的不算"]
)
def test_what_the_last_turn_has_changed_is_changed_back(vault: Vault, message: str) -> None:
    """R2: a value of before comes back, a new one goes; each is a commit with the person's words."""
    set_preference(vault, "alice", "theme", "dark")
    assert said(vault, "Light mode from now on, please, and I use Docker") == ["theme = light", "tools += Docker"]
    assert sorted(said(vault, message)) == ["theme = dark", "tools -= Docker"]


def test_a_note_that_was_replaced_comes_back(vault: Vault) -> None:
    said(vault, "Remember that our Redis port is 6380")
    said(vault, "Remember that our Redis port is 7000")
    assert sorted(said(vault, "scratch that")) == ["note += our Redis port is 6380", "note -= our Redis port is 7000"]


def test_only_the_turn_before_is_meant(vault: Vault) -> None:
    """A question that taught nothing, another conversation, a value that was changed since: nothing is taken back."""
    said(vault, "Always use dark mode", "one")
    assert said(vault, "scratch that", "two") == []
    said(vault, "Why is the sky blue?", "one")
    assert said(vault, "scratch that", "one") == []
    said(vault, "I like a light theme", "three")
    set_preference(vault, "alice", "theme", "auto")
    assert said(vault, "scratch that", "three") == []


def test_a_message_that_says_more_is_none(vault: Vault) -> None:
    said(vault, "Always use dark mode")
    assert said(vault, "Scratch that itch with a long stick, how?") == []
    assert said(vault, "Never mind that the tests are slow") == []
    assert "dark" in (vault.root / "memory/alice/USER.md").read_text()
