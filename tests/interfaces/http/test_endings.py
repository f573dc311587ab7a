"""Ending a conversation over HTTP: it waits for a model, and nobody else does."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.conftest import Cli, wait_until
from tests.interfaces.http.conftest import Server, address_of
from tests.scripted_http import EndlessServer
from vault_memory.services.memories import list_memories
from vault_memory.services.turns import record_turn

TALK = {"conversation_id": "talk"}


@pytest.fixture(autouse=True)
def _turns_give_no_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a turn gives memories by itself, its conversation does not give them again: here the end gives them."""
    monkeypatch.setenv("VAULT_MEMORY_MEMORIES_FROM_TURNS", "0")


def test_a_conversation_is_ended_once_by_its_own_user(server: Server) -> None:
    """E7: the hook at conversation end."""
    path = "/api/v1/memory/alice/conversations/end"
    alice, bob = server.user("alice"), server.user("bob")
    assert alice("POST", path, 404, json=TALK)["detail"]
    source = record_turn(server.vault, "alice", "我喜歡咖啡", "好的", conversation_id="talk").source
    bob("POST", path, 403, json=TALK)
    ended = alice("POST", path, json=TALK)
    assert (ended["turns"], ended["summary"], ended["dropped"], ended["degraded"]) == (1, "我喜歡咖啡", 0, [])
    (memory_id,) = ended["memories"]
    (memory,) = list_memories(server.vault, "alice")
    assert (memory.memory.id, memory.memory.source) == (memory_id, source)
    assert alice("POST", path, json=TALK)["turns"] == 0
    assert "'other'" in alice("POST", path, 404, json={"conversation_id": "other"})["detail"]
    for wrong in ({}, {"conversation_id": ""}, {"conversation_id": 3}, {"conversation_id": "x" * 300}):
        alice("POST", path, 422, json=wrong)


@pytest.mark.slow
def test_nobody_waits_for_a_model_that_does_not_answer(cli: Cli) -> None:
    """One ending of a user at a time, few of all; other pages and the server's stop wait for none."""
    with EndlessServer() as slow:
        settings = {
            "VAULT_MEMORY_LLM_ENABLED": "1",
            "VAULT_MEMORY_LLM_BASE_URL": slow.url,
            "VAULT_MEMORY_LLM_MODEL": "m",
            "VAULT_MEMORY_LLM_TIMEOUT_S": "600",
        }
        tokens = {name: cli("token", "--user", name).strip() for name in ("alice", "bob", "carol")}
        for name in tokens:
            said = {"user_id": name, "conversation_id": "talk", "user_message": "我喜歡咖啡"}
            cli("turn", "--jsonl", "-", stdin=json.dumps(said))
        process = cli.start("serve", "--port", "0", **settings)
        try:
            address = address_of(process)

            def end(name: str) -> int:
                path, headers = f"/api/v1/memory/{name}/conversations/end", {"Authorization": f"Bearer {tokens[name]}"}
                try:
                    return httpx.post(address + path, json=TALK, headers=headers, timeout=60).status_code
                except httpx.TransportError:
                    return 0

            with ThreadPoolExecutor(50) as threads:
                waiting = [threads.submit(end, name) for name in ("alice", "bob")]
                wait_until(lambda: slow.connections == 2, "two wait for the model")
                more = [threads.submit(end, "alice") for _ in range(45)]
                headers = {"Authorization": f"Bearer {tokens['carol']}"}
                page = httpx.get(f"{address}/api/v1/memory/carol/turns", headers=headers, timeout=10)
                assert page.status_code == 200
                process.terminate()
                assert process.wait(10) is not None
                assert {future.result() for future in [*waiting, *more]} <= {0, 503, 499}
        finally:
            process.kill()
            process.wait()
    assert "1 turn looked at, 1 kept" in cli("end-conversation", "--user", "alice", "talk")
