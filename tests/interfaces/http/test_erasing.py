"""Erasing over HTTP, as a program uses it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.erasing.leftovers import leftovers
from tests.interfaces.http.conftest import Server

pytestmark = pytest.mark.slow

USER = "/api/v1/user/alice"
SECRET = "我的舊地址是 Zanzibar 路"


def test_g5_it_is_shown_and_then_erased(server: Server) -> None:
    """G5 over HTTP: what would go and a code, nothing gone; then a receipt, once; a user's token does not do it."""
    alice = server.user("alice")
    said = {"user_message": f"Remember that {SECRET}", "assistant_message": "ok"}
    alice("POST", "/api/v1/memory/alice/turns", 201, json=said)
    note = server.vault.root / f"memory/alice/notes/{SECRET}.md"
    note.parent.mkdir()
    note.write_text("a map of the way there\n")
    wish: dict[str, Any] = {"texts": ["我的旧地址是 zanzibar 路"]}
    alice("POST", f"{USER}/erasings", 403, json=wish)
    before = leftovers(server.vault.root, SECRET).places
    shown = server.admin("POST", f"{USER}/erasings", 201, json=wish)
    assert shown["count"] == len(shown["files"]) > 1 and shown["commits"] and SECRET in shown["forms"]
    assert any(f"Remember that {SECRET}" in place for place in shown["places"])
    assert any("clones" in line for line in shown["outOfReach"])
    assert leftovers(server.vault.root, SECRET).places == before
    again = wish | {"confirmCode": shown["confirmCode"]}
    alice("POST", f"{USER}/erasings/confirm", 403, json=again)
    receipt = server.admin("POST", f"{USER}/erasings/confirm", json=again)
    assert receipt["left"] == receipt["problems"] == [] and receipt["commits"] and receipt["files"] > 1
    assert [name for name in receipt["renamed"] if name.endswith("/(erased).md")], "the note"
    assert leftovers(server.vault.root, SECRET).places == []
    server.admin("POST", f"{USER}/erasings/confirm", 400, json=again)
    assert "was erased" in alice("POST", "/api/v1/memory/alice/turns", 400, json=said)["detail"]


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, 400),
        ({"texts": ["芒"]}, 400),
        ({"texts": ["芒果芒果"], "everything": True}, 400),
        ({"note": "memory/bob/notes/plan.md"}, 400),
        ({"note": "../../etc/passwd"}, 400),
        ({"note": "memory/alice/nothing.md"}, 404),
        ({"texts": "芒果"}, 422),
        ({"texts": ["x" * 2_001]}, 422),
    ],
)
def test_what_cannot_be_meant_is_a_problem(server: Server, wrong: dict[str, Any], status: int) -> None:
    for user_id in ("alice", "bob"):
        turn = {"user_message": "我喜歡芒果", "assistant_message": "好"}
        server.admin("POST", f"/api/v1/memory/{user_id}/turns", 201, json=turn)
    note = server.vault.root / "memory/bob/notes/plan.md"
    note.parent.mkdir()
    note.write_text("bob's plan for the garden\n")
    server.admin("POST", f"{USER}/erasings", status, json=wrong)


def test_a_code_is_for_what_was_shown(server: Server) -> None:
    turn = {"user_message": "我喜歡芒果", "assistant_message": "好"}
    server.admin("POST", "/api/v1/memory/alice/turns", 201, json=turn)
    code = server.admin("POST", f"{USER}/erasings", 201, json={"texts": ["我喜歡芒果"]})["confirmCode"]
    refused = server.admin("POST", f"{USER}/erasings/confirm", 400, json={"everything": True, "confirmCode": code})
    assert "something else" in refused["detail"] and server.vault.is_user("alice")
