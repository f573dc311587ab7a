"""A chat proxy that runs, and what stands before and behind it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from tests.conftest import wait_until
from tests.scripted_http import ScriptedServer
from vault_memory.core.notes import journal
from vault_memory.interfaces.http.app import create_app
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    import anthropic
    import openai

TEA = "綠茶要用八十度的水泡三分鐘。"
QUESTION = "綠茶要怎麼泡？"


@dataclass
class Proxy:
    """A proxy that runs, the vault behind it, alice's token for it, and the provider that answers."""

    url: str
    vault: Vault
    token: str
    provider: ScriptedServer

    def openai(self, **more: Any) -> openai.OpenAI:
        import openai  # takes half a second, which the fast tests do not need

        return openai.OpenAI(base_url=f"{self.url}/v1", api_key=self.token, max_retries=0, **more)

    def anthropic(self, **more: Any) -> anthropic.Anthropic:
        import anthropic  # takes a second and more

        return anthropic.Anthropic(base_url=self.url, auth_token=self.token, max_retries=0, **more)

    def post(self, path: str, body: Any, **headers: str | bytes) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.token}"} | {k.replace("_", "-"): v for k, v in headers.items()}
        return httpx.post(self.url + path, content=content, headers=sent, timeout=30)

    def turns(self, user_id: str = "alice") -> list[dict[str, Any]]:
        files = sorted(self.vault.path(user_id, "conversations").glob("*.jsonl"))
        texts = (file.read_text(encoding="utf-8").split("\n")[:-1] for file in files)
        return [turn for lines in texts for _, turn in journal.joined([*enumerate(map(journal.parse_line, lines), 1)])]

    def turn(self, count: int = 2) -> dict[str, Any]:
        """The newest turn, when there are `count` of them (the first is the fixture's) and it has come to an end."""
        wait_until(
            lambda: len(self.turns()) >= count and self.turns()[-1].get("exit_code") is not None,
            f"{count} turns are recorded",
        )
        assert len(self.turns()) == count
        return self.turns()[-1]


@contextlib.contextmanager
def proxying(vault: Vault) -> Iterator[str]:
    """The app on a free port, until the end of the block."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(vault), port=0, log_level="critical", timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: server.started, "the server has started")
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)
