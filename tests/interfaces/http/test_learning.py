"""C4: the endpoints of the design with its bodies, as a program uses them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interfaces.http.conftest import Server

pytestmark = pytest.mark.slow

EVENT: dict[str, Any] = {
    "user_id": "u123",
    "event": {
        "intent": "quiz",
        "topic": "微积分-极限",
        "artifact": "quiz_set",
        "metadata": {"difficulty": "easy", "correct_rate": 0.4},
    },
}
STEP = {"session_id": "s456", "intent": "quiz", "topic": "微积分-极限", "artifact": "quiz_set"}


def test_the_bodies_of_the_design(server: Server) -> None:
    """C1, C2, C3, C4: exactly as the design prints them, with the vault's own token."""
    tutor = server.admin
    updated = tutor("POST", "/memory/user/update", json=EVENT)
    profile = tutor("GET", "/memory/user/u123")
    assert profile == {key: updated[key] for key in profile} and updated["degraded"] == []
    at = profile.pop("updated_at")
    assert at.startswith("2026-01-30T") and profile == {
        "user_id": "u123",
        "mastery": {"微积分-极限": "medium"},
        "preferences": {"preferred_artifact": None, "difficulty_preference": None},
        "history": {"quiz_sessions": 1, "homework_help_count": 0, "topics_visited": ["微积分-极限"]},
    }
    context = tutor("POST", "/memory/session/update", json=STEP)
    assert context == tutor("GET", "/memory/session/s456")
    del context["updated_at"]
    assert context == {
        "session_id": "s456",
        "current_topic": "微积分-极限",
        "recent_intents": ["quiz"],
        "last_artifact": "quiz_set",
        "last_user_message": "",
    }
    assert tutor("GET", "/memory/summary?user_id=u123&session_id=s456") == {
        "topic_hint": "微积分-极限",
        "user_mastery_hint": "medium",
        "recent_behavior": "用户刚做过极限练习题",
    }
    for _ in range(3):
        tutor("POST", "/memory/user/update", json={**EVENT, "event": {"intent": "homework_help", "topic": "代数"}})
    assert tutor("GET", "/memory/user/u123")["history"] == {
        "quiz_sessions": 1,
        "homework_help_count": 3,
        "topics_visited": ["微积分-极限", "代数"],
    }


def test_a_users_token_reaches_that_user_only(server: Server) -> None:
    """C4: and its sessions are the user's own."""
    alice, bob, tutor = server.user("alice"), server.user("bob"), server.admin
    alice("POST", "/memory/user/update", 403, json=EVENT)
    alice("GET", "/memory/user/bob", 403)
    alice("GET", "/memory/summary?user_id=bob", 403)
    alice("POST", "/memory/session/update", 403, json={**STEP, "user_id": "bob"})
    alice("POST", "/memory/session/update", json={**STEP, "message": "再來一題"})
    bob("GET", "/memory/session/s456", 404)
    tutor("GET", "/memory/session/s456", 404)
    assert tutor("GET", "/memory/session/s456?user_id=alice")["last_user_message"] == "再來一題"
    assert bob("GET", "/memory/summary?user_id=bob&session_id=s456")["topic_hint"] is None
    tutor("POST", "/memory/session/update", json={"session_id": "open", "topic": "幾何"})
    assert alice("GET", "/memory/summary?user_id=alice&session_id=open")["topic_hint"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"event": EVENT["event"]},
        {"user_id": "u123"},
        {"user_id": "u123", "event": {"topic": "x"}},
        {"user_id": "u123", "event": {"intent": "quiz", "metadata": {"difficulty": "brutal"}}},
        {"user_id": "u123", "event": {"intent": "quiz", "metadata": {"correct_rate": 40}}},
        {"user_id": "u123", "event": {"intent": "quiz", "metadata": {"correct_rate": True}}},
        {"user_id": "u123", "event": {"intent": "quiz", "metadata": {"correct_rate": "0.4"}}},
        {"user_id": 3, "event": {"intent": "quiz"}},
    ],
)
def test_what_is_wrong_is_refused(server: Server, body: dict[str, Any]) -> None:
    server.admin("POST", "/memory/user/update", 422, json=body)
    assert not server.vault.is_user("u123")


def test_ids_that_are_none(server: Server) -> None:
    tutor = server.admin
    tutor("POST", "/memory/user/update", 400, json={**EVENT, "user_id": "../x"})
    tutor("POST", "/memory/session/update", 422, json={"intent": "quiz"})
    tutor("POST", "/memory/session/update", 400, json={"session_id": " "})
    tutor("GET", "/memory/summary", 422)
    tutor("GET", "/memory/user/nobody", 404)
    tutor("GET", "/memory/session/nothing", 404)
