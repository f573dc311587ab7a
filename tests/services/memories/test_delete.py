"""B6, E8: deleting in two steps."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.errors import HistoryError, NotFound, UsageError, VaultMemoryError
from vault_memory.services.admin import status
from vault_memory.services.memories import delete_memories, list_memories, prepare_deletion, remember, store_memory
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.vault import Vault


def test_a_code_deletes_what_was_shown(vault: Vault, home: Home) -> None:
    """B6: list, contents of the first three, six characters; then it is gone from files and index, in one commit."""
    ids = [remember(vault, "alice", f"JWT rule {n}") for n in range(5)]
    kept = remember(vault, "alice", "tea is nice")
    chosen = prepare_deletion(vault, "alice", query="jwt")
    assert {each.id for each in chosen.memories} == set(ids) and len(chosen.previewed) == 3
    assert len(chosen.code) == 6 and chosen.code.isalnum() and chosen.code.isupper()
    assert len(home.names()) == 6
    done = delete_memories(vault, "alice", chosen.code.lower())
    assert set(done.ids) == set(ids) and len(done.commits) == 1
    assert [file.memory.id for file in list_memories(vault, "alice", history=True)] == [kept]
    assert search(vault, "alice", SearchQuery("JWT", history=True)).hits == []
    assert home.log()[0].subject == "memories(alice): delete 5 memories" and home.is_clean()
    assert status(vault, "alice").scopes[0].held == ()


def test_by_type_and_by_id_also_what_is_past(vault: Vault, clock: Clock) -> None:
    """B6"""
    old = store_memory(vault, "alice", "tea was nice", "decision")
    clock.time += timedelta(days=9)
    new = store_memory(vault, "alice", "tea is nice", "decision")
    other = store_memory(vault, "alice", "tea will be nice", "lesson", force_save=True)
    assert {m.id for m in prepare_deletion(vault, "alice", memory_type="decision").memories} == {old, new}
    assert [m.id for m in prepare_deletion(vault, "alice", ids=[other]).memories] == [other]
    assert [m.id for m in prepare_deletion(vault, "alice", query="WILL nice").memories] == [other]


@pytest.mark.parametrize("wrong", [{}, {"query": " "}, {"query": "a", "memory_type": "fact"}, {"memory_type": "x"}])
def test_a_wrong_choice_is_told(vault: Vault, wrong: dict) -> None:
    remember(vault, "alice", "tea is nice")
    with pytest.raises(UsageError):
        prepare_deletion(vault, "alice", **wrong)


def test_nothing_is_chosen(vault: Vault) -> None:
    remember(vault, "alice", "tea is nice")
    for nothing in ({"query": "zeppelin"}, {"memory_type": "bugfix"}, {"ids": ["mem_1_x"]}):
        with pytest.raises(NotFound):
            prepare_deletion(vault, "alice", **nothing)  # type: ignore[arg-type]


def test_a_code_is_for_once_five_minutes_and_one_user(vault: Vault, home: Home, clock: Clock) -> None:
    """Bad input of the memories' issue: wrong, expired and reused codes."""
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the car is red"))
    remember(vault, "bob", "tea is nice")
    code = prepare_deletion(vault, "alice", ids=[tea]).code
    for user_id, wrong in (("alice", "ABCDEF"), ("alice", ""), ("bob", code)):
        with pytest.raises(UsageError, match="no deletion waits"):
            delete_memories(vault, user_id, wrong)
    assert delete_memories(vault, "alice", code).ids == (tea,)
    with pytest.raises(UsageError, match="no deletion waits"):
        delete_memories(vault, "alice", code)
    late = prepare_deletion(vault, "alice", ids=[car])
    clock.time = late.expires_at
    with pytest.raises(UsageError, match="five minutes"):
        delete_memories(vault, "alice", late.code)
    assert home.file(car).memory.content == "the car is red"


def test_what_has_changed_since_is_not_deleted(vault: Vault, home: Home) -> None:
    tea = remember(vault, "alice", "tea is nice")
    code = prepare_deletion(vault, "alice", ids=[tea]).code
    path = home.path / home.file(tea).source
    path.write_text(path.read_text("utf-8") + "and hot\n", "utf-8")
    with pytest.raises(UsageError, match="has changed"):
        delete_memories(vault, "alice", code)
    assert path.read_text("utf-8").endswith("and hot\n")


def test_all_or_none_is_deleted(vault: Vault, home: Home) -> None:
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the car is nice"))
    code = prepare_deletion(vault, "alice", query="nice").code
    (home.path / home.file(tea).source).rename(home.path / "memories/moved.md")
    with pytest.raises(UsageError, match="moved"):
        delete_memories(vault, "alice", code)
    assert home.file(car).memory.content == "the car is nice"


def test_a_note_that_is_in_no_commit_is_not_deleted(vault: Vault, home: Home) -> None:
    tea = remember(vault, "alice", "tea is nice")
    path = home.path / home.file(tea).source
    path.write_text(path.read_text("utf-8") + "AKIAIOSFODNN7EXAMPLE\n", "utf-8")
    with pytest.raises(HistoryError, match="in no commit"):
        delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[tea]).code)
    assert path.exists()


def test_codes_are_private_and_damage_does_no_harm(vault: Vault) -> None:
    tea = remember(vault, "alice", "tea is nice")
    prepare_deletion(vault, "alice", ids=[tea])
    file = vault.root / ".vault-memory/deletions/alice.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for text in ("{", '{"ABCDEF": 3}', '{"ABCDEF": {"expires_at": "x", "chosen": {}}}'):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match="no deletion waits"):
            delete_memories(vault, "alice", "ABCDEF")
    assert prepare_deletion(vault, "alice", ids=[tea]).memories


def test_two_deletions_at_once(vault: Vault, home: Home) -> None:
    """Bad input of the memories' issue: two deletions at once, with two codes, and with one."""
    tea, car = (remember(vault, "alice", text) for text in ("tea is nice", "the car is red"))
    codes = [prepare_deletion(vault, "alice", ids=[each]).code for each in (tea, car)]

    def delete(code: str) -> int:
        try:
            return len(delete_memories(vault, "alice", code).ids)
        except VaultMemoryError:
            return 0

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(delete, [*codes, *codes])) == [0, 0, 1, 1]
    assert home.names() == [] and home.is_clean()
