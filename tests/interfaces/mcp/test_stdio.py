"""`vault-memory mcp` as an assistant starts it: a process that speaks on its standard input and output."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
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


class Raw:
    """A client that writes whatever it likes, line by line, and keeps what comes back by its id."""

    def __init__(self, cli: Cli, *words: str) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "vault_memory", "mcp", *words],
            cwd=cli.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, line: bytes | dict[str, Any]) -> None:
        assert self.server.stdin is not None
        self.server.stdin.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        self.server.stdin.flush()

    def received(self) -> dict[str, Any]:
        assert self.server.stdout is not None
        found: dict[str, Any] = json.loads(self.server.stdout.readline())
        return found

    def ask(self, line: bytes | dict[str, Any]) -> dict[str, Any]:
        """What comes back next, which must be the answer: a server that gives none is asked something else after it."""
        self.send(line)
        self.send({"jsonrpc": "2.0", "id": "after", "method": "ping"})
        first = self.received()
        if first.get("id") != "after":
            assert self.received()["id"] == "after"
        return first

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        found = self.received()
        assert found["id"] == 9
        return found

    def end(self) -> tuple[int, bytes]:
        """The exit code and what was said on standard error."""
        assert self.server.stdin is not None and self.server.stderr is not None
        self.server.stdin.close()
        told = self.server.stderr.read()
        return self.server.wait(30), told


HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture
def raw(cli: Cli) -> Iterator[Raw]:
    client = Raw(cli, "--user", "alice")
    client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
    assert client.received()["result"]["serverInfo"]["name"] == "vault-memory"
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    yield client
    client.server.kill()
    with client.server:
        pass


REMEMBER = b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"remember","arguments":{"content":%s}}}'


NO_MESSAGES: list[tuple[bytes, Any, int]] = [
    (b'{"jsonrpc": "2.0", "id": 1, "meth', None, -32700),
    (b"\x00\xff", None, -32700),
    (b"null", None, -32600),
    (b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]', None, -32600),
    (b'{"id": 5, "method": "ping"}', 5, -32600),
    (b'{"jsonrpc": "2.0", "id": "five", "method": "tools/call", "params": [1]}', "five", -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', None, -32600),
    (REMEMBER % (b"9" * 5_000), 5, -32700),
    (REMEMBER % (b"[" * 1_000 + b"]" * 1_000), 5, -32700),
    (REMEMBER % (b"[" * 200_000), 5, -32700),
    (REMEMBER % (b'"' + b"x" * (17 << 20) + b'"'), None, -32600),
]


def test_what_is_no_message_is_answered(raw: Raw) -> None:
    """Without an answer its client would wait; the server lives on."""
    for line, request_id, code in NO_MESSAGES:
        found = raw.ask(line)
        assert (line[:80], found["id"], found["error"]["code"]) == (line[:80], request_id, code)
    raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}})
    raw.send(b"")
    raw.send({"jsonrpc": "2.0", "id": 5, "method": "no/such"})
    assert raw.received()["error"]["code"] == -32601
    assert "isError" in str(raw.call("remember"))
    code_at_the_end, told = raw.end()
    assert code_at_the_end == 0 and b"Traceback" not in told


def test_half_a_pair_is_replaced(raw: Raw) -> None:
    """As at every door: nothing can be written with it."""
    raw.call("remember", content="My cat is \ud83d called Tom")
    assert "My cat is \ufffd called Tom" in str(raw.call("recall_memory", query="cat"))


def test_a_client_that_reads_no_more_ends_it(raw: Raw) -> None:
    assert raw.server.stdout is not None and raw.server.stderr is not None
    raw.server.stdout.close()
    raw.send({"jsonrpc": "2.0", "id": 5, "method": "ping"})
    assert raw.server.wait(30) == 0
    assert b"Traceback" not in raw.server.stderr.read()


def test_a_client_that_never_reads_and_leaves_ends_it(raw: Raw) -> None:
    """What it was told fills the pipe, and nobody empties it."""
    for _ in range(40):
        raw.send({"jsonrpc": "2.0", "id": 5, "method": "tools/list"})
    assert raw.server.stdin is not None and raw.server.stderr is not None
    raw.server.stdin.close()
    assert raw.server.wait(30) == 0
    assert b"Traceback" not in raw.server.stderr.read()


def test_a_client_may_read_late(raw: Raw) -> None:
    """What it was told is more than a pipe holds."""
    for number in range(40):
        raw.send({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
    assert sorted(raw.received()["id"] for _ in range(40)) == [*range(40)]
    assert raw.end()[0] == 0


NO_ANSWERS: list[dict[str, Any]] = [
    {"result": [1]},
    {"result": {"action": "so what"}},
    {"error": {"code": -32000, "message": "no dialog here"}},
    {"error": "no"},
]


@pytest.mark.parametrize("said", NO_ANSWERS)
def test_a_client_that_cannot_ask_after_all_gets_the_two_steps(cli: Cli, said: dict[str, Any]) -> None:
    client = Raw(cli, "--user", "alice")
    with client.server:
        able = HELLO | {"capabilities": {"elicitation": {}}}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": able})
        client.received()
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.call("remember", content="My dog is called Rex")
        call = {"name": "delete_memory", "arguments": {"query": "Rex"}}
        client.send({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call})
        asked = client.received()
        assert asked["method"] == "elicitation/create"
        client.send({"jsonrpc": "2.0", "id": asked["id"], **said})
        told = client.received()
        assert told["id"] == 9 and told["result"]["structuredContent"]["confirm_code"], told
        assert client.end()[0] == 0


def test_a_server_goes_on_for_its_person_under_another_id(raw: Raw, cli: Cli) -> None:
    """Whoever has the id after them is somebody else: nothing of the first one's reaches them, in either direction."""
    raw.call("set_preference", key="theme", value="dark")
    cli("user", "rename", "alice", "carol")
    cli("pref", "set", "--user", "alice", "theme", "light")
    raw.call("remember", content="My dog is called Rex")
    raw.call("set_preference", key="response_style", value="concise")
    raw.call("record_turn", user_message="以後後端都用 Rust", assistant_message="好")
    assert raw.call("get_profile")["result"]["structuredContent"]["preferences"]["theme"] == "dark"
    theirs = b"".join(path.read_bytes() for path in (cli.folder / "memory/alice").rglob("*") if path.is_file())
    assert not any(word.encode() in theirs for word in ("Rex", "concise", "Rust"))
    assert "Rex" in cli("recall", "--user", "carol", "dog")


def test_a_subscriber_is_told_that_the_address_has_changed(raw: Raw, cli: Cli) -> None:
    """The person has another id; what is at the old address then is nobody's, or somebody else's."""
    raw.call("set_preference", key="theme", value="dark")
    params = {"uri": "memory://alice/USER.md"}
    raw.send({"jsonrpc": "2.0", "id": 5, "method": "resources/subscribe", "params": params})
    assert raw.received()["result"] == {}
    cli("user", "rename", "alice", "carol")
    assert raw.received() == {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}
    raw.send({"jsonrpc": "2.0", "id": 6, "method": "resources/read", "params": params})
    assert "memory://carol/" in raw.received()["error"]["message"]
    cli("pref", "set", "--user", "alice", "theme", "light")  # somebody else's: nothing is heard of it
    cli("pref", "set", "--user", "carol", "theme", "light")
    assert raw.received()["params"] == params
    raw.send({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    assert raw.received()["id"] == 7


def test_a_wrong_call_is_told_before_anything_is_served(cli: Cli) -> None:
    assert "no toolset 'valt'" in cli("mcp", "--user", "alice", "--toolsets", "valt", code=2, stdin="")
    assert ", who is new" in cli.run("mcp", "--user", "alice", stdin="").stderr
