"""What the chat proxy adds to a provider, against a bare httpx pass-through, measured in the same run.

    python benchmarks/proxy.py [--chunks 1000] [--requests 60] [--streams 50] [--pace-ms 20]

Four processes: a provider, a bare pass-through (Starlette and httpx, nothing else), `vault-memory serve` on a vault
of so many chunks, and this one, the client. Latency: one request at a time, each with new words, now to the provider
itself, now to the proxy; between them the proxy may record its turn. Throughput: so many streams at once, each of 150
events at the pace of a model (20 ms: 50 tokens a second), begun one after the other as people do; and once more
without a pace, where nothing but processor time counts. Every stream makes a turn, and that work falls into the
measured time. It takes less than two minutes. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from prompt import make_vault, p95, sentence

from vault_memory.services.admin.access import new_user_token
from vault_memory.services.vault import open_vault

EVENTS = 150
PAUSE_S = 0.08
"""Between two requests: the proxy records its turn meanwhile."""


def event(text: str, end: str | None = None) -> bytes:
    """One event of a stream, in one HTTP chunk."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": end}
    data = (
        b"data: " + json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"
    )
    return b"%x\r\n%b\r\n" % (len(data), data)


async def provide() -> None:
    """The provider: streams when asked to, at the pace that the path names in milliseconds."""
    whole = json.dumps(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]}
    ).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                if b'"stream": true' not in body:
                    writer.write(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(whole)
                    )
                    writer.write(whole)
                    continue
                pace_s = float(body.partition(b'"pace_ms": ')[2].split(b"}")[0]) / 1000
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for number in range(EVENTS):
                    writer.write(event(f"token {number} "))
                    await writer.drain()
                    await asyncio.sleep(pace_s)
                writer.write(event("", "stop") + b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def pass_through(upstream: str) -> None:
    """The floor: the least that a pass-through over httpx can be."""
    import httpx
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=1_000), timeout=60)

    async def forward(request: Request) -> StreamingResponse:
        sent = client.build_request("POST", upstream + request.url.path, content=await request.body())
        response = await client.send(sent, stream=True)

        async def parts() -> AsyncIterator[bytes]:
            async for part in response.aiter_raw():
                yield part
            await response.aclose()

        return StreamingResponse(parts(), response.status_code, {"Content-Type": response.headers["Content-Type"]})

    app = Starlette(routes=[Route("/{path:path}", forward, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False))

    async def run() -> None:
        task = asyncio.ensure_future(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
        await task

    asyncio.run(run())


class Running:
    """A process of this benchmark that says its address on its first line."""

    def __init__(self, *words: str, **environ: str) -> None:
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, **environ})
        assert self._process.stdout is not None
        self.url = next(word.rstrip(".,;") for word in self._process.stdout.readline().split() if "://" in word)

    def end(self) -> None:
        """Stop it, and wait for that."""
        self._process.terminate()
        self._process.wait(30)


class Client:
    """The least that a client can be: one connection, raw HTTP."""

    degraded = 0
    """Answers so far, of any client, that had to go without memory."""

    def __init__(self, url: str, token: str) -> None:
        self._host, self._port = url.removeprefix("http://").split(":")
        self._token = token

    async def __aenter__(self) -> Client:
        self._reader, self._writer = await asyncio.open_connection(self._host, int(self._port))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, words: str, pace_ms: float | None = None) -> tuple[float, float]:
        """(seconds until the first byte of the body, until the last) of an answer; streamed when `pace_ms` is given."""
        more = "" if pace_ms is None else f', "stream": true, "pace_ms": {pace_ms}'
        body = f'{{"model": "m", "messages": [{{"role": "user", "content": {json.dumps(words)}}}]{more}}}'.encode()
        started = time.perf_counter()
        self._writer.write(
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Authorization: Bearer {self._token}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        assert b" 200 " in head.split(b"\r\n")[0], head
        Client.degraded += b"x-vault-memory: degraded" in head
        first_s = 0.0
        if b"content-length:" in head:
            await self._reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
        else:
            while size := int(await self._reader.readline(), 16):
                first_s = first_s or time.perf_counter() - started
                await self._reader.readexactly(size + 2)
            await self._reader.readline()
        ended_s = time.perf_counter() - started
        return first_s or ended_s, ended_s


async def latency(urls: dict[str, str], token: str, count: int, pace_ms: float | None) -> dict[str, list[float]]:
    """Milliseconds by way: of the whole answer, or of the first byte of a streamed one."""
    times: dict[str, list[float]] = {way: [] for way in urls}
    for number in range(count + 5):
        for way, url in urls.items():
            async with Client(url, token) as client:
                first_s, _ = await client.ask(sentence(), pace_ms)
            if number >= 5:  # the first ones warm the caches
                times[way].append(first_s * 1000)
            await asyncio.sleep(PAUSE_S)
    return times


async def throughput(url: str, token: str, streams: int, pace_ms: float) -> float:
    """Streams a second, with so many at once."""

    async def one(number: int) -> None:
        await asyncio.sleep(number / streams * EVENTS * pace_ms / 1000)
        async with Client(url, token) as client:
            await client.ask(sentence(), pace_ms)

    started = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(streams)))
    return streams / (time.perf_counter() - started)


def ratio(ask: Callable[[str], float]) -> tuple[float, float, float]:
    """(bare, proxy, their ratio) of medians of three, taken in turns."""
    found: dict[str, list[float]] = {"bare": [], "proxy": []}
    for _ in range(3):
        for way, values in found.items():
            values.append(ask(way))
    bare, proxy = (statistics.median(values) for values in found.values())
    return bare, proxy, proxy / bare


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=1_000)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--pace-ms", type=float, default=20.0)
    parser.add_argument("--role", choices=["provider", "bare"], help=argparse.SUPPRESS)
    parser.add_argument("--upstream", help=argparse.SUPPRESS)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that a time limit ends the other processes too
    if options.role == "provider":
        asyncio.run(provide())
    elif options.role == "bare":
        pass_through(options.upstream)
    else:
        measure(options)


def measure(options: argparse.Namespace) -> None:
    """The client's side."""
    running: list[Running] = []
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name:
        vault = make_vault(Path(name) / "vault", options.chunks)
        token = new_user_token(open_vault(vault.root), "alice")
        try:
            running.append(Running(sys.executable, __file__, "--role", "provider"))
            provider = running[0].url
            running.append(Running(sys.executable, __file__, "--role", "bare", "--upstream", provider))
            settings = {"UPSTREAM_BASE_URL": f"{provider}/v1", "SERVE_PORT": "0", "SERVE_RATE": "100000"}
            serve = [sys.executable, "-m", "vault_memory", "--vault", str(vault.root), "serve"]
            running.append(Running(*serve, **{f"VAULT_MEMORY_{key}": value for key, value in settings.items()}))
            urls = {"provider": provider, "bare": running[1].url, "proxy": running[2].url}
            whole = asyncio.run(latency(urls, token, options.requests, None))
            first = asyncio.run(latency(urls, token, options.requests, 0.0))
            paced = ratio(lambda way: asyncio.run(throughput(urls[way], token, options.streams, options.pace_ms)))
            unpaced = ratio(lambda way: asyncio.run(throughput(urls[way], token, options.streams, 0.0)))
        finally:
            for process in reversed(running):
                process.end()
    for title, times in (("whole answer", whole), ("first byte", first)):
        print(f"{title}{'median ms':>24}{'p95 ms':>10}")
        for way, values in times.items():
            print(f"  {way:<22}{statistics.median(values):>12.1f}{p95(values):>10.1f}")
    print(f"{options.streams} streams at once{'bare':>16}{'proxy':>10}{'ratio':>10}   (streams a second)")
    for title, (bare, proxy, share) in ((f"{options.pace_ms:g} ms an event", paced), ("without a pace", unpaced)):
        print(f"  {title:<22}{bare:>12.1f}{proxy:>10.1f}{share:>10.2f}")
    print(f"answers without memory, since it took too long: {Client.degraded}")
    print(
        json.dumps(
            {
                "added_p95_ms": round(p95(whole["proxy"]) - p95(whole["provider"]), 1),
                "added_first_byte_ms": round(p95(first["proxy"]) - p95(first["provider"]), 1),
                "throughput_ratio": round(paced[2], 3),
                "unpaced_ratio": round(unpaced[2], 3),
            }
        )
    )


if __name__ == "__main__":
    main()
