"""Notes with front matter merge by property: no conflict mark stands where a program reads."""

from __future__ import annotations

from datetime import timedelta
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.core import graph
from vault_memory.core.merging.line_merge import Clash, Merged, Side
from vault_memory.core.merging.merge import merge_file
from vault_memory.core.merging.property_merge import is_mere_use, merge_note
from vault_memory.core.notes import note

BASE = """---
id: said_1767225600_ab12
type: preference # mine
tags:
- tea
access_count: 2
last_accessed_at: '2026-01-01T08:00:00+08:00'
expires_at: '2026-01-08T08:00:00+08:00'
said_on:
- '2026-01-01'
---
I like tea.
"""
PATH = PurePosixPath("memory/alice/memories/2026-01/said_1767225600_ab12-tea.md")


def meta(**changes: object) -> str:
    return note.with_meta(BASE, changes)


def merged(ours: str, theirs: str, base: str | None = BASE, newer: Side = "theirs") -> tuple[dict[str, object], Merged]:
    outcome = merge_note(base, ours, theirs, lambda key: newer, has_uses=True)
    parsed = note.parse(outcome.text)
    assert not parsed.problems and not note.conflicts_in(outcome.text)
    return dict(parsed.meta), outcome


def test_what_both_sides_used_is_added_up_and_the_later_time_counts() -> None:
    ours = meta(access_count=5, last_accessed_at="2026-01-03T08:00:00+08:00", said_on=["2026-01-01", "2026-01-03"])
    theirs = meta(
        access_count=3,
        last_accessed_at="2026-01-03T01:00:00+00:00",
        expires_at="2026-01-10T09:00:00+08:00",
        said_on=["2026-01-01", "2026-01-02"],
    )
    found, outcome = merged(ours, theirs)
    assert (found["access_count"], found["last_accessed_at"]) == (6, "2026-01-03T01:00:00+00:00")
    assert found["expires_at"] == "2026-01-10T09:00:00+08:00"
    assert set(found["said_on"]) == {"2026-01-01", "2026-01-02", "2026-01-03"}  # type: ignore[call-overload]
    assert outcome.clashes == () and "# mine" in outcome.text and outcome.text.endswith("---\nI like tea.\n")


def test_each_side_has_counted_its_own_use() -> None:
    found, _ = merged(meta(access_count=3), meta(access_count=3, title="Tea"))
    assert found["access_count"] == 4


def test_what_one_side_made_lasting_lasts() -> None:
    found, _ = merged(meta(expires_at=None), meta(expires_at="2026-01-12T08:00:00+08:00", access_count=3))
    assert "expires_at" not in found and found["access_count"] == 3


def test_of_a_property_that_both_changed_the_newer_stays_and_the_older_is_named() -> None:
    found, outcome = merged(meta(type="fact", title="茶"), meta(type="decision", tags=["tea", "green"]), newer="ours")
    assert (found["type"], found["title"], found["tags"]) == ("fact", "茶", ["tea", "green"])
    assert outcome.clashes == (Clash("type", "fact", "decision", "ours"),)


@pytest.mark.parametrize("value", ["often", -4, True, None])
def test_a_count_that_is_none_is_decided_by_age(value: object) -> None:
    found, _ = merged(meta(access_count=value), meta(access_count=3))
    assert found["access_count"] == 3


def test_a_note_that_both_sides_made_has_one_front_matter() -> None:
    found, _ = merged(meta(access_count=4), meta(access_count=9), base=None)
    assert found["access_count"] == 9


def test_a_persons_own_note_has_no_rules_for_use() -> None:
    path = PurePosixPath("memory/alice/notes/milk.md")
    ours, theirs = (f"---\naccess_count: {count}\n---\nMilk\n".encode() for count in (4, 5))
    outcome = merge_file(path, b"---\naccess_count: 1\n---\nMilk\n", ours, theirs, lambda key: "theirs")
    assert outcome and outcome.text == "---\naccess_count: 5\n---\nMilk\n"


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_front_matter_that_cannot_be_read_is_not_torn_up(side: Side) -> None:
    broken = BASE.replace("type: preference # mine", "type: [")
    outcome = merge_note(BASE, broken, BASE.replace("I like", "I love"), has_uses=True)
    assert outcome.text == broken.replace("I like", "I love")
    used = meta(access_count=9)
    outcome = merge_note(BASE, broken, used, lambda key: side, has_uses=True)
    assert outcome.text == (broken if side == "ours" else used)
    assert [clash.key for clash in outcome.clashes] == ["the front matter"]


def test_a_note_may_have_front_matter_on_one_side_only() -> None:
    bare = "Green tea.\n"
    outcome = merge_note(bare, "---\ntags:\n- tea\n---\n" + bare, "Green tea, please.\n")
    assert outcome.text == "---\ntags:\n- tea\n---\nGreen tea, please.\n"


@pytest.mark.parametrize(
    ("changes", "is_use"),
    [
        ({"access_count": 9, "last_accessed_at": "2026-02-01T08:00:00+08:00"}, True),
        ({"expires_at": None, "said_on": ["2026-01-01", "2026-01-09"]}, True),
        ({"title": "Tea"}, False),
        ({"access_count": 9, "tags": ["tea", "mine"]}, False),
    ],
)
def test_a_deletion_wins_over_mere_use(changes: dict[str, object], is_use: bool) -> None:
    used = meta(**changes)
    assert is_mere_use(BASE, used) is is_use
    for ours, theirs in ((None, used.encode()), (used.encode(), None)):
        outcome = merge_file(PATH, BASE.encode(), ours, theirs)
        assert outcome == (Merged("") if is_use else None)
    other = PurePosixPath("memory/alice/notes/tea.md")
    assert merge_file(other, BASE.encode(), None, used.encode()) is None


properties = st.dictionaries(
    st.sampled_from(["a", "b", "tags", "access_count", "expires_at", "說明"]),
    st.one_of(
        st.integers(-3, 9),
        st.text("ab: #'\n-", max_size=5),
        st.booleans(),
        st.lists(st.sampled_from(["x", "y", "z"]), max_size=3),
        st.sampled_from(["2026-01-01T08:00:00+08:00", "2026-01-01T01:00:00+00:00"]),
    ),
    max_size=5,
)
notes = st.builds(note.render, properties, st.sampled_from(["", "text\n", "one\n\ntwo\n"]))


@settings(max_examples=150)
@given(notes | st.none(), notes, notes)
def test_each_merge_can_be_read_and_loses_no_property(base: str | None, ours: str, theirs: str) -> None:
    outcome = merge_note(base, ours, theirs, lambda key: "theirs", has_uses=True)
    found = note.parse(outcome.text)
    assert not found.problems
    was, one, other = ({} if each is None else note.parse(each).meta for each in (base, ours, theirs))
    assert set(found.meta) <= {*one, *other}
    for key in {*one, *other}:
        if key not in was or (key in one and key in other and key != "expires_at"):
            assert key in found.meta
        if key in one and one[key] == other.get(key) and (key != "access_count" or key not in was):
            assert found.meta[key] == one[key]


@given(notes, notes)
def test_what_one_side_alone_changed_is_taken_as_it_is(base: str, new: str) -> None:
    assert (
        merge_note(base, new, base).text == merge_note(base, base, new).text == merge_note(base, new, new).text == new
    )


ENTITY = PurePosixPath("memory/alice/entities/Redis.md")


def entity(number: int, at: str, *lines: str) -> bytes:
    head = f"---\nid: entity_{number}_ab\nname: Redis\ncreated_at: '{at}'\n---\n## Observations\n"
    return (head + "".join(f"{line}\n" for line in lines)).encode()


@pytest.mark.parametrize("newer", ["ours", "theirs"])
def test_of_an_entity_that_both_made_the_older_id_stays_and_all_that_is_told(newer: Side) -> None:
    relation = "- uses [[Linux]] — there %%rel_{}_x 2026-01-30%%"
    mine = entity(7, "2026-01-30T09:00:00+08:00", "- fast", "- small", "", "## Relations", relation.format(1))
    yours = entity(3, "2026-01-30T01:00:00+00:00", "- small", "- new", "- Fast", "", "## Relations", relation.format(2))
    for one, other in ((mine, yours), (yours, mine)):
        found = merge_file(ENTITY, None, one, other, lambda key: newer)
        assert found and not found.conflicts and not found.clashes
        made = graph.decode(found.text, "entities/Redis.md")
        assert made.id == "entity_3_ab" and made.created_at and made.created_at.utcoffset() == timedelta(0)
        assert sorted(map(str.lower, made.observations)) == ["fast", "new", "small"] and len(made.lines) == 1
    old = merge_file(ENTITY, None, entity(9, "2026-01-29T00:00:00+00:00", "- a"), mine, lambda key: newer)
    assert old and note.parse(old.text).meta["id"] == "entity_9_ab"
    twice = entity(7, "2026-01-30T09:00:00+08:00", "- fast", "- fast")
    kept = merge_file(ENTITY, mine, twice, mine, lambda key: newer)
    assert kept and kept.text == twice.decode(), "what a person wrote twice is theirs"


def _edited(draw: st.DrawFn, lines: list[str], side: str) -> list[str]:
    """The lines with some taken out, changed or added; what is new names its side."""
    made = []
    for number, line in enumerate(lines):
        done = draw(st.sampled_from(["keep", "keep", "drop", "change", "add"]))
        made += [] if done == "drop" else [f"- {side} changed {number}" if done == "change" else line]
        made += [f"- {side} added {number}"] if done == "add" else []
    return made + [f"- {side} at the end"] * draw(st.integers(0, 1))


@given(st.data())
def test_of_an_entity_no_line_goes_that_nobody_has_taken_out(data: st.DataObject) -> None:
    """Also where both have changed lines beside each other, and a person must decide."""
    lines = [f"- line {number}" for number in range(data.draw(st.integers(0, 5)))]
    mine, yours = (data.draw(st.composite(_edited)(lines, side)) for side in ("mine", "yours"))
    base, one, other = (entity(7, "2026-01-30T09:00:00+08:00", *each) for each in (lines, mine, yours))
    found = merge_file(ENTITY, base, one, other)
    assert found
    kept = set(found.text.splitlines())
    assert {*mine, *yours} - set(lines) <= kept
    assert {line for line in lines if line in mine and line in yours} <= kept
    assert found.text.count("<<<<<<<") == found.text.count(">>>>>>>") == found.conflicts


def test_two_entities_whose_names_make_one_file_are_both_kept() -> None:
    """`a/b` and `a-b`; but another case or width is the same name."""
    one, other, same_name = (
        f"---\nid: entity_1_ab\nname: {name}\n---\n## Observations\n- of {name}\n".encode()
        for name in ("a/b", "a-b", "A/B")
    )
    path = PurePosixPath("memory/alice/entities/a-b.md")
    assert merge_file(path, None, one, other) is None and merge_file(path, None, one, same_name) is not None
