"""The one write path: the person's edits first, a new decision after a save, all or nothing, and a fresh index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import pytest

from tests.vaults import write as save
from vault_memory.adapters import git
from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.errors import Busy, Changed, UsageError
from vault_memory.services.profiles.preferences import set_preference
from vault_memory.services.turns.record import record_turn, record_turns
from vault_memory.services.vault import Vault
from vault_memory.services.write import MAX_ATTEMPTS, Plan, write

NOTE = PurePosixPath("memory/alice/note.md")


def appended(vault: Vault, line: str, seen: list[bytes | None] | None = None) -> Callable[[], Plan[str]]:
    """A decision that adds a line to the note; `seen` gets what the note held each time it was asked for."""
    cache = ReadCache()

    def decide() -> Plan[str]:
        before = cache.read(vault.root / NOTE)
        if seen is not None:
            seen.append(before)
            cache.clear()
        change = FileChange(NOTE, before, (before or b"") + line.encode() + b"\n")
        return Plan("done", [Draft(f"add {line}", ASSISTANT, (change,))])

    return decide


def at_step(vault: Vault, name: str, act: Callable[[], object], times: int = 1) -> None:
    """Let `act` happen when a write reaches a marked step, the first `times` times."""
    left = [act] * times

    def step(reached: str) -> None:
        if reached == name and left:
            left.pop()()

    vault.__dict__["history"] = History(vault.root, step=step)


def commits(vault: Vault) -> list[tuple[str, str]]:
    return [(entry.author, entry.subject) for entry in vault.history.log([NOTE], limit=100)]


def pending(vault: Vault) -> list[str]:
    """Sources whose content is not what the index has."""
    known = vault.index("alice").files()
    on_disk = {path.name: path for path in (vault.root / "memory/alice").glob("*.md")}
    return [name for name in on_disk if name not in known]


def test_a_result_with_its_commits_and_files(vault: Vault) -> None:
    written = write(vault, "alice", [NOTE], appended(vault, "one"))
    (newest,) = vault.history.log(limit=1)
    assert (written.result, written.commits, written.paused, written.paths) == ("done", (newest.commit,), None, (NOTE,))
    assert (vault.root / NOTE).read_text() == "one\n"


def test_what_another_user_waits_for_is_not_said(vault: Vault) -> None:
    """It named that user, and the files, in the answer to a stranger's turn."""
    record_turn(vault, "bob", "I prefer dark mode")
    git.run(vault.root, "rm", "-q", "--cached", "memory/bob/USER.md")
    assert "memory/bob/USER.md is staged" in (record_turn(vault, "bob", "I prefer light mode").paused or "")
    recorded = record_turn(vault, "alice", "I prefer dark mode")
    assert recorded.commits and recorded.paused is None


def test_a_decision_may_change_nothing(vault: Vault) -> None:
    head = vault.history.state().head
    written = write(vault, "alice", [NOTE], lambda: Plan(7))
    assert (written.result, written.commits, written.paths) == (7, (), ())
    assert vault.history.state().head == head


def test_an_edit_is_committed_before_the_decision_is_made(vault: Vault) -> None:
    save(vault, "alice", "note.md", "mine\n")
    seen: list[bytes | None] = []
    write(vault, "alice", [NOTE], appended(vault, "ours", seen))
    assert seen == [b"mine\n"]
    assert commits(vault) == [("vault-memory", "add ours"), ("vault owner", f"add {NOTE}")]


def test_a_save_after_the_decision_is_committed_first_and_the_decision_is_made_again(vault: Vault) -> None:
    save(vault, "alice", "note.md", "mine\n")
    seen: list[bytes | None] = []
    decide = appended(vault, "ours", seen)

    def decide_then_save() -> Plan[str]:
        plan = decide()
        if len(seen) == 1:
            save(vault, "alice", "note.md", "mine\nlate\n")
        return plan

    write(vault, "alice", [NOTE], decide_then_save)
    assert seen == [b"mine\n", b"mine\nlate\n"]
    assert (vault.root / NOTE).read_text() == "mine\nlate\nours\n"
    assert commits(vault) == [
        ("vault-memory", "add ours"),
        ("vault owner", f"edit {NOTE}"),
        ("vault owner", f"add {NOTE}"),
    ]


def test_a_save_in_the_middle_of_the_commit_is_taken_in_the_same_way(vault: Vault) -> None:
    write(vault, "alice", [NOTE], appended(vault, "one"))
    seen: list[bytes | None] = []
    at_step(vault, "intent written", lambda: save(vault, "alice", "note.md", "one\nlate\n"))
    write(vault, "alice", [NOTE], appended(vault, "two", seen))
    assert seen == [b"one\n", b"one\nlate\n"]
    assert (vault.root / NOTE).read_text() == "one\nlate\ntwo\n"
    assert commits(vault)[:2] == [("vault-memory", "add two"), ("vault owner", f"edit {NOTE}")]
    assert vault.history.uncommitted() == []


def test_what_was_read_before_the_write_is_read_again_after_a_save(vault: Vault) -> None:
    """A save within one tick of the disk's clock keeps the stamp: only forgetting everything helps then."""
    save(vault, "alice", "note.md", "mine\n")
    cache = ReadCache()
    seen: list[bytes | None] = []

    def decide() -> Plan[None]:
        seen.append(cache.read(vault.root / NOTE))
        if len(seen) == 1:
            cache._files[vault.root / NOTE] = (cache._files[vault.root / NOTE][0], b"stale\n")
            return Plan(None, [Draft("ours", ASSISTANT, (FileChange(NOTE, b"stale\n", b"ours\n"),))])
        return Plan(None)

    write(vault, "alice", [NOTE], decide, cache=cache)
    assert seen == [b"mine\n", b"mine\n"]


@pytest.mark.slow
def test_files_that_never_rest_are_busy_and_lose_nothing(vault: Vault) -> None:
    attempts: list[bytes | None] = []
    decide = appended(vault, "ours", attempts)

    def decide_then_save() -> Plan[str]:
        plan = decide()
        save(vault, "alice", "note.md", f"save {len(attempts)}\n")
        return plan

    with pytest.raises(Busy, match="alice keep changing"):
        write(vault, "alice", [NOTE], decide_then_save)
    assert len(attempts) == MAX_ATTEMPTS
    assert (vault.root / NOTE).read_text() == f"save {MAX_ATTEMPTS}\n"
    assert {author for author, _ in commits(vault)} == {"vault owner"}


def test_changed_raised_by_the_decision_reaches_the_caller(vault: Vault) -> None:
    calls = []

    def decide() -> Plan[None]:
        calls.append(1)
        raise Changed("the caller's own condition")

    with pytest.raises(Changed, match="own condition"):
        write(vault, "alice", [NOTE], decide)
    assert len(calls) == 1


def test_edits_that_are_refused_stay_as_they_were(vault: Vault) -> None:
    save(vault, "alice", "note.md", "mine\n")
    head = vault.history.state().head
    inspected: list[PurePosixPath] = []

    def refuse(paths: Sequence[PurePosixPath]) -> None:
        inspected.extend(paths)
        raise UsageError("not these")

    with pytest.raises(UsageError, match="not these"):
        write(vault, "alice", [NOTE], appended(vault, "ours"), inspect=refuse)
    assert inspected == [NOTE]
    assert (vault.root / NOTE).read_text() == "mine\n"
    assert vault.history.state().head == head
    assert [edit.path for edit in vault.history.uncommitted()] == [NOTE]
    assert pending(vault) == ["note.md"]


def test_the_index_has_what_was_written_unless_the_caller_indexes(vault: Vault) -> None:
    write(vault, "alice", [NOTE], appended(vault, "one"), index=False)
    assert pending(vault) == ["note.md"]
    write(vault, "alice", [NOTE], appended(vault, "two"))
    assert pending(vault) == []


def test_the_lock_is_free_again_after_a_decision_that_failed(vault: Vault) -> None:
    def decide() -> Plan[None]:
        raise UsageError("no")

    with pytest.raises(UsageError):
        write(vault, None, None, decide)
    assert write(vault, "alice", [NOTE], appended(vault, "one")).result == "done"


def test_what_was_recorded_before_a_turn_that_fails_is_indexed(vault: Vault) -> None:
    turns = [{"user_id": "alice", "user_message": "hello"}, {"user_id": "../evil", "user_message": "hello"}]
    recorded = []
    with pytest.raises(Exception, match="evil"):
        for each in record_turns(vault, turns):
            recorded.append(each)
    assert len(recorded) == 1
    assert set(vault.index("alice").files()) == set(recorded[0].sources) - {"feedback.jsonl"}


def test_a_turn_that_is_not_to_be_indexed_waits_for_the_end_of_the_batch(vault: Vault) -> None:
    batch = record_turns(vault, [{"user_id": "alice", "user_message": f"hello {number}"} for number in range(2)])
    first = next(batch)
    assert first.source and vault.index("alice").files() == {}
    list(batch)
    assert "USER.md" in vault.index("alice").files()
    assert "USER.md" in record_turn(vault, "bob", "hello").sources and "USER.md" in vault.index("bob").files()


def test_what_is_wrong_with_an_index_fails_no_write(vault: Vault) -> None:
    """Laws 1 and 6: the file is written and committed; the index is derived, and the next search tries again."""
    save(vault, "alice", "note.md", "mine\n")
    vault.index_path("alice").mkdir()
    written = write(vault, "alice", [NOTE], appended(vault, "ours"))
    assert written.result == "done" and "index.db" in (written.index_problem or "")
    assert commits(vault)[0] == ("vault-memory", "add ours")
    assert [change.new for change in set_preference(vault, "alice", "theme", "dark")] == ["dark"]
    vault.index_path("alice").rmdir()
    assert write(vault, "alice", [NOTE], appended(vault, "more")).index_problem is None
