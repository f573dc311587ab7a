"""A turn that takes back the one before it: «scratch that», 當我沒說."""

from __future__ import annotations

import os

import pytest

from vault_memory.services.profiles import set_preference, unset_preference
from vault_memory.services.turns.record import record_turn
from vault_memory.services.undoing import undo
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


def theme(vault: Vault) -> str:
    lines = (vault.root / "memory/alice/USER.md").read_text().splitlines()
    return next(line for line in lines if "Theme" in line or "主題" in line)


def edit(vault: Vault, old: str, new: str) -> None:
    path = vault.root / "memory/alice/USER.md"
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, (vault.now().timestamp(),) * 2)


def test_what_somebody_has_changed_since_stays(vault: Vault) -> None:
    """The person's own value, by a command or by hand, is never taken back."""
    said(vault, "Always use dark mode")
    said(vault, "Forget the dark theme preference")
    set_preference(vault, "alice", "theme", "light")
    assert said(vault, "scratch that") == []
    assert "light" in theme(vault)
    said(vault, "Always use dark mode from now on")
    edit(vault, theme(vault), theme(vault).replace("dark", "auto"))
    assert said(vault, "scratch that") == []
    assert "auto" in theme(vault)


def test_a_value_of_before_is_that_of_the_profile(vault: Vault) -> None:
    """Not the newest one that a turn has named: it may have been removed, or set by hand."""
    said(vault, "Always use light mode")
    edit(vault, theme(vault), theme(vault).replace("light", "auto"))
    said(vault, "From now on, dark mode please")
    assert said(vault, "scratch that") == ["theme = auto"]
    said(vault, "My name is Ana")
    unset_preference(vault, "alice", "display_name")
    said(vault, "call me Bob")
    assert said(vault, "scratch that") == ["display_name -= Bob"]
    said(vault, "My name is Cleo")
    undo(vault, "alice")
    said(vault, "call me Dan")
    assert said(vault, "scratch that") == ["display_name -= Dan"]


def test_a_turn_of_another_machine_on_the_same_line_is_not_meant(vault: Vault) -> None:
    """Each machine counts the lines of its own record."""
    said(vault, "My name is Ana")
    said(vault, "Always use dark mode")
    rows = vault.root / "memory/alice/feedback.jsonl"
    other = [line for line in rows.read_text().splitlines() if "Ana" in line][0]
    with rows.open("a") as file:
        file.write(other.replace(".jsonl:1", ".jsonl:2").replace("2026-01-30T", "2026-01-29T") + "\n")
    assert said(vault, "scratch that") == ["theme -= dark"]


@pytest.mark.parametrize(
    "message",
    ["please don't remember that", "剛剛那個不要記", "Forget what I just said.", "off the record", "刚才说的请保密"],
)
def test_what_is_not_to_be_remembered_one_message_later_goes(vault: Vault, message: str) -> None:
    """R2, E8: the preference, the memory, and the words in the log; the conversation record keeps them."""
    taught = record_turn(vault, "alice", "I always use dark mode and I love bouldering", "ok " * 60)
    assert taught.changes and taught.memories
    done = record_turn(vault, "alice", message)
    assert [change.summary() for change in done.changes] == ["theme -= dark"]
    assert [each.became for each in done.memories] == ["forgotten"]
    home = vault.root / "memory/alice"
    texts = [path.read_text(encoding="utf-8") for path in (*home.glob("*.md"), *home.glob("daily/*.md"))]
    assert not any("bouldering" in text or "dark" in text for text in texts), texts
    assert sum(text.count("[private]") for text in texts) >= 2
    assert "bouldering" in next(home.glob("conversations/*.jsonl")).read_text(encoding="utf-8")


def test_a_persons_line_in_the_log_stays(vault: Vault) -> None:
    record_turn(vault, "alice", "I love bouldering")
    (log,) = (vault.root / "memory/alice/daily").glob("*.md")
    log.write_text(log.read_text(encoding="utf-8") + "  my own remark on bouldering\n", encoding="utf-8")
    record_turn(vault, "alice", "please don't remember that")
    text = log.read_text(encoding="utf-8")
    assert text.count("bouldering") == 1 and "  my own remark on bouldering\n" in text
