"""What is sent is bounded: long lists come in pages of some size, and answers that nobody reads make room."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from starlette.types import Message

from tests.conftest import wait_until
from tests.interfaces.http.conftest import Caller, Server
from tests.interfaces.http.test_bad_input import exchange, listening, serving
from tests.interfaces.http.test_connections import HEALTHZ, open_and_send
from tests.vaults import write
from vault_memory.adapters.embedding.base import Kind, Vector
from vault_memory.core import layout
from vault_memory.interfaces.http.app import create_app
from vault_memory.interfaces.http.connections import BoundedHttpProtocol
from vault_memory.interfaces.http.response import (
    MAX_PAGE_BYTES,
    MAX_RESPONSES_PER_CALLER,
    RESPONSE_BYTES,
    BoundedResponse,
    responses_budget,
)
from vault_memory.services.admin import new_user_token
from vault_memory.services.indexing import reconcile
from vault_memory.services.indexing.reconcile import embed
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

MEMORY = "/api/v1/memory/alice"
MAX_GROWTH_MB = 300
"""Of this process, with the server in it; the unread pages took more than 1,000."""


def talk(vault: Vault, turns: int, chars: int) -> None:
    """Records of long turns, as many as one page may have."""
    lines = [
        json.dumps({"user_message": f"{number} " + "t" * (chars // 2), "assistant_message": "茶" * (chars // 6)})
        for number in range(turns)
    ]
    write(vault, "alice", "conversations/2026-01-29.jsonl", "\n".join(lines) + "\n")


def test_a_page_of_turns_ends_when_it_is_large_and_the_next_one_goes_on(server: Server, alice: Caller) -> None:
    talk(server.vault, 30, 140_000)
    sources, following = [], ""
    while following is not None:
        response = alice.raw("GET", f"{MEMORY}/turns", params={"limit": 200, "before": following})
        assert len(response.content) <= MAX_PAGE_BYTES + 10_000
        sources += [turn["source"] for turn in response.json()["turns"]]
        following = response.json()["next"]
    assert [source for source in sources if "2026-01-29" in source] == [
        f"conversations/2026-01-29.jsonl:{number}" for number in range(30, 0, -1)
    ]


def test_a_turn_that_is_larger_than_a_page_is_a_page_of_its_own(server: Server, alice: Caller) -> None:
    talk(server.vault, 2, 4 * MAX_PAGE_BYTES)
    first = alice("GET", f"{MEMORY}/turns", params={"before": "conversations/2026-01-30.jsonl:1"})
    assert [turn["user_message"][0] for turn in first["turns"]] == ["1"]
    assert len(first["turns"][0]["user_message"]) == 2 * MAX_PAGE_BYTES + 2
    second = alice("GET", f"{MEMORY}/turns", params={"before": first["next"]})
    assert [turn["user_message"][0] for turn in second["turns"]] == ["0"] and second["next"] is None


def test_a_page_of_daily_logs_ends_when_it_is_large(server: Server, alice: Caller) -> None:
    for day in range(10, 20):
        write(server.vault, "alice", f"daily/2025-12-{day}.md", f"# {day}\n" + "茶" * (MAX_PAGE_BYTES // 9))
    dates, following = [], "2025-12-31"
    while following is not None:
        response = alice.raw("GET", f"{MEMORY}/daily", params={"limit": 100, "until": following})
        assert len(response.content) <= MAX_PAGE_BYTES + 10_000
        dates += [day["date"] for day in response.json()["days"]]
        following = response.json()["next"]
    assert dates == [f"2025-12-{day}" for day in range(19, 9, -1)]


class Impatient(BoundedHttpProtocol):
    stall_timeout_s = 2.0


def test_a_response_larger_than_a_page_counts_as_what_it_takes() -> None:
    async def run() -> None:
        budget, is_read, sent = responses_budget(), asyncio.Event(), list[int]()

        def response(caller: str) -> BoundedResponse:
            return BoundedResponse(budget, caller, send, lambda: None)

        async def send(message: Message) -> None:
            sent.append(len(message["body"]))
            await is_read.wait()

        body = {"type": "http.response.body", "body": bytes(10 * RESPONSE_BYTES)}
        large = response("alice")
        assert await large.admit()
        sending = asyncio.ensure_future(large.send(body))
        for _ in range(MAX_RESPONSES_PER_CALLER - 10):
            assert await response("alice").admit()
        assert await response("bob").admit(), "another caller has room"
        next_one = asyncio.ensure_future(response("alice").admit())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not next_one.done() and len(sent) == 1
        is_read.set()
        await sending
        assert await next_one and sum(sent) == 10 * RESPONSE_BYTES

    asyncio.run(run())


@pytest.mark.skipif(sys.platform != "linux", reason="the largest size is in kilobytes on Linux only")
def test_responses_that_are_not_read_take_little_memory_and_their_connections_are_closed(vault: Vault) -> None:
    tokens = {name: new_user_token(vault, name) for name in ("alice", "bob")}
    talk(vault, 200, 140_000)
    write(vault, "bob", "daily/2026-01-30.md", "# today\n")
    request = "GET /api/v1/memory/{0}/{1} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {2}\r\n{3}\r\n"
    unread = request.format("alice", "turns?limit=200", tokens["alice"], "").encode()
    asked = request.format("bob", "daily", tokens["bob"], "Connection: close\r\n").encode()
    with listening(vault, Impatient) as address, contextlib.ExitStack() as open_ones:
        before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        held = []
        for _ in range(3 * MAX_RESPONSES_PER_CALLER):
            connection = open_ones.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(address)
            connection.sendall(unread * 12)
            held.append(connection)
        for _ in range(5):
            assert exchange(address, asked).startswith("HTTP/1.1 200"), "another user's answer comes"
        wait_until(lambda: all(map(is_cut_off, held)), "all of them are closed", 90)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb < MAX_GROWTH_MB


def is_cut_off(connection: socket.socket) -> bool:
    """Whether the other end has closed it, whatever is still to be read."""
    try:
        connection.settimeout(0)
        connection.send(b"\r\n")
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False


class Held:
    """A model that keeps the queries it is asked, in order, and waits with each until it is released."""

    space = "test:held"
    dimension = 2

    def __init__(self) -> None:
        self.asked = list[str]()
        self.released = threading.Event()

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Sequence[Vector]:
        if kind == "query":
            self.asked += texts
            assert self.released.wait(30)
        return [[1.0, 0.0] for _ in texts]


def post(token: str, user_id: str, path: str, body: dict[str, str]) -> bytes:
    sent = json.dumps(body)
    head = f"POST /api/v1/memory/{user_id}/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n{sent}".encode()


@pytest.mark.parametrize(("path", "name"), [("search", "query"), ("prompt", "request")])
def test_users_take_turns_and_nothing_is_made_for_a_client_that_has_left(vault: Vault, path: str, name: str) -> None:
    """Behind sixteen long searches of one user another one's took six seconds."""
    held = Held()
    vault = open_vault(vault.root, now=vault.now, embedder=held)
    for user_id in ("alice", "bob"):
        write(vault, user_id, "notes/tea.md", "Green tea takes water of eighty degrees.\n")
    for scope in ("alice", "bob", layout.SHARED):
        reconcile(vault, scope)
        while embed(vault, scope):
            pass
    alice, bob = new_user_token(vault, "alice"), new_user_token(vault, "bob")
    with listening(vault, BoundedHttpProtocol) as address, contextlib.ExitStack() as open_ones:
        crowd = []
        for number in range(4):
            crowd.append(open_and_send(open_ones, address, post(alice, "alice", path, {name: f"tea {number}"})))
            wait_until(lambda: held.asked, "the first one is begun")
        other = open_and_send(open_ones, address, post(bob, "bob", path, {name: "tea of another"}))
        assert exchange(address, HEALTHZ).startswith("HTTP/1.1 200"), "by now the requests before it have come"
        wait_until(lambda: path == "search" or len(held.asked) > 1, "searches share one thread, prompts do not")
        crowd.pop(2).close()
        assert exchange(address, HEALTHZ).startswith("HTTP/1.1 200"), "by now it is known to have left"
        held.released.set()
        assert all(each.recv(12) == b"HTTP/1.1 200" for each in (other, *crowd))
    assert held.asked[:2] == ["tea 0", "tea of another"] and sorted(held.asked[2:]) == ["tea 1", "tea 3"]


class Counted(ThreadPoolExecutor):
    given = 0

    def submit(self, *work: Any, **more: Any) -> Future[Any]:
        self.given += 1
        return super().submit(*work, **more)


def test_users_take_turns_in_reading_pages(vault: Vault) -> None:
    for user_id in ("alice", "bob"):
        write(vault, user_id, "daily/2026-01-30.md", "# today\n")
        write(vault, user_id, "USER.md", "- Theme: dark\n")
    request = "GET /api/v1/{0} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {1}\r\n\r\n"
    app, released = create_app(vault), threading.Event()
    with Counted(1) as app.state.page_threads, serving(app) as address, contextlib.ExitStack() as open_ones:
        app.state.page_threads.submit(released.wait, 30)
        alice, bob = new_user_token(vault, "alice"), new_user_token(vault, "bob")
        paths = ["user/alice", "user/alice/preferences", "memory/alice/turns", "memory/alice/daily"]
        paths += ["user/alice/preferences/suggestions"]
        asked = [request.format(path, alice) for path in paths] + [request.format("memory/bob/daily", bob)]
        held = [open_and_send(open_ones, address, each.encode()) for each in asked]
        wait_until(lambda: app.state.page_threads.given > 2, "a page of each is begun")
        held.pop(2).close()
        assert exchange(address, HEALTHZ).startswith("HTTP/1.1 200"), "by now it is known to have left"
        assert app.state.page_threads.given == 1 + 2
        released.set()
        assert all(each.recv(12) == b"HTTP/1.1 200" for each in held)
        assert app.state.page_threads.given == 1 + 5
