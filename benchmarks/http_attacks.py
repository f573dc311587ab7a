"""How `serve` bears attacks on its memory and its connections: what they cost, and whether others still get answers.

    python benchmarks/http_attacks.py [--seconds 30] [--connections 400] [--attack chats]

A server in a process of its own with a provider behind its chat proxy, and one attack after the other:

- bodies: one user sends four bodies of 31 MB at once, again and again: prose, emoji, JSON of empty lists, a picture
- chats: the same with chats of 1.9 MB and 11.9 MB, of plain text, emoji, many messages and many values
- responses: the provider answers every chat with 32 MB of empty objects or events, which it sends in 32 KB of gzip
- profiles: one user's profile is 199,000 characters of lines with one label; sixteen connections read it, and one puts
  190 values into it, again and again
- silent bodies: two users announce bodies, as many as their memory allows, and send nothing
- slow heads: so many connections without a token, each of which sends one header every two seconds
- slow bodies: so many connections with one user's token, each of which sends some bytes of a large body in two seconds
- unread pages: so many connections with one user's token, each of which asks for 28 MB of turns, reading nothing
- unread streams: the same with a chat whose response has no end
- one-byte chunks: six chats at once, to which the provider answers in chunks of one byte without end
- early hints: six chats at once, to which the provider answers with 103 without end

A connection that the server closes is opened again. Each attack has a server of its own. Meanwhile another
user sends a short chat and one of 100 KB and /healthz is asked, each twice a second on a new connection, and the memory
of the server and of its processes is read. The last line is one JSON object; `rss_mb` and `healthz_p95_s` are the worst
of all attacks.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from http_load import rss_mb, served
from prompt import make_vault, p95

from vault_memory.services.admin import new_user_token
from vault_memory.services.turns import record_turn

BODY_BYTES = 31_000_000
KINDS = (
    b'"' + b"I like tea. " * (BODY_BYTES // 12) + b'"',
    b'"' + "茶🍵".encode() * (BODY_BYTES // 7) + b'"',
    b"[" + b"[]," * (BODY_BYTES // 3) + b"[]]",
    b'"' + b"iVBORw0KGgoAAAANSUhE" * (BODY_BYTES // 20) + b'"',
)
"""The contents of the large bodies, as JSON."""
SIZES = (1_900_000, 11_900_000)
NUMBER = b"00000000"
"""It is replaced by another number each time, so that each chat becomes a turn of its own."""
PLAIN = tuple(
    content
    for size in SIZES
    for content in (
        b'"00000000 ' + b"I like tea. " * (size // 12) + b'"',
        b'"00000000 ' + "茶🍵".encode() * (size // 7) + b'"',
        b'[{"type":"text","text":"00000000"}'
        + b',{"type":"text","text":"%b"}' % (b"tea " * (size // 100_000)) * (100_000 // 8)
        + b"]",
        b'[{"type":"text","text":"00000000"},"' + b'","' * min(size // 3, 390_000) + b'"]',
    )
)
"""The contents of the chats that are small enough to be read, or were once."""
LONG_CHAT = b'"' + b"How hot is it? " * 7_000 + b'"'
RESPONSE_BYTES = 32 << 20
BOMBS = {
    b"objects": (b"application/json", gzip.compress(b"[" + b"{}," * (RESPONSE_BYTES // 3) + b"{}]")),
    b"choices": (
        b"application/json",
        gzip.compress(b'{"choices":[' + b'{"index":0},' * (RESPONSE_BYTES // 12) + b"{}]}"),
    ),
    b"events": (b"text/event-stream", gzip.compress(b'data: {"choices":[{"delta":{}}]}\n\n' * (RESPONSE_BYTES // 36))),
    b"one event": (b"text/event-stream", gzip.compress(b"data: [" + b"{}," * (RESPONSE_BYTES // 3) + b"{}]\n\n")),
}
"""By the name of the model: the media type of a hostile response, and its body as it is sent."""
ENDLESS = {
    b"chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n",
    ),
    b"words": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"5\r\n:tea\n\r\n" * 10,
    ),
    b"hints": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
}
"""By the name of the model: how a response begins that has no end, and what comes again and again."""
ENDLESS_CHATS = 6
READERS = 16
LONG_PROFILE = "## 技術背景\n" + "".join(f"- 程式語言：{n:05}a、{n:05}b\n" for n in range(9_000))
LONG_TURNS, LONG_TURN_CHARS = 200, 140_000
"""The record of the user whose pages are not read."""
PIPELINED = 8
"""Pages asked for on one connection: the system itself keeps some MB that are not read."""
UNREAD_S = 10.0
"""How long a page is not read before it is asked for again."""
SMALLER = (990_000,) * 3
"""With one of `BODY_BYTES` they took all the memory that one caller may take."""
PAUSE_S = 0.5
DRIP_S = 2.0
TIMEOUT_S = 30.0


@dataclass
class Outcome:
    """What came of one attack: times in seconds, memory in MB, and what the attacker sent."""

    healthz: list[float] = field(default_factory=list)
    chats: list[float] = field(default_factory=list)
    long_chats: list[float] = field(default_factory=list)
    answers: int = 0
    failed: int = 0
    rss: float = 0.0
    sent_mb: float = 0.0
    requests: int = 0


@dataclass(frozen=True)
class Target:
    """The server under attack, the tokens of two attackers and of another user, and of one who said much."""

    pid: int
    port: int
    attacker: str
    accomplice: str
    other: str
    talker: str


Attack = Callable[[Target, int, Outcome], Awaitable[None]]


@contextlib.asynccontextmanager
async def provider() -> AsyncIterator[str]:
    """A provider that reads a request and says ok, or for the model of a bomb sends that; its address."""
    choice = {"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}
    said = json.dumps({"choices": [choice]}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
                model = b""
                while left and (part := await reader.read(min(left, 1 << 20))):
                    left -= len(part)
                    model = model or part[:40].partition(b'"model": "')[2].partition(b'"')[0]
                if model in ENDLESS:
                    begin, again = ENDLESS[model]
                    writer.write(begin)
                    while True:
                        writer.write(again * 4_096)
                        await writer.drain()
                kind, body = BOMBS.get(model, (b"application/json", said))
                encoding = b"Content-Encoding: gzip\r\n" if model in BOMBS else b""
                head = b"HTTP/1.1 200 OK\r\n%bContent-Type: %b\r\n" % (encoding, kind)
                writer.write(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def chat(token: str, content: bytes, model: bytes = b"m") -> tuple[bytes, bytes]:
    """(head, body) of a chat request with this JSON as the person's content."""
    body = b'{"model": "%b", "messages": [{"role": "user", "content": %b}]}' % (model, content)
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
            beginning = await reader.read(64)
            while await reader.read(1 << 20):
                pass
            return beginning
        finally:
            writer.close()


async def again(target: Target, outcome: Outcome, content: bytes) -> None:
    """The same chat again and again, each time with another number in it."""
    while True:
        head, body = chat(target.attacker, content.replace(NUMBER, b"%08d" % outcome.requests, 1))
        with contextlib.suppress(OSError, TimeoutError):
            await exchange(target.port, head, body)
        outcome.requests += 1
        outcome.sent_mb += len(body) / 1e6


async def bodies(target: Target, _: int, outcome: Outcome) -> None:
    """Four large bodies at once, again and again, each of another kind."""
    await asyncio.gather(*(again(target, outcome, content) for content in KINDS))


async def chats(target: Target, _: int, outcome: Outcome) -> None:
    """Chats that are read, or just too large for that, at once, again and again, each of another kind."""
    await asyncio.gather(*(again(target, outcome, content) for content in PLAIN))


def of_profile(token: str, method: str, path: str = "", body: bytes = b"") -> bytes:
    """A request about the attacker's profile."""
    head = (
        f"{method} /api/v1/user/mallory{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def profiles(target: Target, _: int, outcome: Outcome) -> None:
    """Read a long profile on many connections, and put values into it."""

    async def ask(*requests: bytes) -> None:
        while True:
            for request in requests:
                with contextlib.suppress(OSError, TimeoutError):
                    await exchange(target.port, request)
                outcome.requests += 1
                outcome.sent_mb += len(request) / 1e6

    values = (json.dumps({"preferences": {"note": [f"{name}{n} {'z' * 900}" for n in range(95)]}}) for name in "ab")
    puts = [of_profile(target.attacker, "PUT", "", value.encode()) for value in values]
    reads = [of_profile(target.attacker, "GET", path) for path in ("", "/preferences")]
    await asyncio.gather(ask(*puts), *(ask(*reads) for _ in range(READERS)))


async def responses(target: Target, _: int, outcome: Outcome) -> None:
    """A short question, again and again, to which the provider's response is hostile."""

    async def ask(model: bytes) -> None:
        while True:
            question = b'"How hot is tea number %d?"' % outcome.requests
            head, body = chat(target.attacker, question, model)
            with contextlib.suppress(OSError, TimeoutError):
                await exchange(target.port, head, body)
            outcome.requests += 1
            outcome.sent_mb += len(BOMBS[model][1]) / 1e6

    await asyncio.gather(*(ask(model) for model in BOMBS))


async def silent_bodies(target: Target, _: int, outcome: Outcome) -> None:
    """Two users announce large bodies, again and again, and send nothing."""

    async def announce(token: str, size: int) -> None:
        head, _ = chat(token, b" " * size)
        while True:
            with contextlib.suppress(OSError, TimeoutError):
                await exchange(target.port, head)
            outcome.requests += 1

    tokens = (target.attacker, target.accomplice)
    await asyncio.gather(*(announce(token, size) for size in (BODY_BYTES, *SMALLER) for token in tokens))


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


async def unread_pages(target: Target, connections: int, outcome: Outcome) -> None:
    """Ask for the longest page of turns, and read nothing of it."""
    path = f"/api/v1/memory/talker/turns?limit={LONG_TURNS}"
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {target.talker}\r\n\r\n".encode()

    await unread(target, connections, outcome, head * PIPELINED)


async def unread_streams(target: Target, connections: int, outcome: Outcome) -> None:
    """Ask for a response without end, and read nothing of it."""
    await unread(target, connections, outcome, b"".join(chat(target.attacker, b'"How hot is tea?"', b"words")))


async def unread(target: Target, connections: int, outcome: Outcome, asked: bytes) -> None:
    """Send this on each connection, again every few seconds, and read nothing."""
    loop = asyncio.get_running_loop()

    async def one() -> None:
        while True:
            with contextlib.suppress(OSError), socket.socket() as connection:
                connection.setblocking(False)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                await loop.sock_connect(connection, ("127.0.0.1", target.port))
                await loop.sock_sendall(connection, asked)
                outcome.requests += 1
                outcome.sent_mb += len(asked) / 1e6
                await asyncio.sleep(UNREAD_S)

    await asyncio.gather(*(one() for _ in range(connections)))


async def one_byte_chunks(target: Target, _: int, outcome: Outcome) -> None:
    """A few chats whose responses come byte by byte, as fast as they are taken."""
    await endless(target, outcome, b"chunks")


async def early_hints(target: Target, _: int, outcome: Outcome) -> None:
    """A few chats whose responses never begin."""
    await endless(target, outcome, b"hints")


async def endless(target: Target, outcome: Outcome, model: bytes) -> None:
    """A few chats with this model at once, again and again."""

    async def ask() -> None:
        while True:
            outcome.requests += 1
            head, body = chat(target.attacker, b'"How hot is tea number %d?"' % outcome.requests, model)
            with contextlib.suppress(OSError, TimeoutError):
                await exchange(target.port, head, body)
            outcome.sent_mb += len(body) / 1e6

    await asyncio.gather(*(ask() for _ in range(ENDLESS_CHATS)))


async def probe(parts: tuple[bytes, ...], port: int, times: list[float], outcome: Outcome) -> None:
    """Ask again and again, and keep the times of the right answers."""
    while True:
        began = time.perf_counter()
        try:
            is_right = (await exchange(port, *parts)).startswith(b"HTTP/1.1 200")
        except (OSError, TimeoutError):
            is_right = False
        finally:  # one that is still waited for at the end counts as well
            times.append(time.perf_counter() - began)
        outcome.failed += not is_right
        outcome.answers += is_right
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
        probe(chat(target.other, LONG_CHAT), target.port, outcome.long_chats, outcome),
        watch_memory(target.pid, outcome),
        *([attack(target, connections, outcome)] if attack else []),
    ]
    tasks = [asyncio.ensure_future(each) for each in running]
    await asyncio.sleep(seconds)
    with contextlib.suppress(TimeoutError):  # on a busy machine the time may have been too short for a single answer
        async with asyncio.timeout(TIMEOUT_S):
            while not outcome.answers:
                await asyncio.sleep(PAUSE_S)
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            raise ended
    return outcome


async def run(names: list[str], seconds: float, connections: int) -> dict[str, Outcome]:
    """The outcome of each of these attacks."""
    outcomes = {}
    with tempfile.TemporaryDirectory() as folder:
        vault = make_vault(Path(folder) / "vault", 200)
        tokens = [new_user_token(vault, name) for name in ("mallory", "mallet", "alice", "talker")]
        for name in ("mallory", "talker"):
            record_turn(vault, name, "I like tea.", "Noted.")
        (talk,) = vault.path("talker", "conversations").glob("*.jsonl")
        said = {"user_message": "t" * (LONG_TURN_CHARS // 2), "assistant_message": "茶" * (LONG_TURN_CHARS // 6)}
        with talk.open("a", encoding="utf-8") as record:
            record.writelines(json.dumps(said, ensure_ascii=False) + "\n" for _ in range(LONG_TURNS))
        async with provider() as address:
            for name in names:
                if name == "profiles":
                    vault.path("mallory", "USER.md").write_text(LONG_PROFILE, "utf-8")
                with served(vault.root, {"VAULT_MEMORY_UPSTREAM_BASE_URL": address}) as (pid, port):
                    target = Target(pid, port, *tokens)
                    length = min(5.0, seconds / 2) if name == "none" else seconds
                    outcomes[name] = await measure(ATTACKS[name], target, connections, length)
    return outcomes


ATTACKS: dict[str, Attack | None] = {
    "none": None,
    "bodies": bodies,
    "chats": chats,
    "responses": responses,
    "profiles": profiles,
    "silent bodies": silent_bodies,
    "slow heads": slow_heads,
    "slow bodies": slow_bodies,
    "unread pages": unread_pages,
    "unread streams": unread_streams,
    "one-byte chunks": one_byte_chunks,
    "early hints": early_hints,
}


def main() -> None:
    """Attack, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--connections", type=int, default=400)
    parser.add_argument("--attack", action="append", choices=ATTACKS, help="only this one, or these (default: all)")
    given = parser.parse_args()
    names = ["none", *(name for name in given.attack or ATTACKS if name != "none")]
    outcomes = asyncio.run(run(names, given.seconds, given.connections))
    columns = ("healthz p95", "max", "chat p95", "max", "100 KB p95", "failed", "RSS", "sent", "requests")
    print(f"{'attack':<16}" + "".join(f"{column:>13}" for column in columns))
    for name, one in outcomes.items():
        times = (p95(one.healthz), max(one.healthz), p95(one.chats), max(one.chats), p95(one.long_chats))
        print(
            f"{name:<16}{''.join(f'{each:>11.3f} s' for each in times)}{one.failed:>13}"
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
                "long_chat_p95_s": round(max(p95(one.long_chats) for one in attacks), 3),
                "failed": sum(one.failed for one in attacks),
                "idle_rss_mb": round(outcomes["none"].rss),
                "seconds": given.seconds,
                "connections": given.connections,
                "attacks": {
                    name: {
                        "rss_mb": round(one.rss),
                        "healthz_p95_s": round(p95(one.healthz), 3),
                        "answers": one.answers,
                    }
                    for name, one in outcomes.items()
                },
            }
        )
    )


if __name__ == "__main__":
    main()
