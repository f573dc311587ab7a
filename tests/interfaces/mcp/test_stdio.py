"""`vault-memory mcp` as an assistant starts it: a process that speaks on its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import Cli
from tests.interfaces.mcp.test_tools import answer, call_everything
from vault_memory.interfaces.mcp.catalogue import tools
from vault_memory.interfaces.mcp.tool import TOOLSETS

pytestmark = pytest.mark.slow


def started(cli: Cli, *words: str) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "vault_memory", "mcp", *words], cwd=cli.folder)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_over_stdio(cli: Cli, mode: str) -> None:
    """B4, E6: all tools, and the memory is there for the command line, too."""

    async def talk() -> set[str]:
        server = started(cli, "--user", "alice", "--toolsets", ",".join(TOOLSETS))
        async with Client(server, mode=mode) as client:
            called = await call_everything(client)
            await answer(client, "remember", content="My cat is called Tom")
            return called

    assert asyncio.run(talk()) == tools(TOOLSETS).keys()
    assert "Tom" in cli("recall", "--user", "alice", "cat")


def test_two_clients_share_a_vault(cli: Cli) -> None:
    async def talk() -> None:
        server = started(cli, "--user", "alice")
        async with Client(server) as one, Client(server) as other:
            facts = [f"Fact number {word}" for word in ("apple", "lighthouse", "violin", "mountain")]
            sides = zip(facts, [one, other, one, other], strict=True)
            await asyncio.gather(*(answer(client, "remember", content=fact, force_save=True) for fact, client in sides))
            found = await answer(other, "recall_memory", query="Fact number", top_k=10)
            assert {each["content"] for each in found["memories"]} == {*facts}

    asyncio.run(talk())


def test_lines_that_are_no_messages_are_survived(cli: Cli) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        '{"jsonrpc": "2.0", "id": 1, "meth',
        "",
        "\x00\xff",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({"jsonrpc": "2.0", "id": 3, "method": "no/such"}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}}),
        json.dumps({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}),
    ]
    words = [sys.executable, "-m", "vault_memory", "mcp", "--user", "alice"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=cli.folder, text=True, **pipes) as server:  # type: ignore[call-overload]
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        answers: dict[Any, Any] = {}
        while 4 not in answers:
            each = json.loads(server.stdout.readline())
            answers[each.get("id")] = each
        server.stdin.close()
        assert server.wait(30) == 0
    assert answers[2]["result"]["serverInfo"]["name"] == "vault-memory"
    assert answers[3]["error"]["code"] == -32601
    assert answers[4]["result"]["tools"]


def test_a_wrong_call_is_told_before_anything_is_served(cli: Cli) -> None:
    assert "no toolset 'valt'" in cli("mcp", "--user", "alice", "--toolsets", "valt", code=2, stdin="")
    assert ", who is new" in cli.run("mcp", "--user", "alice", stdin="").stderr
