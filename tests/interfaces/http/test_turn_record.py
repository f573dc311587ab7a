"""The record of a turn over HTTP: the reflection that comes with it, its time and name, and what is refused."""

from __future__ import annotations

import json

import pytest

from tests.interfaces.http.conftest import Caller, Server

pytestmark = pytest.mark.slow

MEMORY = "/api/v1/memory/alice"
FAILED = {"summary": "第一次部署失敗", "causes": ["沒有設定環境變數"]}
TURN = {"user_message": "幫我部署登入頁", "assistant_message": "失敗了。"}


def test_a_reflection_is_accepted_and_found(server: Server, alice: Caller) -> None:
    """D1, D8: an object, its JSON, or a text; it comes back with the turn, from a search, and in the day's log."""
    for given in (FAILED, json.dumps(FAILED), "憑證過期了"):
        alice("POST", f"{MEMORY}/turns", 201, json=TURN | {"reflection": given, "cid": "bafybeigdyrzt"})
    newest = alice("GET", f"{MEMORY}/turns?limit=4")["turns"]
    shown = [turn["reflection"] for turn in newest]
    assert shown[:3] == [{"summary": "憑證過期了", "causes": []}, FAILED, FAILED] and shown[3] is None
    found = alice("POST", f"{MEMORY}/search", json={"query": "憑證過期", "kinds": ["conversation"]})["hits"][0]
    assert "反思：憑證過期了" in found["content"] and found["source"] == newest[0]["source"].partition(":")[0]
    assert "反思：第一次部署失敗；沒有設定環境變數" in alice("GET", f"{MEMORY}/daily")["days"][0]["content"]


def test_a_turn_comes_back_with_every_field_of_its_record(server: Server, alice: Caller) -> None:
    """D1."""
    said = TURN | {
        "conversation_id": "c",
        "cid": "bafy",
        "backend": "some-model",
        "exit_code": 3,
        "skill": "web-deploy",
    }
    alice("POST", f"{MEMORY}/turns", 201, json=said)
    (turn, *_) = alice("GET", f"{MEMORY}/turns")["turns"]
    assert turn.items() >= (said | {"user_id": "alice", "reflection": None}).items()
    told = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "不要記住這件事：我用 pnpm"})
    assert told["reason"].startswith("it asks not to be remembered") and told["changes"] == []


def test_a_turn_that_is_delivered_twice_is_one(server: Server, alice: Caller) -> None:
    """D1: by its name; what the second delivery has more is not lost without a word."""
    named = TURN | {"conversation_id": "c", "created_at": "2026-01-29T09:00:00"}
    first = alice("POST", f"{MEMORY}/turns", 201, json=named)
    assert first["source"] == "conversations/2026-01-29.jsonl:1"
    again = alice("POST", f"{MEMORY}/turns", 201, json=named)
    assert (again["source"], again["degraded"]) == (first["source"], [])
    more = alice("POST", f"{MEMORY}/turns", 201, json=named | {"reflection": FAILED})
    assert more["source"] == first["source"] and "without this reflection" in more["degraded"][0]
    assert alice("GET", f"{MEMORY}/turns")["turns"][-1]["created_at"] == "2026-01-29T09:00:00+08:00"


def test_what_no_turn_is_is_refused_and_named(server: Server, alice: Caller) -> None:
    """D1."""
    for status, wrong, said in (
        (400, {"created_at": "soon"}, "created_at must be a time such as 2026-01-30T09:12:00+08:00, not 'soon'"),
        (422, {"reflection": 5}, "body.reflection"),
        (422, {"conversation_id": ""}, "body.conversation_id"),
        (400, {"reflection": {"causes": [5]}}, "each of reflection.causes must be a text, not a number"),
        (400, {"reflection": {"text": "x"}}, "an object with summary and causes"),
        (422, {"assistant_message": "x" * 300_000}, "body.assistant_message"),
        (413, {"user_message": "x" * 5_000_000}, "the body is larger than 2,000,000 bytes: send less at once"),
    ):
        told = alice("POST", f"{MEMORY}/turns", status, json=TURN | wrong)
        assert said in json.dumps(told, ensure_ascii=False), told
    assert len(alice("GET", f"{MEMORY}/turns")["turns"]) == 1


def test_the_profile_says_which_values_are_suggested_defaults(server: Server, alice: Caller) -> None:
    """A13, Phase D: named three times."""
    assert alice("GET", "/api/v1/user/alice")["suggested_default"] == {}
    for words in ("我喜歡暗色主題", "以後都用暗色主題"):
        alice("POST", f"{MEMORY}/turns", 201, json={"user_message": words})
    profile = alice("GET", "/api/v1/user/alice")
    assert profile["suggested_default"] == {"theme": "dark"} and profile["preferences"]["theme"] == "dark"


def test_what_is_to_be_forgotten_and_is_not_found_is_told(server: Server, alice: Caller) -> None:
    """E8: the response says so, and the next step."""
    (told,) = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "忘掉關於長笛的記憶"})["not_forgotten"]
    assert told.startswith("nothing found to forget: 長笛 (`vault-memory memory list`")
    alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "我喜歡長笛"})
    gone = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "忘掉關於長笛的記憶"})
    assert gone["not_forgotten"] == [] and [each["became"] for each in gone["memories"]] == ["forgotten"]
    assert gone["memories"][0]["stays"] == ""
    alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "我喜歡壽司，討厭橄欖"})
    gone = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "忘掉我討厭橄欖"})
    assert [(each["content"], each["stays"]) for each in gone["memories"]] == [("我討厭橄欖", "我喜歡壽司")]
