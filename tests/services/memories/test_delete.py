"""B6, E8: deleting in two steps."""

from __future__ import annotations

import json
import shlex
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import PurePosixPath

import pytest

from tests.conftest import Clock
from tests.services.memories.conftest import Home
from vault_memory.errors import HistoryError, NotFound, UsageError, VaultMemoryError
from vault_memory.services.admin import status
from vault_memory.services.memories import (
    Receipt,
    delete_memories,
    draft,
    list_memories,
    prepare_deletion,
    remember,
    store,
    store_memory,
    supersede,
)
from vault_memory.services.notes import restore_file
from vault_memory.services.retrieval import SearchQuery, recall, search
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
    with pytest.raises(UsageError, match="a code is a text, not 'None'"):
        delete_memories(vault, "alice", None)  # type: ignore[arg-type]
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


def stores(receipt: Receipt) -> dict[str, bool]:
    return {look.store: look.is_absent for look in receipt.looks}


GONE = dict.fromkeys(("files", "ids", "words", "vectors", "bytes", "state", "git"), True)


def test_the_receipt_is_of_looks_and_its_command_brings_the_note_back(vault: Vault, home: Home) -> None:
    """B6: absence from files, words, vectors and state, each looked at; the restore line names a commit that has it."""
    memory = draft(vault, "tea is nice and hot", "fact", source="conversations/2026-01-30.jsonl:12")
    tea = store(vault, "alice", memory).id
    remember(vault, "alice", "tea is cheap")
    note = home.file(tea)
    vault.index("alice").embed_pending(vault.embedder)
    recall(vault, "alice", "tea")
    other = prepare_deletion(vault, "alice", query="tea").code
    recalls = vault.root / ".vault-memory/recalls/alice.json"
    deletions = vault.root / ".vault-memory/deletions/alice.json"
    assert tea in recalls.read_text("utf-8") and note.source in deletions.read_text("utf-8")
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[tea]).code)
    assert stores(done) == GONE
    assert tea not in recalls.read_text("utf-8") and note.source not in deletions.read_text("utf-8")
    with pytest.raises(UsageError, match="no deletion waits"):
        delete_memories(vault, "alice", other)
    kept = [line for line in done.kept if "conversations/2026-01-30.jsonl:12" in line]
    assert len(kept) == 1 and "git's history: 1 note" in done.kept[0]
    (line,) = done.restore
    _, _, path, _, commit = shlex.split(line)
    assert restore_file(vault, PurePosixPath(path), commit)
    assert home.file(tea).stored == note.stored and {each.id for each in recall(vault, "alice", "hot tea")} >= {tea}


def test_the_receipt_names_what_is_made_of_the_memory(vault: Vault, home: Home) -> None:
    """The former version of a memory, the one that took its place, and lines that name it."""
    first = remember(vault, "alice", "tea is nice")
    second = supersede(vault, "alice", first, "green tea is nice").id
    third = supersede(vault, "alice", second, "black coffee is better").id
    (home.path / "feedback.jsonl").write_text(json.dumps({"key": "note", "quote": second}) + "\n", "utf-8")
    kept = delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[second]).code).kept
    assert kept[1:] == (
        f"the memory {first}, whose place {second} took",
        f"the memory {third}, which took the place of {second}",
        f"feedback.jsonl names {second}",
    )
    both = prepare_deletion(vault, "alice", ids=[first, third])
    assert len(delete_memories(vault, "alice", both.code).kept) == 2, "history, and the second, whose place was taken"


def test_the_receipt_tells_what_is_still_there(vault: Vault, home: Home) -> None:
    """A second note with the same id, which the query did not choose, and an index that cannot be asked."""
    tea = remember(vault, "alice", "tea is nice")
    (home.path / "memories/copy.md").write_text(f"---\nid: {tea}\n---\ncoffee\n", "utf-8")
    chosen = prepare_deletion(vault, "alice", query="tea")
    assert len(chosen.memories) == 1
    done = delete_memories(vault, "alice", chosen.code)
    assert stores(done) == GONE | {"ids": False}
    assert "memories/copy.md" in next(look.says for look in done.looks if not look.is_absent)


def test_the_looks_see_what_the_tables_hold(vault: Vault, home: Home) -> None:
    """`remains` finds what is there: before the deletion all of it."""
    source = home.file(remember(vault, "alice", "tea is nice")).source
    index = vault.index("alice")
    index.embed_pending(vault.embedder)
    traces = index.traces([source])
    assert min(index.remains(traces)) >= 1
    index.remove([source])
    assert index.remains(traces) == (0, 0, 0)


def test_while_the_commit_waits_the_receipt_says_so(vault: Vault, home: Home) -> None:
    tea = remember(vault, "alice", "tea is nice")
    code = prepare_deletion(vault, "alice", ids=[tea]).code
    (vault.root / ".git/MERGE_HEAD").write_text("0" * 40 + "\n", "utf-8")
    done = delete_memories(vault, "alice", code)
    assert done.paused and done.commits == () and stores(done) == GONE | {"git": False}
    assert len(done.restore) == 1, "HEAD has it still"


def test_wrong_codes_end_what_waits(vault: Vault) -> None:
    """B6: a code cannot be guessed: five wrong ones, and no other user's, end it; one more deletion ends the oldest."""
    tea = remember(vault, "alice", "tea is nice")
    remember(vault, "bob", "tea is nice")
    codes = [prepare_deletion(vault, "alice", ids=[tea]).code for _ in range(2)]
    for wrong in ("AAAAAA", "", "ÄÖÜ", "A" * 1000):
        with pytest.raises(UsageError):
            delete_memories(vault, "alice", wrong)
        with pytest.raises(UsageError):
            delete_memories(vault, "bob", wrong)
    late = prepare_deletion(vault, "alice", ids=[tea]).code
    with pytest.raises(UsageError):
        delete_memories(vault, "alice", "AAAAAA")
    for code in codes:
        with pytest.raises(UsageError, match="5 wrong codes"):
            delete_memories(vault, "alice", code)
    assert delete_memories(vault, "alice", late).ids == (tea,)


def test_the_oldest_of_many_deletions_ends(vault: Vault) -> None:
    tea = remember(vault, "alice", "tea is nice")
    first, *others = (prepare_deletion(vault, "alice", ids=[tea]).code for _ in range(6))
    with pytest.raises(UsageError, match="no deletion waits"):
        delete_memories(vault, "alice", first)
    assert delete_memories(vault, "alice", others[0]).ids == (tea,)


def test_a_long_content_is_previewed_by_its_beginning(vault: Vault, home: Home) -> None:
    (home.path / "memories").mkdir(parents=True)
    (home.path / "memories/long.md").write_text("tea " * 100_000, "utf-8")
    (shown,) = prepare_deletion(vault, "alice", query="tea").previewed
    assert len(shown.content) < 3_000 and shown.content.endswith("…")


def test_many_are_deleted_at_once(vault: Vault, home: Home) -> None:
    """Nearly all notes of a user: none is held back as if a disk were gone, and each can be brought back."""
    for n in range(60):
        (home.path / "memories").mkdir(parents=True, exist_ok=True)
        (home.path / f"memories/n{n}.md").write_text(f"tea {n}\n", "utf-8")
    kept = remember(vault, "alice", "coffee")
    done = delete_memories(vault, "alice", prepare_deletion(vault, "alice", memory_type="note").code)
    assert len(done.ids) == 60 == len(done.restore) and stores(done) == GONE and len(done.commits) == 1
    assert [file.memory.id for file in list_memories(vault, "alice", history=True)] == [kept]
    assert status(vault, "alice").scopes[0].held == () and home.is_clean()


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
