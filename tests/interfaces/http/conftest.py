"""A real server on a free port of this machine, in a thread or as a process of its own, and callers of it."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import uvicorn

from tests.conftest import Cli, wait_until
from tests.interfaces.http.proxied import TEA, Proxy, proxying
from tests.scripted_http import ScriptedServer
from tests.vaults import write
from vault_memory.interfaces.http.app import create_app
from vault_memory.interfaces.http.server import configured
from vault_memory.services.admin.access import new_user_token, own_token
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault


@dataclass
class Caller:
    """Somebody with a token."""

    client: httpx.Client
    token: str

    def __call__(self, method: str, path: str, status: int = 200, **request: Any) -> Any:
        """Send a request; the JSON of its answer, after checking the status and that a problem is rendered as one."""
        answer = self.raw(method, path, **request)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        if status >= 400 and status != 503:
            assert answer.headers["content-type"] == "application/problem+json"
            assert {"type", "title", "status", "detail"} <= answer.json().keys()
        assert "Traceback" not in answer.text
        return answer.json() if answer.content else None

    def raw(self, method: str, path: str, headers: Any = None, **request: Any) -> httpx.Response:
        given = {"Authorization": f"Bearer {self.token}"} | (headers or {})
        return self.client.request(method, path, headers=given, **request)


@dataclass
class Server:
    """A vault that is served at an address."""

    vault: Vault
    address: str
    client: httpx.Client

    @property
    def admin(self) -> Caller:
        return Caller(self.client, own_token(self.vault.root))

    def user(self, user_id: str) -> Caller:
        return Caller(self.client, new_user_token(self.vault, user_id))


@pytest.fixture
def server(vault: Vault) -> Iterator[Server]:
    listening = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(configured(create_app(vault)))
    thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
    thread.start()
    wait_until(lambda: running.started, "the server listens")
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with httpx.Client(base_url=address, timeout=30) as client:
        yield Server(vault, address, client)
    running.should_exit = True
    thread.join(60)
    listening.close()


@pytest.fixture
def alice(server: Server) -> Caller:
    """Alice, who has said one thing."""
    caller = server.user("alice")
    caller(
        "POST", "/api/v1/memory/alice/turns", 201, json={"user_message": "我喜歡暗色主題", "assistant_message": "好的"}
    )
    return caller


@pytest.fixture
def served(cli: Cli) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`vault-memory serve` on a free port, and its address."""
    process = cli.start("serve", "--port", "0")
    try:
        yield process, address_of(process)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise AssertionError("the server ended before it told its address")


@pytest.fixture
def proxied(vault: Vault, chat: ScriptedServer) -> Vault:
    """A vault that knows alice, and of a provider."""
    write(vault, "alice", "notes/tea.md", f"# 茶\n\n{TEA}\n")
    record_turn(vault, "alice", "我喜歡暗色主題", "好的")
    for scope in ("alice", ""):
        reconcile(vault, scope)
    return open_vault(
        vault.root, now=vault.now, environ={"MY_KEY": "sk-upstream"}, upstream_base_url=chat.url,
        upstream_key_env="MY_KEY",
        upstream_anthropic_url=chat.url, upstream_anthropic_key_env="MY_KEY", upstream_timeout_s=30.0,
        proxy_memory_timeout_ms=20_000,
    )  # fmt: skip


@pytest.fixture
def proxy(proxied: Vault, chat: ScriptedServer) -> Iterator[Proxy]:
    token = new_user_token(proxied, "alice")
    with proxying(proxied) as url:
        yield Proxy(url, proxied, token, chat)
