"""Whatever is sent: the answer is a problem that says what is wrong, never a fault of the server."""

from __future__ import annotations

import http.client
import socket
from typing import Any

import pytest

from tests.interfaces.http.conftest import Caller, Server
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow

MEMORY = "/api/v1/memory/alice"
USER = "/api/v1/user/alice"
JSON = {"Content-Type": "application/json"}


NO_JSON = [b"{", b"", b"\xff\xfe", b'{"query": "x"', b"[" * 5_000, b"nul", b'{"a":NaN}x']


def test_what_is_no_json_is_named_so(server: Server, alice: Caller) -> None:
    for body in NO_JSON:
        answer = alice.raw("POST", f"{MEMORY}/search", headers=JSON, content=body)
        assert answer.status_code in (400, 422), answer.text
        assert answer.headers["content-type"] == "application/problem+json"


WRONG_FIELDS: list[tuple[str, Any]] = [
        ("search", {}), ("search", {"query": 5}), ("search", {"query": ""}), ("search", {"query": "x", "top_k": 0}),
        ("search", {"query": "x", "top_k": 10**30}), ("search", {"query": "x", "mode": "magic"}),
        ("search", {"query": "x", "kinds": ["../x"]}), ("search", {"query": "x", "since": "yesterday"}), ("search", []),
        ("search", {"query": ["x"]}), ("search", None), ("turns", {}), ("turns", {"user_message": None}),
        ("turns", {"user_message": "x", "exit_code": 2**40}), ("turns", {"user_message": "x" * 200_001}),
        ("prompt", {"request": "x", "budget": 1}), ("prompt", {}),
    ]  # fmt: skip


def test_a_wrong_field_is_named(server: Server, alice: Caller) -> None:
    for path, body in WRONG_FIELDS:
        told = alice("POST", f"{MEMORY}/{path}", 422, json=body)
        assert told["errors"][0]["where"].startswith("body")


WRONG_PROFILES: list[tuple[Any, int]] = [
    ({"preferences": {"nonsense": "x"}}, 400),
    ({"preferences": {"theme": "purple"}}, 400),
    ({"preferences": {"theme": ["dark", "light"]}}, 400),
    ({"preferences": {"theme": ""}}, 400),
    ({"preferences": {"theme": 5}}, 422),
    ({"preferences": {"theme": "dark"}, "content": "x"}, 422),
    ({}, 422),
    ({"content": "x" * 200_001}, 422),
]


def test_a_profile_that_cannot_be_is_refused_whole(server: Server, alice: Caller) -> None:
    for body, status in WRONG_PROFILES:
        before = alice("GET", USER)
        alice("PUT", USER, status, json=body)
        if status == 400:
            alice("PUT", USER, 400, json={"preferences": {"display_name": "x"} | body["preferences"]})
        assert alice("GET", USER) == before


ODD_VERSIONS = ["", "*", '"a", "b"', 'W/"x"', '"']


def test_an_if_match_that_fits_nothing(server: Server, alice: Caller) -> None:
    for header in ODD_VERSIONS:
        answer = alice.raw("PUT", USER, headers={"If-Match": header}, json={"content": "x"})
        assert answer.status_code in (400, 412)


def test_odd_characters_are_kept_or_refused(server: Server, alice: Caller) -> None:
    for text in ("\x00", "\u202e\ufeff", "😀" * 50, "<script>", "'; DROP TABLE chunks; --", "\r\n\r\n", "a" * 5_000):
        alice("POST", f"{MEMORY}/search", json={"query": text})
        alice("POST", f"{MEMORY}/turns", 201, json={"user_message": text})
        alice("POST", f"{MEMORY}/prompt", json={"request": text})
    for raw in (b'{"user_message": "\\ud800"}', b'{"user_message": "x", "skill": "\\udfff"}'):
        assert alice.raw("POST", f"{MEMORY}/turns", headers=JSON, content=raw).status_code in (201, 400, 422)
    assert len(alice("GET", f"{MEMORY}/turns?limit=200")["turns"]) >= 8


WRONG_PAGES = [
    "limit=0",
    "limit=x",
    "limit=1e9",
    "before=USER.md:1",
    "before=conversations/2026-01-30.jsonl:x",
    "before=../x",
]


def test_a_wrong_page_is_refused(server: Server, alice: Caller) -> None:
    for query in WRONG_PAGES:
        alice("GET", f"{MEMORY}/turns?{query}", 422)


def test_wrong_methods_and_paths(server: Server, alice: Caller) -> None:
    alice("DELETE", USER, 405)
    alice("GET", f"{MEMORY}/search", 405)
    alice("GET", "/api/v1/memory/alice", 404)
    alice("POST", f"{USER}/preferences/restore", 422, json={"key": "theme", "commit": "--all"})
    alice("POST", f"{USER}/preferences/restore", 404, json={"key": "theme", "commit": "0123456789"})
    alice("POST", f"{USER}/preferences/restore", 400, json={"key": "nonsense", "commit": "0123456789"})


def test_ten_megabytes_are_not_taken(server: Server, alice: Caller) -> None:
    big = b'{"query": "' + b"x" * 10_000_000 + b'"}'
    assert _post(server, alice, big, chunked=False) == 413
    assert _post(server, alice, big, chunked=True) == 413
    alice("GET", USER)


def _post(server: Server, alice: Caller, body: bytes, *, chunked: bool) -> int:
    """The status of a POST; the server may answer, and hang up, before all of it is sent."""
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=20)
    headers = {"Authorization": f"Bearer {alice.token}", **JSON}
    try:
        if chunked:
            parts = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
            connection.request("POST", f"{MEMORY}/search", parts, headers | {"Transfer-Encoding": "chunked"}, encode_chunked=True)  # fmt: skip
        else:
            connection.request("POST", f"{MEMORY}/search", body, headers)
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        return connection.getresponse().status
    except ConnectionResetError:
        return 413  # hung up on in the middle of it: the answer was lost on the way
    finally:
        connection.close()


def test_a_client_that_hangs_up_halfway_hurts_nobody(server: Server, alice: Caller) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    for _ in range(3):
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            head = f"POST {MEMORY}/turns HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {alice.token}\r\nContent-Length: 500\r\n\r\n{{"
            connection.sendall(head.encode())
    assert len(alice("GET", f"{MEMORY}/turns")["turns"]) == 1


def test_too_many_requests_are_told_when_to_come_back(vault: Vault, server: Server, alice: Caller) -> None:
    object.__setattr__(vault.config, "serve_rate", 1)
    hasty = server.user("hasty")
    answers = [hasty.raw("GET", "/healthz"), *(hasty.raw("GET", "/api/v1/user/hasty") for _ in range(20))]
    slowed = [answer for answer in answers if answer.status_code == 429]
    assert slowed and int(slowed[-1].headers["retry-after"]) >= 1
    server.admin("GET", USER)  # another caller is not slowed
    alice("GET", USER)
