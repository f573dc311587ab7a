"""`/mcp` of a real HTTP server: whose memory a token opens, sessions, walls, changes of a note."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import httpx2
import pytest
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from tests.conftest import wait_until
from tests.interfaces.mcp.test_tools import answer, call_everything, refusal
from vault_memory.interfaces.http.app import create_app
from vault_memory.interfaces.http.server import configured
from vault_memory.interfaces.mcp import Endpoint
from vault_memory.interfaces.mcp.catalogue import tools
from vault_memory.interfaces.mcp.tool import TOOLSETS
from vault_memory.services.admin import new_user_token, own_token, rename_user
from vault_memory.services.memories import list_memories, remember
from vault_memory.services.profiles import set_preference
from vault_memory.services.vault import Vault

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LISTED = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass
class Served:
    """A vault that is served with `/mcp`."""

    vault: Vault
    address: str

    @asynccontextmanager
    async def client(self, token: str, mode: str = "auto", asks: Any = None, **more: str) -> AsyncIterator[Client]:
        """The SDK's client, with this token and these headers."""
        headers = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): text for name, text in more.items()}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(
                streamable_http_client(f"{self.address}/mcp", http_client=http), mode=mode, elicitation_callback=asks
            ) as client,
        ):
            yield client

    def post(self, message: Any, token: str = "", **headers: str) -> httpx.Response:
        given = ACCEPT | ({"Authorization": f"Bearer {token}"} if token else {})
        given |= {name.replace("_", "-"): text for name, text in headers.items()}
        return httpx.post(f"{self.address}/mcp", json=message, headers=given, timeout=30)


@pytest.fixture
def served(vault: Vault) -> Iterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(configured(create_app(vault, mcp=Endpoint)))
    thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
    thread.start()
    wait_until(lambda: running.started, "the server listens")
    yield Served(vault, f"http://127.0.0.1:{listening.getsockname()[1]}")
    running.should_exit = True
    thread.join(60)
    listening.close()
    assert not thread.is_alive()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_every_tool_over_http(served: Served, mode: str) -> None:
    """B4, E6: all tools for the user of a token."""

    async def talk() -> set[str]:
        async with served.client(new_user_token(served.vault, "alice"), mode) as client:
            return await call_everything(client)

    assert asyncio.run(talk()) == tools(TOOLSETS).keys()
    assert served.vault.is_user("alice")


def test_the_token_says_whose_memory_it_is(served: Served) -> None:
    alice, bob = (new_user_token(served.vault, name) for name in ("alice", "bob"))

    async def talk() -> None:
        async with served.client(alice) as of_alice, served.client(bob) as of_bob:
            await answer(of_alice, "remember", content="My dog is called Rex")
            await answer(of_bob, "remember", content="My cat is called Tom")
            assert "Rex" not in json.dumps(await answer(of_bob, "recall_memory", query="dog"))
            assert "Rex" not in json.dumps(await answer(of_bob, "search_memory", query="dog Rex", scope="all"))
            told = await refusal(of_bob, "buddy_config", model="mine")
            assert "only the vault's own token" in told
        async with served.client(own_token(served.vault.root), X_Vault_User="alice") as client:
            assert "Rex" in json.dumps(await answer(client, "recall_memory", query="dog"))
        async with served.client(bob, X_Vault_User="alice") as client:  # a user's token is that user
            assert "Rex" not in json.dumps(await answer(client, "recall_memory", query="dog"))

    asyncio.run(talk())


def test_without_a_token_or_a_user_there_is_nothing(served: Served) -> None:
    assert served.post(INITIALIZE).status_code == 401
    assert served.post(INITIALIZE, "vault_wrong").status_code == 401
    nobody = served.post(INITIALIZE, own_token(served.vault.root))
    assert nobody.status_code == 400 and "X-Vault-User" in nobody.json()["detail"]
    token = new_user_token(served.vault, "alice")
    assert served.post(INITIALIZE, token, Origin="https://evil.example").status_code == 403
    assert served.post(INITIALIZE, token, Host="evil.example").status_code == 421


def test_a_session_is_only_of_the_user_who_opened_it(served: Served) -> None:
    alice, bob = (new_user_token(served.vault, name) for name in ("alice", "bob"))
    opened = served.post(INITIALIZE, alice)
    session = opened.headers["mcp-session-id"]
    assert served.post(LISTED, bob, Mcp_Session_Id=session).status_code == 404
    assert served.post(LISTED, alice, Mcp_Session_Id=session).status_code == 200


def test_a_session_is_only_of_the_person_who_opened_it(served: Served) -> None:
    own, vault = own_token(served.vault.root), served.vault
    set_preference(vault, "alice", "theme", "dark")
    set_preference(vault, "bob", "theme", "light")

    def remember(user_id: str, session: str) -> httpx.Response:
        params = {"name": "remember", "arguments": {"content": "My dog is called Rex"}}
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
        return served.post(call, own, X_Vault_User=user_id, Mcp_Session_Id=session)

    opened = {name: served.post(INITIALIZE, own, X_Vault_User=name) for name in ("alice", "bob")}
    sessions = {name: answer.headers["mcp-session-id"] for name, answer in opened.items()}
    rename_user(vault, "alice", "carol")
    refused = remember("alice", sessions["alice"])
    assert refused.status_code == 404 and "has the id 'carol' now: connect" in refused.json()["detail"]
    assert remember("carol", sessions["alice"]).status_code == 404
    assert served.post(INITIALIZE, own, X_Vault_User="alice").status_code == 404
    assert vault.user_ids() == ["bob", "carol"]
    assert remember("bob", sessions["bob"]).status_code == 200, "no renaming has named him"
    rename_user(vault, "bob", "alice")
    assert remember("alice", sessions["alice"]).status_code == 404
    assert [each.memory.content for each in list_memories(vault, "alice")] == ["My dog is called Rex"]
    assert served.post(INITIALIZE, own, X_Vault_User="alice").status_code == 200


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_person_is_asked_over_http_too(served: Served, mode: str) -> None:
    asked = []

    async def yes(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"yes": True})

    async def talk() -> Any:
        token = new_user_token(served.vault, "alice")
        async with served.client(token, mode, asks=yes) as client:
            await answer(client, "remember", content="My dog is called Rex")
            return await answer(client, "delete_memory", query="Rex")

    assert len(asyncio.run(talk())["deleted"]) == 1
    assert len(asked) == 1 and "Rex" in asked[0]


@pytest.mark.parametrize("said", [{"result": [1]}, {"result": {"action": "so what"}}, {"error": "no"}, {"result": 5}])
def test_a_client_that_cannot_ask_after_all_gets_the_two_steps(served: Served, said: dict[str, Any]) -> None:
    token = new_user_token(served.vault, "alice")
    remember(served.vault, "alice", "My dog is called Rex")
    able = INITIALIZE | {"params": INITIALIZE["params"] | {"capabilities": {"elicitation": {}}}}  # type: ignore[operator]
    session = {"Mcp_Session_Id": served.post(able, token).headers["mcp-session-id"]}
    served.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, token, **session)
    call = {"name": "delete_memory", "arguments": {"query": "Rex"}}
    asking = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
    headers = ACCEPT | {"Authorization": f"Bearer {token}", "Mcp-Session-Id": session["Mcp_Session_Id"]}
    with httpx.stream("POST", f"{served.address}/mcp", json=asking, headers=headers, timeout=30) as stream:
        told = (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data: {"))
        asked = next(told)
        assert asked["method"] == "elicitation/create"
        assert served.post({"jsonrpc": "2.0", "id": asked["id"], **said}, token, **session).status_code == 202
        answered = next(told)
    assert answered["id"] == 9 and answered["result"]["structuredContent"]["confirm_code"], answered


def test_bad_requests_leave_the_server_alive(served: Served) -> None:
    token = new_user_token(served.vault, "alice")
    url, headers = f"{served.address}/mcp", ACCEPT | {"Authorization": f"Bearer {token}"}
    as_json = headers | {"Content-Type": "application/json"}
    assert httpx.post(url, content='{"jsonrpc": "2.0", "id"', headers=as_json).status_code == 400
    assert httpx.post(url, content="[" * 10_000, headers=as_json).status_code == 400
    assert httpx.post(url, content=b"x" * 2_100_000, headers=as_json).status_code == 413
    assert httpx.put(url, content="{}", headers=as_json).status_code == 405

    async def talk() -> None:
        async with served.client(token) as client:
            assert "at most 20000" in await refusal(client, "remember", content="x" * 1_000_000)
            await answer(client, "remember", content="My dog is called Rex")

    asyncio.run(talk())


def test_a_subscriber_hears_of_a_saved_note(served: Served) -> None:
    note = served.vault.root / "memory/alice/tea.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("green\n", encoding="utf-8")
    uri = "memory://alice/tea.md"

    async def talk() -> None:
        async with served.client(new_user_token(served.vault, "alice")) as client:
            assert uri in [each.uri for each in (await client.list_resources()).resources]
            async with client.listen(resource_subscriptions=[uri]) as changes:
                note.write_text("oolong, now\n", encoding="utf-8")
                async with asyncio.timeout(20):
                    event = await anext(aiter(changes))
            assert event.uri == uri  # type: ignore[union-attr]
            assert "oolong" in str(await client.read_resource(uri))

    asyncio.run(talk())


def test_a_subscriber_of_the_handshake_era_hears_it_too(served: Served) -> None:
    note = served.vault.root / "memory/alice/tea.md"
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text("green\n", encoding="utf-8")
    uri, heard = "memory://alice/tea.md", asyncio.Event()
    token = new_user_token(served.vault, "alice")

    async def on_message(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/resources/updated":
            heard.set()

    async def talk() -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http,
            Client(
                streamable_http_client(f"{served.address}/mcp", http_client=http),
                mode="legacy",
                message_handler=on_message,
            ) as client,
        ):
            await client.subscribe_resource(uri)
            number = 0
            async with asyncio.timeout(20):
                while not heard.is_set():  # the stream that the client listens on opens by itself, a little later
                    number += 1
                    note.write_text(f"oolong {number}\n", encoding="utf-8")
                    try:
                        await asyncio.wait_for(heard.wait(), 1.5)
                    except TimeoutError:
                        continue

    asyncio.run(talk())
