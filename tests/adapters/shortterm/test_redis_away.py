"""Redis dies, refuses, comes back: nothing is lost, and it is said."""

from __future__ import annotations

import socket
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tests.redis_server import RedisServer
from vault_memory.adapters.shortterm import EmbeddedStore, MirroredStore, RedisStore
from vault_memory.adapters.shortterm.mirrored import RETRY_AFTER_S
from vault_memory.core.recent import decoded, encoded, later_value
from vault_memory.errors import ConfigError, EndpointError


class Clock:
    """A clock that is set forward."""

    at = 100.0

    def __call__(self) -> float:
        return self.at


def test_what_redis_misses_is_made_up_for_when_it_is_back(server: RedisServer, tmp_path: Path) -> None:
    """A8, D3: a redis-server is killed between two writes, and started again, empty."""
    clock = Clock()
    store = MirroredStore(RedisStore(server.url), EmbeddedStore(tmp_path), clock=clock)
    store.put("conv:c1:latest", "first", 60)
    store.append("conversation:alice", ["one"], 60, 10)
    assert server.client.get("conv:c1:latest") == "first" and store.degraded == ""
    server.kill()
    store.put("conv:c1:latest", "second", 60)
    store.put("conv:c1:latest", "third", 172_800)
    store.append("conversation:alice", ["two", "three"], 60, 10)
    assert store.update("session:s1", lambda old: f"{old} and more", 60) == "None and more"
    assert "cannot be reached" in store.degraded
    assert store.get("conv:c1:latest") == "third" and store.newest("conversation:alice", 2) == ["two", "three"]
    server.start()
    assert store.get("conv:c1:latest") == "third" and server.client.get("conv:c1:latest") is None  # left alone a while
    clock.at += RETRY_AFTER_S
    assert store.newest("conversation:alice", 9) == ["two", "three"] and store.degraded == ""
    assert server.client.get("conv:c1:latest") == "third" and 172_700 < server.client.ttl("conv:c1:latest") <= 172_800
    assert server.client.get("session:s1") == "None and more"
    assert not EmbeddedStore(tmp_path).has_missed()


def test_a_redis_that_comes_back_empty_loses_no_value(server: RedisServer, tmp_path: Path) -> None:
    """A8, C2: nobody wrote while it was away, so nothing was missed; this machine knows the values."""
    store = MirroredStore(RedisStore(server.url), EmbeddedStore(tmp_path))
    store.put("sessions:alice", "first", 60)
    server.kill()
    server.start()
    assert store.get("sessions:alice") == "first" and server.client.get("sessions:alice") is None
    assert store.update("sessions:alice", lambda old: f"{old} and more", 60) == "first and more"
    assert server.client.get("sessions:alice") == "first and more"
    store.remove("sessions:alice")
    assert store.get("sessions:alice") is None
    server.client.set("sessions:alice", "of another machine")
    assert store.update("sessions:alice", lambda old: f"{old}!", 60) == "of another machine!"


def test_what_came_through_before_the_answer_was_lost_is_there_once(server: RedisServer, tmp_path: Path) -> None:
    local = EmbeddedStore(tmp_path)
    local.miss("conversation:alice", ["one", "two"], 60, 10)
    server.client.rpush("conversation:alice", "one")
    store = MirroredStore(RedisStore(server.url), local)
    assert store.newest("conversation:alice", 9) == ["one", "two"]


def test_of_a_long_time_away_no_more_is_kept_than_a_list_holds(tmp_path: Path) -> None:
    at = 100.0
    local = EmbeddedStore(tmp_path, lambda: at)
    made_up: list[tuple[str, str, int, int | None]] = []
    for number in range(20):
        local.miss("list", [str(number)], 60, 3)
        local.miss("value", [str(number)], 60, None)
    local.miss("short", ["gone"], 5, None)
    at = 110.0
    local.make_up(lambda *write: made_up.append(write))
    assert made_up == [
        ("list", "17", 50, 3),
        ("list", "18", 50, 3),
        ("list", "19", 50, 3),
        ("value", "19", 50, None),
    ]


def test_a_key_that_another_program_takes_meanwhile_holds_up_no_other(server: RedisServer, tmp_path: Path) -> None:
    local = EmbeddedStore(tmp_path)
    local.miss("taken", ["x"], 60, None)
    local.miss("free", ["y"], 60, None)
    server.client.rpush("taken", "theirs")
    store = MirroredStore(RedisStore(server.url), local)
    assert store.get("free") == "y" and server.client.lrange("taken", 0, -1) == ["theirs"]
    store.put("taken", "z", 60)
    assert "another program" in store.degraded and store.get("taken") == "z" and "another program" in store.problem()
    server.client.delete("taken")
    assert store.problem() == "" and server.client.get("taken") == "z"


def test_what_another_machine_wrote_meanwhile_is_not_lost(server: RedisServer, tmp_path: Path) -> None:
    local = EmbeddedStore(tmp_path)
    old, new = ({"updated_at": f"2026-01-30T14:0{minute}:00+08:00", "intent": minute} for minute in (1, 2))
    local.miss("conv:c:latest", [encoded({"ts": 1.0, "user_msg": "old"})], 60, None)
    local.miss("sessions:alice", [encoded({"one": old, "ours": old})], 60, None)
    server.client.set("conv:c:latest", encoded({"ts": 2.0, "user_msg": "new"}))
    server.client.set("sessions:alice", encoded({"one": new, "theirs": old}))
    store = MirroredStore(RedisStore(server.url), local, partial(later_value, now=time.time()))
    assert (decoded(store.get("conv:c:latest")) or {})["user_msg"] == "new"
    assert decoded(store.get("sessions:alice")) == {"one": new, "theirs": old, "ours": old}
    assert not local.has_missed()


def test_a_wrong_password_is_named_and_not_shown(server: RedisServer, tmp_path: Path) -> None:
    wrong = server.url.replace(server.password, "not-the-one")
    with pytest.raises(EndpointError, match="refuses the password in REDIS_URL") as caught:
        RedisStore(wrong).get("a")
    assert "not-the-one" not in str(caught.value)
    with pytest.raises(EndpointError, match="refuses the password"):
        RedisStore(server.url.replace(f":{server.password}@", "")).get("a")
    store = MirroredStore(RedisStore(wrong), EmbeddedStore(tmp_path))
    store.put("a", "x", 60)
    assert store.get("a") == "x" and "refuses the password" in store.degraded == store.problem()


def test_a_full_or_read_only_redis_is_named(server: RedisServer) -> None:
    store = RedisStore(server.url)
    server.client.config_set("maxmemory", "1mb")
    with pytest.raises(EndpointError, match="memory is full"):
        for number in range(100):
            store.put(f"k{number}", "x" * 100_000, 60)
    server.client.config_set("maxmemory", "0")
    server.client.replicaof("127.0.0.1", "1")
    with pytest.raises(EndpointError, match="read-only replica"):
        store.append("a", ["x"], 60, 10)


def test_an_address_without_its_database_or_without_a_redis_is_named_in_words(server: RedisServer) -> None:
    assert "no database of that number" in RedisStore(server.url.replace("/0", "/99")).problem()
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            caller, _ = other.accept()
            with caller:
                caller.recv(1_000)
                caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        problem = RedisStore(f"redis://127.0.0.1:{other.getsockname()[1]}/0").problem()
        thread.join()
    assert "is no Redis: correct host and port" in problem


@pytest.mark.parametrize(
    "option",
    ["family=6", "ssl_cert_reqs=none", "foo=1", "retry=x", "socket_type=x", "encoding=x", "connection_class=x"],
)
def test_an_option_that_redis_py_does_not_know_is_a_wrong_url(option: str, tmp_path: Path) -> None:
    """A8: it is told, and the embedded store serves meanwhile, as while Redis is away."""
    wrong = RedisStore(f"redis://:hidden@127.0.0.1:1/0?{option}")
    with pytest.raises(ConfigError, match="REDIS_URL is wrong") as caught:
        wrong.get("a")
    assert "hidden" not in str(caught.value)
    store = MirroredStore(wrong, EmbeddedStore(tmp_path))
    store.put("a", "x", 60)
    assert store.get("a") == "x" and "REDIS_URL is wrong" in store.degraded == store.problem()
    store.close()


def test_an_option_that_redis_py_knows_is_taken(server: RedisServer) -> None:
    store = RedisStore(f"{server.url}?health_check_interval=30&client_name=mine&socket_timeout=99")
    assert store.problem() == ""


@pytest.mark.parametrize("url", ["http://127.0.0.1", "127.0.0.1:6379", "redis://:hidden@host:port/0", "redis://h/x y"])
def test_a_wrong_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises((ConfigError, EndpointError)) as caught:
        RedisStore(url).get("a")
    assert "hidden" not in str(caught.value)


def test_a_database_that_is_no_number_is_a_wrong_url(server: RedisServer) -> None:
    """redis-py would take the database 0, which may be another program's."""
    address = server.url.removesuffix("/0")
    with pytest.raises(ConfigError, match="the number of a database") as caught:
        RedisStore(f"{address}/abc").get("a")
    assert server.password not in str(caught.value)
    for end, number in (("", 0), ("/", 0), ("/1", 1), ("?db=2", 2)):
        store = RedisStore(address + end)
        assert store.get("a") is None and store.address == f"127.0.0.1:{server.port}/{number}"
