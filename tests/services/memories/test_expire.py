"""E2, E8: memories expire at once, and go to the archive."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from tests.services.test_person_edits import git
from vault_memory.services.admin import status
from vault_memory.services.daemon import heartbeat
from vault_memory.services.memories import expire_memories, list_memories, remember, store_memory, write_accesses
from vault_memory.services.person_edits import commit_edits
from vault_memory.services.retrieval import SearchQuery, build_enhanced_prompt, recall, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def ids(found: list) -> list[str]:
    return [each.id for each in found]


def test_from_the_moment_it_expires_it_is_not_recalled(vault: Vault, home: Home, clock: Clock) -> None:
    """E2, E3: before any job has run, in recall, search and prompts."""
    memory_id = store_memory(vault, "alice", "綠茶的罐子在廚房左邊的櫃子", ttl_days=7)
    assert ids(recall(vault, "alice", "綠茶的罐子")) == [memory_id]
    clock.time += timedelta(days=7)
    assert ids(recall(vault, "alice", "綠茶的罐子")) == []
    assert search(vault, "alice", SearchQuery("綠茶的罐子")).hits == []
    assert "左邊的櫃子" not in build_enhanced_prompt(vault, "alice", "綠茶的罐子").text
    assert ids(recall(vault, "alice", "綠茶的罐子", history=True)) == [memory_id]
    assert list_memories(vault, "alice") == [] and len(list_memories(vault, "alice", history=True)) == 1


def test_a_job_moves_it_to_the_archive(vault: Vault, home: Home, clock: Clock) -> None:
    """E8: found with history only, told by the job and in the commit."""
    memory_id = store_memory(vault, "alice", "綠茶的罐子在廚房左邊的櫃子")
    kept = remember(vault, "alice", "紅茶的罐子在右邊")
    before = home.file(memory_id).stored
    clock.time += timedelta(days=8)
    (outcome,) = heartbeat(vault, "memories", force=True)
    assert outcome.ok and outcome.said == f"memory/alice: 1 archived ({memory_id})"
    assert home.names("archive/memories") == [f"{memory_id}-綠茶的罐子在廚房左邊的櫃子.md"]
    assert home.names() == [home.file(kept).source.rpartition("/")[2]]
    assert home.file(memory_id).stored == before
    assert home.log()[0].subject == "memories(alice): archive 1 memory, expired" and home.is_clean()
    assert ids(recall(vault, "alice", "綠茶的罐子")) == [kept]
    assert memory_id in ids(recall(vault, "alice", "綠茶的罐子", history=True))
    (again,) = heartbeat(vault, "memories", force=True)
    assert again.said == "recalls of 1 memory counted"


def test_many_at_once_are_no_mass_deletion(vault: Vault, home: Home, clock: Clock) -> None:
    for n in range(8):
        store_memory(vault, "alice", f"word{n}")
    clock.time += timedelta(days=8)
    assert len(expire_memories(vault, "alice")) == 8
    assert home.names() == [] and len(home.names("archive/memories")) == 8
    state = status(vault, "alice")
    assert state.scopes[0].held == () and not state.unhealthy
    assert len(list_memories(vault, "alice", history=True)) == 8


def test_who_gives_it_more_time_keeps_it(vault: Vault, home: Home, clock: Clock) -> None:
    memory_id = store_memory(vault, "alice", "tea is nice")
    path = home.path / home.file(memory_id).source
    clock.time += timedelta(days=8)
    path.write_text(path.read_text("utf-8").replace("2026-02-06", "2027-02-06"), "utf-8")
    assert expire_memories(vault, "alice") == ()
    assert ids(recall(vault, "alice", "tea")) == [memory_id]


def test_who_gives_it_more_time_at_the_last_moment_keeps_it(vault: Vault, home: Home, clock: Clock) -> None:
    memory_id = store_memory(vault, "alice", "tea is nice")
    path = home.path / home.file(memory_id).source
    calls = 0

    def now() -> datetime:
        nonlocal calls
        calls += 1
        if calls == 1:  # the job has looked at all memories
            path.write_text(path.read_text("utf-8").replace("2026-02-06", "2027-02-06"), "utf-8")
        return clock.time + timedelta(days=8)

    assert expire_memories(replace(vault, now=now), "alice") == () and calls > 2
    assert path.exists() and "2027-02-06" in path.read_text("utf-8")


def test_a_name_that_the_archive_has_is_not_overwritten(vault: Vault, home: Home, clock: Clock) -> None:
    memory_id = store_memory(vault, "alice", "tea is nice")
    name = home.names()[0]
    folder = home.path / "archive/memories/2026-01"
    folder.mkdir(parents=True)
    (folder / name).write_text("mine\n", encoding="utf-8")
    clock.time += timedelta(days=8)
    assert expire_memories(vault, "alice") == (memory_id,)
    assert home.names("archive/memories") == sorted([name, name.replace(".md", "-2.md")])
    assert (folder / name).read_text("utf-8") == "mine\n"


def test_a_secret_that_is_withheld_is_not_committed_by_the_move(vault: Vault, home: Home, clock: Clock) -> None:
    memory_id, other = (store_memory(vault, "alice", text) for text in ("tea is nice", "the car is red"))
    path = home.path / home.file(memory_id).source
    path.write_text(path.read_text("utf-8") + "AKIAIOSFODNN7EXAMPLE\n", "utf-8")
    clock.time += timedelta(days=8)
    assert expire_memories(vault, "alice") == (other,)
    assert path.exists() and ids(recall(vault, "alice", "tea")) == []
    assert "AKIAIOSFODNN7" not in git(vault, "log", "-p", "--all")
    small = replace(vault, config=replace(vault.config, memories_capacity=1))
    path.write_text(path.read_text("utf-8").replace("2026-02-06", "2027-02-06"), "utf-8")
    store_memory(small, "alice", "one"), store_memory(small, "alice", "two")
    assert path.exists() and "AKIAIOSFODNN7" not in git(vault, "log", "-p", "--all")


def test_a_persons_own_notes_never_expire_by_the_job(vault: Vault, home: Home) -> None:
    """E8: nobody is there to be told, so they stay, with a time or without; `status` says that there are too many."""
    (home.path / "memories").mkdir(parents=True)
    for n in range(6):
        until = "expires_at: 2027-01-01T00:00:00+08:00\n" if n % 2 else ""
        text = f"---\nimportance: 0.{n + 1}\n{until}---\nword{n}\n"
        (home.path / f"memories/m{n}.md").write_text(text, encoding="utf-8")
    (home.path / "memories/m5.md").write_text("---\nimportance: [\n---\nbroken\n", encoding="utf-8")
    small = replace(vault, config=replace(vault.config, memories_capacity=3))
    assert expire_memories(small, "alice") == () and len(home.names()) == 6
    assert [line for line in status(small, "alice").degraded if "memories.capacity is 3" in line]
    assert status(small, "alice").scopes[0].warned.keys() == {"memories/m5.md"}


def test_many_that_another_machine_has_brought_expire_by_the_job(vault: Vault, home: Home) -> None:
    """E8: the capacity holds for them, too; what is for good stays."""
    stored = [store_memory(vault, "alice", f"word{n}", importance=(n + 1) / 10) for n in range(6)]
    kept = remember(vault, "alice", "tea is nice", 0.0)
    small = replace(vault, config=replace(vault.config, memories_capacity=3))
    assert expire_memories(small, "alice") == (*stored[:4],)
    assert {each.memory.id for each in list_memories(small, "alice")} == {*stored[4:], kept}
    assert home.is_clean()


def test_the_one_that_matters_least_goes_and_it_may_be_the_new_one(vault: Vault, home: Home, clock: Clock) -> None:
    """E8: by importance, then use, then age; what goes for it never matters more, and it lies in the archive."""
    small = replace(vault, config=replace(vault.config, memories_capacity=3))
    first, second, third = (store_memory(small, "alice", text, importance=0.5) for text in ("tea", "car", "dog"))
    least = store_memory(small, "alice", "sun", importance=0.1)
    assert least.stored.expired == (least,) and home.file(least).is_archived
    assert [entry.subject for entry in home.log(2)] == [
        "memories(alice): archive 1 memory, over the 3 that are kept (memories.capacity)",
        "memories(alice): add insight sun",
    ]
    assert ids(recall(small, "alice", "tea")) == [first], "recalled today, which no note says yet"
    clock.time += timedelta(seconds=1)
    assert store_memory(small, "alice", "rain", importance=0.5).stored.expired == (second,)
    write_accesses(small, "alice")
    clock.time += timedelta(seconds=1)
    assert store_memory(small, "alice", "snow", importance=0.5).stored.expired == (third,)
    assert not home.file(first).is_archived and home.is_clean() and len(list_memories(small, "alice")) == 3


def test_what_is_for_good_goes_only_where_that_is_told(vault: Vault, home: Home) -> None:
    """E8: a turn takes the place of none; its own memory goes, and the turn says so. A command is told which goes."""
    small = replace(vault, config=replace(vault.config, memories_capacity=2))
    (home.path / "memories").mkdir(parents=True)
    (home.path / "memories/mine.md").write_text("---\nimportance: 0.0\n---\nmy own\n", encoding="utf-8")
    commit_edits(vault, [*vault.history.uncommitted()])
    lasting = remember(small, "alice", "Bob deploys", 0.1)
    (said,) = (recorded := record_turn(small, "alice", "我養了一隻貓")).memories
    assert [line for line in recorded.degraded if said.id in line] and home.file(said.id).is_archived
    assert {each.memory.id for each in list_memories(small, "alice")} == {"mine", lasting}
    assert remember(small, "alice", "Use JWT").stored.expired == ("mine",)
    assert home.file("mine").is_archived and home.is_clean()


def test_a_note_in_no_commit_leaves_the_place_to_the_next_one(vault: Vault, home: Home) -> None:
    """E8: it cannot go, and the capacity holds all the same; where none can go, that is said."""
    small = replace(vault, config=replace(vault.config, memories_capacity=2))
    first = remember(small, "alice", "Bob deploys", 0.6)
    for n in range(3):  # the least ones, and more than one
        (home.path / f"memories/own{n}.md").write_text(f"word{n}\n", encoding="utf-8")
    recall(small, "alice", "word")
    second = remember(small, "alice", "Use JWT", 0.8)
    assert second.stored.expired == (first,) and second.stored.degraded == ()
    assert [line for line in status(small, "alice").degraded if "4 memories, and memories.capacity is 2" in line]
    path = home.path / home.file(second).source
    path.write_text(path.read_text("utf-8") + "edited\n", "utf-8")
    third = remember(small, "alice", "the car is red", 0.9)
    assert third.stored.expired == () and "1 memory is over the 2" in third.stored.degraded[0], "none can go for it"
    less = remember(small, "alice", "it rains", 0.1)
    assert less.stored.expired == (less,) and less.stored.degraded == ()
    commit_edits(vault, [*vault.history.uncommitted()])
    assert remember(small, "alice", "the dog is brown", 0.9).stored.expired == ("own0",)
