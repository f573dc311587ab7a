"""Nobody gets at another user's data: every endpoint with the wrong token, id tricks, encodings, links, foreign pages."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import quote

import pytest

from tests.interfaces.http.conftest import Caller, Server
from tests.services.vaults import write
from vault_memory.services.access import caller_of, drop_user_token, new_user_token, own_token, revoke_user_token
from vault_memory.services.reconcile import reconcile
from vault_memory.services.users import rename_user

pytestmark = pytest.mark.slow

SECRET = "heliotrope"
"""A word that stands in bob's files alone."""


@pytest.fixture
def bob(server: Server) -> Caller:
    """Bob, who has something that others must not see."""
    caller = server.user("bob")
    caller(
        "POST", "/api/v1/memory/bob/turns", 201, json={"user_message": f"我喜歡 {SECRET}", "assistant_message": SECRET}
    )
    write(server.vault, "bob", "notes/secret.md", f"{SECRET}\n")
    reconcile(server.vault, "bob")
    return caller


def calls(server: Server, user_id: str) -> list[tuple[str, str, dict]]:
    """Every operation of the document on a user, as (method, path, request)."""
    bodies = {
        "search": {"query": SECRET},
        "turns": {"user_message": "mine"},
        "prompt": {"request": SECRET},
        "restore": {"key": "theme", "commit": "1a2b3c4d"},
        user_id: {"preferences": {"theme": "dark"}},
    }
    found = []
    for path, methods in server.admin("GET", "/openapi.json")["paths"].items():
        for method in methods:
            if "{student_id}" in path:
                filled = path.replace("{student_id}", user_id)
                body = bodies.get(filled.rsplit("/", 1)[-1]) or bodies[user_id]
                found.append((method.upper(), filled, {} if method == "get" else {"json": body}))
    assert len(found) >= 9
    return found


def test_no_endpoint_opens_with_another_users_token(server: Server, alice: Caller, bob: Caller) -> None:
    """Walls: 403 in the same words, whether the user exists or not; nothing is read, nothing is written."""
    before = {path: path.read_bytes() for path in (server.vault.root / "memory").rglob("*") if path.is_file()}
    for method, path, request in calls(server, "bob"):
        refused = alice(method, path, 403, **request)
        assert SECRET not in json.dumps(refused)
        other = path.replace("/bob", "/nobody")
        assert alice(method, other, 403, **request)["detail"] == refused["detail"]
    assert before == {path: path.read_bytes() for path in (server.vault.root / "memory").rglob("*") if path.is_file()}


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
    {"Authorization": b"Bearer \xff\xfe"},
]


def test_nothing_opens_without_a_right_token(server: Server, bob: Caller) -> None:
    for headers in WRONG_TOKENS:
        for method, path, request in [*calls(server, "bob"), ("GET", "/api/v1/users", {}), ("GET", "/api/v1/status", {}), ("GET", "/readyz", {}), ("GET", "/openapi.json", {}), ("GET", "/nothing/here", {})]:  # fmt: skip
            answer = server.client.request(method, path, headers=headers, **request)
            assert answer.status_code == 401, (method, path)
            assert SECRET not in answer.text
            assert answer.headers["www-authenticate"] == "Bearer"


TRICKS = [
        "BOB", "Bob", "bob.", "bob%20", "%20bob", "bob%00", "bob%2f", "bob%5c", "..%2fbob", "%2e%2e%2fbob", "%252e%252e%252fbob",
        "alice%2f..%2fbob", "alice/../bob", "./bob", "%ef%bd%82ob", "b%6fb", "bo%62", "alice%3fx=bob", "alice%23bob", "alice;bob",
        "alice%0d%0aX-Vault-User:bob", ".vault-memory", "%2e%2e", "con", "alice%2fUSER.md",
    ]  # fmt: skip


def test_no_way_of_writing_an_id_leads_to_bob(server: Server, alice: Caller, bob: Caller) -> None:
    for name in TRICKS:
        for path in (f"/api/v1/user/{name}", f"/api/v1/memory/{name}/daily", f"/api/v1/memory/{name}/turns"):
            answer = _raw_get(server, path, alice.token)
            assert SECRET not in answer
            assert answer.split()[1] in ("400", "403", "404", "405", "422"), answer[:200]
        for body in ({"query": SECRET}, {"query": SECRET, "scope": "all"}, {"query": SECRET, "scope": "shared"}):
            assert not alice("POST", "/api/v1/memory/alice/search", json=body)["hits"]


def _raw_get(server: Server, path: str, token: str) -> str:
    """A GET whose path no client tidies up."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode())  # fmt: skip
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


def test_links_lead_nowhere(server: Server, alice: Caller, bob: Caller) -> None:
    """A link in alice's folder to bob's files is not followed, and a user folder that is a link is no user."""
    mine, theirs = (server.vault.root / "memory" / name for name in ("alice", "bob"))
    day = next((theirs / "daily").iterdir()).name
    (mine / "daily" / "2001-01-01.md").symlink_to(theirs / "daily" / day)
    (mine / "conversations" / "2001-01-01.jsonl").symlink_to(next((theirs / "conversations").iterdir()))
    (mine / "daily" / "2001-01-02.md").symlink_to("/etc/passwd")
    (mine / "notes").symlink_to(theirs / "notes")
    (server.vault.root / "memory" / "eve").symlink_to(theirs)
    reconcile(server.vault, "alice")
    eve = server.user("eve")
    for caller, name in ((alice, "alice"), (eve, "eve")):
        for method, path, request in calls(server, name):
            if method != "PUT" and not path.endswith("restore"):
                answer = caller.raw(method, path, **request).text.replace(quote(SECRET), "")
                said = json.dumps(request)
                assert SECRET not in answer or SECRET in said and "<user-request>" in answer, (path, answer)
                assert "root:" not in answer
    for path in ("daily?date=2001-01-01", "daily?date=2001-01-02"):
        alice("GET", f"/api/v1/memory/alice/{path}", 400)
    profile = mine / "USER.md"
    profile.unlink()
    profile.symlink_to(theirs / "USER.md")
    was = (theirs / "USER.md").read_bytes()
    alice("GET", "/api/v1/user/alice", 400)
    alice("PUT", "/api/v1/user/alice", 400, json={"preferences": {"theme": "light"}})
    assert (theirs / "USER.md").read_bytes() == was


def test_a_foreign_name_or_page_is_refused(server: Server, alice: Caller) -> None:
    """DNS rebinding: a page that reached us as evil.example gets nothing, with a right token too."""
    path = "/api/v1/user/alice"
    for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example", ""):
        alice(  "GET", path, 421, headers={"Host": host})  # fmt: skip
    assert server.client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421
    for origin in ("http://evil.example", "null", "http://localhost:1", "http://[", "https://127.0.0.1.evil.example"):
        assert alice("GET", path, 403, headers={"Origin": origin})["type"] == "urn:vault-memory:foreign-origin"
    alice("GET", path, headers={"Origin": server.address})
    for host in ("localhost:9", "LOCALHOST", "[::1]:8765"):
        alice("GET", path, headers={"Host": host})


def test_a_token_ends_when_it_is_revoked_replaced_or_its_id_goes_to_another(server: Server, alice: Caller) -> None:
    path = "/api/v1/user/alice"
    newer = server.user("alice")
    alice("GET", path, 401)
    newer("GET", path)
    revoke_user_token(server.vault, "alice")
    newer("GET", path, 401)
    again = server.user("alice")
    rename_user(server.vault, "alice", "an")
    again("GET", path, 401)
    again("GET", "/api/v1/user/an", 401)
    drop_user_token(server.vault, "alice")
    old = server.admin
    (server.vault.root / ".vault-memory" / "token").unlink()
    old("GET", "/api/v1/users", 401)
    server.admin("GET", "/api/v1/users")


def test_tokens_are_for_the_owner_of_the_files_alone(server: Server, alice: Caller) -> None:
    state = server.vault.root / ".vault-memory"
    for path in (state / "token", state / "tokens" / "alice"):
        assert path.stat().st_mode & 0o777 == 0o600
    assert alice.token not in (state / "tokens" / "alice").read_text()
    assert own_token(server.vault.root) == (state / "token").read_text().strip()
    assert caller_of(server.vault, new_user_token(server.vault, "a_b-c.d")).user_id == "a_b-c.d"
