"""A provider that sends its response in the smallest pieces, or never begins it: others have their turn meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator

import pytest

from tests.pace import fixed_work
from vault_memory.adapters.models.upstream import ARRIVED_BYTES, MAX_HEAD_BYTES, SOCKET_BYTES, Upstream
from vault_memory.errors import EndpointError, EndpointSlow

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MAX_WAIT = 50
"""Of another task, in fixed works; a block of one-byte chunks took over a hundred."""


@contextlib.asynccontextmanager
async def provider(
    first: bytes, again: bytes, timeout_s: float = 30.0, pause_s: float = 0.0
) -> AsyncIterator[Upstream]:
    """A provider that sends the first bytes, then the others again and again (nothing more: no bytes)."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n{}")
            writer.write(first)
            while again:
                writer.write(again)
                await writer.drain()
                await asyncio.sleep(pause_s)
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
    """How long another task waited for its turn at most, in CPU time of the loop's thread."""
    longest = 0.0
    while not ends.is_set():
        began = time.thread_time()
        await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - began)
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
    assert waited_s < MAX_WAIT * fixed_work()
    assert len(sizes) < 10_000 and max(sizes) <= 2 * ARRIVED_BYTES


def test_an_event_is_handed_on_while_the_next_is_still_awaited() -> None:
    async def read() -> bytes:
        async with provider(CHUNKED + b"9\r\ndata: 1\n\n\r\n", b"") as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            async with asyncio.timeout(60):
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


HINT = b"HTTP/1.1 103 Early Hints\r\n\r\n"


@pytest.mark.slow
def test_a_response_of_interim_responses_ends() -> None:
    async def ask(again: bytes, pause_s: float, told: str) -> float:
        async with provider(b"", again, 0.5, pause_s) as upstream, asyncio.timeout(60):
            ends = asyncio.Event()
            waiting = asyncio.ensure_future(longest_wait(ends))
            with pytest.raises(EndpointError, match=told) as caught:
                await upstream.send("POST", "/chat/completions", [], b"{}")
            assert caught.value.http_status == 502
            ends.set()
            return await waiting

    asyncio.run(ask(HINT, 0.1, "only 1xx"))
    waits_s = [asyncio.run(ask(HINT * 4_096, 0.0, "32 KB and no response")) for _ in range(3)]
    assert min(waits_s) < 0.05, "a block of them took .15 s and more"


def test_a_few_interim_responses_and_a_long_head_are_no_flood() -> None:
    async def ask(long: int) -> int:
        head = b"HTTP/1.1 200 OK\r\nX-Long: %b\r\nContent-Length: 500000\r\n\r\n" % (b"x" * long)
        async with provider(HINT * 100 + head + b"x" * 500_000, b"") as upstream:
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            size = sum([len(part) async for part in response.parts()])
            await response.close()
            return size

    assert asyncio.run(ask(16_000)) == 500_000
    with pytest.raises(EndpointError, match="so long a head"):
        asyncio.run(ask(MAX_HEAD_BYTES))


@pytest.mark.parametrize("pause_s", [0.0, 0.01])
@pytest.mark.parametrize("framed", [b"Content-Length: 2\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
def test_what_follows_a_response_is_nobodys_response(framed: bytes, pause_s: float) -> None:
    """It was read as the beginning of the next response on that connection, which may be another user's."""
    asked = list[int]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
                asked.append(len(asked))
                writer.write(b"HTTP/1.1 200 OK\r\nX-Number: %d\r\n%b" % (asked[-1], framed))
                await asyncio.sleep(pause_s)
                writer.write(b"HTTP/1.1 200 OK\r\nX-Number: of another\r\nContent-Length: 6\r\n\r\nsecret")

    async def ask(upstream: Upstream) -> tuple[bytes, bytes]:
        response = await upstream.send("POST", "/chat/completions", [(b"connection", b"keep-alive")], b"{}")
        said = b"".join([part async for part in response.parts()])
        await response.close()
        return dict(response.headers)[b"x-number"], said

    async def run() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            upstream = Upstream(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
            said = framed.partition(b"\r\n\r\n")[2].removeprefix(b"0\r\n\r\n")
            assert [await ask(upstream) for _ in range(4)] == [(b"%d" % number, said) for number in range(4)]
            await upstream.close()

    asyncio.run(run())


def test_each_request_is_sent_once() -> None:
    """A provider that closes the connection after a response costs none; one that sends none is not asked again."""
    asked = list[bytes]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0])))
        if len(asked) < 4:
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
            contents = [b"{}", b"[]", b"x" * 100_000]
            assert [await ask(upstream, content) for content in contents] == [b"{}"] * 3
            with pytest.raises(EndpointError):
                await ask(upstream, b"3")
            assert asked == [*contents, b"3"]
            await upstream.close()

    asyncio.run(run())


def test_the_proxy_that_the_environment_names_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n")).strip()
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(asked), asked))
        writer.close()

    async def ask(host: str) -> bytes:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            monkeypatch.setenv("http_proxy", f"127.0.0.1:{port}")
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            upstream = Upstream(f"http://{host}:{port}/v1")
            response = await upstream.send("POST", "/chat/completions", [], b"{}")
            said = b"".join([part async for part in response.parts()])
            await response.close()
            await upstream.close()
            return said

    assert asyncio.run(ask("model.test")).startswith(b"POST http://model.test:")
    assert asyncio.run(ask("127.0.0.1")) == b"POST /v1/chat/completions HTTP/1.1"
