"""Nobody gets another user's data: every route with the wrong token, id tricks, encodings, links, foreign pages.

The routes come from the app, the proxy's included: a new one is attacked without a change here.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock
from tests.interfaces.http.conftest import Caller, Server
from tests.scripted_http import ScriptedServer, completion
from tests.vaults import write
from vault_memory.interfaces.http.app import create_app
from vault_memory.interfaces.http.guard import PUBLIC_PATHS
from vault_memory.services.admin.access import caller_of, drop_user_token, new_user_token, own_token, revoke_user_token
from vault_memory.services.admin.users import rename_user
from vault_memory.services.forgetting import prepare_forgetting
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.learning import update_session
from vault_memory.services.memories import prepare_deletion
from vault_memory.services.profiles import list_suggestions
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

SECRET = "heliotrope"
"""A word that only bob's files hold, beside words that every test searches for."""
BODY = {
    "query": "glow",
    "scope": "all",
    "user_message": "glow",
    "request": "what does glow?",
    "preferences": {"theme": "dark"},
    "key": "theme",
    "model": "m",
    "messages": [{"role": "user", "content": "what does glow?"}],
    "max_tokens": 9,
    "input": "glow",
    "id": "3fa92c",
    "conversation_id": "talk",
}
"""The fields of all our endpoints; a new endpoint adds those that it needs."""
OF_MEMORIES = {"content": "glow", "confirmCode": "AAAAAA"}
"""Those that the endpoints of memories have beside: to others `content` means a whole profile."""
OF_GRAPH = {
    "name": "glow",
    "observations": ["it glows"],
    "from": "glow",
    "to": "lamp",
    "type": "uses",
}
"""Those of the knowledge graph; only a relation has a type there."""
OF_LEARNING = {
    "user_id": "alice",
    "session_id": "glow",
    "event": {"intent": "quiz", "topic": "glow", "metadata": {"difficulty": "easy", "correct_rate": 0.4}},
}
"""Those of a learner's profile and sessions, where the body names the user."""
HINTS = dict.fromkeys(("X-Vault-User", "X-User", "X-User-Id", "X-Forwarded-User", "X-Student-Id"), "bob")
MEMORY_ID = "mem_1_glow"
NAMED = {"user": "bob", "user_id": "bob", "student_id": "bob", "metadata": {"user_id": "bob"}}


@pytest.fixture
def behind() -> Iterator[ScriptedServer]:
    """The provider behind the proxy, which keeps the requests that it received."""
    with ScriptedServer() as running:
        running.will_say(completion("done"))
        yield running


@pytest.fixture
def vault(vault: Vault, clock: Clock, behind: ScriptedServer) -> Vault:
    return open_vault(
        vault.root, now=clock, upstream_base_url=behind.url, upstream_anthropic_url=behind.url, serve_rate=100_000
    )


@pytest.fixture
def bob(server: Server) -> Caller:
    """Bob, who has something that others must not see."""
    caller = server.user("bob")
    turn = {"user_message": f"我喜歡暗色主題 glow {SECRET}", "assistant_message": f"glow {SECRET}"}
    caller("POST", "/api/v1/memory/bob/turns", 201, json=turn)
    write(server.vault, "bob", f"memories/{MEMORY_ID}.md", f"glow {SECRET}\n")
    write(server.vault, "bob", "notes/secret.md", f"What does glow? {SECRET}\n")
    reconcile(server.vault, "bob")
    return caller


@dataclass(frozen=True)
class Route:
    """A method and a path of the app, its `{student_id}` or `{user_id}` still open."""

    method: str
    path: str

    @property
    def is_a_users(self) -> bool:
        return "{student_id}" in self.path or "{user_id}" in self.path

    def of(self, user_id: str) -> str:
        open_parts = {"{student_id}": user_id, "{user_id}": user_id, "{session_id}": "glow"}
        open_parts |= {"{memory_id}": MEMORY_ID, "{rest:path}": "x"}
        named = f"?user_id={user_id}" if self.path == "/memory/summary" else ""
        return re.sub("|".join(map(re.escape, open_parts)), lambda part: open_parts[part[0]], self.path) + named


def routes(vault: Vault) -> list[Route]:
    """Every route of the app except the public ones."""
    found = [Route(method, path) for method, path in _walk(create_app(vault)) if path not in PUBLIC_PATHS]
    assert len(found) >= 21 and Route("POST", "/v1/chat/completions") in found
    return found


def _walk(router: Any) -> Iterator[tuple[str, str]]:
    for route in router.routes:
        if inner := getattr(route, "original_router", None):  # newer versions of FastAPI keep a router in one piece
            yield from _walk(inner)
        else:
            yield from ((method, route.path) for method in sorted(route.methods))


def files_of(vault: Vault, user_id: str = "") -> dict[Path, bytes]:
    """The files in a user's folder (or in all), without the index."""
    folder = vault.root / "memory" / user_id
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and not p.name.startswith("index.db")}


def body_for(route: Route, **more: Any) -> dict[str, Any]:
    fields = BODY | (OF_MEMORIES if "/memories" in route.path else {}) | (OF_GRAPH if "/graph/" in route.path else {})
    if route.path.endswith("/graph/entities"):
        fields |= {"type": "component"}
    if route.path.startswith("/memory/"):
        fields |= OF_LEARNING
    if "/forgettings" in route.path:
        fields = {"text": "what glows", "confirmCode": "ABCDEF"}
    if "/erasings" in route.path:
        fields = {"texts": ["what glows"], "confirmCode": "ABCDEF"}
    if route.path.endswith("/mistakes"):
        fields |= {"action": "glow"}
    if route.method != "GET":
        return {"json": fields | more}
    if route.path.endswith(("/note", "/related")):
        return {"params": {"name": "USER"}}
    return {"params": {"name": "glow", "from": "glow", "to": "lamp"}} if "/graph/" in route.path else {}


def test_the_routes_are_all_that_is_documented_and_more(server: Server) -> None:
    documented = server.admin("GET", "/openapi.json")["paths"]
    known = {(route.method, route.path) for route in routes(server.vault)}
    for path, methods in documented.items():
        assert path in PUBLIC_PATHS or {(method.upper(), path) for method in methods} <= known


def test_every_route_is_attacked_with_a_body_that_it_takes(server: Server, alice: Caller) -> None:
    """A new endpoint must add its fields to `BODY`: else it would refuse the attacks for their form alone."""
    waits = {"key": "tools", "op": "add", "strength": "observed", "suggestion": "open"}
    update_session(server.vault, "alice", "glow", "quiz")
    for route in routes(server.vault):
        if not route.path.startswith("/v1/"):
            with server.vault.path("alice", "feedback.jsonl").open("a") as file:
                file.write(json.dumps(waits | {"value": route.path}) + "\n")
            newest = list_suggestions(server.vault, "alice")[0].id
            write(server.vault, "alice", f"memories/{MEMORY_ID}.md", f"what glows {route.path}\n")
            waiting = prepare_deletion(server.vault, "alice", ids=[MEMORY_ID])
            body = body_for(route, commit=server.vault.history.commit_named("HEAD"), id=newest)
            if "confirmCode" in body.get("json", {}):
                body["json"]["confirmCode"] = waiting.code
            if route.path.endswith("/forgettings/confirm"):
                body["json"]["confirmCode"] = prepare_forgetting(server.vault, "alice", text="what glows").code
            assert alice.raw(route.method, route.of("alice"), **body).status_code in (200, 201, 202, 403), route


def test_no_route_opens_with_another_users_token(server: Server, alice: Caller, bob: Caller) -> None:
    """Walls: 403 with the same message, whether the user exists or not; nothing is read or written."""
    before = files_of(server.vault)
    for route in filter(lambda route: route.is_a_users, routes(server.vault)):
        refused = alice(route.method, route.of("bob"), 403, **body_for(route))
        assert SECRET not in json.dumps(refused)
        assert alice(route.method, route.of("nobody"), 403, **body_for(route)) == refused
    for path in ("/api/v1/users", "/api/v1/status"):
        assert SECRET not in json.dumps(alice("GET", path, 403))
    assert before == files_of(server.vault)


def test_no_header_query_or_body_opens_another_user(
    server: Server, alice: Caller, bob: Caller, behind: ScriptedServer
) -> None:
    """A15: the token decides who the caller is, even if headers, query and body name bob."""
    before = files_of(server.vault, "bob")
    commit = server.vault.history.commit_named("HEAD")
    for route in routes(server.vault):
        path = f"{route.of('alice')}?user=bob&user_id=bob&student_id=bob"
        answer = alice.raw(route.method, path, headers=HINTS, **body_for(route, commit=commit, **NAMED))
        assert SECRET not in answer.text, route
    assert behind.received and not [asked for asked in behind.received if SECRET.encode() in asked.body]
    assert not [asked for asked in behind.received if alice.token in str(asked.headers)]
    assert before == files_of(server.vault, "bob")


WRONG_TOKENS: list[dict[str, Any]] = [
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer x"},
    {"Authorization": "Bearer vault_bob_" + "0" * 64},
    {"Authorization": "Bearer vault_admin_" + "0" * 64},
    {"Authorization": "Bearer vault_../../bob_" + "0" * 64},
    {"Authorization": "Bearer vault__"},
    {"Authorization": "Basic Ym9iOmJvYg=="},
    {"Authorization": "", "X-Api-Key": "nonsense"},
    {"Authorization": "", "Cookie": "token=x"},
    {"Authorization": b"Bearer \xff\xfe"},
]


@pytest.mark.parametrize("every", [pytest.param(1, id="all", marks=pytest.mark.soak), pytest.param(5, id="some")])
def test_nothing_opens_without_a_right_token(server: Server, bob: Caller, behind: ScriptedServer, every: int) -> None:
    """Every route with every wrong token; or each route with the first of them and every fifth other."""
    stored = (server.vault.root / ".vault-memory" / "tokens" / "bob").read_text().strip()
    shapes = [
        stored,
        bob.token.upper(),
        bob.token[:-1],
        bob.token + "0",
        bob.token.replace("bob", "admin"),
        f"{bob.token} x",
    ]
    wrong = [*WRONG_TOKENS, *({"Authorization": f"Bearer {shape}"} for shape in shapes)]
    asked = [*routes(server.vault), Route("GET", "/nothing/here")]
    asked += [
        Route("GET", path) for path in ("//healthz", "/healthz/", "/healthz/x", "/HEALTHZ", "/healthz;x", "/healthz%00")
    ]
    for number, headers in enumerate(wrong):
        for route in asked if number == 0 else asked[number % every :: every]:
            answer = server.client.request(route.method, route.of("bob"), headers=headers, **body_for(route))
            assert answer.status_code == 401, (route, headers)
            ours = "application/json" if route.path.startswith("/v1/") else "application/problem+json"
            assert answer.headers["content-type"] == ours
            assert answer.headers["www-authenticate"] == "Bearer"
            assert SECRET not in answer.text
    assert not behind.received


TRICKS = [
    *("BOB", "Bob", "bob.", "bob..", ".bob", "bob%20", "%20bob", "bob%09", "bob%00", "%00bob", "bob%00.md"),
    *("bob%2f", "bob%5c", "..%2fbob", "..%5cbob", "%2e%2e%2fbob", "%252e%252e%252fbob", "alice%2f..%2fbob"),
    *("alice/../bob", "./bob", "memory%2fbob", "%ef%bd%82%ef%bd%8f%ef%bd%82", "%ef%bd%82ob", "bob%e2%80%8b"),
    *("%e2%80%aebob", "bob%cc%81", "b%d0%beb", "bob%ff", "%f0%9f%98%80", "b%6fb", "bo%62", "%62%6f%62", "%2562ob"),
    *("alice%3fx=bob", "alice%23bob", "alice;bob", "alice,bob", "alice&bob", "alice%0abob"),
    *("alice%0d%0aX-Vault-User:bob", ".vault-memory", "%2e", "%2e%2e", "", "%20", "con", "nul.txt", "shared"),
    *("_shared", "alice%2fUSER.md", "a" * 65, "a" * 5_000, "*", "%2a", "%", "%zz", "~bob", "$bob", "telegram:bob"),
    *("alice'--", "%c0%ae%c0%ae%c0%afbob"),
]


def test_no_way_of_writing_an_id_leads_to_bob(server: Server, alice: Caller, bob: Caller) -> None:
    before = files_of(server.vault)
    for route in filter(lambda route: route.is_a_users, routes(server.vault)):
        for name in TRICKS:
            answer = _raw(server, route.method, route.of(name), alice.token, body_for(route).get("json"))
            assert SECRET not in answer
            assert answer.split()[1] in ("400", "403", "404", "405", "422"), (route, name, answer[:200])
    assert before == files_of(server.vault)


def test_the_vaults_own_token_makes_no_folder_outside_it(server: Server, alice: Caller, bob: Caller) -> None:
    """The vault's own token cannot use an invalid id either; all new users have valid ids."""
    for route in filter(lambda route: route.is_a_users, routes(server.vault)):
        for name in TRICKS:
            answer = _raw(server, route.method, route.of(name), server.admin.token, body_for(route).get("json"))
            assert answer.split()[1][0] in "24", (route, name, answer[:200])
    plain = {"alice", "bob", "shared", "_shared"}
    assert {path.name for path in (server.vault.root / "memory").iterdir()} <= plain
    assert not [path for path in server.vault.root.parent.iterdir() if path != server.vault.root]


def _raw(server: Server, method: str, path: str, token: str, body: Any = None) -> str:
    """A request whose path no client normalises."""
    host, port = server.address.removeprefix("http://").split(":")
    content = b"" if body is None else json.dumps(body).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return exchange(server, head.encode() + content)


def exchange(server: Server, sent: bytes) -> str:
    """The response to these bytes, until the server closes the connection."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(sent)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


def test_links_lead_nowhere(server: Server, alice: Caller, bob: Caller, behind: ScriptedServer) -> None:
    """No link in alice's folder is followed to bob's files, no linked folder is a user; bob's files do not change."""
    root = server.vault.root
    mine, theirs = (root / "memory" / name for name in ("alice", "bob"))
    day = next((theirs / "daily").iterdir()).name
    (mine / "daily" / "2001-01-01.md").symlink_to(theirs / "daily" / day)
    (mine / "daily" / "2001-01-02.md").symlink_to("/etc/passwd")
    (mine / "conversations" / "2001-01-01.jsonl").symlink_to(next((theirs / "conversations").glob("*.jsonl")))
    (mine / "notes").symlink_to(theirs / "notes")
    (root / "memory" / "eve").symlink_to(theirs)
    reconcile(server.vault, "alice")
    before = files_of(server.vault, "bob")
    eve = server.user("eve")
    commit = server.vault.history.commit_named("HEAD")

    def attack() -> None:
        for caller, name in ((alice, "alice"), (eve, "eve"), (server.admin, "eve")):
            for route in routes(server.vault):
                answer = caller.raw(route.method, route.of(name), **body_for(route, commit=commit))
                assert SECRET not in answer.text and "root:" not in answer.text, (name, route)
                assert str(root) not in answer.text and "Traceback" not in answer.text, (name, route)

    attack()
    for path in ("daily?date=2001-01-01", "daily?date=2001-01-02"):
        alice("GET", f"/api/v1/memory/alice/{path}", 400)
    for source in ("USER.md", f"daily/{day}", "feedback.jsonl", "MEMORY.md", "index.db"):
        (mine / source).unlink(missing_ok=True)
        (mine / source).symlink_to(theirs / source)
    attack()
    alice("GET", "/api/v1/user/alice", 400)
    alice("PUT", "/api/v1/user/alice", 400, json={"preferences": {"theme": "light"}})
    for source in ("daily", "conversations"):
        (mine / source).rename(mine / f"{source} before")
        (mine / source).symlink_to(theirs / source)
    attack()
    assert before == files_of(server.vault, "bob")
    assert not [asked for asked in behind.received if SECRET.encode() in asked.body]


def test_a_skill_name_cannot_be_a_path(server: Server, alice: Caller, bob: Caller) -> None:
    for name in (
        "../../x",
        "../memory/bob",
        "coding-agent/../../memory/bob",
        "/etc",
        "\x00",
        ".",
        "*",
        "coding-agent/",
    ):
        told = alice("POST", "/api/v1/memory/alice/prompt", 404, json={"request": "x", "skill": name})
        assert SECRET not in told["detail"]


def test_a_foreign_name_or_page_is_refused(server: Server, alice: Caller) -> None:
    """DNS rebinding: a page that reached us as evil.example gets nothing, even with a valid token."""
    path = "/api/v1/user/alice"
    hosts = [
        *("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example", ""),
        *("127.0.0.1:80@evil.example", "localhost:evil", "localhost.", "127.0.0.1, evil.example", "[::1]evil"),
        "0.0.0.0",
    ]
    for host in hosts:
        alice("GET", path, 421, headers={"Host": host})
    assert server.client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
    assert (
        server.client.get("/healthz", headers={"Host": "evil.example", "X-Forwarded-Host": "localhost"}).status_code
        == 421
    )
    own = server.address.removeprefix("http://")
    origins = [
        *("http://evil.example", "null", "http://localhost:1", "http://[", "https://127.0.0.1.evil.example", ""),
        *("//" + own, own, f"http://{own}.evil.example", f"http://evil@{own}", f"chrome-extension://{own}"),
        *(f"http://{own}/x", "http://127.0.0.1"),
    ]
    for origin in origins:
        assert alice("GET", path, 403, headers={"Origin": origin})["type"] == "urn:vault-memory:foreign-origin"
    alice("GET", path, headers={"Origin": server.address})
    for host in ("localhost:9", "LOCALHOST", "[::1]:8765"):
        alice("GET", path, headers={"Host": host})


def test_an_ambiguous_request_is_refused(server: Server, alice: Caller) -> None:
    """A server in front of this one may use the first of two headers where we would use the last."""
    path, good = "/api/v1/user/alice", f"Bearer {alice.token}"
    twice = {
        "authorization": [("Authorization", "Bearer x"), ("Authorization", good)],
        "x-api-key": [("X-Api-Key", "x"), ("X-Api-Key", alice.token)],
        "origin": [("Authorization", good), ("Origin", "http://evil.example"), ("Origin", server.address)],
    }
    for name, headers in twice.items():
        for sent in (headers, headers[::-1]):
            answer = server.client.get(path, headers=sent)
            assert answer.status_code == 400 and name in answer.json()["detail"]
    head = f"POST /api/v1/memory/alice/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: {good}\r\n"
    hidden = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    both = exchange(server, f"{head}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}".encode())
    assert both.startswith("HTTP/1.1 400") and both.count("HTTP/1.1") == 1
    for coding in ("identity, chunked", "chunked, chunked", "identity\r\nTransfer-Encoding: chunked"):
        coded = exchange(server, f"{head}Transfer-Encoding: {coding}\r\n\r\n0\r\n\r\n{hidden}".encode())
        assert coded.startswith("HTTP/1.1 400") and coded.count("HTTP/1.1") == 1, coding
    old = f"{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}".replace("HTTP/1.1", "HTTP/1.0", 1)
    told = exchange(server, old.encode())
    assert told.startswith("HTTP/1.1 400") and told.count("HTTP/1.1 ") == 1, "HTTP/1.0 knows no transfer coding"


def test_two_different_vault_tokens_are_refused(server: Server, alice: Caller) -> None:
    """Another program may let the second one in."""
    path, admin = "/api/v1/user/alice", server.admin.token
    for first, second in ((alice.token, admin), (admin, alice.token)):
        told = alice("GET", path, 400, headers={"Authorization": f"Bearer {first}", "X-Api-Key": second})
        assert "two different vault tokens" in told["detail"]
    for beside in (alice.token, "sk-of-a-provider"):
        alice("GET", path, headers={"X-Api-Key": beside})


def test_an_address_of_another_host_in_the_request_line_is_refused(server: Server, alice: Caller) -> None:
    rest = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {alice.token}\r\nConnection: close\r\n\r\n"
    for authority in ("evil.example", "user@localhost", "localhost:1", "127.0.0.1", "localhost@evil.example"):
        refused = exchange(server, f"GET http://{authority}/api/v1/user/alice {rest}".encode())
        assert refused.startswith("HTTP/1.1 400"), authority
    assert exchange(server, f"CONNECT evil.example:443 {rest}".encode()).startswith("HTTP/1.1 400")
    for target in ("http://localhost/api/v1/user/alice", "http://LOCALHOST/api/v1/user/alice", "/api/v1/user/alice"):
        assert exchange(server, f"GET {target} {rest}".encode()).startswith("HTTP/1.1 200"), target


def test_a_token_ends_when_it_is_revoked_replaced_or_its_id_goes_to_another(server: Server, alice: Caller) -> None:
    path = "/api/v1/user/alice"
    newer = server.user("alice")
    alice("GET", path, 401)
    newer("GET", path)
    revoke_user_token(server.vault, "alice")
    newer("GET", path, 401)
    again, earlier = server.user("alice"), server.user("an")
    rename_user(server.vault, "alice", "an")
    for caller in (again, earlier):
        caller("GET", path, 401)
        caller("GET", "/api/v1/user/an", 401)
    drop_user_token(server.vault, "alice")
    old = server.admin
    (server.vault.root / ".vault-memory" / "token").unlink()
    old("GET", "/api/v1/users", 401)
    server.admin("GET", "/api/v1/users")


def test_a_new_user_with_an_old_id_finds_nothing_of_its_former_user(server: Server, bob: Caller) -> None:
    """Bob becomes rob; the next bob sees neither notes nor history of the first, while the server keeps running."""
    bob("POST", "/api/v1/memory/bob/search", json=BODY)
    rename_user(server.vault, "bob", "rob")
    next_bob = server.user("bob")
    next_bob("POST", "/api/v1/memory/bob/turns", 201, json={"user_message": "以後都用 Rust", "assistant_message": "好"})
    for route in filter(lambda route: route.is_a_users, routes(server.vault)):
        if route.method == "GET" or not route.path.endswith("restore"):
            assert SECRET not in next_bob.raw(route.method, route.of("bob"), **body_for(route)).text, route
    assert SECRET in json.dumps(server.admin("GET", "/api/v1/user/rob/preferences/history"))


def test_a_body_that_ends_after_a_renaming_serves_nobody(server: Server, alice: Caller) -> None:
    """The token is checked with the head: the old id came back to life, or the next one with it was read."""
    host, port = server.address.removeprefix("http://").split(":")
    body = json.dumps({"user_message": "hi"}).encode()
    with socket.create_connection((host, int(port)), timeout=60) as slow:
        head = (
            f"POST /api/v1/memory/alice/turns HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {alice.token}\r\n"
            f"Connection: close\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        slow.sendall(head.encode())
        assert slow.recv(100).startswith(b"HTTP/1.1 100"), "the body is awaited"
        rename_user(server.vault, "alice", "an")
        slow.sendall(body)
        answer = b"".join(iter(lambda: slow.recv(10_000), b""))
    assert answer.startswith(b"HTTP/1.1 401") and "alice" not in server.vault.user_ids()


def test_only_the_owner_of_the_files_can_read_tokens(server: Server, alice: Caller) -> None:
    state = server.vault.root / ".vault-memory"
    for path in (state / "token", state / "tokens" / "alice"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert alice.token not in (state / "tokens" / "alice").read_text()
    assert own_token(server.vault.root) == (state / "token").read_text().strip()
    assert caller_of(server.vault, new_user_token(server.vault, "a_b-c.d")).user_id == "a_b-c.d"
