"""The memory manager of the fourth design document: its bodies as it prints them, and its tests (7. 单元测试要求)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Clock
from tests.interfaces.http.conftest import Server
from vault_memory.services.vault import open_vault

pytestmark = pytest.mark.slow

USER_UPDATE = """
{
  "user_id": "u123",
  "event": {
    "intent": "quiz",
    "topic": "微积分-极限",
    "artifact": "quiz_set",
    "metadata": {
      "difficulty": "easy",
      "correct_rate": 0.4
    }
  }
}
"""
SESSION_UPDATE = """
{
  "session_id": "s456",
  "intent": "quiz",
  "topic": "微积分-极限",
  "artifact": "quiz_set"
}
"""
PROFILE = {
    "user_id": str,
    "mastery": dict,
    "preferences": {"preferred_artifact": (str, type(None)), "difficulty_preference": (str, type(None))},
    "history": {"quiz_sessions": int, "homework_help_count": int, "topics_visited": list},
    "updated_at": str,
}
CONTEXT = {
    "session_id": str,
    "current_topic": (str, type(None)),
    "recent_intents": list,
    "last_artifact": (str, type(None)),
    "last_user_message": str,
    "updated_at": str,
}
SUMMARY = {"topic_hint": (str, type(None)), "user_mastery_hint": (str, type(None)), "recent_behavior": str}


def assert_form(value: Any, form: Any) -> None:
    """2. 数据结构定义: each field, and no other."""
    assert value.keys() == form.keys()
    for name, kind in form.items():
        if isinstance(kind, dict):
            assert_form(value[name], kind)
        else:
            assert isinstance(value[name], kind), name


def post(server: Server, path: str, body: str) -> Any:
    """A body as it is printed."""
    return server.admin("POST", path, content=body, headers={"Content-Type": "application/json"})


def test_after_each_skill_and_before_the_answer(server: Server) -> None:
    """C1–C4, 3 to 5: the session, then the profile, then the summary for the next message, in the printed forms."""
    post(server, "/memory/session/update", SESSION_UPDATE)
    post(server, "/memory/user/update", USER_UPDATE)
    profile = server.admin("GET", "/memory/user/u123")
    assert_form(profile, PROFILE)
    assert profile["history"] == {"quiz_sessions": 1, "homework_help_count": 0, "topics_visited": ["微积分-极限"]}
    context = server.admin("GET", "/memory/session/s456")
    assert_form(context, CONTEXT)
    assert (context["current_topic"], context["last_artifact"]) == ("微积分-极限", "quiz_set")
    summary = server.admin("GET", "/memory/summary?user_id=u123&session_id=s456")
    assert_form(summary, SUMMARY)
    assert summary["topic_hint"] == "微积分-极限" and summary["recent_behavior"] == "用户刚做过极限练习题"
    assert summary["user_mastery_hint"] == profile["mastery"]["微积分-极限"] in ("weak", "medium", "strong")


def test_mastery_topic_flow_growth_and_stability(server: Server, clock: Clock) -> None:
    """C5, 7: mastery is right, topics flow, a session does not pile up, what is written is read."""
    event = json.loads(USER_UPDATE)
    seen = []
    for rate in (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0):
        event["event"]["metadata"] = {"difficulty": "hard", "correct_rate": rate}
        seen.append(post(server, "/memory/user/update", json.dumps(event))["mastery"]["微积分-极限"])
    assert seen[2] == "weak" and seen[-2] == "strong" and seen[-1] != "weak", (
        "one bad quiz makes nobody weak who was strong"
    )
    step = json.loads(SESSION_UPDATE)
    for number in range(60):
        step |= {"topic": f"微积分-{number}", "intent": f"i{number}"}
        context = post(server, "/memory/session/update", json.dumps(step))
    assert context["current_topic"] == "微积分-59" and len(context["recent_intents"]) == 20
    again = open_vault(server.vault.root, now=clock)
    kept = again.short_term.get("session:s456")
    assert kept and json.loads(kept)["s456"] == server.admin("GET", "/memory/session/s456") == context
