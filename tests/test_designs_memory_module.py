"""The memory module of the third design document: its functions and its call in a chat router as the document prints
them, with nothing but the import changed. Its long-term store has tests of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli
from tests.redis_server import RedisServer

ENVIRONMENT = {
    "MEMORY_REDIS_TTL_SECONDS": "172800",
    "MEMORY_FLUSH_BATCH_SIZE": "100",
    "MEMORY_TABLE_MAP": '{"conversations":"conversations","memories":"memories"}',
    "TOKENIZER_NAME": "cl100k_base",
}
"""2) 環境變數, but for REDIS_URL."""

ROUTER = """
# chat_router.py 內，生成 assistant_message 與 reflection 後：
from vault_memory import store_conversation

store_conversation(
    conversation_id=request.conversation_id,
    user_id=request.user_id,
    user_msg=user_message,
    assistant_msg=assistant_message,
    reflection=reflection_obj  # dict or None
)
"""
"""9) 路由接點."""

BEFORE_IT = """
from types import SimpleNamespace
request = SimpleNamespace(conversation_id="c1", user_id="user_xxx")
user_message, assistant_message = "幫我做一個按鈕 🌊", "好的"
reflection_obj = {"summary": "asked for a button", "causes": ["no layout yet"]}
"""

FUNCTIONS = """
import json
from vault_memory import (
    load_recent_context, pack_token_record, store_conversation, store_short_term, tokenize_text, validate_and_normalize
)
print(json.dumps([
    tokenize_text("中文 English 🌊"),
    pack_token_record("中文", None, {"summary": "s", "causes": []}),
    store_short_term("c2", "user_xxx", "hello", "hi", None),
    load_recent_context("c2"),
    load_recent_context("c3"),
    store_conversation("c2", "user_xxx", None, "only I spoke", None) and None,
    validate_and_normalize({"conversation_id": "c1", "user_id": "user_xxx"}),
]))
"""
"""5) Tokenizer, 6.2 Public API and 4) I/O 合約, with the arguments in the order of the document."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    yield server
    server.kill()


def run(cli: Cli, program: str, **environ: str) -> str:
    """Run a program as a backend that found the module in its environment."""
    import os

    environ = {**os.environ, "VAULT_MEMORY_VAULT": str(cli.folder), **ENVIRONMENT, **environ}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cli.folder, env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_call_in_the_chat_router(cli: Cli, server: RedisServer) -> None:
    """D3, D7, 手動流程: after a message Redis has conv:{conversation_id}:latest, of the form in 6.1, for two days; and
    the turn waits in pending:list for the worker."""
    assert run(cli, BEFORE_IT + ROUTER, REDIS_URL=server.url) == "", "the answer of the router stays as it was"
    value = json.loads(str(server.client.get("conv:c1:latest")))
    assert list(value) == ["user_msg", "assistant_msg", "reflection", "token_data", "user_id", "ts"]
    assert value["user_id"] == "user_xxx" and value["reflection"]["causes"] == ["no layout yet"]
    assert {"user", "assistant", "reflection"} <= value["token_data"].keys()
    assert type(value["ts"]) is int and 0 < server.client.ttl("conv:c1:latest") <= 172_800
    (pending,) = map(json.loads, server.client.lrange("pending:list", 0, -1))
    assert datetime.fromisoformat(pending["created_at"]).tzinfo
    assert pending.keys() >= {"conversation_id", "user_id", "user_message", "assistant_message", "reflection", "cid"}


def test_the_module_may_be_off(cli: Cli) -> None:
    """D6: without Redis the same call works, and nothing shows."""
    assert run(cli, BEFORE_IT + ROUTER) == ""
    assert "按鈕" in cli("search", "--user", "user_xxx", "按鈕")


@pytest.mark.parametrize("with_redis", [True, False])
def test_the_functions_as_they_are_declared(cli: Cli, server: RedisServer, with_redis: bool) -> None:
    """D2, D3: 單元測試 of the document."""
    told: list[Any] = json.loads(run(cli, FUNCTIONS, **({"REDIS_URL": server.url} if with_redis else {})))
    tokens, packed, stored, recent, nothing, _, record = told
    assert tokens and all(type(token) is int for token in tokens)
    assert packed["assistant"] == [] and packed["user"] and packed["reflection"]
    assert stored is None and nothing is None
    assert (recent["user_msg"], recent["assistant_msg"], recent["reflection"]) == ("hello", "hi", None)
    assert record.keys() == {
        *("conversation_id", "user_id", "user_message", "assistant_message"),
        *("reflection", "token_data", "cid", "created_at"),
    }
