"""Turns of former times: in the records once, and learned from only if that is wanted."""

from __future__ import annotations

import stat
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.pace import assert_in_proportion
from tests.services.turns.test_second_look import values
from tests.vaults import small_disk
from vault_memory.core.notes import Turn, journal
from vault_memory.errors import HistoryError, InvalidId, Unwritable
from vault_memory.services.admin import rename_user
from vault_memory.services.notes import newest_turns
from vault_memory.services.profiles import commit_at, history, set_preference
from vault_memory.services.turns import OldTurns, record_turn, turns_waiting
from vault_memory.services.vault import Vault, open_vault

AT = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)


def turn(said: str, minutes: int = 0, reply: str | None = "ok", conversation: str = "c-1") -> Turn:
    return Turn(conversation, "alice", AT + timedelta(minutes=minutes), said, reply, backend="chatgpt")


def keep(vault: Vault, *turns: Turn, learn: bool = False, dry_run: bool = False) -> OldTurns:
    old = OldTurns(vault, "alice", dry_run=dry_run)
    old.keep(turns)
    if learn:
        old.learn()
    return old


def records(vault: Vault, user_id: str = "alice") -> list[tuple[str, str | None, str | None]]:
    """(day, message, reply) of each turn."""
    found = newest_turns(vault, user_id, 1000)
    return [(source[14:24], row["user_message"], row["assistant_message"]) for source, row in found][::-1]


def files_of(vault: Vault) -> list[str]:
    """What is in alice's folder but the index."""
    names = (path.name for path in (vault.root / "memory/alice").iterdir())
    return sorted(name for name in names if not name.startswith("index.db"))


def counts(old: OldTurns) -> tuple[int, int, int]:
    return old.kept.added, old.kept.known, old.kept.completed


def test_they_stand_in_the_records_of_their_days_and_teach_nothing(vault: Vault) -> None:
    old = keep(vault, turn("I prefer dark mode"), turn("早安", 24 * 60))
    assert old.index() is None and counts(old) == (2, 0, 0)
    assert records(vault) == [("2024-05-06", "I prefer dark mode", "ok"), ("2024-05-07", "早安", "ok")]
    assert files_of(vault) == ["conversations"]
    assert turns_waiting(vault, "alice") == 0 and vault.history.log(limit=5)[0].subject.startswith("vault:")
    for path in (vault.root / "memory/alice/conversations").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_same_again_is_the_same(vault: Vault) -> None:
    turns = [turn(f"message {number}", number) for number in range(5)]
    assert counts(keep(vault, *turns[:3])) == (3, 0, 0)
    before = (vault.path("alice", "conversations") / "2024-05-06.jsonl").read_bytes()
    assert counts(keep(vault, *turns[:3])) == (0, 3, 0)
    assert (vault.path("alice", "conversations") / "2024-05-06.jsonl").read_bytes() == before
    assert counts(keep(vault, *turns, *turns[3:])) == (2, 5, 0), "a later export, and one that is delivered twice"
    assert [said for _, said, _ in records(vault)] == [f"message {number}" for number in range(5)]


def test_a_reply_that_came_later_is_added(vault: Vault) -> None:
    keep(vault, turn("how hot?", reply=None))
    assert counts(keep(vault, turn("how hot?", reply="eighty degrees"))) == (0, 0, 1)
    assert counts(keep(vault, turn("how hot?", reply="eighty degrees"))) == (0, 1, 0)
    assert records(vault) == [("2024-05-06", "how hot?", "eighty degrees")]
    old = keep(vault, turn("a", 1, reply=None), turn("a", 1, reply="A"))
    assert counts(old) == (1, 1, 0) and records(vault)[-1][2] == "A", "of two in one export the whole one counts"


def test_another_time_zone_since_does_not_make_them_new(vault: Vault) -> None:
    late = [turn(f"message {hour}", 60 * hour) for hour in range(24)]
    keep(vault, *late)
    set_preference(vault, "alice", "timezone", "America/Los_Angeles")
    assert counts(keep(vault, *late)) == (0, 24, 0) and len(records(vault)) == 24


def test_secrets_are_taken_out_in_the_whole_conversation(vault: Vault) -> None:
    key = "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC"
    old = keep(vault, turn(f"my key is {key}", reply=f"I use {key}"), Turn("c-1", "alice", AT, "x"))
    text = (vault.path("alice", "conversations") / "2024-05-06.jsonl").read_text()
    assert key not in text and text.count("[redacted: ") == 2 and old.kept.redactions
    assert not keep(vault, turn(f"my key is {key}")).kept.redactions, "it is counted once"


def test_a_dry_run_writes_nothing(vault: Vault) -> None:
    keep(vault, turn("there"))

    def files() -> dict[str, tuple[int, int]]:
        found = (path for path in vault.root.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}

    before = files()
    old = OldTurns(vault, "alice", dry_run=True)
    for _ in range(2):
        old.keep([turn("there"), turn("new", 1)])
    assert counts(old) == (1, 3, 0) and files() == before
    new = OldTurns(vault, "bob", dry_run=True)
    new.keep([turn("x")])
    assert new.kept.added == 1 and files() == before


def test_a_line_that_a_kill_has_torn_stays_and_the_turn_is_added_again(vault: Vault) -> None:
    keep(vault, turn("one"), turn("two", 1))
    path = vault.path("alice", "conversations") / "2024-05-06.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert counts(keep(vault, turn("one"), turn("two", 1), turn("three", 2))) == (2, 1, 0)
    assert path.read_bytes().startswith(whole[:-20] + b"\n")
    assert [said for _, said, _ in records(vault)] == ["one", "two", "three"]


def test_a_full_disk_leaves_the_record_as_it_was(tmp_path: Path, new_vault: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        root = disk / "vault"
        (root / ".vault-memory").mkdir(parents=True)
        (root / "vault-memory.toml").write_text("format = 1\n")
        vault = open_vault(root)
        keep(vault, turn("one"))
        with pytest.raises(Unwritable):
            keep(vault, turn("one"), turn("x" * 3_000_000, 1))
        assert [said for _, said, _ in records(vault)] == ["one"]


def test_a_person_whose_id_changes_meanwhile_keeps_them(vault: Vault) -> None:
    old = OldTurns(vault, "alice")
    old.keep([turn("one")])
    rename_user(vault, "alice", "carol")
    old.keep([turn("two", 1)])
    assert [said for _, said, _ in records(vault, "carol")] == ["one", "two"]
    assert not (vault.root / "memory/alice").exists()


def test_two_imports_at_once_add_each_turn_once(vault: Vault) -> None:
    turns = [turn(f"message {number}", number) for number in range(200)]

    def run() -> None:
        old = OldTurns(open_vault(vault.root), "alice")
        for at in range(0, len(turns), 20):
            old.keep(turns[at : at + 20])

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [said for _, said, _ in records(vault)] == [each.user_message for each in turns]


def test_an_id_that_is_none_is_refused(vault: Vault) -> None:
    record_turn(vault, "alice", "hi")
    with pytest.raises(InvalidId):
        OldTurns(vault, "Alice").keep([turn("x")])


class TestLearning:
    def test_it_changes_the_profile_and_no_log(self, vault: Vault) -> None:
        keep(vault, turn("I prefer dark mode", reply="x" * 200), turn("What is 2 + 2?", 1), learn=True)
        assert values(vault)["theme"] == "dark"
        assert files_of(vault) == ["USER.md", "conversations", "feedback.jsonl"]
        (change,) = history(vault, "alice", "theme")
        assert (change.at, change.source) == (AT.replace(microsecond=0), "conversations/2024-05-06.jsonl:1")
        assert commit_at(vault, "alice", "theme", AT) == change.commit
        assert "Joined: 2024-05-06" in vault.path("alice", "USER.md").read_text()

    def test_it_may_be_chosen_later_and_twice(self, vault: Vault) -> None:
        turns = [turn("I prefer dark mode"), turn("I use Docker every day", 1), turn("Maybe I like vim", 2)]
        keep(vault, *turns)
        keep(vault, *turns, learn=True)
        commit, feedback = vault.history.commit_named("HEAD"), vault.path("alice", "feedback.jsonl").read_bytes()
        assert values(vault)["theme"] == "dark"
        keep(vault, *turns, learn=True)
        assert vault.history.commit_named("HEAD") == commit, "a turn teaches once"
        assert vault.path("alice", "feedback.jsonl").read_bytes() == feedback

    def test_what_was_said_last_counts_in_whatever_order_they_come(self, vault: Vault) -> None:
        """An export begins with the newest conversation."""
        said = [("I prefer light mode", 3000), ("I prefer dark mode", 1500), ("I prefer auto theme", 0)]
        turns = [turn(text, minutes, conversation=text) for text, minutes in said]
        keep(vault, *turns[:1])
        old = OldTurns(vault, "alice")
        for each in turns:
            old.keep([each])
        old.learn()
        assert values(vault)["theme"] == "light"
        assert [change.new for change in history(vault, "alice", "theme")] == ["light", "dark", "auto"]

    def test_what_is_newer_stays(self, vault: Vault) -> None:
        record_turn(vault, "alice", "I prefer light mode")
        keep(vault, turn("I prefer dark mode"), turn("I use Docker every day", 1), learn=True)
        assert values(vault)["theme"] == "light" and "Docker" in str(values(vault)["tools"])

    def test_what_was_taken_back_in_the_next_turn_is_not_learned(self, vault: Vault) -> None:
        keep(vault, turn("I prefer dark mode"), turn("scratch that", 1), learn=True)
        assert "theme" not in values(vault)

    def test_the_turns_of_others_are_not_learned_from(self, vault: Vault) -> None:
        record_turn(vault, "alice", "I prefer dark mode", learn=False, created_at=AT + timedelta(hours=1))
        keep(vault, turn("hello"), learn=True)
        assert not (vault.root / "memory/alice/USER.md").exists() and turns_waiting(vault, "alice") == 1

    def test_a_rebase_comes_first(self, vault: Vault) -> None:
        head = vault.history.commit_named("HEAD")
        (vault.root / ".git/HEAD").write_text(head)
        with pytest.raises(HistoryError, match="nothing is learned for memory/alice/USER.md"):
            keep(vault, turn("I prefer dark mode"), learn=True)
        assert records(vault), "the turns are kept"


def test_the_time_grows_with_the_number_of_turns(vault: Vault) -> None:
    serial = iter(range(1_000_000))

    def add(count: int) -> None:
        old = OldTurns(vault, f"user-{next(serial)}")
        turns: Sequence[Turn] = [
            turn(f"message {number}", number, conversation=f"c{number // 9}") for number in range(count)
        ]
        for at in range(0, count, 100):
            old.keep(turns[at : at + 100])

    assert_in_proportion(add, 2_000)


def test_a_record_holds_what_the_turn_was(vault: Vault) -> None:
    whole = Turn(
        "c", "alice", AT, "said", "replied", {"summary": "s"}, skill="web", backend="b", exit_code=1, context="beside"
    )  # fmt: skip
    keep(vault, whole)
    line = (vault.path("alice", "conversations") / "2024-05-06.jsonl").read_text()
    assert journal.parse_line(line) == journal.parse_line(whole.line())
