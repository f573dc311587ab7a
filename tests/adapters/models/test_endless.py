"""A provider that sends its response in the smallest pieces, or never begins it: others have their turn meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest

from vault_memory.adapters.models.upstream import ARRIVED_BYTES, REPEATED_BYTES, SOCKET_BYTES, Upstream
from vault_memory.errors import EndpointError, EndpointSlow

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MAX_WAIT_S = 0.5
"""Of another task; a block of one-byte chunks took over a second."""


@contextlib.asynccontextmanager
async def provider(first: bytes, again: bytes, timeout_s: float = 30.0) -> AsyncIterator[Upstream]:
    """A provider that sends the first bytes, then the others again and again (nothing more: no bytes)."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n{}")
            writer.write(first)
            while again:
                writer.write(again)
                await writer.drain()
            await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        upstream = Upstream(address, timeout_s=timeout_s)
        try:
            yield upstream
        finally:
            await upstream.close()


async def longest_wait(ends: asyncio.Event) -> float:
    """How long another task waited for its turn at most."""
    longest = 0.0
    while not ends.is_set():
        began = time.monotonic()
        await asyncio.sleep(0)
        longest = max(longest, time.monotonic() - began)
    return longest


@pytest.mark.slow
def test_one_byte_chunks_come_in_larger_parts_and_hold_nobody_up() -> None:
    async def read() -> tuple[list[int], float]:
        async with provider(CHUNKED, b"1\r\nx\r\n" * 4_096) as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            ends, sizes = asyncio.Event(), list[int]()
            waiting = asyncio.ensure_future(longest_wait(ends))
            async for part in response.parts():
                assert part == b"x" * len(part)
                sizes.append(len(part))
                if sum(sizes) >= 20_000:
                    break
            ends.set()
            await response.close()
            return sizes, await waiting

    sizes, waited_s = asyncio.run(read())
    assert waited_s < MAX_WAIT_S
    assert len(sizes) < 10_000 and max(sizes) <= 2 * ARRIVED_BYTES


def test_an_event_is_handed_on_while_the_next_is_still_awaited() -> None:
    async def read() -> bytes:
        async with provider(CHUNKED + b"9\r\ndata: 1\n\n\r\n", b"") as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            async with asyncio.timeout(5):
                part = await anext(response.parts())
            await response.close()
            return part

    assert asyncio.run(read()) == b"data: 1\n\n"


@pytest.mark.slow
def test_a_client_that_does_not_read_stops_the_provider() -> None:
    async def read() -> int:
        async with provider(CHUNKED, b"8000\r\n" + b"x" * 0x8000 + b"\r\n") as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            parts = response.parts()
            await anext(parts)
            for _ in range(200):
                await asyncio.sleep(0.005)
            part = await anext(parts)
            await response.close()
            return len(part)

    assert asyncio.run(read()) <= 2 * ARRIVED_BYTES


def test_the_system_holds_little_of_what_nobody_reads_yet() -> None:
    """It took up to 30 MB of a connection, and gave them to us at once."""

    async def size() -> int:
        async with provider(CHUNKED, b"8000\r\n" + b"x" * 0x8000 + b"\r\n") as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            connection = response._response.extensions["network_stream"].get_extra_info("socket")
            held: int = connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
            await response.close()
            return held

    assert asyncio.run(size()) <= 2 * SOCKET_BYTES  # Linux doubles it for its own records


@pytest.mark.slow
def test_a_response_that_breaks_off_or_stalls_raises_after_its_last_part() -> None:
    async def read(first: bytes, timeout_s: float) -> bytes:
        async with provider(CHUNKED + first, b"", timeout_s) as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            whole = b""
            try:
                async for part in response.parts():
                    whole += part
            except EndpointSlow:
                whole += b"..."
            await response.close()
            return whole

    assert asyncio.run(read(b"3\r\nabc\r\n", 0.3)) == b"abc..."
    assert asyncio.run(read(b"3\r\nabc\r\n0\r\n\r\n", 5.0)) == b"abc"
    with pytest.raises(EndpointError, match="broke off"):
        asyncio.run(read(b"3\r\nabc\r\nno chunk\r\n", 5.0))


@pytest.mark.slow
def test_a_response_of_interim_responses_ends() -> None:
    async def read() -> None:
        async with provider(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, 0.5) as upstream, asyncio.timeout(20):
            await upstream.send("POST", "/chat/completions", [], b"{}")

    with pytest.raises(EndpointError, match="only 1xx") as caught:
        asyncio.run(read())
    assert caught.value.http_status == 502


def test_a_connection_that_the_provider_has_given_up_costs_no_response() -> None:
    """A small request is sent once more on a new connection, and only if it was sent on one from an earlier request."""
    asked = list[int]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The first request of each connection is answered, but for the seventh of all; the second closes it."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            for number in (1, 2):
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
                asked.append(number)
                if number == 2 or len(asked) == 7:
                    break
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async def ask(upstream: Upstream, content: bytes) -> bytes:
        response = await upstream.send("POST", "/chat/completions", [], content)
        said = b"".join([part async for part in response.parts()])
        await response.close()
        return said

    async def run() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
            assert [await ask(upstream, b"{}") for _ in range(3)] == [b"{}"] * 3
            assert asked == [1, 2, 1, 2, 1]
            with pytest.raises(EndpointError):
                await ask(upstream, b"x" * (REPEATED_BYTES + 1))
            assert asked[5:] == [2], "it was kept no longer than until it had left"
            with pytest.raises(EndpointError):
                await ask(upstream, b"{}")
            assert asked[6:] == [1], "the connection was new"
            await upstream.close()

    asyncio.run(run())
