"""Mistakes over HTTP, as a program uses it."""

from __future__ import annotations

import pytest

from tests.interfaces.http.conftest import Caller, Server
from tests.vaults import write

pytestmark = pytest.mark.slow

MISTAKES = "/api/v1/user/alice/mistakes"


@pytest.fixture
def alice(server: Server) -> Caller:
    return server.user("alice")


def test_recorded_listed_and_told_by_their_patterns(server: Server, alice: Caller) -> None:
    """B3 over HTTP."""
    new = {
        "action": "沒有跑測試就部署",
        "error_type": "deployment-error",
        "user_correction": "要先跑測試",
        "correct_method": "先在 staging 測",
        "impact": "登入壞了",
        "prevention_method": "看 CI 燈號",
        "related_rule": "deploy",
    }
    stored = alice("POST", MISTAKES, 201, json=new)
    assert stored["id"].startswith("mistake_") and stored["commits"] and stored["degraded"] == []
    again = alice("POST", MISTAKES, 201, json={"action": "没跑测试就部署", "error_type": "Deployment Error"})
    alice("POST", MISTAKES, 201, json={"action": "簡報太多字 AKIAIOSFODNN7EXAMPLE"})

    first = alice("GET", f"{MISTAKES}?limit=2")
    rest = alice("GET", f"{MISTAKES}?limit=2&offset={first['next']}")
    (one,) = rest["mistakes"]
    assert {key: one[key] for key in new} == new and one["path"].startswith("memory/alice/mistakes/")
    assert rest["next"] is None and "AKIA" not in str(first)
    assert [row["id"] for row in alice("GET", f"{MISTAKES}?error_type=deployment_error")["mistakes"]] == [
        again["id"],
        stored["id"],
    ]
    found = alice("GET", f"{MISTAKES}/patterns")
    assert found["total"] == 3 and found["by_type"][0]["ids"] == [again["id"], stored["id"]]
    assert found["similar"][0]["prevention_method"] == "看 CI 燈號" and sum(found["by_month"].values()) == 3
    assert alice("GET", f"{MISTAKES}/patterns?like=做簡報")["total"] == 1
    prompt = alice("POST", "/api/v1/memory/alice/prompt", json={"request": "deploy the site"})
    assert "<past-mistakes>" in prompt["text"]


def test_what_is_wrong_is_refused(server: Server, alice: Caller) -> None:
    for body, code in (
        ({}, 422),
        ({"action": ""}, 422),
        ({"action": ["x"]}, 422),
        ({"action": " "}, 400),
        ({"action": "x", "error_type": "a\nb"}, 400),
        ({"action": "我有糖尿病"}, 400),
    ):
        alice("POST", MISTAKES, code, json=body)
    alice("POST", MISTAKES, 413, json={"action": "x" * 15_000, "impact": "y" * 15_000})
    alice("GET", MISTAKES, 404)
    alice("GET", f"{MISTAKES}/patterns", 404)
    assert not server.vault.is_user("alice")


def test_a_users_token_reaches_that_user_only(server: Server, alice: Caller) -> None:
    alice("POST", MISTAKES, 201, json={"action": "推錯分支"})
    bob = server.user("bob")
    bob("POST", MISTAKES, 403, json={"action": "x"})
    bob("GET", MISTAKES, 403)
    bob("GET", f"{MISTAKES}/patterns", 403)


def test_a_note_of_any_yaml_is_shown(server: Server, alice: Caller) -> None:
    write(server.vault, "alice", "mistakes/x.md", "---\nday: 2026-01-30\nmap: {1: {a: .nan}}\n---\n推錯\n")
    (row,) = alice("GET", MISTAKES)["mistakes"]
    assert row["action"] == "推錯" and row["metadata"]["day"] == "2026-01-30"
