"""Forgetting over HTTP, as a program uses it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.interfaces.http.conftest import Server

pytestmark = pytest.mark.slow

USER = "/api/v1/user/alice"


def test_it_is_shown_and_then_forgotten(server: Server) -> None:
    """B6, E8 over HTTP: places and a code, nothing gone; then a receipt, once; with the user's own token."""
    alice, bob = server.user("alice"), server.user("bob")
    alice("POST", "/api/v1/memory/alice/turns", 201, json={"user_message": "我喜歡芒果", "assistant_message": "好"})
    asked = alice("POST", "/api/v1/memory/alice/turns", 201, json={"user_message": "把我喜歡芒果的事忘了"})
    assert asked["to_forget"] and "芒果" in asked["to_forget"][0]
    shown = alice("POST", f"{USER}/forgettings", 201, json={"asked": asked["source"]})
    assert shown["count"] == len(shown["places"]) >= 2 and len(shown["confirmCode"]) == 6
    again = {"asked": asked["source"], "confirmCode": shown["confirmCode"]}
    bob("POST", f"{USER}/forgettings/confirm", 403, json=again)
    receipt = alice("POST", f"{USER}/forgettings/confirm", json=again)
    assert all(look["absent"] for look in receipt["verified"]) and receipt["commits"] and not receipt["problems"]
    alice("POST", f"{USER}/forgettings/confirm", 400, json=again)
    found = alice("POST", "/api/v1/memory/alice/search", json={"query": "芒果"})
    assert found["hits"] == []


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, 400),
        ({"text": "芒"}, 400),
        ({"text": "芒果", "key": "theme"}, 400),
        ({"key": "colour"}, 400),
        ({"turn": "../../etc/passwd"}, 400),
        ({"since": "yesterday"}, 422),
        ({"text": "x" * 2_001}, 422),
        ({"text": "火龍果"}, 404),
    ],
)
def test_what_cannot_be_meant_is_a_problem(server: Server, wrong: dict[str, Any], status: int) -> None:
    alice = server.user("alice")
    alice("POST", "/api/v1/memory/alice/turns", 201, json={"user_message": "我喜歡芒果", "assistant_message": "好"})
    alice("POST", f"{USER}/forgettings", status, json=wrong)
