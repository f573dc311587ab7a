"""A vault with a scripted language model, and what that model says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Clock
from tests.scripted_http import Reply, ScriptedServer, completion
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture(autouse=True)
def _turns_give_no_memories(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a turn gives memories by itself, its conversation does not give them again: here the end gives them."""
    monkeypatch.setenv("VAULT_MEMORY_MEMORIES_FROM_TURNS", "0")


@pytest.fixture
def asked(vault: Vault, clock: Clock, chat: ScriptedServer) -> Vault:
    """The vault of the test, its model switched on and scripted."""
    return open_vault(vault.root, now=clock, llm_enabled=True, llm_base_url=chat.url, llm_model="m", llm_timeout_s=2.0)


def found(*memories: dict[str, Any], summary: str = "") -> Reply:
    """A model's answer about a conversation."""
    return completion(json.dumps({"memories": memories, "summary": summary}, ensure_ascii=False))


def proposed(
    quote: str, content: str = "", *, turn: int = 1, kind: str = "preference", importance: float = 0.5
) -> dict[str, Any]:
    """One memory as a model proposes it."""
    return {"turn": turn, "type": kind, "content": content or quote, "quote": quote, "importance": importance}


def person(*words: str) -> list[dict[str, str]]:
    """A conversation in which a person says these words, each with a reply."""
    return [{"role": role, "content": text} for said in words for role, text in (("user", said), ("assistant", "好的"))]
