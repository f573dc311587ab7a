"""A wish that is older than the last change of its value replaces nothing, whoever made that change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.services.turns.test_second_look import values
from vault_memory.errors import HistoryError
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.profiles import (
    LaterChanges,
    ProfileFiles,
    commit_at,
    history,
    restore_preference,
    set_preference,
    unset_preference,
)
from vault_memory.services.turns import learn_waiting, record_turn
from vault_memory.services.undoing import undo
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def vault(vault: Vault) -> Vault:
    """One with the machine's clock, by which the files are written."""
    vault = open_vault(vault.root)
    record_turn(vault, "alice", "I prefer auto theme", created_at=vault.now() - timedelta(hours=2))
    return vault


def by_hand(old: str, new: str) -> Callable[[Vault], object]:
    def edit(vault: Vault) -> None:
        profile = vault.path("alice", "USER.md")
        text = profile.read_text()
        assert old in text
        profile.write_text(text.replace(old, new))

    return edit


CHANGES: dict[str, Callable[[Vault], object]] = {
    "by hand": by_hand("Theme: auto", "Theme: dark"),
    "by a command": lambda vault: set_preference(vault, "alice", "theme", "dark"),
    "by a turn": lambda vault: record_turn(vault, "alice", "I prefer dark mode", learn=False),
}


@pytest.mark.parametrize("who", CHANGES)
def test_a_turn_that_waited_does_not_replace_what_is_newer(vault: Vault, who: str) -> None:
    record_turn(vault, "alice", "I prefer light mode", learn=False)
    CHANGES[who](vault)
    assert learn_waiting(vault, "alice") == 0 and values(vault)["theme"] == "dark"
    record_turn(vault, "alice", "I prefer light mode")
    assert values(vault)["theme"] == "light", "what is said now is newer"


@pytest.mark.parametrize("who", CHANGES)
def test_a_replayed_turn_does_not_replace_what_is_newer(vault: Vault, who: str) -> None:
    at = vault.now()
    CHANGES[who](vault)
    learn_waiting(vault, "alice")
    for before in (timedelta(), timedelta(days=400)):
        recorded = record_turn(vault, "alice", "I prefer light mode", created_at=at - before)
        assert recorded.source and not recorded.changes and values(vault)["theme"] == "dark"
    assert record_turn(vault, "alice", "I use Vim as my editor", created_at=at).changes, "nobody has changed that one"


def test_what_was_removed_since_stays_removed(vault: Vault) -> None:
    """A list's members are told apart: another one was not touched."""
    record_turn(vault, "alice", "I use Docker every day")
    record_turn(vault, "alice", "I use Docker every day", learn=False)
    record_turn(vault, "alice", "I prefer light mode", learn=False)
    unset_preference(vault, "alice", "tools", "Docker")
    unset_preference(vault, "alice", "theme")
    record_turn(vault, "alice", "I use Vim as my editor")
    assert "Docker" not in str(values(vault)) and "theme" not in values(vault) and "Vim" in str(values(vault))


def test_an_undo_is_a_change(vault: Vault) -> None:
    at = vault.now()
    commit = record_turn(vault, "alice", "I prefer dark mode").commits[0]
    undo(vault, "alice")
    assert not record_turn(vault, "alice", "I prefer dark mode", created_at=at).changes
    restore_preference(vault, "alice", "theme", commit)
    assert not record_turn(vault, "alice", "I prefer light mode", created_at=at).changes


def test_a_profile_that_the_person_made_counts_as_their_change_of_all_its_values(vault: Vault) -> None:
    profile = vault.path("bob", "USER.md")
    profile.parent.mkdir(parents=True)
    profile.write_text("# User profile\n\n## Preferences\n- Theme: dark\n", encoding="utf-8")
    hour_ago = vault.now() - timedelta(hours=1)
    assert not record_turn(vault, "bob", "I prefer light mode", created_at=hour_ago).changes
    assert record_turn(vault, "bob", "I use Vim as my editor", created_at=hour_ago).changes
    assert record_turn(vault, "bob", "I prefer light mode").changes


def test_commits_say_when_it_was_said_and_when_it_was_committed(vault: Vault) -> None:
    said_at = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
    before = int(vault.now().timestamp())
    recorded = record_turn(vault, "bob", "I prefer dark mode", "x" * 200, created_at=said_at)
    assert len(recorded.commits) == 2, "the profile, and the theme with the logs"
    log = ["git", "log", "-2", "--format=%at %ct"]
    done = subprocess.run(log, cwd=vault.root, capture_output=True, text=True, check=True)
    for row in done.stdout.splitlines():
        made_at, committed_at = map(int, row.split())
        assert made_at == said_at.timestamp() and committed_at >= before
    (change,) = history(vault, "bob", "theme")
    assert change.at == said_at
    assert commit_at(vault, "bob", "theme", said_at) == change.commit


def test_an_edit_counts_from_when_it_was_saved(vault: Vault) -> None:
    """It may be committed long after: by the turn that is newer."""
    profile, hour = vault.path("alice", "USER.md"), timedelta(hours=1)
    by_hand("auto", "dark")(vault)
    saved = vault.now() - hour
    os.utime(profile, (saved.timestamp(), saved.timestamp()))
    for words in ("I use Vim as my editor", "I prefer light mode"):
        record_turn(vault, "alice", words, learn=False, created_at=saved + hour / 2)
    assert learn_waiting(vault, "alice") == 0 and values(vault)["theme"] == "light"


def test_a_late_turn_waits_while_it_cannot_be_known_who_changed_what(vault: Vault) -> None:
    """The history may hold an edit by hand."""
    record_turn(vault, "alice", "I prefer light mode", learn=False)
    by_hand("auto", "dark")(vault)
    commit_person_edits(vault, None)
    packed = vault.root / ".git/packed-refs"
    with packed.open("wb") as file:
        file.truncate(30_000_000)
    with pytest.raises(HistoryError, match="packed-refs"):
        learn_waiting(vault, "alice")
    packed.unlink()
    assert learn_waiting(vault, "alice") == 0 and values(vault)["theme"] == "dark"


def test_a_time_in_the_future_counts_as_now(vault: Vault) -> None:
    later = vault.now() + timedelta(days=2)
    assert record_turn(vault, "alice", "I prefer dark mode", created_at=later).changes
    assert record_turn(vault, "alice", "I prefer light mode").changes
    assert record_turn(vault, "alice", "I prefer dark mode", created_at=datetime(2098, 1, 1)).changes
    profile = vault.path("alice", "USER.md")
    os.utime(profile, (later.timestamp(), later.timestamp()))
    assert record_turn(vault, "alice", "I prefer light mode").changes


def test_what_is_saved_between_two_attempts_is_newer_too(vault: Vault) -> None:
    """Git is asked once: while it answered, an editor that saved again and again let no turn through for minutes."""
    record_turn(vault, "alice", "I use Vim as my editor")
    at = vault.now()
    later = LaterChanges(vault, "alice", at)
    CHANGES["by hand"](vault)
    commit_person_edits(vault, "alice")
    assert {key for key, _ in later.commits(ProfileFiles.read(vault, "alice", at).profile)} == {"theme"}
    by_hand("Vim", "Helix")(vault)
    assert {key for key, _ in later.commits(ProfileFiles.read(vault, "alice", at).profile)} == {"theme", "tools"}
