"""B5: a memory that is kept already is not stored again."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock, wait_until, wait_until_inside
from tests.core.memories.relations import SAME, TWO
from tests.scripted_http import Received, Reply, ScriptedServer, completion
from tests.services.memories.conftest import Home
from vault_memory.adapters import files
from vault_memory.errors import Busy
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories import (
    Stored,
    draft,
    expire_memories,
    list_memories,
    memory_files,
    remember,
    store,
    store_memory,
    supersede,
)
from vault_memory.services.person_edits import commit_edits
from vault_memory.services.vault import Vault, open_vault

OLD = "Use JWT for auth because mobile has no cookies"
NEW = "Use JWT tokens for auth since mobile has no cookies"
BOTH = "Use JWT tokens for auth because mobile has no cookies"
OTHER_WORDS = "登入用令牌，手機沒有餅乾"


@pytest.fixture
def smart(vault: Vault, clock: Clock, chat: ScriptedServer) -> Vault:
    """The vault with a scripted language model."""
    return open_vault(vault.root, now=clock, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=2.0)


def add(vault: Vault, text: str, **more: Any) -> Stored:
    return store(vault, "alice", draft(vault, text, "note"), **more)


def merge(text: str = BOTH, score: float = 0.9) -> str:
    return json.dumps({"score": score, "reason": "the same decision", "merged": text})


def find(*numbers: int) -> str:
    return json.dumps({"similar": [{"number": n, "score": 0.8, "reason": "the same"} for n in numbers]})


def contents(vault: Vault) -> set[str]:
    return {file.memory.content for file in list_memories(vault, "alice")}


def test_one_similar_and_nobody_to_confirm_is_asked_about(vault: Vault, home: Home) -> None:
    """B5: one similar and no LLM: ask; nothing is stored, and `force_save` stores it."""
    old = add(vault, OLD)
    commits = len(home.log())
    asked = add(vault, NEW)
    (similar,) = asked.similar
    assert asked.id == "" and (similar.id, similar.content) == (old.id, OLD)
    assert similar.as_dict().keys() == {"id", "score", "reason", "content"} and 0.35 <= similar.score < 1
    assert "%" in similar.reason and len(home.names()) == 1 and len(home.log()) == commits
    forced = add(vault, NEW, force_save=True)
    assert forced.id and not forced.similar and contents(vault) == {OLD, NEW}
    by_library = store_memory(vault, "alice", f"{OLD} or so")
    assert home.file(by_library).memory.content == f"{OLD} or so", "a program may not look: nothing is lost"
    assert {each.id for each in by_library.stored.similar} == {old.id, forced.id}
    assert not store_memory(vault, "alice", f"{OLD} or like that", force_save=True).stored.similar


def test_several_similar_are_listed(smart: Vault, chat: ScriptedServer) -> None:
    """B5: several similar: always ask and list; the model is not asked."""
    first, second = add(smart, OLD, force_save=True), add(smart, NEW, force_save=True)
    asked = add(smart, f"{NEW}, really")
    assert asked.id == "" and [each.id for each in asked.similar] == [second.id, first.id]
    assert chat.received == []


def test_the_same_lives_on(vault: Vault, home: Home, clock: Clock) -> None:
    """B5: doors without a person reinforce, whatever case, script and signs it is said with."""
    first = store_memory(vault, "alice", "我喜歡咖啡")
    clock.time += timedelta(days=5)
    again = store_memory(vault, "alice", "我喜欢咖啡！")
    assert again == first and again.stored.reinforced and again.stored.similar[0].score == 1
    clock.time += timedelta(days=5)
    assert expire_memories(vault, "alice") == (), "its time began anew"
    assert home.file(first).memory.access_count == 1


def test_what_is_to_stay_for_good_stays_for_good(vault: Vault, home: Home) -> None:
    week = store_memory(vault, "alice", "Bob deploys on weekends")
    lasting = remember(vault, "alice", "Bob deploys on weekends")
    assert lasting != week and home.file(lasting).memory.expires_at is None
    assert home.file(week).memory.superseded_by == lasting
    assert store_memory(vault, "alice", "Bob deploys on weekends") == lasting


def test_a_skill_keeps_its_own(vault: Vault, home: Home) -> None:
    add(vault, OLD)
    asked = store(vault, "alice", draft(vault, OLD, "note", "web"))
    assert asked.id == "" and asked.similar[0].score == 1 and not asked.reinforced


def test_nobody_to_ask_merges_nothing(smart: Vault, chat: ScriptedServer, home: Home) -> None:
    """B5: `unattended`: the same is reinforced, else it is stored, and the list is told."""
    old = add(smart, OLD, unattended=True)
    assert add(smart, OLD.upper(), unattended=True).reinforced
    new = add(smart, NEW, unattended=True)
    assert new.id and [each.id for each in new.similar] == [old.id] and contents(smart) == {OLD, NEW}
    assert chat.received == []


def test_templated_notes_are_all_kept(vault: Vault) -> None:
    """B5: those that differ in a number, a date, a version or a host are neither merged away nor held back."""
    texts = [f"Build {n} of the web server was deployed to host web{n} without a problem" for n in range(12)]
    texts += [f"The backup of 2026-01-{n:02} is complete" for n in range(1, 6)]
    texts += [f"我喜歡{thing}" for thing in ("茶", "狗", "貓", "咖啡", "籃球", "吉他")]
    assert all(store_memory(vault, "alice", text) for text in texts)
    assert contents(vault) == set(texts)


def test_past_memories_hold_nothing_back(vault: Vault, home: Home, clock: Clock) -> None:
    add_id = store_memory(vault, "alice", OLD)
    clock.time += timedelta(days=8)
    again = store_memory(vault, "alice", OLD)
    assert again and again != add_id
    supersede(vault, "alice", again, "We use sessions now")
    assert store_memory(vault, "alice", OLD) not in ("", again)


def test_notes_by_hand_count(vault: Vault, home: Home) -> None:
    store_memory(vault, "alice", "tea is nice")
    (home.path / "memories/work").mkdir()
    (home.path / "memories/work/mine.md").write_text(f"{OLD}\n", encoding="utf-8")
    list_memories(vault, "alice")
    assert [each.id for each in add(vault, NEW).similar] == ["mine"]
    vault.index("alice").close()
    (home.path / "index.db").unlink()
    assert [each.id for each in add(open_vault(vault.root), NEW).similar] == ["mine"], "of an index that is new"


def test_a_model_confirms_and_merges(smart: Vault, chat: ScriptedServer, home: Home) -> None:
    """B5: for exactly one similar it confirms and writes the merge, which supersedes both; nothing is overwritten."""
    chat.will_say(merge())
    old = store(smart, "alice", draft(smart, OLD, "decision", importance=0.9, ttl_days=30, tags=["auth"]))
    commits = len(home.log())
    made = store(smart, "alice", draft(smart, NEW, "note", metadata={"mood": "好"}))
    assert made.merged == (old.id,) and made.similar == () and len(made.commits) == 1
    new = home.file(made.id).memory
    assert (new.content, new.type, new.importance, new.tags, new.expires_at) == (BOTH, "decision", 0.9, ("auth",), None)
    assert new.metadata == {"mood": "好"} and new.supersedes is not None
    first, second = memory_files(smart, "alice", new.supersedes.split(", "))
    assert [each.memory.content for each in (first, second)] == [OLD, NEW]
    assert first.memory.superseded_by == second.memory.superseded_by == made.id
    assert contents(smart) == {BOTH} and len(home.log()) == commits + 1 and home.is_clean()
    assert home.log()[0].subject.startswith("memories(alice): merge decision Use JWT")
    assert chat.received[-1].fields["temperature"] == 0


def test_what_a_sure_model_takes_for_the_same(smart: Vault, chat: ScriptedServer) -> None:
    """B5: it never merges two that differ in a name, a direction or an order, and always the same in other words."""

    def sure(received: Received) -> Reply:
        sent = json.loads(received.fields["messages"][1]["content"])
        return completion(find(1) if "memories" in sent else merge(f"{sent['old']}. {sent['new']}", 1.0))

    chat.script = [sure]

    def merged(user_id: str, one: str, other: str) -> bool:
        store(smart, user_id, draft(smart, one, "note"))
        made = store(smart, user_id, draft(smart, other, "note"))
        assert made.id and not made.degraded
        return bool(made.merged)

    assert [pair for n, pair in enumerate(TWO[2:46:4]) if merged(f"two{n}", *pair)] == []
    assert [pair for n, pair in enumerate(SAME[::4]) if not merged(f"same{n}", *pair)] == []


def test_a_model_looks_only_where_words_found_nothing(smart: Vault, chat: ScriptedServer) -> None:
    """B5: over the ten latest; what it finds alone is confirmed by the merge, else asked about."""
    chat.will_say(find())
    for n in range(12):
        add(smart, f"{'abcdefghijkl'[n] * 4} {'mnopqrstuvwx'[n] * 5}", unattended=True)
    old = add(smart, OLD)
    sent = json.loads(chat.received[-1].fields["messages"][1]["content"])
    assert len(sent["memories"]) == 10 and sent["new"] == OLD
    chat.will_say(find(1), merge("", 0.5))
    asked = add(smart, OTHER_WORDS)
    assert asked.id == "" and [each.id for each in asked.similar] == [old.id] and asked.similar[0].score == 0.8
    assert "the same decision" in asked.similar[0].reason


@pytest.mark.parametrize(
    "said",
    [
        "nonsense",
        "[" * 5_000,
        merge("Something else"),
        merge(f"{BOTH} AKIAIOSFODNN7EXAMPLE"),
        merge(BOTH * 9),
        Reply(status=400),
        Reply(parts=[b"x" * 2_000_000]),
        Reply(wait_s=9),
    ],
    ids=["nonsense", "deep", "other", "secret", "huge", "refused", "flood", "late"],
)
def test_a_bad_answer_merges_nothing(smart: Vault, chat: ScriptedServer, home: Home, said: str | Reply) -> None:
    """Bad input of the memories' issue: an LLM that answers nonsense: the person is asked, and `degraded` says so."""
    add(smart, OLD, unattended=True)
    chat.will_say(said)
    asked = add(smart, NEW)
    assert asked.id == "" and len(asked.similar) == 1 and contents(smart) == {OLD}
    assert asked.degraded and "nothing is merged" in asked.degraded[0] and "AKIA" not in str(asked)
    assert add(smart, "tea is nice in the morning").degraded, "it looked by words alone, and stored it"
    assert contents(smart) == {OLD, "tea is nice in the morning"}
    stored = store_memory(smart, "alice", NEW).stored
    assert stored.id and stored.similar and "nothing is merged" in stored.degraded[0], (
        "a program stores it, and is told"
    )


def test_no_lock_is_held_while_a_model_works_and_it_is_checked_again(
    smart: Vault, vault: Vault, chat: ScriptedServer, home: Home
) -> None:
    """B5: meanwhile another process stores the same: then there is one."""
    add(smart, OLD, unattended=True)

    def meanwhile(text: str, said: str) -> Callable[[Received], Reply]:
        def reply(_: Received) -> Reply:
            storing = threading.Thread(target=add, args=(vault, text), kwargs={"force_save": True})
            storing.start()
            storing.join(20)
            assert not storing.is_alive(), "the lock is held"
            return completion(said)

        return reply

    chat.script = [meanwhile(NEW, merge())]
    made = add(smart, NEW)
    assert made.reinforced and contents(smart) == {OLD, NEW}
    chat.script = [meanwhile("我們星期五下午才部署", find()), completion(find())]
    assert add(smart, "我們星期五下午才部署").reinforced and len(contents(smart)) == 3


def test_an_edit_while_a_model_works_is_not_lost(smart: Vault, chat: ScriptedServer, home: Home) -> None:
    old = add(smart, OLD, unattended=True)
    path = home.path / home.file(old.id).source

    def edited(_: Received) -> Reply:
        path.write_text(path.read_text("utf-8") + "\nand Bob knows why\n", encoding="utf-8")
        return completion(merge())

    chat.script = [edited, completion(merge("", 0.2))]
    asked = add(smart, NEW)
    assert asked.id == "" and asked.similar[0].content.endswith("and Bob knows why")
    assert "and Bob knows why" in path.read_text("utf-8") and "superseded_by" not in path.read_text("utf-8")


def _add(root: Path, text: str) -> bool:
    return add(open_vault(root), text).reinforced


def test_the_next_writer_finds_it_in_the_index(vault: Vault, home: Home) -> None:
    """B5: the user's lock is given back when the memory can be found, and not before."""
    add(vault, "tea is nice")
    commits = len(home.log())
    with vault.indexing("alice"):
        storing = threading.Thread(target=add, args=(vault, OLD))
        storing.start()
        wait_until(lambda: len(home.log()) > commits, "it is committed")
        with pytest.raises(Busy), open_vault(vault.root).writing("alice", 0.3):
            pass
    storing.join(60)
    assert add(vault, NEW).similar


def test_it_is_checked_while_the_lock_is_held(vault: Vault, home: Home) -> None:
    """B5: what another writer has stored since it was looked for the first time counts."""
    add(vault, "tea is nice")
    told: list[Stored] = []
    with open_vault(vault.root).writing("alice"):
        storing = threading.Thread(target=lambda: told.append(add(vault, NEW)))
        storing.start()
        wait_until_inside(storing, files.lock)
        (home.path / "memories/mine.md").write_text(f"{OLD}\n", encoding="utf-8")
        reconcile(open_vault(vault.root), "alice")
    storing.join(60)
    assert [each.id for each in told[0].similar] == ["mine"] and told[0].id == ""


@pytest.mark.slow
def test_ten_processes_with_similar_ones_keep_one(vault: Vault, home: Home) -> None:
    """B5: each is checked while the user's lock is held."""
    with ProcessPoolExecutor(10, multiprocessing.get_context("spawn")) as pool:
        texts = [OLD if n % 2 else NEW for n in range(10)]
        assert sum(pool.map(_add, [vault.root] * 10, texts)) == 4
    assert len(home.names()) == 1 and contents(vault) < {OLD, NEW} and home.is_clean()


def test_one_goes_for_one_that_comes(vault: Vault, home: Home) -> None:
    """E8: somebody has lowered the capacity by many: no writer waits until all are archived. The job moves the rest."""
    (home.path / "memories/old").mkdir(parents=True)
    for n in range(20):
        front = f"---\ncreated_at: 2026-01-01T00:00:{n:02}+08:00\nexpires_at: 2027-01-01T00:00:00+08:00\n---\n"
        (home.path / f"memories/old/m{n}.md").write_text(f"{front}note {n}\n", encoding="utf-8")
    list_memories(vault, "alice", limit=1)
    commit_edits(vault, [*vault.history.uncommitted()])
    small = replace(vault, config=replace(vault.config, memories_capacity=5))
    assert store_memory(small, "alice", "tea is nice").stored.expired == ("m0",)
    assert len(expire_memories(small, "alice")) == 15 and len(contents(small)) == 5


def test_a_commit_names_the_notes_of_a_month(vault: Vault, home: Home, clock: Clock) -> None:
    """B5: notes lie by month, past ones too, so that adding to many costs no more."""
    first = store_memory(vault, "alice", "tea is nice")
    clock.time += timedelta(days=30)
    second = store_memory(vault, "alice", "the car is red")
    assert home.file(first).source.startswith("memories/2026-01/") or home.file(first).is_archived
    assert home.file(second).source.startswith(f"memories/{clock.time:%Y-%m}/")
    source = home.file(first).source
    assert expire_memories(vault, "alice") == (first,) and home.file(first).source == f"archive/{source}"
