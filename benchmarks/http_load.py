"""How `serve` bears a steady load of searches, against its own /healthz at the same rate, measured in the same run.

    python benchmarks/http_load.py [--seconds 60] [--rate 200] [--chunks 1000] [--connections 16]

A server in a process of its own, one user's notes of so many chunks, keep-alive connections, client and server on the
same cores. Requests leave at fixed times whether or not the answers before them have come, and a latency counts from
the time at which its request was due, so that a server that stalls cannot hide it. The floor is the HTTP door with
nothing behind it. Memory is the server's resident size, from the time it is warm to the end. The last line is one
JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from prompt import make_vault, p95, sentence

from vault_memory.services.admin.access import own_token

WARM_S = 5.0
TIMEOUT_S = 30.0


@dataclass
class Load:
    """What came of one load: latencies in ms, of those answers that were right, and the number of the others."""

    times: list[float] = field(default_factory=list)
    errors: int = 0
    took_s: float = 0.0

    @property
    def rps(self) -> float:
        """Right answers a second."""
        return len(self.times) / self.took_s


@contextmanager
def served(folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[tuple[int, int]]:
    """`vault-memory serve` on the vault, with this added to the environment: its process id and port."""
    command = [sys.executable, "-m", "vault_memory", "--vault", str(folder), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | (environ or {}))
    try:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found, "the server did not start"
        yield process.pid, int(found[1])
    finally:
        process.terminate()
        process.communicate(timeout=30)


def rss_mb(pid: int) -> float:
    """Resident memory of a process and of those that it started, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    own = int(status.partition("VmRSS:")[2].split()[0]) / 1024
    return own + sum(rss_mb(int(child)) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


async def load(port: int, requests: list[bytes], rate: float, seconds: float, connections: int) -> Load:
    """Send the requests in turn, `rate` a second; each connection takes the next one that is due."""
    result = Load()
    due = iter(range(int(rate * seconds)))
    began = time.perf_counter()

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in due:
            at = began + number / rate
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    writer.write(requests[number % len(requests)])
                    head = await reader.readuntil(b"\r\n\r\n")
                    length = re.search(rb"content-length: (\d+)", head, re.I)
                    await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith(b"HTTP/1.1 200"):
                    result.times.append((time.perf_counter() - at) * 1000)
                else:
                    result.errors += 1
            except (OSError, TimeoutError, asyncio.IncompleteReadError):
                result.errors += 1
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    result.took_s = time.perf_counter() - began
    return result


def request(method: str, path: str, token: str, body: bytes = b"") -> bytes:
    """One HTTP request as it goes over the wire."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--chunks", type=int, default=1_000)
    parser.add_argument("--connections", type=int, default=16)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = make_vault(Path(folder) / "vault", given.chunks)
        chunks = vault.index("alice").stats().chunks
        token = own_token(vault.root)
        queries = [json.dumps({"query": sentence()[:40]}).encode() for _ in range(500)]
        searches = [request("POST", "/api/v1/memory/alice/search", token, query) for query in queries]
        with served(vault.root) as (pid, port):
            asyncio.run(load(port, searches, given.rate / 2, WARM_S, given.connections))
            alive = [request("GET", "/healthz", token)]
            floor = asyncio.run(load(port, alive, given.rate, min(WARM_S, given.seconds), given.connections))
            before = rss_mb(pid)
            found = asyncio.run(load(port, searches, given.rate, given.seconds, given.connections))
            growth = rss_mb(pid) - before
    print(f"{given.rate:g} requests/s for {given.seconds:g} s, {given.connections} connections, {chunks} chunks\n")
    print(f"{'':<22}{'median':>9}{'p95':>9}{'max':>9}{'rps':>9}{'errors':>9}")
    for name, each in (("/healthz (floor)", floor), ("search", found)):
        median = statistics.median(each.times)
        print(
            f"{name:<22}{median:>7.1f}ms{p95(each.times):>7.1f}ms{max(each.times):>7.0f}ms{each.rps:>9.1f}{each.errors:>9}"
        )
    print(f"\nthe server holds {before + growth:.0f} MB, {growth:+.1f} MB since it was warm\n")
    print(
        json.dumps(
            {
                "rps": round(found.rps, 1),
                "p95_ms": round(p95(found.times), 1),
                "errors": found.errors,
                "rss_growth_mb": round(growth, 1),
                "floor_p95_ms": round(p95(floor.times), 1),
                "rss_mb": round(before + growth, 1),
                "seconds": given.seconds,
                "chunks": chunks,
            }
        )
    )


if __name__ == "__main__":
    main()
