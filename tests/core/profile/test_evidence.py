"""Lines of feedback.jsonl that anybody may have written: what is read of them, and how much."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.profile import Profile, Signal, counts_in, newest_rows, suggestions, unreadable_lines
from vault_memory.core.profile.evidence import MAX_ROWS

ROW: dict[str, Any] = {
    "key": "theme", "op": "set", "value": "dark", "strength": "explicit", "applied": True, "current": "dark",
    "count": 2, "quote": "我喜歡暗色主題", "suggested_default": False, "source": "conversations/2026-01-30.jsonl:12",
    "created_at": "2026-01-30T14:05:00+08:00",
}  # fmt: skip
OPEN = {name: ROW[name] for name in ("op", "value", "quote", "source", "created_at")} | {
    "key": "theme", "strength": "adjustment", "suggestion": "open", "conversation": "", "applied": False,
}  # fmt: skip
NAMES = (*ROW, "suggestion", "conversation")
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 10**400, 1.5, 1e308, "", "dark", "theme", "x\ud800", [], ["a"], {}, {"a": 1}, [[]],
    "2026-01-01", "2026-01-01T00:00:00+08:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "open",
    "dismissed", "set", "add", "remove", "x" * 3_000, "conversations/2026-01-30.jsonl:1",
]  # fmt: skip


def data(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(*rows: Any) -> list[Any]:
    return list(newest_rows(data(*rows), b'"key"'))


def test_what_we_write_is_read_newest_first() -> None:
    old, new = read(ROW | {"value": "light"}, ROW)[::-1]
    assert (old.value, new.value, new.count, new.applied, new.suggestion) == ("light", "dark", 2, True, "")
    assert new.at is not None and new.at.isoformat() == ROW["created_at"]
    assert [row.suggestion for row in read(OPEN)] == ["open"]
    assert unreadable_lines(data(ROW, OPEN)) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": []}, {"key": {}}, {"key": "colour"}, {"key": None}, {"value": ["dark"]}, {"current": 5}, {"op": "no"},
        {"strength": "x"}, {"count": "3"}, {"count": True}, {"count": -1}, {"count": 10**400}, {"count": 1.5},
        {"applied": "yes"}, {"suggestion": "perhaps"}, {"suggestion": []}, {"source": "a\nVault-User: bob"},
        {"source": "../../x"}, {"source": "conversations/2026-01-30.jsonl:" + "1" * 5_000}, {"created_at": 5},
        {"value": "x" * 140_000}, {"conversation": ["x"]}, {"more": "x" * 100_000}, {"more": [{}] * 30_000},
    ],
    ids=lambda wrong: json.dumps(wrong)[:40],
)  # fmt: skip
def test_a_row_of_another_shape_is_passed_over(wrong: dict[str, Any]) -> None:
    assert [row.value for row in read(ROW, ROW | wrong, ROW)] == ["dark", "dark"]
    assert unreadable_lines(data(ROW, ROW | wrong, ROW)) == [2]


@given(st.lists(st.fixed_dictionaries({}, optional={name: st.sampled_from(ODD) for name in NAMES}), max_size=4))
def test_no_row_stops_the_reading(odd: list[dict[str, Any]]) -> None:
    """One line of a remote, `{"suggestion": "open", "key": []}`, stopped all learning of that user."""
    rows = [part | each for each in odd for part in ({}, ROW, OPEN)]
    profile = Profile.parse("# x\n- 主題偏好：dark\n")
    found, lines = read(*rows), data(*rows)
    counts_in(found)
    open_ones = suggestions.waiting(found, profile, lambda key, value: True)
    dismissed = suggestions.dismissed_values(found)
    unsure = Signal("theme", "set", "light", "adjustment", "q", is_suggestion=True)
    suggestions.heard([unsure], profile, open_ones, dismissed, "c", date(2026, 1, 1))
    for each in open_ones:
        json.dumps([each.id, each.summary(), each.row()]).encode()
    unreadable_lines(lines)


def test_a_long_quote_is_cut() -> None:
    assert [len(row.quote) for row in read(ROW | {"quote": "x" * 9_000})] == [1_000]


def test_a_time_that_is_none_is_left_out() -> None:
    for text in ("yesterday", "2026-01-30", "2026-01-30T14:05:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00+08"):
        assert [row.at for row in read(ROW | {"created_at": text})] == [None], text


def test_only_the_newest_rows_about_it_are_read() -> None:
    """Each turn read all rows ever: 4 s of a file of 14.5 MB."""
    theme = json.dumps(ROW).encode() + b"\n"
    level = json.dumps(ROW | {"key": "level", "value": "beginner", "current": "beginner"}).encode() + b"\n"
    assert len(list(newest_rows(theme * (MAX_ROWS + 5), b'"theme"'))) == MAX_ROWS
    found = newest_rows(theme + level * (MAX_ROWS + 5), b'"theme"')
    assert [row.key for row in found] == ["theme"], "lines about something else do not count"


def test_a_dismissal_is_known_after_any_number_of_other_rows() -> None:
    no = json.dumps(OPEN | {"suggestion": "dismissed"}).encode() + b"\n"
    others = json.dumps(ROW).encode() + b"\n" + json.dumps(OPEN | {"value": "light"}).encode() + b"\n"
    found = newest_rows(no + others * MAX_ROWS, suggestions.DISMISSED)
    assert suggestions.dismissed_values(found) == {("theme", "set", "dark")}
