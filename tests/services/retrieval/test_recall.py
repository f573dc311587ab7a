"""E3: recall of typed memories."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from tests.conftest import Clock
from vault_memory.adapters import files
from vault_memory.errors import UsageError
from vault_memory.services.memories import remember, store_memory, supersede
from vault_memory.services.retrieval import SearchQuery, recall, recall_memory, search
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault


def contents(found: list) -> list[str]:
    return [each.content for each in found]


def test_by_words_in_both_scripts(vault: Vault) -> None:
    remember(vault, "alice", "我喜歡咖啡，不加糖")
    remember(vault, "alice", "部署要先問 Bob")
    (vault.root / "memory/alice/coffee.md").write_text("咖啡機在廚房\n", encoding="utf-8")
    (found,) = recall(vault, "alice", "喜欢咖啡")
    assert found.content == "我喜歡咖啡，不加糖", "notes of other kinds are no memories"
    assert found.path.startswith("memory/alice/memories/2026-01/mem_")
    parts = {key: value for key, value in found.explain.items() if key != "search"}
    assert set(parts) == {"relevance", "importance", "recency", "reinforcement"}
    assert sum(parts.values()) == pytest.approx(found.score, abs=1e-3)
    assert "咖啡" in found.explain["search"]["terms"]
    assert found.as_dict()["score"] == found.score


def test_only_of_a_skill_and_of_types(vault: Vault) -> None:
    store_memory(vault, "alice", "tea one", "fact", "code")
    store_memory(vault, "alice", "tea two", "lesson", "code")
    store_memory(vault, "alice", "tea three", "fact", "cook")
    store_memory(vault, "alice", "tea four", "fact")
    assert set(contents(recall(vault, "alice", "tea", "code"))) == {"tea one", "tea two"}
    assert contents(recall(vault, "alice", "tea", "code", memory_types=["fact"])) == ["tea one"]
    assert len(recall(vault, "alice", "tea", memory_types=["fact", "lesson"])) == 4
    with pytest.raises(UsageError, match="'secret'"):
        recall(vault, "alice", "tea", memory_types=["secret"])


def test_a_memory_whose_words_stand_in_another_hides_none(vault: Vault) -> None:
    """Each is an answer of its own: one may say more, or the contrary. So it is with the same words of two skills, and
    with one and what took its place."""
    said = ["Bob may restart production", "Bob may restart production only with Ann", "Nobody thinks Bob may restart"]
    for text in (*said, "Nobody thinks Bob may restart production"):
        store_memory(vault, "alice", text, force_save=True)
    found = recall(vault, "alice", "who may restart production", top_k=10)
    assert set(contents(found)) == {*said, "Nobody thinks Bob may restart production"}
    first = store_memory(vault, "alice", "The invoices go out on the first", skill_id="web")
    store_memory(vault, "alice", "The invoices go out on the first", force_save=True)
    supersede(vault, "alice", first, "The invoices go out on the first only after the audit")
    past = recall(vault, "alice", "when do the invoices go out", history=True)
    assert [each.superseded_by is not None for each in past].count(True) == 1 and len(past) == 3


def test_few_of_a_type_are_found_among_many(vault: Vault) -> None:
    """A filter comes before the search, so that no others crowd them out."""
    (vault.root / "memory/alice/memories").mkdir(parents=True)
    for n in range(150):
        text = f"---\ntype: fact\n---\ntea tea tea {n}\n"
        (vault.root / f"memory/alice/memories/m{n}.md").write_text(text, encoding="utf-8")
    store_memory(vault, "alice", "about the tea of yesterday, and a long story besides", "lesson")
    assert len(recall(vault, "alice", "tea", memory_types=["lesson"])) == 1


def test_what_is_important_recent_or_used_comes_first(vault: Vault, clock: Clock) -> None:
    """E3"""
    store_memory(vault, "alice", "tea from the north", importance=0.2, ttl_days=None)
    clock.time += timedelta(days=90)
    store_memory(vault, "alice", "tea from the south", importance=0.2, ttl_days=None)
    store_memory(vault, "alice", "tea from the west!", importance=0.9, ttl_days=None)
    found = recall(vault, "alice", "tea")
    assert contents(found) == ["tea from the west!", "tea from the south", "tea from the north"]
    assert contents(recall(vault, "alice", "tea from the north"))[0] == "tea from the north"


def test_of_a_long_memory_its_best_passage_counts(vault: Vault) -> None:
    filler = "\n\n".join(f"第 {n} 件事和別的東西有關，說了很久也沒有結論，下次再談。" * 4 for n in range(30))
    remember(vault, "alice", f"quorum\n\n{filler}\n\nthe quorum needs seven votes\n\n{filler[:3000]}\n\nvotes")
    hits = search(vault, "alice", SearchQuery("seven votes of the quorum", 20)).hits
    assert len(hits) > 1 and hits[0].score > hits[-1].score
    (found,) = recall(vault, "alice", "seven votes of the quorum")
    assert found.explain["relevance"] == pytest.approx(0.7 * hits[0].score, abs=1e-3)


def test_at_most_so_many(vault: Vault) -> None:
    for n in range(8):
        remember(vault, "alice", f"tea number {n}")
    assert len(recall(vault, "alice", "tea")) == 5
    assert len(recall_memory(vault, "alice", "tea")) == 3
    assert len(recall(vault, "alice", "tea", top_k=7)) == 7
    for wrong in (0, -1, 101):
        with pytest.raises(UsageError, match="top_k"):
            recall(vault, "alice", "tea", top_k=wrong)


def test_nobody_and_nothing(vault: Vault) -> None:
    assert recall(vault, "nobody", "tea") == [] and not vault.is_user("nobody")
    remember(vault, "alice", "tea is nice")
    assert recall(vault, "alice", "") == [] and recall(vault, "bob", "tea") == []


def test_a_person_s_own_note_is_recalled(vault: Vault) -> None:
    (vault.root / "memory/alice/memories").mkdir(parents=True)
    (vault.root / "memory/alice/memories/茶.md").write_text("綠茶要用八十度的水\n", encoding="utf-8")
    (found,) = recall(vault, "alice", "綠茶用幾度的水")
    assert (found.id, found.type, found.content) == ("茶", "note", "綠茶要用八十度的水")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks of files are POSIX here")
def test_a_recall_that_cannot_be_counted_is_told(vault: Vault) -> None:
    remember(vault, "alice", "tea is nice")
    (vault.root / ".vault-memory/recalls").mkdir()
    with files.lock(vault.root / ".vault-memory/recalls/alice.lock", 1, vault.root):
        found = recall(vault, "alice", "tea")
    assert len(found) == 1 and "not counted" in found.degraded[0]


CROWD = [
    *("我喜歡坐靠窗的位子", "我喜歡雨天待在家裡", "我喜歡慢慢來", "我喜歡先聽壞消息", "我喜歡開窗睡覺"),
    *("我喜歡用便條紙記事", "我喜歡一個人旅行", "我喜歡安靜", "我喜歡早起", "我喜歡把桌面收乾淨"),
    *(f"第 {number} 個會議改到星期五下午" for number in range(39)),
]
"""With the memory that answers 50, of which ten begin alike."""


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我喜欢咖啡", "我喜欢什么饮料"),
        ("我養了一隻柴犬", "我有什麼寵物"),
        ("週末都去打羽毛球", "我平常做什麼運動"),
        ("我會彈吉他", "我會什麼樂器"),
        ("I play the cello", "which instrument do I play"),
        ("我搭捷運上班", "我用什麼交通工具通勤"),
        ("最喜歡的是墨綠", "我喜歡什麼顏色"),
        ("I love ramen", "what food do I like"),
        ("我是護理師", "我的職業是什麼"),
        ("我愛看驚悚片", "我喜歡哪種電影"),
    ],
)
def test_who_asks_for_a_kind_gets_the_thing(vault: Vault, said: str, asked: str) -> None:
    """E10: offline, among 50 other memories of which ten begin 我喜歡."""
    folder = vault.root / "memory/alice/memories"
    folder.mkdir(parents=True)
    for number, text in enumerate(CROWD):
        (folder / f"c{number}.md").write_text(f"{text}\n", encoding="utf-8")
    store_memory(vault, "alice", said, "preference")
    assert contents(recall(vault, "alice", asked))[0] == said


def test_a_like_of_no_list_fills_a_free_place_behind_what_is_known(vault: Vault) -> None:
    """E3, E10: never one of another category, never before one that is of the category, and uncounted."""
    for said in ("我喜歡莴笋", "我喜歡高麗菜", "我喜歡咖啡", "我討厭沙瓦", "我喜歡去運動中心"):
        record_turn(vault, "alice", said)
    assert contents(recall(vault, "alice", "我喜歡什麼蔬菜")) == ["我喜歡高麗菜", "我喜歡莴笋"]
    assert contents(recall(vault, "alice", "我喜歡什麼蔬菜", top_k=1)) == ["我喜歡高麗菜"]
    assert contents(recall(vault, "alice", "我喜歡什麼蔬菜", memory_types=["fact"])) == []
    uncounted = next(each for each in recall(vault, "alice", "我喜歡什麼蔬菜") if each.content == "我喜歡莴笋")
    assert uncounted.access_count == 0 and sum(
        part for name, part in uncounted.explain.items() if name != "search"
    ) == pytest.approx(uncounted.score, abs=1e-3)
