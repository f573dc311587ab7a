"""Code Buddy's records and ours: what comes in goes out the same, and no record ends an import."""

from __future__ import annotations

import string
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import TAIPEI
from vault_memory.core import buddy, graph, memories, mistakes
from vault_memory.core.graph import Entity, Relation
from vault_memory.errors import UsageError

NOW = datetime(2026, 1, 30, 14, 5, tzinfo=TAIPEI)
MS = st.integers(1_000_000_000_000, 4_000_000_000_000)
LETTERS = string.ascii_lowercase + string.digits
WORDS = st.text("abcdefgh 主題暗色 .,()%#[]'\":-", min_size=1, max_size=60).filter(
    lambda text: any(map(str.isalnum, text)) and text == " ".join(text.split())
)


def ids(prefix: str, ms: int) -> st.SearchStrategy[str]:
    return st.builds(
        lambda at, end: f"{prefix}_{at}_{end}",
        st.sampled_from([ms, ms - 1, ms + 5_000]),
        st.text(LETTERS, min_size=1, max_size=8),
    )


@st.composite
def memory_records(draw: st.DrawFn) -> dict[str, Any]:
    ms = draw(MS)
    return {
        "id": draw(ids("mem", ms)),
        "type": draw(st.sampled_from(buddy.MEMORY_TYPES)),
        "title": draw(WORDS),
        "content": draw(WORDS),
        "tags": draw(st.lists(st.text(LETTERS, min_size=1, max_size=8), unique=True, max_size=3)),
        "timestamp": ms,
    }


@st.composite
def mistake_records(draw: st.DrawFn) -> dict[str, Any]:
    ms = draw(MS)
    texts = ("action", "userCorrection", "correctMethod", "impact", "preventionMethod")
    rule = {"relatedRule": draw(st.text(LETTERS, min_size=1, max_size=9))} if draw(st.booleans()) else {}
    return {
        "id": draw(ids("mistake", ms)),
        "timestamp": ms,
        "errorType": draw(st.text(LETTERS, min_size=1, max_size=9)),
        **{name: draw(WORDS) for name in texts},
        **rule,
    }


@given(memory_records())
def test_a_memory_goes_out_as_it_came_in(record: dict[str, Any]) -> None:
    """B8: through its note, to the millisecond."""
    read = buddy.memory_of(record, NOW, TAIPEI)
    assert read.remarks == () and read.value.expires_at is None
    assert buddy.memory_record(memories.decode(memories.encode(read.value))) == record


@given(mistake_records())
def test_a_mistake_goes_out_as_it_came_in(record: dict[str, Any]) -> None:
    read = buddy.mistake_of(record, NOW, TAIPEI)
    assert read.remarks == ()
    assert buddy.mistake_record(mistakes.decode(mistakes.encode(read.value))) == record


@given(
    st.sampled_from([buddy.memory_of, buddy.entity_of, buddy.relation_of, buddy.mistake_of]),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=30),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
        max_leaves=6,
    ).flatmap(
        lambda value: (
            st.just(value)
            | st.dictionaries(
                st.sampled_from(
                    ["id", "type", "title", "content", "tags", "timestamp", "name", "from", "to", "action"]
                ),
                st.just(value) | st.text(max_size=20) | st.integers() | st.sampled_from(["uses", "note", "mem_1_a"]),
            )
        )
    ),
)
def test_any_value_is_read_or_refused(read: Any, record: Any) -> None:
    try:
        found = read(record, NOW, TAIPEI)
    except UsageError:
        return
    again = read(record, NOW, TAIPEI)
    assert again == found, "it is the same each time, or an import adds it twice"


def test_times_are_milliseconds_and_become_iso() -> None:
    """B8: of seconds too; without a time that of the id, else now."""
    record = {"id": "mem_1706976100000_def456", "content": "x y", "title": "x", "type": "note", "tags": []}
    assert memory_time(record | {"timestamp": 1706976100123}) == "2024-02-04T00:01:40.123000+08:00"
    assert memory_time(record | {"timestamp": 1706976100}) == "2024-02-04T00:01:40+08:00"
    assert memory_time(record) == memory_time(record | {"timestamp": "yesterday"}) == "2024-02-04T00:01:40+08:00"
    assert memory_time({"content": "x"}) == NOW.isoformat()
    for wrong in (1e400, float("nan"), -5, 10**30, True):
        assert memory_time({"content": "x", "timestamp": wrong}) == NOW.isoformat()


def memory_time(record: dict[str, Any]) -> str:
    at = buddy.memory_of(record, NOW, TAIPEI).value.created_at
    assert at
    return at.isoformat()


def test_what_does_not_fit_is_told() -> None:
    """B8"""
    record = {"id": "../../x", "type": "idea", "title": "t " * 400, "tags": ["#my tag", 3, {}], "category": "x"}
    read = buddy.memory_of(record, NOW, TAIPEI)
    assert read.value.id.startswith("mem_0_") and read.value.type == "note" and read.value.tags == ("my-tag", "3")
    told = "\n".join(read.remarks)
    for part in ("id", "'idea'", "no content", "title of more than", "Obsidian", "no text in tags", "category"):
        assert part in told
    relation = buddy.relation_of({"from": "A", "to": "B", "type": "likes", "description": "d"}, NOW, TAIPEI).value
    assert (relation.type, relation.description, relation.id) == ("related_to", "likes: d", "")
    entity = buddy.entity_of({"name": "A", "type": "person", "observations": "one"}, NOW, TAIPEI).value
    assert (entity.type, entity.observations) == (None, ("one",))
    wrong: list[Any] = [{}, {"content": " ", "title": ""}, [], None, "text", {"content": "x" * 20_001}]
    for nothing in wrong:
        with pytest.raises(UsageError):
            buddy.memory_of(nothing, NOW, TAIPEI)


@pytest.mark.parametrize(
    ("read", "record"),
    [
        (buddy.memory_of, {"title": "t", "content": " x\r\n", "type": "note"}),
        (buddy.entity_of, {"name": "A", "type": "file", "observations": ["fine", "\x1b[31mred"]}),
        (buddy.relation_of, {"from": "A ", "to": "B", "type": "uses"}),
        (buddy.mistake_of, {"action": "a", "errorType": "x", "impact": "two\rlines"}),
    ],
)
def test_what_is_not_kept_to_the_letter_is_told(read: Any, record: dict[str, Any]) -> None:
    """B8: an export says the same then, but not byte for byte."""
    timed = record | {"timestamp": 1706976100, "createdAt": 1706976100}
    told = "\n".join(read(timed, NOW, TAIPEI).remarks)
    assert "without blanks around them" in told and "whole milliseconds" in told


def test_a_time_that_a_person_has_changed_counts() -> None:
    """The milliseconds of a note count while it has the second that they belong to."""
    record = {"id": "mem_5_a", "content": "x", "title": "x", "timestamp": 1706976100123}
    note = memories.encode(buddy.memory_of(record, NOW, TAIPEI).value)
    edited = memories.decode(note.replace("2024-02-04T00:01:40", "2025-02-04T00:01:40"))
    assert buddy.memory_record(edited)["timestamp"] == 1738598500000


def test_notes_by_hand_go_out_too() -> None:
    """Without ids and times; an id is the same each time."""
    relation = Relation("A", "B", "uses")
    assert buddy.relation_record(relation) == buddy.relation_record(relation)
    assert buddy.relation_record(relation)["id"].startswith("rel_0_")
    assert buddy.entity_record(Entity("A", "entities/A.md"))["createdAt"] == 0
    insight = memories.decode("---\ntype: insight\n---\nx", "mem_1706976100000_a")
    assert buddy.memory_record(insight) == {
        "id": "mem_1706976100000_a",
        "type": "note",
        "title": "",
        "content": "x",
        "tags": [],
        "timestamp": 0,
    }
    assert set(buddy.MEMORY_TYPES) <= set(memories.TYPES) and "uses" in graph.RELATION_TYPES
