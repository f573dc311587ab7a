"""Typed memories over HTTP: every endpoint, as a program uses it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.interfaces.http.conftest import Caller, Server
from tests.vaults import write

pytestmark = pytest.mark.slow

USER = "/api/v1/user/alice"
MEMORIES = f"{USER}/memories"


@pytest.fixture
def alice(server: Server) -> Caller:
    return server.user("alice")


def add(caller: Caller, content: str, **more: Any) -> str:
    new = {"content": content, "force_save": True} | more
    stored: str = caller("POST", MEMORIES, 201, json=new)["id"]
    return stored


def test_a_prompt_of_one_skill_has_no_memory_of_another(alice: Caller) -> None:
    """A10, E7: not among those that are recalled, and not as a passage."""
    add(alice, "Restart the staging server with the blue switch", skill_id="web-deploy")
    add(alice, "Restart the staging server with the red switch", skill_id="coding-agent")
    asked = {"request": "How do I restart the staging server?", "skill": "web-deploy"}
    text = alice("POST", "/api/v1/memory/alice/prompt", json=asked)["text"]
    assert "blue switch" in text and "red switch" not in text


def test_a_memory_from_storing_to_deleting(server: Server, alice: Caller) -> None:
    """B1, B6, B9, E1, E2, E3, E8 over HTTP."""
    new = {
        "content": "用 JWT 登入，因為手機版沒有 cookie",
        "memory_type": "decision",
        "importance": 0.8,
        "skill_id": "web-deploy",
        "metadata": {"project": "shop"},
        "tags": ["auth"],
    }
    stored = alice("POST", MEMORIES, 201, json=new)
    assert stored["id"].startswith("mem_") and stored["commits"] and stored["degraded"] == []
    for n in range(12):
        add(alice, f"第 {n} 個會議改到星期五下午", memory_type="note", ttl_days=None)

    one = alice("GET", f"{MEMORIES}/{stored['id']}")
    assert {key: one[key] for key in new} == new and one["expires_at"] and one["path"].startswith("memory/alice/")
    found = alice("POST", f"{MEMORIES}/recall", json={"query": "登录为什么用 JWT"})
    assert found["memories"][0]["id"] == stored["id"] and found["degraded"] == []
    parts = [value for key, value in found["memories"][0]["explain"].items() if key != "search"]
    assert sum(parts) == pytest.approx(found["memories"][0]["score"], abs=1e-3)
    only = {"query": "JWT", "memory_types": ["note"]}
    assert stored["id"] not in str(alice("POST", f"{MEMORIES}/recall", json=only)["memories"])

    first = alice("GET", f"{MEMORIES}?limit=10")
    rest = alice("GET", f"{MEMORIES}?limit=10&offset={first['next']}")
    ids = [row["id"] for row in first["memories"] + rest["memories"]]
    assert len(set(ids)) == 13 and ids[-1] == stored["id"] and rest["next"] is None
    assert [m["id"] for m in alice("GET", f"{MEMORIES}?memory_type=decision")["memories"]] == [stored["id"]]

    changed = alice("PATCH", f"{MEMORIES}/{stored['id']}", json={"importance": 0.3, "ttl_days": None, "tags": []})
    assert (changed["importance"], changed["expires_at"], changed["tags"]) == (0.3, None, [])
    after = alice("PATCH", f"{MEMORIES}/{stored['id']}", json={"content": "改用 session 登入"})
    assert (after["supersedes"], after["importance"]) == (stored["id"], 0.3)
    assert alice("GET", f"{MEMORIES}/{stored['id']}")["superseded_by"] == after["id"]
    assert [m["id"] for m in alice("GET", f"{MEMORIES}?memory_type=decision")["memories"]] == [after["id"]]
    assert len(alice("GET", f"{MEMORIES}?memory_type=decision&history=true")["memories"]) == 2

    begun = alice("DELETE", f"{MEMORIES}/{after['id']}", 202)
    assert (begun["ids"], begun["count"], len(begun["confirmCode"])) == ([after["id"]], 1, 6)
    assert begun["preview"][0]["content"] == "改用 session 登入"
    alice("GET", f"{MEMORIES}/{after['id']}")
    receipt = alice("POST", f"{MEMORIES}/deletions/confirm", json={"confirmCode": begun["confirmCode"]})
    assert receipt["deleted"] == [after["id"]]
    looked = {look["store"]: look["absent"] for look in receipt["verified"]}
    assert looked == dict.fromkeys(("files", "ids", "words", "vectors", "bytes", "state", "git"), True)
    assert "vault-memory restore 'memory/alice/memories/" in receipt["restore"][0]
    alice("GET", f"{MEMORIES}/{after['id']}", 404)

    chosen = alice("POST", f"{MEMORIES}/deletions", 201, json={"query": "會議"})
    assert chosen["count"] == 12 and len(chosen["preview"]) == 3
    alice("POST", f"{MEMORIES}/deletions/confirm", json={"confirmCode": chosen["confirmCode"].lower()})
    stats = alice("GET", f"{USER}/stats")
    # what it had replaced is recalled again since that is deleted
    assert (stats["memories"], stats["past"], stats["memoriesCreated"]) == (1, 0, 14)


def test_similar_memories_are_listed_and_the_caller_decides(server: Server, alice: Caller) -> None:
    """B5 over HTTP: 409 with the list, nothing stored; the same memory lives on; `force_save` stores it."""
    first = alice("POST", MEMORIES, 201, json={"content": "部署前要跑完整測試，不然會壞掉"})
    told = alice("POST", MEMORIES, 409, json={"content": "部署前要跑完整測試，不然又會壞掉"})
    assert told["type"] == "urn:vault-memory:similar-memories" and "force_save" in told["detail"]
    (similar,) = told["similar"]
    assert similar["id"] == first["id"] and 0.35 <= similar["score"] <= 1 and similar["reason"]
    same = alice("POST", MEMORIES, 201, json={"content": "部署前要跑完整測試，不然會壞掉"})
    assert (same["id"], same["reinforced"]) == (first["id"], True)
    assert len(alice("GET", MEMORIES)["memories"]) == 1
    forced = {"content": "部署前要跑完整測試，不然又會壞掉", "force_save": True}
    assert alice("POST", MEMORIES, 201, json=forced)["id"] != first["id"]
    assert len(alice("GET", MEMORIES)["memories"]) == 2


def test_what_is_asked_to_be_remembered_stays(server: Server, alice: Caller) -> None:
    """E2, E6 over HTTP: a fact of importance .7, for good; similar ones are listed as everywhere."""
    stored = alice("POST", f"{MEMORIES}/remember", 201, json={"content": "Bob 有正式環境的部署權限"})
    one = alice("GET", f"{MEMORIES}/{stored['id']}")
    assert (one["memory_type"], one["importance"], one["expires_at"]) == ("fact", 0.7, None)
    told = alice("POST", f"{MEMORIES}/remember", 409, json={"content": "Bob 也有正式環境的部署權限"})
    assert [each["id"] for each in told["similar"]] == [stored["id"]] and told["degraded"] == []
    more = {"content": "Bob 也有正式環境的部署權限", "importance": 1, "force_save": True}
    assert alice("POST", f"{MEMORIES}/remember", 201, json=more)["id"] != stored["id"]
    assert alice("POST", f"{MEMORIES}/remember", 422, json={"content": "x", "importance": 7})
    recalled = alice("POST", f"{MEMORIES}/recall", json={"query": "谁可以部署", "top_k": 3})["memories"]
    assert stored["id"] in [each["id"] for each in recalled]


def test_a_users_token_reaches_that_user_only(server: Server, alice: Caller) -> None:
    """Each endpoint, for another user who exists and for one who does not."""
    memory_id = add(alice, "tea is nice")
    code = alice("DELETE", f"{MEMORIES}/{memory_id}", 202)["confirmCode"]
    bob, carol = server.user("bob"), server.user("carol")
    assert bob("POST", "/api/v1/user/bob/memories", 201, json={"content": "coffee is nice"})["id"]
    confirm = {"confirmCode": code}
    for caller in (bob, carol):
        for method, path, body in (
            ("POST", MEMORIES, {"content": "x"}),
            ("GET", MEMORIES, None),
            ("GET", f"{MEMORIES}/{memory_id}", None),
            ("PATCH", f"{MEMORIES}/{memory_id}", {"title": "x"}),
            ("DELETE", f"{MEMORIES}/{memory_id}", None),
            ("POST", f"{MEMORIES}/recall", {"query": "tea"}),
            ("POST", f"{MEMORIES}/deletions", {"query": "tea"}),
            ("POST", f"{MEMORIES}/deletions/confirm", confirm),
            ("GET", f"{USER}/stats", None),
        ):
            caller(method, path, 403, json=body)
    bob("POST", "/api/v1/user/bob/memories/deletions/confirm", 400, json=confirm)
    bob("GET", f"/api/v1/user/bob/memories/{memory_id}", 404)
    assert bob("GET", "/api/v1/user/bob/stats")["memoriesCreated"] == 1
    assert server.admin("GET", f"{USER}/stats")["memoriesCreated"] == 1
    assert server.admin("GET", "/api/v1/status")["session"]["memories_created"] == 2
    assert alice("POST", f"{MEMORIES}/deletions/confirm", json=confirm)["deleted"] == [memory_id]


def test_an_unknown_user_has_no_memories(server: Server) -> None:
    carol = server.user("carol")
    for path in ("memories", "memories/mem_1_x", "stats"):
        carol("GET", f"/api/v1/user/carol/{path}", 404)
    for path, body in (("recall", {"query": "x"}), ("deletions", {"query": "x"}), ("deletions/confirm", None)):
        carol("POST", f"/api/v1/user/carol/memories/{path}", 404, json=body or {"confirmCode": "ABCDEF"})
    carol("DELETE", "/api/v1/user/carol/memories/mem_1_x", 404)
    carol("PATCH", "/api/v1/user/carol/memories/mem_1_x", 404, json={"title": "x"})
    assert not server.vault.is_user("carol")


NAN, INFINITY = float("nan"), float("inf")
WRONG: list[dict[str, Any]] = [
    {},
    {"content": ""},
    {"content": " \n "},
    {"content": None},
    {"content": "x" * 20_001},
    {"content": "x", "memory_type": "secret"},
    {"content": "x", "memory_type": ["fact"]},
    {"content": "x", "importance": 7},
    {"content": "x", "importance": -0.1},
    {"content": "x", "importance": NAN},
    {"content": "x", "importance": None},
    {"content": "x", "ttl_days": 0},
    {"content": "x", "ttl_days": -1},
    {"content": "x", "ttl_days": NAN},
    {"content": "x", "ttl_days": INFINITY},
    {"content": "x", "ttl_days": 1e9},
    {"content": "x", "metadata": []},
    {"content": "x", "metadata": {"n": list(range(5_001))}},
    {"content": "x", "tags": ["t"] * 101},
    {"content": "\ud800"},
]
REFUSED: list[dict[str, Any]] = [
    {"content": "x", "metadata": {"a": {"b": 1}}},
    {"content": "x", "metadata": {"a": [[1]]}},
    {"content": "x", "metadata": {"a": None}},
    {"content": "x", "metadata": {"importance": 1}},
    {"content": "x", "metadata": {"a\nb": 1}},
    {"content": "x", "metadata": {"": 1}},
    {"content": "x", "metadata": {"a": NAN}},
    {"content": "x", "metadata": {"a": 10**200}},
    {"content": "x", "metadata": {"a": "y" * 410_000}},
    {"content": "x", "metadata": {f"k{n}": "y" * 300 for n in range(2_000)}},
    {"content": "x", "skill_id": "a\nb"},
    {"content": "x", "source": "\0"},
    {"content": "我有糖尿病"},
]


def test_a_wrong_memory_is_refused_and_named(server: Server, alice: Caller) -> None:
    """Bad input of the memories' issue, over HTTP."""
    for status, bodies in ((422, WRONG), (400, REFUSED)):
        for body in bodies:
            answer = alice.raw("POST", MEMORIES, headers={"Content-Type": "application/json"}, content=json.dumps(body))
            assert answer.status_code == status, (str(body)[:100], answer.text[:300])
            assert answer.headers["content-type"] == "application/problem+json" and len(answer.content) < 20_000
    alice("POST", MEMORIES, 415, headers={"Content-Type": "text/plain"}, content='{"content": "x"}')
    assert not server.vault.is_user("alice")


def test_a_wrong_change_or_deletion_is_refused(server: Server, alice: Caller) -> None:
    one = f"{MEMORIES}/{add(alice, 'tea is nice')}"
    before = alice("GET", one)
    for body in (
        {}, {"content": None}, {"memory_type": None}, {"memory_type": "x"}, {"importance": 7}, {"ttl_days": 0},
        {"content": "x", "importance": 0.1}, {"content": ""}, {"tags": "x"},
    ):  # fmt: skip
        alice("PATCH", one, 422, json=body)
    alice("PATCH", one, 400, json={"title": "sk-proj-" + "a1B2" * 12})
    alice("PATCH", one, 415, headers={"Content-Type": "text/plain"}, content="{}")
    for body in ({"query": ""}, {"ids": []}, {"memory_type": "x"}, {"ids": "mem"}):
        alice("POST", f"{MEMORIES}/deletions", 422, json=body)
    for body in ({}, {"query": " "}, {"query": "a", "memory_type": "fact"}):
        alice("POST", f"{MEMORIES}/deletions", 400, json=body)
    for body in ({"query": "zeppelin"}, {"memory_type": "bugfix"}, {"ids": ["mem_1_x"]}, {"ids": ["../../x"]}):
        alice("POST", f"{MEMORIES}/deletions", 404, json=body)
    alice("POST", f"{MEMORIES}/deletions/confirm", 422, json={"confirmCode": 5})
    for code in ("", "ABCDEF", "x" * 100, "../../x"):
        alice("POST", f"{MEMORIES}/deletions/confirm", 400, json={"confirmCode": code})
    assert alice("GET", one) == before


def test_secrets_are_left_out_and_counted(server: Server, alice: Caller) -> None:
    key = "sk-proj-" + "a1B2" * 12
    stored = alice("POST", MEMORIES, 201, json={"content": f"the key is {key}", "metadata": {"also": key}})
    assert sum(stored["redactions"].values()) >= 1
    assert key not in json.dumps(alice("GET", f"{MEMORIES}/{stored['id']}"))
    assert not [p for p in server.vault.root.rglob("*.*") if p.is_file() and key.encode() in p.read_bytes()]


def test_a_note_edited_into_nonsense_is_shown_as_far_as_it_is_understood(server: Server, alice: Caller) -> None:
    """Bad input of the memories' issue: kept, reported, and no endpoint fails of it."""
    add(alice, "coffee is nice")
    fronts = {
        "plain": "type: seldom\nimportance: very\nexpires_at: soon\ncreated_at: [1]\naccess_count: -3",
        "keys": "1: x\nnull: y\n2026-01-01: z\ntrue: {a: {1: [2026-01-01, .nan, .inf]}}\nwhen: 2026-01-01",
        "surrogates": 'x: "\\ud800"\ntitle: "\\udfff"\nid: "a/../b"',
        "bytes": "x: !!binary gIGC\ny: !!set {a, b}",
        "broken": "x: [",
        "anchors": "a: &a [x, x]\nb: [*a, *a]",
        "empty": "title:\ntags: {}\nid: [x]",
    }
    for name, front in fronts.items():
        write(server.vault, "alice", f"memories/{name}.md", f"---\n{front}\n---\ntea {name}\n")
    write(server.vault, "alice", "memories/nothing.md", "")
    shown = {row["path"].rpartition("/")[2]: row for row in alice("GET", MEMORIES)["memories"]}
    assert {f"{name}.md" for name in (*fronts, "nothing")} < shown.keys()
    assert "importance: 'very' is not a number from 0 to 1" in shown["plain.md"]["problems"]
    assert alice("GET", f"{MEMORIES}/broken")["content"] == "tea broken"
    found = alice("POST", f"{MEMORIES}/recall", json={"query": "tea", "top_k": 50})["memories"]
    assert len(found) == len(fronts)
    alice("PATCH", f"{MEMORIES}/plain", json={"title": "Tea"})
    alice("PATCH", f"{MEMORIES}/broken", 400, json={"title": "Tea"})
    assert write(server.vault, "alice", "notes/x.md", "x") and (
        (server.vault.root / "memory/alice/memories/plain.md").read_text("utf-8").startswith("---\ntype: seldom\n")
    )
    alice("GET", f"{USER}/stats")
    chosen = alice("POST", f"{MEMORIES}/deletions", 201, json={"query": "tea"})
    receipt = alice("POST", f"{MEMORIES}/deletions/confirm", json={"confirmCode": chosen["confirmCode"]})
    assert len(receipt["deleted"]) == len(fronts) and all(look["absent"] for look in receipt["verified"])


def test_codes_over_http(server: Server, alice: Caller, clock: Clock) -> None:
    """B6: expired, reused, and guessed codes; two deletions at once."""
    ids = [add(alice, f"tea {n}") for n in range(4)]
    codes = [alice("DELETE", f"{MEMORIES}/{each}", 202)["confirmCode"] for each in ids[:2]]

    def confirm(code: str) -> int:
        return alice.raw("POST", f"{MEMORIES}/deletions/confirm", json={"confirmCode": code}).status_code

    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(confirm, [*codes, *codes])) == [200, 200, 400, 400]
    late = alice("DELETE", f"{MEMORIES}/{ids[2]}", 202)["confirmCode"]
    clock.time += timedelta(minutes=5)
    assert confirm(late) == 400
    guessed = alice("DELETE", f"{MEMORIES}/{ids[2]}", 202)["confirmCode"]
    assert [confirm("AAAAAA") for _ in range(5)] == [400] * 5
    assert confirm(guessed) == 400, "five wrong codes end it"
    assert len(alice("GET", MEMORIES)["memories"]) == 2


def test_nothing_is_kept_off_the_record(server: Server, alice: Caller) -> None:
    kept = add(alice, "tea is nice")
    server.vault.config.off_record.append("alice")
    assert alice("POST", MEMORIES, 201, json={"content": "coffee"})["id"] == ""
    alice("PATCH", f"{MEMORIES}/{kept}", 400, json={"content": "coffee"})
    assert len(alice("GET", MEMORIES)["memories"]) == 1
    code = alice("DELETE", f"{MEMORIES}/{kept}", 202)["confirmCode"]
    assert alice("POST", f"{MEMORIES}/deletions/confirm", json={"confirmCode": code})["deleted"] == [kept]
