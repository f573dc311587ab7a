"""Importing what a real Redis holds of conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import vault_memory
from tests.redis_server import RedisServer
from vault_memory.errors import EndpointError, UsageError
from vault_memory.services.importing import import_redis
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def with_redis(vault: Vault, server: RedisServer) -> Vault:
    return open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})


def entry(at: datetime | str, user: str = "我喜歡暗色主題", assistant: str = "好") -> str:
    """As the design's `save_conversation` writes it: its times have no offset."""
    stamp = at if isinstance(at, str) else at.replace(tzinfo=None).isoformat()
    said = {"timestamp": stamp, "user": user, "assistant": assistant, "backend": "claude"}
    return json.dumps(said, ensure_ascii=False)


def said(vault: Vault, user_id: str) -> list[tuple[str, str]]:
    return [(turn["timestamp"], turn["user"]) for turn in vault_memory.get_conversation_history(vault, user_id)]


def test_lists_become_turns_once(with_redis: Vault, server: RedisServer) -> None:
    """A8: history of Redis is imported, twice the same, and a dry run writes nothing."""
    at = with_redis.now() - timedelta(days=40)
    turns = [entry(at + timedelta(minutes=n), f"turn {n}") for n in range(1_203)]
    server.client.rpush("conversation:alice", *turns, turns[0], "no JSON", entry("", "no time"))
    server.client.lpush("conversation:王小明", entry(at, "hi"))
    server.client.set("conversation:odd", "a text")
    (alice, odd, ming) = import_redis(with_redis, dry_run=True)
    assert alice.imported and alice.imported.kept.added == 1_203 and not with_redis.is_user("alice")
    assert "another kind" in odd.why and "not valid" in ming.why
    found = {each.student: each for each in import_redis(with_redis, students={"alice": "alice", "王小明": "ming"})}
    imported = found["alice"].imported
    assert imported and (imported.kept.added, imported.more_problems) == (1_203, 0) and len(imported.problems) == 2
    assert said(with_redis, "ming")[0][1] == "hi"
    (again, *_) = import_redis(with_redis)
    assert again.imported and (again.imported.kept.added, again.imported.kept.known) == (0, 1_203)
    assert server.client.llen("conversation:alice") == 1_206


def test_our_own_lists_add_nothing(with_redis: Vault, server: RedisServer) -> None:
    """They name no conversation: what is in the records in any is not added."""
    record_turn(with_redis, "alice", "hello", "hi there", conversation_id="c1")
    record_turn(with_redis, "alice", "and now?", "well", conversation_id="c2")
    before = said(with_redis, "alice")
    (alice,) = import_redis(with_redis, learn=True)
    assert alice.imported and (alice.imported.kept.added, alice.imported.kept.known) == (0, 2)
    assert said(with_redis, "alice") == before and len(before) == 2


def test_no_redis_or_one_that_is_away(vault: Vault, with_redis: Vault, server: RedisServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Redis is set: REDIS_URL="):
        list(import_redis(open_vault(vault.root, now=vault.now, environ={})))
    with pytest.raises(UsageError, match="Redis has no list 'conversation:bob'"):
        list(import_redis(with_redis, students={"bob": "bob"}))
    server.kill()
    with pytest.raises(EndpointError, match="cannot be reached"):
        list(import_redis(with_redis))
