"""Bad requests: every response is a problem that says what is wrong, never an error in the server."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from pydantic import ValidationError
from starlette.types import ASGIApp

from tests.conftest import wait_until
from tests.interfaces.http.conftest import Caller, Server
from tests.vaults import write
from vault_memory.core.layout import without_folders
from vault_memory.errors import TooLarge
from vault_memory.interfaces.http.app import create_app
from vault_memory.interfaces.http.endpoints.users import ProfileIn
from vault_memory.interfaces.http.server import BoundedHttpProtocol, configured, listen
from vault_memory.services.admin.access import own_token
from vault_memory.services.daemon.daemon_record import DaemonRecord, write_record
from vault_memory.services.profiles import put_content
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow

MEMORY = "/api/v1/memory/alice"
USER = "/api/v1/user/alice"
JSON = {"Content-Type": "application/json"}


NO_JSON = [
    b"{", b"\xff\xfe", b'{"query": "x"', b"nul", b'{"a":NaN}x', b"[" * 4_000 + b"]" * 4_000,
    b'{"a":' * 4_000 + b"1" + b"}" * 4_000, b'{"query": "x", "top_k": ' + b"9" * 5_000 + b"}", b"\x00", b"<xml/>",
]  # fmt: skip


def test_a_problem_does_not_repeat_a_secret_of_the_request(alice: Caller) -> None:
    key = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xZ7cF0hJ3lM6"
    refused = [
        alice("PUT", USER, 400, json={"preferences": {key: "x"}}),
        alice("GET", f"{USER}/preferences/history?key=my_{key}", 400),
        alice("POST", f"{MEMORY}/search", 422, json={"query": "x", key: 1, "top_k": key}),
    ]
    assert all(key not in json.dumps(told) for told in refused) and "[redacted: token]" in refused[0]["detail"]


def test_a_profile_with_a_nul_is_refused(alice: Caller) -> None:
    """It got 200, and nothing was learned for that user from then on."""
    told = alice("PUT", USER, 422, json={"content": "# a\n\0\n"})
    assert "NUL" in told["errors"][0]["message"]


def test_a_body_that_is_not_json_is_refused(server: Server, alice: Caller) -> None:
    """Also JSON that is nested too deeply, and numbers that are too long."""
    for body in NO_JSON:
        told = alice("POST", f"{MEMORY}/search", 400, headers=JSON, content=body)
        assert told["type"] == "urn:vault-memory:invalid-json"
    alice("POST", f"{MEMORY}/search", 422, headers=JSON, content=b"")


def test_a_body_without_a_json_content_type_is_not_read(server: Server, alice: Caller) -> None:
    """A page of another site can make a browser send plain text and forms unasked, but not JSON."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x", ";;", ""):
        alice("POST", f"{MEMORY}/turns", 415, headers={"Content-Type": kind}, content=b'{"user_message": "x"}')
        alice("PUT", USER, 415, headers={"Content-Type": kind}, content=b'{"preferences": {}}')
    for kind in ("application/json; charset=utf-8", "application/vnd.x+json"):
        alice("POST", f"{MEMORY}/search", headers={"Content-Type": kind}, content='{"query": "暗色"}'.encode())


def test_the_response_to_many_mistakes_is_short(server: Server, alice: Caller) -> None:
    for preferences in ({f"key{number}": 5 for number in range(50_000)}, {"k" * 1_000_000: 5}):
        answer = alice.raw("PUT", USER, json={"preferences": preferences})
        assert answer.status_code == 422 and len(answer.content) < 20_000


@pytest.mark.parametrize(
    ("preferences", "most"),
    [({f"k{number}": 1 for number in range(4_990)}, 1), ({f"k{number}": [1] * 990 for number in range(5)}, 10)],
)
def test_wrong_values_are_not_told_one_by_one(preferences: dict[str, Any], most: int) -> None:
    """Each of thousands took 10 us while everybody waited."""
    with pytest.raises(ValidationError) as caught:
        ProfileIn.model_validate({"preferences": preferences})
    assert caught.value.error_count() <= most


def test_a_body_of_many_values_is_refused_before_it_is_parsed(server: Server, alice: Caller) -> None:
    """Each wrong value of 200,000 became an error: everybody waited three seconds for the response."""
    many = [
        {"preferences": {f"key{number}": 5 for number in range(5_001)}}, [[] for _ in range(5_001)],
        {"a": [[[]] for _ in range(2_501)]}, {"preferences": {"languages": ["x"] * 5_001}},
    ]  # fmt: skip
    for content in (*map(json.dumps, many), "[" * 100_000 + "]" * 100_000):
        for method, path in (("PUT", USER), ("POST", f"{MEMORY}/search"), ("POST", f"{MEMORY}/turns")):
            told = alice(method, path, 422, headers=JSON, content=content)
            assert told["detail"] == "body: there are more than 5,000 values: send fewer in one request"
    alice("POST", f"{MEMORY}/turns", 201, json={"user_message": '[{,"' * 20_000})  # a text is one value
    alice("PUT", USER, json={"preferences": {"languages": [f"language {number}" for number in range(150)]}})


WRONG_FIELDS: list[tuple[str, Any]] = [
        ("search", {}), ("search", {"query": 5}), ("search", {"query": ""}), ("search", {"query": "x", "top_k": 0}),
        ("search", {"query": "x", "top_k": 10**30}), ("search", {"query": "x", "mode": "magic"}),
        ("search", {"query": "x", "kinds": ["../x"]}), ("search", {"query": "x", "since": "yesterday"}), ("search", []),
        ("search", {"query": ["x"]}), ("search", None), ("turns", {}), ("turns", {"user_message": None}),
        ("turns", {"user_message": "x", "exit_code": 2**40}), ("turns", {"user_message": "x" * 200_001}),
        ("prompt", {"request": "x", "budget": 1}), ("prompt", {}), ("search", {"query": "x", "top_k": 1e400}),
        ("search", {"query": "x", "top_k": float("nan")}),
        ("search", {"query": "x", "tags": ["x"] * 21}),
        ("search", "x"),
    ]  # fmt: skip


def test_a_wrong_field_is_named(server: Server, alice: Caller) -> None:
    for path, body in WRONG_FIELDS:
        told = alice("POST", f"{MEMORY}/{path}", 422, headers=JSON, content=json.dumps(body))
        assert told["errors"][0]["where"].startswith("body")


WRONG_PROFILES: list[tuple[Any, int]] = [
    ({"preferences": {"languages": ["x"] * 100_000}}, 422),
    ({"preferences": {"nonsense": "x"}}, 400),
    ({"preferences": {"theme": "purple"}}, 400),
    ({"preferences": {"theme": ["dark", "light"]}}, 400),
    ({"preferences": {"theme": ""}}, 400),
    ({"preferences": {"theme": 5}}, 422),
    ({"preferences": {"theme": "dark"}, "content": "x"}, 422),
    ({}, 422),
    ({"content": "x" * 200_001}, 422),
]


def test_an_invalid_profile_is_refused_whole(server: Server, alice: Caller) -> None:
    for body, status in WRONG_PROFILES:
        before = alice("GET", USER)
        alice("PUT", USER, status, json=body)
        if status == 400:
            alice("PUT", USER, 400, json={"preferences": {"display_name": "x"} | body["preferences"]})
        assert alice("GET", USER) == before


def test_a_profile_whose_front_matter_is_hostile_is_refused(server: Server, alice: Caller) -> None:
    """Each of these once took the server down or filled its memory, and again at every start."""
    etag = alice.raw("GET", USER).headers["etag"]
    anchors = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for yaml in ("x: " + "[" * 60_000, anchors, "title: [unclosed", "x: !!python/object/apply:os.getpid []"):
        told = alice("PUT", USER, 400, headers={"If-Match": etag}, json={"content": f"---\n{yaml}\n---\n# me\n"})
        assert told["detail"].startswith("front matter (lines 1-") and "nothing was written" in told["detail"]
    assert alice.raw("GET", USER).headers["etag"] == etag
    write(server.vault, "alice", "notes/hostile.md", "---\nx: " + "[" * 60_000 + "\n---\na cup of oolong\n")
    (hit,) = alice("POST", f"{MEMORY}/search", json={"query": "oolong"})["hits"]
    assert hit["source"] == "notes/hostile.md"


def test_front_matter_that_is_too_long_to_be_read_is_refused(server: Server, alice: Caller) -> None:
    before = alice.raw("GET", USER)
    whole = "---\n" + "a: b\n" * 100_000 + "---\n# me\n"
    alice("PUT", USER, 422, headers={"If-Match": before.headers["etag"]}, json={"content": whole})
    with pytest.raises(TooLarge, match="400,000 characters"):
        put_content(server.vault, "alice", whole, before.headers["etag"].strip('"'))
    many = {"content": "---\n" + "a: b\n" * 15_000 + "---\n# me\n"}
    told = alice("PUT", USER, 400, headers={"If-Match": before.headers["etag"]}, json=many)
    assert "more than 20,000 values" in told["detail"]
    assert alice("GET", USER) == before.json()
    rule = {"content": "---\n" + "a line below a rule\n" * 5_000}
    assert alice("PUT", USER, headers={"If-Match": before.headers["etag"]}, json=rule)["content"] == rule["content"]


def test_an_if_match_that_matches_no_version(server: Server, alice: Caller) -> None:
    """Nothing is replaced without the version that was read: a weak ETag and `*` do not count."""
    before = alice.raw("GET", USER)
    for header in ("", ",", '"a", "b"', 'W/"x"', '"', f"W/{before.headers['etag']}", f"w/{before.headers['etag']}"):
        for body in ({"content": "x"}, {"preferences": {"theme": "light"}}):
            alice("PUT", USER, 412, headers={"If-Match": header}, json=body)
    alice("PUT", USER, 400, headers={"If-Match": "*"}, json={"content": "x"})
    for header in ("*", before.headers["etag"]):
        alice("PUT", USER, 412, headers={"If-None-Match": header}, json={"preferences": {"theme": "light"}})
    assert alice("GET", USER) == before.json()


def test_odd_characters_are_kept_or_refused(server: Server, alice: Caller) -> None:
    for text in ("\x00", "\u202e\ufeff", "😀" * 50, "<script>", "'; DROP TABLE chunks; --", "\r\n\r\n", "a" * 5_000):
        alice("POST", f"{MEMORY}/search", json={"query": text})
        alice("POST", f"{MEMORY}/turns", 201, json={"user_message": text})
        alice("POST", f"{MEMORY}/prompt", json={"request": text})
    for field in ("user_message", "assistant_message", "skill", "conversation_id"):
        half = json.dumps({"user_message": "x", field: "\ud800"})  # half of a pair: no text that any file can hold
        alice("POST", f"{MEMORY}/turns", 422, headers=JSON, content=half)
    for half in (
        '{"content": "\\udfff"}',
        '{"preferences": {"theme": "\\udfff"}}',
    ):
        alice("PUT", USER, 422, headers=JSON, content=half)
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
    for method in ("DELETE", "PATCH", "OPTIONS", "TRACE"):
        answer = alice.raw(method, USER)
        assert answer.status_code == 405, (method, answer.text)
        assert answer.headers["allow"] and "Allow" in answer.json()["detail"]
    alice("GET", f"{MEMORY}/search", 405)
    for path in ("/api/v1/memory/alice", "/api/v1/user/", f"{USER}/", "/", "/docs", "/redoc"):
        assert "/openapi.json" in alice("GET", path, 404)["detail"]
    alice("POST", f"{USER}/preferences/restore", 422, json={"key": "theme", "commit": "--all"})
    alice("POST", f"{USER}/preferences/restore", 404, json={"key": "theme", "commit": "0123456789"})
    alice("POST", f"{USER}/preferences/restore", 400, json={"key": "nonsense", "commit": "0123456789"})


def test_no_response_names_the_folder_of_the_vault(server: Server, alice: Caller) -> None:
    """Errors name paths inside the vault only."""
    root = server.vault.root
    (root / "memory" / "alice" / "daily" / "2001-01-01.md").symlink_to("/etc/passwd")
    (root / "memory" / "alice" / "notes").mkdir()
    (root / "memory" / "alice" / "notes" / "x.md").symlink_to(root.parent / "elsewhere.md")
    told = [
        alice("GET", f"{MEMORY}/daily?date=2001-01-01", 400),
        alice("POST", f"{USER}/preferences/restore", 404, json={"key": "theme", "commit": "0123456789"}),
        server.admin("GET", "/api/v1/status"),
    ]
    write_record(root, DaemonRecord(pid=1, state="watching", problems={"index": f"{root}/memory and /etc/x.md"}))
    told.append(server.admin("GET", "/readyz", 503))
    said = json.dumps(told)
    assert str(root) not in said and str(root.parent) not in said and "/etc/" not in said
    shown = without_folders(
        f"{root}/a.md, '{root}', /etc/git/config: see http://localhost:1/v1/x or memory/alice/a", root
    )
    assert shown == "a.md, 'the vault', config: see http://localhost:1/v1/x or memory/alice/a"


def test_bytes_that_are_not_http_get_a_problem_too(vault: Vault) -> None:
    with listening(vault) as address:
        for sent in (b"\x16\x03\x01\r\n\r\n", b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n: x\r\n\r\n"):
            answer = exchange(address, sent)
            assert answer.startswith("HTTP/1.1 400") and "application/problem+json" in answer
        for hosts in (b"", b"Host: localhost\r\nHost: evil.example\r\n"):
            assert exchange(address, b"GET /healthz HTTP/1.1\r\n%bConnection: close\r\n\r\n" % hosts)[9:12] in (
                "400",
                "421",
            )


def test_a_connection_without_a_complete_head_is_closed_in_time(vault: Vault) -> None:
    """Connections that send nothing, or one byte after another, would otherwise use up all."""
    with listening(vault) as address:
        for sent in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"):
            assert exchange(address, sent) == ""
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        assert exchange(address, whole + b"GET /he").count("HTTP/1.1 200") == 1
        with socket.create_connection(address, timeout=30) as dripping:
            dripping.sendall(b"GET /healthz HTTP/1.1\r\n")
            assert wait_until(lambda: _drips(dripping) or True, "it hangs up") is True


def _drips(connection: socket.socket) -> None:
    """Send headers one by one until the server closes the connection."""
    connection.settimeout(0.05)
    for number in range(1_000):
        try:
            connection.sendall(b"X-%d: x\r\n" % number)
            if not connection.recv(1):
                return
        except TimeoutError:
            continue
        except OSError:  # it was closed while we sent
            return
    raise AssertionError("the server kept the connection for 50 s")


class Hasty(BoundedHttpProtocol):
    head_timeout_s = 0.3


class Crowded(BoundedHttpProtocol):
    max_connections = 3


@contextlib.contextmanager
def listening(vault: Vault, reader: type = Hasty) -> Iterator[tuple[str, int]]:
    """The app with our HTTP protocol; its address."""
    with serving(create_app(vault), reader) as address:
        yield address


@contextlib.contextmanager
def serving(app: ASGIApp, reader: type = BoundedHttpProtocol) -> Iterator[tuple[str, int]]:
    """Any app as `serve` serves ours; its address."""
    with listen("127.0.0.1", 0) as place:
        running = uvicorn.Server(configured(app, reader))
        thread = threading.Thread(target=running.run, args=([place],), daemon=True)
        thread.start()
        wait_until(lambda: running.started, "the server listens")
        try:
            yield place.getsockname()
        finally:
            running.should_exit = True
            thread.join(60)


def exchange(address: tuple[str, int], sent: bytes) -> str:
    """The response to these bytes, until the server closes the connection, perhaps before it has read them all."""
    parts = []
    with socket.create_connection(address, timeout=30) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(sent)
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts).decode()


def test_a_body_of_ten_megabytes_is_refused(server: Server, alice: Caller) -> None:
    """And the client gets the response, because the server still reads the rest."""
    big = b'{"query": "' + b"x" * 10_000_000 + b'"}'
    parts = [big[at : at + 65_536] for at in range(0, len(big), 65_536)]
    for content in (big, iter(parts)):  # with its length said before, and without
        alice("POST", f"{MEMORY}/search", 413, headers=JSON, content=content)
    alice("GET", USER)


def test_a_body_that_is_announced_too_large_is_refused_before_it_is_sent(vault: Vault) -> None:
    with listening(vault) as address:
        head = f"POST {MEMORY}/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {own_token(vault.root)}\r\n"
        said = exchange(address, f"{head}Expect: 100-continue\r\nContent-Length: 999999999\r\n\r\n".encode())
        assert said.startswith("HTTP/1.1 413")


def test_a_client_that_disconnects_halfway_harms_no_other(server: Server, alice: Caller) -> None:
    host, port = server.address.removeprefix("http://").split(":")
    for _ in range(3):
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            head = f"POST {MEMORY}/turns HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {alice.token}\r\n"
            head += "Content-Length: 500\r\n\r\n{"
            connection.sendall(head.encode())
    assert len(alice("GET", f"{MEMORY}/turns")["turns"]) == 1


def test_too_many_requests_get_429_with_retry_after(vault: Vault, server: Server, alice: Caller) -> None:
    object.__setattr__(vault.config, "serve_rate", 1)
    hasty = server.user("hasty")
    answers = [hasty.raw("GET", "/healthz"), *(hasty.raw("GET", "/api/v1/user/hasty") for _ in range(20))]
    slowed = [answer for answer in answers if answer.status_code == 429]
    assert slowed and int(slowed[-1].headers["retry-after"]) >= 1
    server.admin("GET", USER)  # another caller is not slowed
    alice("GET", USER)


def test_a_caller_that_guesses_tokens_is_slowed_down(vault: Vault, server: Server, alice: Caller) -> None:
    """By the address of its connection: another token or a forwarding header does not make it another caller."""
    object.__setattr__(vault.config, "serve_rate", 1)
    answers = [
        server.client.get(
            USER, headers={"Authorization": f"Bearer vault_alice_{number}", "X-Forwarded-For": f"192.0.2.{number}"}
        )
        for number in range(20)
    ]
    assert {answer.status_code for answer in answers} == {401, 429}
    assert server.client.get("/healthz").status_code == 200
    assert server.admin.raw("GET", USER).status_code == 200


def test_healthz_takes_no_body(server: Server) -> None:
    """Whoever has no token must not hold memory that a body would need."""
    for content in (b"x", iter([b"x"])):
        assert server.client.post("/healthz", content=content).status_code == 413
