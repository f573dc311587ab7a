"""The rows that turns make, and the mapping that names their tables and columns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.longterm import (
    FIELDS,
    TABLES,
    columns_problem,
    ddl,
    name_of,
    parts,
    rows_of,
    tables_problem,
    targets,
)

BOTH = {name: f"public.{name}_7" for name in TABLES}
SAME = {field: field for field in FIELDS}
TOKENS = {"user": [1], "assistant": [2], "reflection": [3], "encoding": "utf-8"}
_TEXT = st.none() | st.text(st.characters(blacklist_categories=()) | st.just("\0"), max_size=20)


def _turn(**more: Any) -> dict[str, Any]:
    return {"conversation_id": "c1", "user_id": "alice", "created_at": "2026-01-30T09:12:00+08:00", **more}


def test_a_turn_is_one_row_and_its_reflection_another() -> None:
    """D4a"""
    mapped = targets(BOTH, SAME)
    one, two = rows_of(_turn(reflection={"summary": "s", "causes": ["c"]}), TOKENS, mapped)
    assert (one.logical, two.logical) == TABLES
    assert not {"user_message", "assistant_message", "text_cache"} & mapped[1].columns.keys()
    tokens = [
        json.loads(row.values[[*t.columns].index("token_data")] or "")
        for row, t in zip((one, two), mapped, strict=True)
    ]
    assert tokens == [TOKENS, TOKENS | {"user": [], "assistant": []}]
    assert [row.logical for row in rows_of(_turn(), TOKENS, mapped)] == ["conversations"]
    assert rows_of(_turn(), TOKENS, targets({"memories": "m"}, SAME)) == []


@given(_TEXT, _TEXT, _TEXT, st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), st.integers(-14, 14))
def test_every_value_can_be_stored(
    user: str | None, assistant: str | None, said: str | None, at: datetime, hours: int
) -> None:
    created = at.replace(tzinfo=timezone(timedelta(hours=hours))).isoformat()
    turn = _turn(user_message=user, assistant_message=assistant, cid=said, created_at=created)
    turn["reflection"] = {"summary": said, "causes": [said]} if said else None
    rows = rows_of(turn, TOKENS, targets(BOTH, SAME))
    assert len(rows) == 1 + bool(said)
    for value in (value for row in rows for value in row.values if value is not None):
        assert b"\0" not in value.encode() and "\\u0000" not in value
    moment = datetime.fromisoformat(name_of(turn)[1])
    assert moment.tzinfo == UTC and moment == datetime.fromisoformat(created)


@pytest.mark.parametrize(
    ("tables", "problem"),
    [
        ({}, None),
        ({"conversations": "對話", "memories": "app.memories"}, None),
        ({"chats": "x"}, "knows no 'chats'"),
        ({"memories": ""}, "must name a table"),
        ({"memories": "a.b.c"}, "must name a table"),
        ({"memories": "a\0b"}, "must name a table"),
        ({"memories": "長" * 22}, "must name a table"),
        ({"conversations": "one", "memories": "one"}, "both conversations and memories"),
    ],
)
def test_tables(tables: dict[str, str], problem: str | None) -> None:
    found = tables_problem(tables)
    assert found is None if problem is None else problem in (found or "")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"assistant_message": "assistant_mes"}, None),
        ({"words": "x"}, "knows no 'words'"),
        ({"cid": "\n"}, "must name a column"),
        ({"cid": "user_id"}, "both user_id and cid"),
    ],
)
def test_columns(change: dict[str, str], problem: str | None) -> None:
    found = columns_problem(SAME | change)
    assert found is None if problem is None else problem in (found or "")
    assert "lacks created_at" in (columns_problem({"conversation_id": "a", "user_id": "b"}) or "")
    assert columns_problem({}) is None


def test_ddl_quotes_every_name() -> None:
    (target,) = targets(
        {"conversations": 'my"app.turns'}, {"conversation_id": 'c"d', "user_id": "u", "created_at": "t"}
    )
    assert parts(target.table) == ['my"app', "turns"]
    assert ddl(target).splitlines()[:3] == [
        "-- conversations",
        'CREATE TABLE "my""app"."turns" (',
        '  "c""d" text NOT NULL,',
    ]
    assert 'UNIQUE ("c""d", "t")' in ddl(target)
