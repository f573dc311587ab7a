"""How `serve` bears attacks on its memory and its connections: what they cost, and whether others still get answers.

    python benchmarks/http_attacks.py [--seconds 30] [--connections 400]

A server in a process of its own with a provider behind its chat proxy, and one attack after the other:

- bodies: one user sends four bodies of 31 MB at once, again and again: prose, emoji, JSON of empty lists, a picture
- slow heads: so many connections without a token, each of which sends one header every two seconds
- slow bodies: so many connections with one user's token, each of which sends some bytes of a large body in two seconds

A connection that the server closes is opened again. Meanwhile another user asks for a chat and /healthz is asked, each
twice a second on a new connection, and the memory of the server and of its processes is read. The last line is one JSON
object; `rss_mb` and `healthz_p95_s` are the worst of all attacks.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from http_load import rss_mb
from prompt import make_vault, p95

from vault_memory.services.admin import new_user_token

BODY_BYTES = 31_000_000
KINDS = (
    b'"' + b"I like tea. " * (BODY_BYTES // 12) + b'"',
    b'"' + "茶🍵".encode() * (BODY_BYTES // 7) + b'"',
    b"[" + b"[]," * (BODY_BYTES // 3) + b"[]]",
    b'"' + b"iVBORw0KGgoAAAANSUhE" * (BODY_BYTES // 20) + b'"',
)
"""The contents of the large bodies, as JSON."""
SETTLE_S = 3.0
"""Between two attacks."""
PAUSE_S = 0.5
DRIP_S = 2.0
TIMEOUT_S = 30.0


@dataclass
class Outcome:
    """What came of one attack: times in seconds, memory in MB, and what the attacker sent."""

    healthz: list[float] = field(default_factory=list)
    chats: list[float] = field(default_factory=list)
    failed: int = 0
    rss: float = 0.0
    sent_mb: float = 0.0
    requests: int = 0


@dataclass(frozen=True)
class Target:
    """The server under attack, and the tokens of the attacker and of another user."""

    pid: int
    port: int
    attacker: str
    other: str


Attack = Callable[[Target, int, Outcome], Awaitable[None]]


@contextlib.contextmanager
def served(folder: Path, provider: str) -> Iterator[tuple[int, int]]:
    """`vault-memory serve` on the vault, in front of a provider: its process id and port."""
    environ = {**os.environ, "VAULT_MEMORY_UPSTREAM_BASE_URL": provider}
    command = [sys.executable, "-m", "vault_memory", "--vault", str(folder), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found, "the server did not start"
        yield process.pid, int(found[1])
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextlib.asynccontextmanager
async def provider() -> AsyncIterator[str]:
    """A provider that reads a request and says ok; its address."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    said = json.dumps({"choices": [choice]}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                while left and (part := await reader.read(min(left, 1 << 20))):
                    left -= len(part)
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(said)
                writer.write(head + said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def chat(token: str, content: bytes) -> tuple[bytes, bytes]:
    """(head, body) of a chat request with this JSON as the person's content."""
    body = b'{"model": "m", "messages": [{"role": "user", "content": %b}]}' % content
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode(), body


async def exchange(port: int, *parts: bytes) -> bytes:
    """The beginning of the response to a request on a connection of its own."""
    async with asyncio.timeout(TIMEOUT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for part in parts:
                writer.write(part)
                await writer.drain()
            return await reader.read(64)
        finally:
            writer.close()


async def bodies(target: Target, _: int, outcome: Outcome) -> None:
    """Four large bodies at once, again and again, each of another kind."""

    async def send(content: bytes) -> None:
        head, body = chat(target.attacker, content)
        while True:
            with contextlib.suppress(OSError, TimeoutError):
                await exchange(target.port, head, body)
            outcome.requests += 1
            outcome.sent_mb += len(body) / 1e6

    await asyncio.gather(*(send(content) for content in KINDS))


async def slow_heads(target: Target, connections: int, outcome: Outcome) -> None:
    """Connections without a token that never end their headers."""
    await drip(
        target, connections, outcome, b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-A: b\r\n"
    )


async def slow_bodies(target: Target, connections: int, outcome: Outcome) -> None:
    """Connections with a token that never end their bodies."""
    head, _ = chat(target.attacker, b" " * BODY_BYTES)
    await drip(target, connections, outcome, head, b'{"messages": ')


async def drip(target: Target, connections: int, outcome: Outcome, first: bytes, more: bytes) -> None:
    """Hold connections open with some bytes every now and then, and open each again when it is closed."""

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
                outcome.requests += 1
                try:
                    writer.write(first)
                    while not reader.at_eof():
                        outcome.sent_mb += len(more) / 1e6
                        writer.write(more)
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(reader.read(1_000), DRIP_S)
                finally:
                    writer.close()
            await asyncio.sleep(0.05)

    await asyncio.gather(*(one() for _ in range(connections)))


async def probe(parts: tuple[bytes, ...], port: int, times: list[float], outcome: Outcome) -> None:
    """Ask again and again, and keep the times of the right answers."""
    while True:
        began = time.perf_counter()
        try:
            is_right = (await exchange(port, *parts)).startswith(b"HTTP/1.1 200")
        except (OSError, TimeoutError):
            is_right = False
        times.append(time.perf_counter() - began)
        outcome.failed += not is_right
        await asyncio.sleep(PAUSE_S)


async def watch_memory(pid: int, outcome: Outcome) -> None:
    """Keep the largest size of the server and its processes."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            outcome.rss = max(outcome.rss, rss_mb(pid))
        await asyncio.sleep(0.02)


async def measure(attack: Attack | None, target: Target, connections: int, seconds: float) -> Outcome:
    """Attack for so long, and ask as another user meanwhile."""
    outcome = Outcome()
    healthz = (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",)
    running = [
        probe(healthz, target.port, outcome.healthz, outcome),
        probe(chat(target.other, b'"How hot is the water for green tea?"'), target.port, outcome.chats, outcome),
        watch_memory(target.pid, outcome),
        *([attack(target, connections, outcome)] if attack else []),
    ]
    tasks = [asyncio.ensure_future(each) for each in running]
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended
    return outcome


async def run(seconds: float, connections: int) -> dict[str, Outcome]:
    """The outcome of each attack, and of none."""
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        vault = make_vault(Path(folder) / "vault", 200)
        tokens = new_user_token(vault, "mallory"), new_user_token(vault, "alice")
        async with provider() as address:
            with served(vault.root, address) as (pid, port):
                target = Target(pid, port, *tokens)
                attacks = {"none": None, "bodies": bodies, "slow heads": slow_heads, "slow bodies": slow_bodies}
                for name, attack in attacks.items():
                    length = min(5.0, seconds) if attack is None else seconds
                    outcomes[name] = await measure(attack, target, connections, length)
                    await asyncio.sleep(SETTLE_S)
    return outcomes


def main() -> None:
    """Attack, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--connections", type=int, default=400)
    given = parser.parse_args()
    outcomes = asyncio.run(run(given.seconds, given.connections))
    columns = ("healthz p95", "max", "chat p95", "max", "failed", "RSS", "sent", "requests")
    print(f"{'attack':<12}" + "".join(f"{column:>13}" for column in columns))
    for name, one in outcomes.items():
        times = (p95(one.healthz), max(one.healthz), p95(one.chats), max(one.chats))
        print(
            f"{name:<12}{''.join(f'{each:>11.3f} s' for each in times)}{one.failed:>13}"
            f"{one.rss:>10.0f} MB{one.sent_mb:>10.1f} MB{one.requests:>13}"
        )
    attacks = [one for name, one in outcomes.items() if name != "none"]
    print(
        json.dumps(
            {
                "rss_mb": round(max(one.rss for one in attacks)),
                "healthz_p95_s": round(max(p95(one.healthz) for one in attacks), 3),
                "healthz_max_s": round(max(max(one.healthz) for one in attacks), 3),
                "chat_p95_s": round(max(p95(one.chats) for one in attacks), 3),
                "failed": sum(one.failed for one in attacks),
                "idle_rss_mb": round(outcomes["none"].rss),
                "seconds": given.seconds,
                "connections": given.connections,
            }
        )
    )


if __name__ == "__main__":
    main()
