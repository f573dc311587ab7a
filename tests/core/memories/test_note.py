"""B1, E1: a memory and its note, also one that a person has edited into nonsense."""

from __future__ import annotations

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.core import memories
from vault_memory.core.memories import Memory
from vault_memory.errors import TooLarge, UsageError

NOW = datetime(2026, 1, 30, 14, 5, tzinfo=UTC)


def made(content: str = "我喜歡咖啡", memory_type: str = "fact", **more: Any) -> Memory:
    return memories.new_memory("mem_1769753100000_a1b2c3d4", content, memory_type, NOW, **more)


def test_a_note_for_obsidian() -> None:
    memory = made(ttl_days=7, tags=["drink", "#hot tea"], skill_id="barista", metadata={"mood": "good"}, importance=0.7)
    assert memories.encode(memory) == (
        "---\nid: mem_1769753100000_a1b2c3d4\ntype: fact\ntitle: 我喜歡咖啡\ntags:\n- drink\n- hot-tea\n"
        "importance: 0.7\nskill_id: barista\ncreated_at: '2026-01-30T14:05:00+00:00'\n"
        "expires_at: '2026-02-06T14:05:00+00:00'\n"
        "access_count: 0\nmood: good\n---\n我喜歡咖啡\n"
    )
    assert memories.source_of(memory) == "memories/2026-01/mem_1769753100000_a1b2c3d4-我喜歡咖啡.md"


def test_ids_have_a_prefix_the_time_and_something_random() -> None:
    """B1"""
    assert memories.new_id("task", NOW, "x1") == "task_1769781900000_x1"
    with pytest.raises(UsageError, match="'a/b'"):
        memories.new_id("a/b", NOW, "x1")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"content": "  \n"}, "empty"),
        ({"memory_type": "secret"}, "'secret'"),
        ({"importance": 7}, "7"),
        ({"importance": -0.1}, "-0.1"),
        ({"importance": float("nan")}, "nan"),
        ({"importance": True}, "True"),
        ({"ttl_days": -1}, "-1"),
        ({"ttl_days": 0.5}, "0.5"),
        ({"ttl_days": 1e9}, "1000000000"),
        ({"ttl_days": "7"}, "'7'"),
        ({"skill_id": ""}, "skill_id"),
        ({"skill_id": "a\nb"}, "skill_id"),
        ({"metadata": {"type": "x"}}, "'type'"),
        ({"metadata": {"a": {"b": 1}}}, "'a'"),
        ({"metadata": {"": 1}}, "''"),
        ({"metadata": {"a": "x" * 410_000}}, "metadata"),
        ({"metadata": {"a": 10**200}}, "metadata"),
        ({"tags": map(str, range(21_000))}, "tags"),
        ({"metadata": {"a": "x\x85"}}, "control"),
        ({"metadata": {"a": float("nan")}}, "nan"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], named: str) -> None:
    """Bad input of the memories' issue: types outside the list, empty content, importance 7, ttl −1."""
    with pytest.raises(UsageError) as error:
        made(**wrong)
    assert named in str(error.value)


def test_a_long_text_is_a_note() -> None:
    with pytest.raises(TooLarge, match="20,000"):
        made("x" * 20_001)


def test_nonsense_is_kept_and_told() -> None:
    """Bad input of the memories' issue: a note that was edited by hand into nonsense."""
    text = (
        "---\ntype: seldom\nimportance: very\nexpires_at: soon\naccess_count: -3\ntags: 3\ncolour: blue\n"
        "created_at: [1]\n---\n\n"
    )
    memory = memories.decode(text, "mem_1_a-tea")
    assert (memory.id, memory.type, memory.importance, memory.access_count) == ("mem_1_a", "note", 0.5, 0)
    assert memory.expires_at is None and memory.metadata == {"colour": "blue"}
    assert [problem.partition(":")[0] for problem in memory.problems] == [
        *("the memory is empty", "type", "importance", "created_at", "expires_at", "access_count")
    ]
    changed = memories.with_properties(text, memory, replace(memory, last_accessed_at=NOW))
    assert changed == text.replace("[1]\n", "[1]\nlast_accessed_at: '2026-01-30T14:05:00+00:00'\n")


def test_a_note_without_anything_is_a_memory() -> None:
    memory = memories.decode("Tea is good\n", "Tea")
    assert (memory.id, memory.content, memory.type, memory.problems) == ("Tea", "Tea is good", "note", ())


def test_broken_front_matter_is_left_alone() -> None:
    text = "---\ntype: [fact\n---\ntea\n"
    memory = memories.decode(text, "tea")
    assert memory.content == "tea" and "YAML" in memory.problems[0]
    with pytest.raises(UsageError, match="left as it is"):
        memories.with_properties(text, memory, replace(memory, access_count=1))


def test_a_day_is_a_time_of_this_system() -> None:
    memory = memories.decode("---\nexpires_at: 2026-02-01\n---\ntea\n", "tea")
    assert memory.expires_at == datetime(2026, 2, 1).astimezone()
    assert not memory.is_past(datetime(2026, 1, 31, 23, 59).astimezone())
    assert memory.is_past(datetime(2026, 2, 1).astimezone())


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
NAMES = st.text(string.ascii_letters + " 我", min_size=1, max_size=9).filter(str.strip).map(str.strip)


@example("0", "", [], 0.0, {"A": "\x85"})
@given(TEXTS.filter(str.strip), TEXTS, st.lists(TEXTS, max_size=3), st.floats(0, 1), st.dictionaries(NAMES, TEXTS))
def test_a_note_holds_its_memory(
    content: str, title: str, tags: list[str], importance: float, metadata: dict[str, str]
) -> None:
    metadata = {key: value for key, value in metadata.items() if key not in memories.properties_of(made())}
    try:
        memory = made(content, title=title, tags=tags, importance=importance, metadata=metadata, ttl_days=1)
    except UsageError:
        return
    read = memories.decode(memories.encode(memory), "x")
    assert read.content == memory.content and read.metadata == memory.metadata
    assert (read.importance, read.title, read.tags) == (memory.importance, memory.title.strip(), memory.tags)


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    memories.decode(f"---\n{text}\n---\n{text}", "x")
    memories.decode(text, "x")


def test_recent_important_and_reinforced_ones_count_more() -> None:
    """E3: each part of a score is in `explain`, and they sum up."""
    memory = made(importance=0.5)
    plain = memories.score(memory, 0.8, NOW)
    assert plain.total == pytest.approx(sum(plain.explained().values()))
    assert memories.score(replace(memory, importance=0.9), 0.8, NOW).total > plain.total
    assert memories.score(replace(memory, access_count=3), 0.8, NOW).total > plain.total
    later = memories.score(memory, 0.8, NOW + timedelta(days=30))
    assert later.recency == pytest.approx(plain.recency / 2)
    assert memories.score(replace(memory, created_at=NOW + timedelta(days=9)), 0.8, NOW).recency == plain.recency
    assert memories.score(replace(memory, created_at=None), 0.8, NOW).recency == 0
    best = replace(memory, importance=1.0, access_count=10**9)
    assert memories.score(best, 1.0, NOW).total == pytest.approx(1.0)
    assert memories.score(best, 0.1, NOW).total < plain.total, "what does not answer stays behind"


def test_a_count_that_is_nonsense_stays_and_is_told() -> None:
    """Bad input of the memories' issue: what a person wrote by hand is kept and reported."""
    text = "---\nid: mem_1_a\naccess_count: -4\nimportance: 0.5\n---\ntea\n"
    before = memories.decode(text)
    assert before.access_count == 0 and before.problems == ("access_count: '-4' is not a whole number from 0",)
    used = replace(before, access_count=3, importance=0.7)
    assert memories.with_properties(text, before, used) == text.replace("importance: 0.5", "importance: 0.7")
