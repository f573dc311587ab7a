"""Entries of a real Redis, and what is kept while it is away, go with what is erased."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import Clock
from tests.redis_server import RedisServer
from vault_memory import api
from vault_memory.services.admin import rename_user, status
from vault_memory.services.erasing import erase, of_texts, of_user
from vault_memory.services.learning import session_context, update_session
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import TOMBSTONES, Vault, open_vault

SECRET = "my codeword is Zanzibar 七號"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


def held(server: RedisServer) -> str:
    client = server.client
    kinds = {key: client.type(key) for key in client.scan_iter("*")}
    read = {"list": lambda key: client.lrange(key, 0, -1), "string": client.get}
    return "\n".join(str(read[kind](key)) for key, kind in kinds.items() if isinstance(kind, str))


def test_g5_redis_and_the_store_beside_it_hold_nothing_of_it(vault: Vault, server: RedisServer) -> None:
    """G5: tokens, too; entries of other words and of other users stay."""
    shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    record_turn(shared, "alice", SECRET, "ok", conversation_id="c1")
    record_turn(shared, "alice", "hello", "hi", conversation_id="c2")
    record_turn(shared, "bob", SECRET, "ok", conversation_id="c3")
    assert server.client.llen("conversation:alice") == 2
    receipt = erase(shared, of_texts(shared, "alice", [SECRET]))
    assert receipt.problems == () and receipt.entries >= 3
    assert server.client.llen("conversation:alice") == 1 and server.client.get("conv:c1:latest") is None
    assert server.client.llen("pending:list") == 2 and server.client.get("conv:c3:latest")
    erase(shared, of_user(shared, "alice"))
    assert "alice" not in held(server) and "alice" not in str(server.client.keys())
    assert server.client.llen("conversation:bob") == 1


def test_another_programs_keys_stay_and_are_told(vault: Vault, server: RedisServer) -> None:
    shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    record_turn(shared, "alice", "hello", "hi", conversation_id="c1")
    server.client.rpush("conversation:alice", "a job of theirs")
    server.client.set("sessions:alice", "theirs")
    receipt = erase(shared, of_user(shared, "alice"))
    (told,) = receipt.problems
    assert "another program" in told and "sessions:alice" in told and "conversation:alice" in told
    assert held(server).count("theirs") == 2 and server.client.llen("conversation:alice") == 1


def test_a_redis_that_is_away_is_named_and_misses_nothing_of_it(vault: Vault, server: RedisServer) -> None:
    shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    server.kill()
    record_turn(shared, "alice", SECRET, "ok", conversation_id="c1")
    receipt = erase(shared, of_texts(shared, "alice", [SECRET]))
    assert any("short-term store was not asked" in line for line in receipt.problems)
    assert b"Zanzibar" not in Path(vault.root, ".vault-memory/short-term.db").read_bytes()
    server.start()
    record_turn(open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url}), "alice", "hello", "hi")
    assert "Zanzibar" not in held(server)


def test_what_redis_misses_is_erased_when_it_answers(vault: Vault, server: RedisServer) -> None:
    """What it holds from before, also of another conversation's key; until then `status` says that it waits."""

    def opened() -> Vault:
        return api.open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})

    shared = opened()
    record_turn(shared, "alice", SECRET, "ok", conversation_id="c1")
    record_turn(shared, "alice", "hello", "hi", conversation_id="c2")
    record_turn(shared, "bob", "good morning", "hi", conversation_id="c3")
    noted = vault.root / ".vault-memory/erasing-unreached"
    with server.held():
        for _ in range(2):
            receipt = erase(shared, of_texts(shared, "alice", [SECRET]))
            assert any("as soon as it answers" in line for line in receipt.problems) and receipt.left == ()
        erase(shared, of_user(shared, "bob"))
        assert noted.stat().st_mode & 0o077 == 0 and len(json.loads(noted.read_text())) == 2
        assert any("erasing-unreached says is still to be erased in Redis" in line for line in status(shared).degraded)
    without = open_vault(vault.root, now=vault.now, environ={})
    assert any("REDIS_URL is not set" in line for line in status(without).degraded) and noted.exists()
    other = api.open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url.removesuffix("0") + "1"})
    assert any("names another" in line for line in status(other).degraded) and noted.exists()
    assert "Zanzibar" in held(server)
    assert status(opened()).degraded == () and not noted.exists()
    assert "Zanzibar" not in held(server) and "bob" not in str(server.client.keys())
    assert server.client.llen("conversation:alice") == 1 and server.client.llen("pending:list") == 1
    for damaged in ("[{}]", "[" * 200_000):
        noted.write_text(damaged)
        assert any("is damaged: delete it" in line for line in status(opened()).degraded)


def test_a_redis_that_was_used_is_not_forgotten_where_it_is_not_set(vault: Vault, server: RedisServer) -> None:
    """In a shell without REDIS_URL, and with another one, erasing says so and notes it; a renaming, too."""
    shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    without = open_vault(vault.root, now=vault.now, environ={})
    record_turn(without, "carol", "hello", "hi", conversation_id="c0")
    assert erase(without, of_user(without, "carol")).problems == ()  # none was ever used
    for user, words in (("alice", SECRET), ("bob", "good morning"), ("dora", "good night")):
        record_turn(shared, user, words, "ok", conversation_id=user)
    used = vault.root / ".vault-memory/redis-used"
    assert json.loads(used.read_text()) == [f"127.0.0.1:{server.port}/0"] and used.stat().st_mode & 0o077 == 0
    (told,) = erase(without, of_texts(without, "alice", [SECRET])).problems
    assert f"Redis at 127.0.0.1:{server.port}/0, which this vault has used, was not asked" in told
    assert any("REDIS_URL is not set" in line for line in status(without).degraded)
    other = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url.removesuffix("0") + "1"})
    record_turn(other, "alice", "hello", "hi", conversation_id="c9")
    (told,) = erase(other, of_user(other, "bob")).problems
    assert "was not asked" in told and len(json.loads(used.read_text())) == 2
    assert any("REDIS_URL is set once more" in line for line in rename_user(without, "dora", "dorothy"))
    assert "Zanzibar" in held(server) and "bob" in str(server.client.keys())
    again = api.open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    assert status(again).degraded == ()
    assert "Zanzibar" not in held(server)
    assert server.client.exists("conversation:bob", "conversation:dora") == 0


def test_a_damaged_list_of_used_redis_is_told(vault: Vault, server: RedisServer) -> None:
    """It is not taken as if none was ever used: nothing is written there that could not be erased."""
    shared = open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})
    record_turn(shared, "alice", SECRET, "ok", conversation_id="c1")
    (vault.root / ".vault-memory/redis-used").write_text("[" * 200_000)
    for environ in ({}, {"REDIS_URL": server.url}):
        again = open_vault(vault.root, now=vault.now, environ=environ)
        record_turn(again, "alice", "hello", "hi", conversation_id="c2")
        assert any("redis-used is damaged" in line for line in status(again).degraded)
        assert any(
            "redis-used is damaged" in line for line in erase(again, of_texts(again, "alice", [SECRET])).problems
        )
    assert server.client.get("conv:c2:latest") is None and "Zanzibar" in held(server)
    (vault.root / ".vault-memory/redis-used").unlink()
    assert status(api.open_vault(vault.root, now=vault.now, environ={"REDIS_URL": server.url})).degraded == ()
    assert "Zanzibar" not in held(server) and server.client.get("conv:c2:latest")


def test_what_comes_after_an_erasing_is_not_made_up_for(vault: Vault, server: RedisServer, clock: Clock) -> None:
    """Of a new user of that id, in each form that Redis has, and of one who says the same text."""
    shared = api.open_vault(vault.root, now=clock, environ={"REDIS_URL": server.url})
    for user in ("eve", "alice"):
        record_turn(shared, user, f"{SECRET} says {user}", "ok", conversation_id=f"old-{user}")
    update_session(shared, "eve", "old", message="the old step")
    rename_user(shared, "alice", "alicia")
    server.client.rpush("conversation:eve", json.dumps({"user": "it tells no time", "assistant": "", "backend": ""}))
    with server.held():
        clock.time += timedelta(seconds=5)
        erase(shared, of_user(shared, "eve"))
        erase(shared, of_texts(shared, "alicia", [SECRET]))
        (vault.root / ".git" / TOMBSTONES).unlink()
        clock.time += timedelta(seconds=5)
        for user in ("eve", "alice"):
            record_turn(shared, user, f"new {user}: {SECRET}", "ok", conversation_id=f"new-{user}")
        update_session(shared, "eve", "new", message="the new step")
    assert status(api.open_vault(vault.root, now=clock, environ={"REDIS_URL": server.url})).degraded == ()
    assert not (vault.root / ".vault-memory/erasing-unreached").exists()
    told = held(server)
    assert "says eve" not in told and "says alice" not in told and "no time" not in told and "old step" not in told
    assert sorted(server.client.keys("conv:*")) == ["conv:new-alice:latest", "conv:new-eve:latest"]
    assert told.count("new eve") == told.count("new alice") == 3  # the last turn, the history, what is pending
    assert session_context(shared, "eve", "new").last_user_message == "the new step"


def test_a_text_in_one_vault_leaves_the_users_of_another(vault: Vault, server: RedisServer) -> None:
    """Both have one Redis: whom only the other knows is no user of this one, so nothing there is theirs."""
    second = shutil.copytree(vault.root, vault.root.with_name("second"), symlinks=True)
    shared, other = (
        open_vault(root, now=vault.now, environ={"REDIS_URL": server.url}) for root in (vault.root, second)
    )
    record_turn(shared, "bob", SECRET, "ok", conversation_id="bobs")
    record_turn(other, "carol", SECRET, "ok", conversation_id="carols")
    erase(shared, of_texts(shared, "bob", [SECRET]))
    assert held(server).count("Zanzibar") == 3 and server.client.exists("conv:carols:latest", "conversation:carol") == 2
