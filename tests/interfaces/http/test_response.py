"""What is sent is bounded: long lists come in pages of some size, and answers that nobody reads make room."""

from __future__ import annotations

import asyncio
import contextlib
import json
import resource
import socket
import sys

import pytest
from starlette.types import Message

from tests.conftest import wait_until
from tests.interfaces.http.conftest import Caller, Server
from tests.interfaces.http.test_bad_input import exchange, listening
from tests.vaults import write
from vault_memory.interfaces.http.connections import BoundedHttpProtocol
from vault_memory.interfaces.http.response import (
    MAX_PAGE_BYTES,
    MAX_RESPONSES_PER_CALLER,
    RESPONSE_BYTES,
    BoundedResponse,
    responses_budget,
)
from vault_memory.services.admin import new_user_token
from vault_memory.services.vault import Vault

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
