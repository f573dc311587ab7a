"""A chat model that does not answer holds up nobody: other users' turns and pages, and the server's stop."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.conftest import Cli, wait_until
from tests.interfaces.http.conftest import Server, address_of
from tests.interfaces.http.proxied import proxying
from tests.scripted_http import EndlessServer, ScriptedServer, change
from vault_memory.services.admin import new_user_token
from vault_memory.services.turns import tally
from vault_memory.services.turns.second_looks import AT_ONCE, MAX_WAITING_PER_USER
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

TURNS = 45
"""More than the threads that answer all users (40, anyio's default)."""
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
"""A time-out of a single read begins anew with each."""


@pytest.fixture
def slow() -> Iterator[EndlessServer]:
    with EndlessServer(again=INTERIM) as running:
        yield running


def settings(slow: EndlessServer, timeout_s: float) -> dict[str, str]:
    return {
        "VAULT_MEMORY_LLM_ENABLED": "1",
        "VAULT_MEMORY_LLM_BASE_URL": slow.url,
        "VAULT_MEMORY_LLM_MODEL": "m",
        "VAULT_MEMORY_LLM_TIMEOUT_S": f"{timeout_s:g}",
    }


def turn(client: httpx.Client, user_id: str, message: str) -> list[str]:
    """Record a turn; what could not be used."""
    asked = {"user_message": message, "assistant_message": "好的"}
    answer = client.post(f"/api/v1/memory/{user_id}/turns", json=asked)
    assert answer.status_code == 201, answer.text
    degraded: list[str] = answer.json()["degraded"]
    return degraded


def say(client: httpx.Client, user_id: str, turns: int) -> list[list[str]]:
    """Record so many turns, some at once; what could not be used of each."""
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda number: turn(client, user_id, f"畫面亮到眼睛好痛 {number}"), range(turns)))


def test_one_users_turns_hold_up_nobody(vault: Vault, slow: EndlessServer) -> None:
    """All the threads of the endpoints waited for the model."""
    vault = open_vault(vault.root, now=vault.now, environ=settings(slow, 300))
    with proxying(vault) as url:
        alice, bob = (
            httpx.Client(base_url=url, timeout=120, headers={"Authorization": f"Bearer {new_user_token(vault, name)}"})
            for name in ("alice", "bob")
        )
        with alice, bob:
            told = say(alice, "alice", TURNS)
            left_out = [each for each in told if any("no second look" in reason for reason in each)]
            assert len(left_out) == tally(vault).skipped == TURNS - 1 - MAX_WAITING_PER_USER
            assert turn(bob, "bob", "我喜歡暗色主題") == []
            assert bob.get("/api/v1/user/bob/preferences/history").status_code == 200
        assert slow.connections <= AT_ONCE and slow.left == 0
    assert tally(vault).skipped == TURNS + 1, "the server was stopped before the model had answered"


def test_a_server_stops_while_the_model_does_not_answer(cli: Cli, slow: EndlessServer) -> None:
    token = cli("token", "--user", "alice").strip()
    process = cli.start("serve", "--port", "0", **settings(slow, 600))
    try:
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=address_of(process), timeout=60, headers=headers) as alice:
            say(alice, "alice", TURNS)
            wait_until(lambda: slow.connections, "the model is asked")
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        print(process.communicate()[0])  # what the server said, shown when the test fails
    assert any(
        f"{TURNS} turns of" in line and "the server was stopped" in line for line in cli.json("status")["degraded"]
    )


def test_a_turn_over_http_gets_its_second_look(server: Server, chat: ScriptedServer) -> None:
    vault = open_vault(server.vault.root, now=server.vault.now, environ=chat.chat_settings())
    chat.will_say([change("theme", "dark", "畫面亮到眼睛好痛", strength="adjustment")])
    with proxying(vault) as url:
        token = new_user_token(vault, "alice")
        with httpx.Client(base_url=url, timeout=60, headers={"Authorization": f"Bearer {token}"}) as alice:
            assert turn(alice, "alice", "畫面亮到眼睛好痛") == []
            wait_until(lambda: "dark" in alice.get("/api/v1/user/alice").text, "the change is written")
