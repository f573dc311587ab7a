"""Every endpoint, over a real socket."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import datetime, timedelta

import pytest

from tests.conftest import Clock
from tests.interfaces.http.conftest import Caller, Server
from tests.vaults import write
from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.core import layout
from vault_memory.interfaces.http.endpoints.health import Readiness
from vault_memory.interfaces.http.problem import Reason
from vault_memory.services.admin.status import Status
from vault_memory.services.daemon.daemon_record import DaemonRecord, only_daemon, write_record
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.indexing import spaces
from vault_memory.services.indexing.reconcile import reconcile

pytestmark = pytest.mark.slow

USER = "/api/v1/user/alice"
MEMORY = "/api/v1/memory/alice"


def test_row_5_the_prompt_holds_profile_and_memories(server: Server, alice: Caller) -> None:
    """A18 row 5 over HTTP, A10: the next prompt holds what one request said."""
    built = alice("POST", f"{MEMORY}/prompt", json={"request": "幫我做一個按鈕"})
    assert "主題偏好：dark" in built["text"]
    assert built["text"].index("<user-profile>") < built["text"].index("<user-request>")
    assert built["messages"][-1]["role"] == "user"
    assert {"user-profile", "conversation-history"} <= {passage["section"] for passage in built["passages"]}
    group = alice("POST", f"{MEMORY}/prompt", json={"request": "幫我做一個按鈕", "private": False})
    assert "dark" not in group["text"]


def test_row_6_search_returns_passages_with_source_score_and_lines(server: Server, alice: Caller) -> None:
    """A18 row 6, A12."""
    found = alice("POST", f"{MEMORY}/search", json={"query": "暗色"})
    best = found["hits"][0]
    assert "我喜歡暗色主題" in best["content"]
    first, last = best["line_range"]
    lines = server.vault.path("alice", best["source"]).read_text().splitlines()
    said = [json.loads(line) for line in lines[first - 1 : last]]
    told = [line.partition(": ")[2] for line in best["content"].splitlines()]
    assert told == [said[0]["user_message"], said[0]["assistant_message"]], "and the answer"
    assert [(each["role"], each["text"]) for each in best["passages"][0]["messages"]] == [
        ("user", said[0]["user_message"]),
        ("assistant", said[0]["assistant_message"]),
    ]
    assert best["content"] == "\n\n".join(each["text"] for each in best["passages"])
    assert 0 < best["score"] <= 1 and best["explain"]["terms"]
    assert len(alice("POST", f"{MEMORY}/search", json={"query": "暗色", "top_k": 1})["hits"]) == 1
    notes = alice("POST", f"{MEMORY}/search", json={"query": "暗色", "group": "note"})["hits"]
    assert len({hit["source"] for hit in notes}) == len(notes) and best["more"] is None is not notes[0]["more"]
    assert best["backlinks"] is None
    asked = {"query": "暗色", "backlinks": True}
    assert all(hit["backlinks"] == [] for hit in alice("POST", f"{MEMORY}/search", json=asked)["hits"])
    assert {len(hit["commit"]) for hit in found["hits"] if hit["kind"] == "daily"} <= {0, 40}
    assert not alice("POST", f"{MEMORY}/search", json={"query": "暗色", "kinds": ["entity"]})["hits"]


def test_the_first_turn_makes_the_user(server: Server) -> None:
    """A1, A12: GET of an unknown user is 404 until then."""
    bob = server.user("bob")
    for path in (
        "/api/v1/user/bob",
        "/api/v1/user/bob/preferences",
        "/api/v1/memory/bob/daily",
        "/api/v1/memory/bob/turns",
    ):
        assert bob("GET", path, 404)["type"] == "urn:vault-memory:not-found"
    bob("POST", "/api/v1/memory/bob/search", 404, json={"query": "x"})
    made = bob("POST", "/api/v1/memory/bob/turns", 201, json={"user_message": "以後都用 Rust"})
    assert made["source"].startswith("conversations/") and made["changes"]
    assert bob("GET", "/api/v1/user/bob")["user_id"] == "bob"


def test_off_the_record_nothing_is_kept(server: Server) -> None:
    bob = server.user("bob")
    turn = {"user_message": "以後都用 Rust", "record": False}
    assert bob("POST", "/api/v1/memory/bob/turns", 201, json=turn)["source"] == ""
    bob("GET", "/api/v1/user/bob", 404)


def test_secrets_stop_before_the_file(server: Server, alice: Caller) -> None:
    """G7 over HTTP: in a turn and in a profile written whole."""
    key = "sk-proj-" + "a1B2" * 12
    turn = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": f"記住我的金鑰 {key}"})
    assert sum(turn["redactions"].values()) >= 1
    profile = alice("GET", USER)
    headers = {"If-Match": f'"{profile["version"]}"'}
    after = alice("PUT", USER, headers=headers, json={"content": profile["content"] + f"\n- {key}\n"})
    assert key not in after["content"]
    assert not [p for p in server.vault.root.rglob("*.*") if p.is_file() and key.encode() in p.read_bytes()]


def test_a_stale_write_gets_412_and_nothing_is_lost(server: Server, alice: Caller) -> None:
    first = alice.raw("GET", USER)
    etag, text = first.headers["etag"], first.json()["content"]
    assert alice.raw("GET", USER, headers={"If-None-Match": etag}).status_code == 304
    light = alice("PUT", USER, headers={"If-Match": etag}, json={"content": text.replace("dark", "light")})
    assert light["preferences"]["theme"] == "light"
    refused = alice("PUT", USER, 412, headers={"If-Match": etag}, json={"content": "# leer\n"})
    assert refused["type"] == "urn:vault-memory:stale"
    alice("PUT", USER, 412, headers={"If-Match": etag}, json={"preferences": {"theme": "dark"}})
    alice("PUT", USER, 428, json={"content": "# leer\n"})
    assert alice("GET", USER) == light
    several = f'"0", {alice.raw("GET", USER).headers["etag"]}'
    assert alice("PUT", USER, headers={"If-Match": several}, json={"content": light["content"]}) == light
    newest = alice("GET", f"{USER}/preferences/history")["changes"][0]
    assert (newest["key"], newest["old"], newest["new"], newest["strength"]) == ("theme", "dark", "light", "manual")
    assert newest["author"] != "vault-memory"


def test_a_language_is_taken_by_any_of_its_names(server: Server, alice: Caller) -> None:
    for said, tag in (("繁體中文", "zh-TW"), ("English (UK)", "en-GB")):
        etag = alice.raw("GET", USER).headers["etag"]
        after = alice("PUT", USER, headers={"If-Match": etag}, json={"preferences": {"language": said}})
        assert after["preferences"]["language"] == tag and f"：{tag}\n" in after["content"]


def test_of_many_writers_with_one_version_one_wins(server: Server, alice: Caller) -> None:
    first = alice.raw("GET", USER)
    etag, text = first.headers["etag"], first.json()["content"]
    answers: list[int] = []

    def put(number: int) -> None:
        body = {"content": text + f"- note {number}\n"}
        answers.append(alice.raw("PUT", USER, headers={"If-Match": etag}, json=body).status_code)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == [200, 412, 412, 412, 412, 412]
    assert alice("GET", USER)["content"].count("- note ") == 1


@pytest.mark.parametrize("body", [{"content": "# C\n"}, {"preferences": {"theme": "dark"}}])
def test_of_many_callers_that_make_a_profile_one_succeeds(server: Server, body: dict) -> None:
    """With `If-None-Match: *`, at the same time."""
    carol = server.user("carol")

    def put(_: int) -> int:
        return carol.raw("PUT", "/api/v1/user/carol", headers={"If-None-Match": "*"}, json=body).status_code

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(put, range(6))) == [200, 412, 412, 412, 412, 412]


def test_of_ids_that_differ_only_in_case_the_first_is_kept(server: Server) -> None:
    """On some systems they would share a folder."""
    ids = ["carol", "Carol", "CAROL", "cArol"]

    def speak(user_id: str) -> int:
        turn = {"user_message": "hello"}
        return server.admin.raw("POST", f"/api/v1/memory/{user_id}/turns", json=turn).status_code

    def write_profile(user_id: str) -> int:
        dark = {"preferences": {"theme": "dark"}}
        return server.admin.raw("PUT", f"/api/v1/user/{user_id}", json=dark).status_code

    with ThreadPoolExecutor(8) as threads:
        answers = [*threads.map(speak, ids), *threads.map(write_profile, ids)]
    assert sorted(answers) == [200, 201, *[400] * 6]
    assert len(server.admin("GET", "/api/v1/users")["users"]) == 1


def test_single_preferences_are_set_removed_and_restored(server: Server, alice: Caller) -> None:
    """G4 over HTTP: history and restore."""
    wanted = {"theme": "light", "languages": ["Python", "Rust"], "display_name": "小安"}
    assert wanted.items() <= alice("PUT", USER, json={"preferences": wanted})["preferences"].items()
    alice("PUT", USER, json={"preferences": {"languages": ["Rust"], "display_name": None}})
    left = alice("GET", f"{USER}/preferences")["preferences"]
    assert [row["value"] for row in left if row["key"] == "languages"] == ["Rust"]
    assert not [row for row in left if row["key"] == "display_name"]
    dark = next(c for c in alice("GET", f"{USER}/preferences/history?key=theme")["changes"] if c["new"] == "dark")
    restored = alice("POST", f"{USER}/preferences/restore", json={"key": "theme", "commit": dark["commit"]})
    assert len(restored["changes"]) == 1
    assert alice("GET", USER)["preferences"]["theme"] == "dark"
    assert (
        alice("POST", f"{USER}/preferences/restore", json={"key": "theme", "commit": dark["commit"]})["changes"] == []
    )


def test_suggestions_are_accepted_and_dismissed(server: Server, alice: Caller) -> None:
    """Issue 13, a waiting room, over HTTP; another user's are not to be seen."""
    alice("PUT", USER, json={"preferences": {"theme": "light"}})
    at = (server.vault.now() - timedelta(days=1)).isoformat()
    with server.vault.path("alice", "feedback.jsonl").open("a") as file:
        for key, op, value in (("tools", "add", "Vim"), ("level", "set", "beginner")):
            row = {"key": key, "op": op, "value": value, "strength": "observed", "suggestion": "open", "quote": "x"}
            file.write(json.dumps(row | {"source": "conversations/2026-01-29.jsonl:1", "created_at": at}) + "\n")
    found = alice("GET", f"{USER}/preferences/suggestions")["suggestions"]
    assert {(row["key"], row["value"]) for row in found} == {("tools", "Vim"), ("level", "beginner")}
    ids = {row["key"]: row["id"] for row in found}
    path = f"{USER}/preferences/suggestions"
    server.user("bob")("GET", path, 403)
    server.user("bob")("POST", f"{path}/accept", 403, json={"id": ids["tools"]})
    assert alice("POST", f"{path}/accept", json={"id": ids["tools"]})["changes"] == ["tools += Vim"]
    assert alice("POST", f"{path}/dismiss", json={"id": ids["level"]})["suggestions"] == []
    alice("POST", f"{path}/accept", 404, json={"id": ids["tools"]})
    alice("POST", f"{path}/accept", 422, json={"id": "nonsense"})
    assert alice("GET", path)["suggestions"] == []


def test_a_value_that_no_field_can_have_is_refused(server: Server, alice: Caller) -> None:
    for key, value in (("timezone", "Mars/Base"), ("language", "Klingonese")):
        assert f"{key} must be" in alice("PUT", USER, 400, json={"preferences": {key: value}})["detail"]
    version = alice("GET", USER)["version"]
    written = alice("PUT", USER, headers={"If-Match": f'"{version}"'}, json={"content": "# A\n- 時區：Mars/Base\n"})
    assert written["preferences"]["timezone"] == "Mars/Base", "what a person writes stays"


def test_suggestions_come_in_pages(server: Server, alice: Caller) -> None:
    """Lines of a remote made an answer of 14 MB; 16 of them took 962 MB."""
    alice("PUT", USER, json={"preferences": {"theme": "light"}})
    with server.vault.path("alice", "feedback.jsonl").open("a") as file:
        for n in range(90):
            row = {"key": "tools", "op": "add", "value": f"v{n}", "strength": "observed", "suggestion": "open"}
            file.write(json.dumps(row | {"quote": "😀" * 5_000}) + "\n")
            file.write(json.dumps(row | {"value": f"v{n}" + "x" * 140_000}) + "\n")
    path = f"{USER}/preferences/suggestions"
    first = alice("GET", f"{path}?limit=60")
    rest = alice("GET", f"{path}?limit=60&offset={first['next']}")
    assert (len(first["suggestions"]), first["next"], rest["next"]) == (60, 60, None)
    assert [row["value"] for row in first["suggestions"] + rest["suggestions"]] == [f"v{n}" for n in range(89, -1, -1)]
    assert len(alice.raw("GET", path).content) <= 1_000_000
    alice("GET", f"{path}?limit=101", 422)
    shown = alice("POST", f"{path}/dismiss", json={"id": first["suggestions"][0]["id"]})
    assert len(shown["suggestions"]) == 89


def test_a_profile_may_be_the_first_thing_written(server: Server) -> None:
    bob = server.user("bob")
    made = bob("PUT", "/api/v1/user/bob", json={"preferences": {"theme": "dark"}})
    assert made["preferences"]["theme"] == "dark"
    carol = server.user("carol")
    for version in ('"0"', '""', ""):
        carol("PUT", "/api/v1/user/carol", 412, headers={"If-Match": version}, json={"content": "- x\n"})
    whole = {"content": "# C\n- 主題偏好：dark\n"}
    made = carol("PUT", "/api/v1/user/carol", headers={"If-None-Match": "*"}, json=whole)
    assert made["preferences"]["theme"] == "dark"
    carol("PUT", "/api/v1/user/carol", 412, headers={"If-None-Match": "*"}, json=whole)


@pytest.mark.parametrize("path", ["daily", "turns"])
def test_lists_come_in_pages(server: Server, alice: Caller, path: str) -> None:
    for day in ("2026-01-27", "2026-01-28", "2026-01-29"):
        write(server.vault, "alice", f"daily/{day}.md", f"# {day}\n")
    for number in range(4):
        alice("POST", f"{MEMORY}/turns", 201, json={"user_message": f"turn {number}"})
    name, ask = ("days", "until") if path == "daily" else ("turns", "before")
    whole = alice("GET", f"{MEMORY}/{path}?limit=100")
    assert whole["next"] is None and len(whole[name]) >= 4
    pages, following = [], ""
    while following is not None:
        page = alice("GET", f"{MEMORY}/{path}", params={"limit": 2} | ({ask: following} if following else {}))
        pages += page[name]
        following = page["next"]
    assert pages == whole[name]


@pytest.mark.parametrize("path", ["preferences", "preferences/history"])
def test_lists_with_an_offset_come_in_pages(server: Server, alice: Caller, path: str) -> None:
    alice("PUT", USER, json={"preferences": {"languages": ["Python", "Rust", "Go", "C"], "display_name": "小安"}})
    name = "changes" if path.endswith("history") else "preferences"
    whole = alice("GET", f"{USER}/{path}?limit=100")
    assert whole["next"] is None and len(whole[name]) >= 6
    pages, offset = [], 0
    while offset is not None:
        page = alice("GET", f"{USER}/{path}?limit=2&offset={offset}")
        pages += page[name]
        offset = page["next"]
    assert pages == whole[name]
    beyond = alice("GET", f"{USER}/{path}?offset=999999")
    assert beyond == {name: [], "next": None}


def test_users_come_in_pages(server: Server) -> None:
    names = [f"user{number}" for number in range(5)]
    for name in names:
        write(server.vault, name, "USER.md", "# x\n")
    pages, after = [], ""
    while after is not None:
        page = server.admin("GET", f"/api/v1/users?limit=2&after={after}")
        pages += [user["user_id"] for user in page["users"]]
        after = page["next"]
    assert pages == names


def test_one_day(server: Server, alice: Caller) -> None:
    day = alice("GET", f"{MEMORY}/daily")["days"][0]["date"]
    assert (
        " 我喜歡暗色主題 → 完成 · 萃取偏好：theme = dark · conversations/"
        in alice("GET", f"{MEMORY}/daily?date={day}")["days"][0]["content"]
    )
    alice("GET", f"{MEMORY}/daily?date=1999-01-01", 404)


def test_a_long_answer_is_a_task_without_a_skill(server: Server, alice: Caller) -> None:
    """A9."""
    alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "教我泡茶", "assistant_message": "好" * 101})
    assert "- 任務：教我泡茶\n- 結果：完成\n" in server.vault.path("alice", "MEMORY.md").read_text()
    found = alice("POST", f"{MEMORY}/search", json={"query": "泡茶", "kinds": ["memory-log"]})["hits"]
    assert [hit["content"].count("\n") for hit in found] == [2] and found[0]["content"].startswith("## ")


def test_users_and_status_need_the_vaults_own_token(server: Server, alice: Caller) -> None:
    server.admin("PUT", "/api/v1/user/bob", json={"preferences": {"display_name": "Bob"}})
    assert server.admin("GET", "/api/v1/users")["users"][1] == {"user_id": "bob", "display_name": "Bob"}
    first = server.admin("GET", "/api/v1/users?limit=1")
    assert first["next"] == "alice"
    assert server.admin("GET", "/api/v1/users?after=alice")["users"][0]["user_id"] == "bob"
    assert [scope["scope"] for scope in server.admin("GET", "/api/v1/status")["scopes"]] == ["", "alice", "bob"]
    for path in ("/api/v1/users", "/api/v1/status"):
        alice("GET", path, 403)


def test_health(server: Server, alice: Caller) -> None:
    assert server.client.get("/healthz").json() == {"alive": True}
    assert server.admin("GET", "/readyz")["ready"] is True
    write_record(server.vault.root, DaemonRecord(pid=1, state="watching", beat="2026-01-30T14:00:00+08:00"))
    told = server.admin("GET", "/readyz", 503)
    assert told["ready"] is False and "the daemon (process 1) died" in told["reasons"][0]
    assert alice("GET", "/readyz", 503) == {"ready": False, "reasons": [], "pending": None}


def test_those_who_ask_at_once_share_a_look() -> None:
    """One that goes away takes it from nobody; who asks later gets a new one."""
    looks, may_end = [], threading.Event()

    def look() -> tuple[list[Reason], int | None]:
        looks.append(1)
        assert may_end.wait(60)
        return [], len(looks)

    async def ask() -> None:
        readiness = Readiness(look)
        asking = [asyncio.create_task(readiness.look()) for _ in range(40)]
        await asyncio.sleep(0)
        asking.pop(0).cancel()
        may_end.set()
        assert {count for _, count in await asyncio.gather(*asking)} == {1}
        assert await readiness.look() == ([], 2)

    asyncio.run(ask())


def test_readyz_reports_files_that_wait(server: Server, alice: Caller, clock: Clock) -> None:
    """A file saved just now is counted; one that has waited a minute to be indexed makes the vault not ready."""
    reconcile(server.vault, layout.SHARED)
    assert server.admin("GET", "/readyz") == {"ready": True, "reasons": [], "pending": 0}
    clock.time = datetime.now(clock.time.tzinfo)
    write(server.vault, "alice", "notes/new.md", "new\n")
    assert server.admin("GET", "/readyz")["pending"] == 1
    clock.time += timedelta(minutes=2)
    told = server.admin("GET", "/readyz", 503)
    assert told["pending"] == 1 and "notes/new.md" in told["reasons"][0]


def test_readyz_reports_commits_that_wait(server: Server, alice: Caller) -> None:
    rebasing = server.vault.root / ".git" / "rebase-merge"
    rebasing.mkdir()
    turn = alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "以後都用 Rust"})
    assert turn["paused"] and not turn["commits"]
    assert "commits wait" in server.admin("GET", "/readyz", 503)["reasons"][0]
    rebasing.rmdir()
    alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "hello"})
    assert server.admin("GET", "/readyz")["ready"]


def test_no_reason_names_the_folder_of_the_vault(server: Server, alice: Caller) -> None:
    """`paused` did: alice's token told where on the disk bob's notes are."""
    root = server.vault.root
    head, index = root / ".git/HEAD", root / "memory/alice/index.db"
    head.rename(root / "HEAD")
    os.utime(root / "memory/alice/USER.md", (0, 0))  # else it is later than all turns by the vault's clock
    told = alice.raw("POST", f"{MEMORY}/turns", json={"user_message": "以後都用 Rust"})
    assert told.json()["paused"].startswith(".git/HEAD is missing")
    (root / "HEAD").rename(head)
    index.unlink()
    index.mkdir()
    later = alice.raw("POST", f"{MEMORY}/turns", json={"user_message": "以後都用 Zig"})
    assert later.json()["degraded"] == ["index: memory/alice/index.db is not a file: delete it, and it is made anew"]
    others = [
        alice.raw("POST", f"{MEMORY}/{what}", json={"query": "a", "request": "a"}) for what in ("search", "prompt")
    ]
    assert str(root) not in "".join(response.text for response in (told, later, *others))


def test_readyz_reports_a_status_that_cannot_be_read(server: Server, alice: Caller) -> None:
    (server.vault.root / ".git").rename(server.vault.root / "moved")
    assert "git repository" in server.admin("GET", "/readyz", 503)["reasons"][0]
    assert alice("GET", "/readyz", 503) == {"ready": False, "reasons": [], "pending": None}
    assert (
        "is not in a git repository" in alice("POST", f"{MEMORY}/turns", 201, json={"user_message": "hello"})["paused"]
    )


def test_status_is_that_of_the_command_line(server: Server, alice: Caller) -> None:
    """With its jobs and their last runs, but without the folder of the vault."""
    heartbeat(server.vault)
    told = server.admin("GET", "/api/v1/status")
    assert {job["name"]: job["last"] for job in told["jobs"]}["commits"]["ok"] is True
    assert told.keys() == {field.name for field in fields(Status)} - {"root"}


def test_outside_names_lead_to_users(vault, server: Server, alice: Caller) -> None:
    """A15: the settings map `telegram:12345` to alice; other outside names are refused."""
    vault.config.identities["telegram:12345"] = "alice"
    assert server.admin("GET", "/api/v1/user/telegram:12345")["user_id"] == "alice"
    assert alice("GET", "/api/v1/user/telegram:12345")["user_id"] == "alice"
    vault.config.identities["alice"] = "bob"  # it may come from a remote
    assert alice("GET", "/api/v1/user/alice")["user_id"] == "alice"
    server.admin("GET", "/api/v1/user/telegram:999", 400)
    alice("GET", "/api/v1/user/telegram:999", 403)


def test_the_document_describes_every_endpoint(server: Server) -> None:
    document = server.admin("GET", "/openapi.json")
    assert set(document["paths"]["/api/v1/user/{student_id}"]) == {"get", "put"}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("summary") and operation["responses"], (method, path)
            if path != "/healthz":
                assert operation["security"], (method, path)
                assert "application/problem+json" in operation["responses"]["401"]["content"]
    assert {"Problem", "FieldProblem", "SearchIn", "HitOut"} <= set(document["components"]["schemas"])


def test_waiting_passages_are_named_over_http_in_every_mode(server: Server, alice: Caller) -> None:
    """What was written over HTTP has its offline vectors at once; what has none yet is named by search and prompt."""
    index = server.vault.index("alice")
    assert spaces.lacking(index, OfflineEmbedder.space) == 0 < index.stats().chunks
    write(server.vault, "alice", "tea.md", "I like green tea.\n")
    reconcile(server.vault, "alice", embed_at_once=0)
    with only_daemon(server.vault.root):
        for mode in ("hybrid", "vector", "keyword"):
            found = alice("POST", f"{MEMORY}/search", json={"query": "tea", "mode": mode})
            assert found["hits"] and any("passages in space offline-" in reason for reason in found["degraded"]), mode
        built = alice("POST", f"{MEMORY}/prompt", json={"request": "green tea"})
        assert any("passages in space offline-" in reason for reason in built["degraded"])
    assert alice("POST", f"{MEMORY}/search", json={"query": "tea", "mode": "vector"})["degraded"] == []
