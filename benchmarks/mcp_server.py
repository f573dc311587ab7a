"""What an assistant waits for and pays: the start of `vault-memory mcp` beside that of a bare server of the same SDK, a
call beside the same call of the library, memory after many calls, and the tokens of the default set of tools.

Prints JSON: `initialize_ratio`, `initialize_ms`, `bare_ms`, `overhead_p50_ms`, `overhead_p95_ms`, of a bare server's
tool that does nothing `bare_call_p50_ms` and `bare_call_p95_ms`, `calls`, `leaked_mb` (Linux only), `tools_tokens`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from vault_memory.services.admin import create_vault
from vault_memory.services.memories import remember
from vault_memory.services.profiles import set_preference, user_profile
from vault_memory.services.vault import Vault, open_vault

STARTS = 5
CALLS = 1_000
WARM_CALLS = 200
BARE = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
async def tools(ctx, params):  # of a tool that is not listed the client asks for the list with each call
    return ListToolsResult(tools=[Tool(name="nothing", input_schema={"type": "object"})])
async def call(ctx, params):
    return CallToolResult(content=[TextContent(text="{}")], structured_content={})
async def main():
    server = Server("bare", on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
asyncio.run(main())
"""


async def started_ms(server: StdioServerParameters) -> float:
    """How long it takes until the process has answered `initialize`."""
    since = time.perf_counter()
    async with Client(server, mode="legacy"):
        return (time.perf_counter() - since) * 1000


def resident_mb() -> float:
    """The memory of the server, which is the only child of this process; 0 where the system does not say."""
    try:
        child = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[0]
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{child}/status").read_text())
    except (OSError, IndexError):
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


async def called(server: StdioServerParameters, vault: Vault) -> dict[str, Any]:
    """A tool and the library in turn; the memory from when all is warm to the end."""
    over: list[float] = []
    async with Client(server, mode="legacy") as client:
        tokens = len((await client.list_tools()).model_dump_json(by_alias=True, exclude_none=True)) / 4
        before = 0.0
        for number in range(CALLS):
            if number == WARM_CALLS:
                before = resident_mb()
            since = time.perf_counter()
            done = await client.call_tool("get_profile", {})
            by_tool = time.perf_counter() - since
            assert not done.is_error
            since = time.perf_counter()
            user_profile(vault, "alice")
            over.append((by_tool - (time.perf_counter() - since)) * 1000)
        leaked = resident_mb() - before
    over.sort()
    return {
        "overhead_p50_ms": round(statistics.median(over), 2),
        "overhead_p95_ms": round(over[int(len(over) * 0.95)], 2),
        "calls": CALLS,
        "leaked_mb": round(leaked, 1),
        "tools_tokens": round(tokens),
    }


async def bare_calls(server: StdioServerParameters) -> dict[str, float]:
    """How long a call takes that does nothing: what the SDK and the pipe cost."""
    took: list[float] = []
    async with Client(server, mode="legacy") as client:
        for _ in range(CALLS):
            since = time.perf_counter()
            await client.call_tool("nothing", {})
            took.append((time.perf_counter() - since) * 1000)
    took.sort()
    median, most = statistics.median(took), took[int(len(took) * 0.95)]
    return {"bare_call_p50_ms": round(median, 2), "bare_call_p95_ms": round(most, 2)}


async def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "vault")
        create_vault(root)
        vault = open_vault(root)
        set_preference(vault, "alice", "theme", "dark")
        remember(vault, "alice", "My dog is called Rex")
        words = ["-m", "vault_memory", "--vault", str(root), "mcp", "--user", "alice"]
        ours = StdioServerParameters(command=sys.executable, args=words)
        bare = StdioServerParameters(command=sys.executable, args=["-c", BARE])
        pairs = [(await started_ms(ours), await started_ms(bare)) for _ in range(STARTS)]
        ours_ms, bare_ms = (statistics.median(each) for each in zip(*pairs, strict=True))
        told = {"initialize_ratio": round(ours_ms / bare_ms, 2), "initialize_ms": round(ours_ms)}
        told |= {"bare_ms": round(bare_ms)} | await called(ours, vault) | await bare_calls(bare)
        print(json.dumps(told, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
