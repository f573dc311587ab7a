"""One form for what any program delivers as a turn: nothing that is wrong gets in, and nothing right is lost."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.payload import MAX_TEXT_CHARS, kept_reflection, normalized, reflection_of
from vault_memory.errors import TooLarge, UsageError

TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 1, 30, 14, 5, tzinfo=ZoneInfo("UTC"))
IDS = {"conversation_id": "conv_1", "user_id": "alice"}
EMPTY = {**IDS, "user_message": None, "assistant_message": None, "reflection": None, "cid": None}


def turn(**fields: Any) -> dict[str, Any]:
    return normalized(IDS | fields, NOW, TAIPEI)


def test_a_payload_becomes_the_whole_record() -> None:
    """D1."""
    assert turn() == {**EMPTY, "created_at": "2026-01-30T14:05:00+00:00"}
    whole = {
        **IDS,
        "user_message": "部署失敗了",
        "assistant_message": "我看看。",
        "reflection": {"summary": "第一次部署失敗", "causes": ["沒有環境變數"]},
        "cid": "bafybeigdyrzt",
        "created_at": "2026-01-30T09:12:00+08:00",
        "skill": "web-deploy",
        "backend": "some-model",
        "context": "log",
        "exit_code": 1,
    }
    found = normalized({**whole, "token_data": {"user": [1]}, "session": 7, "request": "x"}, NOW, TAIPEI)
    assert found == whole and list(found)[:7] == [*EMPTY, "created_at"]


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ({}, "the turn has no conversation_id and no user_id"), ({"user_id": "alice"}, "has no conversation_id"),
        ({"conversation_id": "c"}, "has no user_id"), ({"conversation_id": "c", "user_id": " "}, "has no user_id"),
        ({"conversation_id": "c", "user_id": 5}, "user_id must be a text, not a number"),
        ({"conversation_id": None, "user_id": "alice"}, "has no conversation_id"),
        (IDS | {"user_message": 5}, "user_message must be a text, not a number"),
        (IDS | {"assistant_message": ["x"]}, "assistant_message must be a text, not a list"),
        (IDS | {"cid": {}}, "cid must be a text, not an object"),
        (IDS | {"exit_code": True}, "exit_code must be a whole number, not true or false"),
        (IDS | {"exit_code": "1"}, "exit_code must be a whole number, not a text"),
        (IDS | {"reflection": 5}, "reflection must be a text, or an object with summary and causes, not a number"),
        (IDS | {"reflection": ["x"]}, "reflection must be"),
        (IDS | {"reflection": {"text": "x"}}, "an object with summary and causes, not an object"),
        (IDS | {"reflection": {"summary": 5}}, "reflection.summary must be a text"),
        (IDS | {"reflection": {"causes": [["x"]]}}, "each of reflection.causes must be a text, not a list"),
        (IDS | {"reflection": {"causes": 5}}, "each of reflection.causes"),
        (IDS | {"created_at": 1769735520}, "created_at must be a time such as 2026-01-30T09:12:00+08:00, not a number"),
        (IDS | {"created_at": "tomorrow"}, "not 'tomorrow'"), (IDS | {"created_at": []}, "created_at"),
        (IDS | {"created_at": "9999-12-31T23:00:00"}, "in no calendar"),
        ([], "a turn must be an object with conversation_id and user_id, not a list"), (None, "not nothing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(payload: Any, named: str) -> None:
    """D1: a missing conversation_id or user_id is invalid."""
    with pytest.raises(UsageError) as caught:
        normalized(payload, NOW, TAIPEI)
    assert named in str(caught.value)


@pytest.mark.parametrize("name", ["user_message", "assistant_message", "context"])
def test_a_text_has_a_limit_that_is_told(name: str) -> None:
    assert turn(**{name: "x" * MAX_TEXT_CHARS})[name]
    with pytest.raises(TooLarge, match=f"{name} has 5,000,000 characters, and one text of a turn at most 2,000,000"):
        turn(**{name: "x" * 5_000_000})


SAME = {"summary": "it failed", "causes": ["no key", "no net"]}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (SAME, SAME), (json.dumps(SAME), SAME), (SAME | {"causes": ("no key", "no net")}, SAME),
        (SAME | {"causes": ["no key", " ", None, "no net"], "mood": "bad"}, SAME),
        ("it failed", {"summary": "it failed", "causes": []}), ('"it failed"', {"summary": "it failed", "causes": []}),
        ({"summary": "it failed", "causes": "no key"}, {"summary": "it failed", "causes": ["no key"]}),
        ({"causes": ["no key"]}, {"summary": "", "causes": ["no key"]}), ("[1", {"summary": "[1", "causes": []}),
        ("[1]", {"summary": "[1]", "causes": []}), ("5", {"summary": "5", "causes": []}),
        (None, None), ("", None), ("  ", None), ("null", None), ({}, None), ({"summary": "", "causes": []}, None),
    ],
)  # fmt: skip
def test_a_reflection_is_an_object_its_json_or_a_text(given: Any, kept: Any) -> None:
    """D1, D8."""
    assert reflection_of(given) == kept == kept_reflection(given)


@pytest.mark.parametrize("odd", [5, [], {"text": "x"}, True, {"summary": {}}])
def test_what_anybody_wrote_into_a_record_is_no_error(odd: Any) -> None:
    assert kept_reflection(odd) is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, "2026-01-30T14:05:00+00:00"),
        ("", "2026-01-30T14:05:00+00:00"),
        ("2026-01-30T09:12:00+08:00", "2026-01-30T09:12:00+08:00"),
        ("2026-01-30T01:12:00Z", "2026-01-30T01:12:00+00:00"),
        ("2026-01-30T09:12:00", "2026-01-30T09:12:00+08:00"),
        (datetime(2026, 1, 30, 9), "2026-01-30T09:00:00+08:00"),
        (datetime(2026, 1, 30, 9, tzinfo=TAIPEI), "2026-01-30T09:00:00+08:00"),
        ("2026-01-30", "2026-01-30T00:00:00+08:00"),
        ("2099-01-30T09:12:00", "2099-01-30T09:12:00+08:00"),
    ],
)
def test_a_time_without_an_offset_is_of_the_zone(given: Any, kept: str) -> None:
    assert turn(created_at=given)["created_at"] == kept


texts = st.one_of(st.none(), st.text(st.characters(), max_size=20))
reflections = st.one_of(texts, st.fixed_dictionaries({"summary": texts, "causes": st.lists(texts, max_size=3)}))
times = st.one_of(st.none(), st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))


@given(
    st.fixed_dictionaries(
        {"user_message": texts, "assistant_message": texts, "cid": texts, "skill": texts, "reflection": reflections},
        optional={"created_at": times, "exit_code": st.one_of(st.none(), st.integers()), "x": st.integers()},
    )
)
def test_what_is_normalized_stays_as_it_is(fields: dict[str, Any]) -> None:
    """And any line of JSON can hold it."""
    once = turn(**fields)
    json.dumps(once, ensure_ascii=False).encode()
    assert normalized(once, NOW + timedelta(days=1), ZoneInfo("UTC")) == once
    assert datetime.fromisoformat(once["created_at"]).utcoffset() is not None
