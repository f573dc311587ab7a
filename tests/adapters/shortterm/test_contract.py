"""The contract of a short-term store, kept by each: embedded, Redis, and Redis with the embedded one beside it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.redis_server import RedisServer
from vault_memory.adapters.shortterm import EmbeddedStore, MirroredStore, RedisStore, ShortTermStore
from vault_memory.errors import EndpointError, UsageError


class Contract(ABC):
    """What every store does; `again` opens another one of the same data, as another process does. It has each value in
    so many `stores`."""

    stores = 1

    @abstractmethod
    def again(self) -> ShortTermStore: ...

    @pytest.fixture
    def store(self) -> ShortTermStore:
        return self.again()

    def test_a_value_is_what_was_put(self, store: ShortTermStore) -> None:
        """D3"""
        assert store.get("conv:c1:latest") is None and store.ttl_s("conv:c1:latest") is None
        store.put("conv:c1:latest", '{"user_msg": "你好 🌊\\u0000"}', 172_800)
        store.put("conv:c2:latest", "", 60)
        assert self.again().get("conv:c1:latest") == '{"user_msg": "你好 🌊\\u0000"}'
        assert store.get("conv:c2:latest") == "" and 172_790 < (store.ttl_s("conv:c1:latest") or 0) <= 172_800
        store.put("conv:c1:latest", "new", 60)
        assert store.get("conv:c1:latest") == "new" and (store.ttl_s("conv:c1:latest") or 0) <= 60
        store.remove("conv:c1:latest", "nothing")
        assert store.get("conv:c1:latest") is None and store.problem() == ""

    def test_what_has_expired_is_gone(self, store: ShortTermStore) -> None:
        store.put("a", "x", 1)
        store.append("b", ["x"], 1, 10)
        wait_until(lambda: store.get("a") is None and store.newest("b", 9) == [], "both are gone")
        store.append("a", ["now a list"], 60, 10)
        assert store.newest("a", 9) == ["now a list"]

    def test_a_list_keeps_its_newest(self, store: ShortTermStore) -> None:
        """A8: the last turns, oldest first, for 90 days from the last one."""
        key = "conversation:alice"
        assert store.newest(key, 5) == [] == store.oldest(key, 5)
        store.append(key, ["1"], 60, 4)
        store.append(key, ["2", "2", "3", "4", "5"], 7_776_000, 4)
        assert store.newest(key, 9) == ["2", "3", "4", "5"] and store.newest(key, 2) == ["4", "5"]
        assert store.oldest(key, 2) == ["2", "3"] and store.newest(key, 0) == [] == store.oldest(key, 0)
        assert 7_775_990 < (store.ttl_s(key) or 0) <= 7_776_000
        store.append(key, ["5", "6"], 60, 4, again=True)
        assert store.newest(key, 9) == ["3", "4", "5", "6"]

    def test_what_is_used_up_is_taken_out_once(self, store: ShortTermStore) -> None:
        """D4: two workers that took the same records take no others out."""
        store.append("pending:list", ["a", "b", "a", "c"], 60, 10)
        batch = store.oldest("pending:list", 2)
        store.discard("pending:list", batch)
        self.again().discard("pending:list", ["b", "x"])
        assert store.newest("pending:list", 9) == ["a", "c"]
        store.discard("nowhere", ["a"])

    def test_what_is_left_of_values(self, store: ShortTermStore) -> None:
        """All, a part or nothing; how long a key lives stays."""
        for key, value in (("s:all", "abc"), ("s:part", "abx"), ("s:none", "xx"), ("other", "x")):
            store.put(key, value, 60)
        store.append("s:list", ["a", "x", "b", "x"], 60, 9)
        dropped = store.drop(["s:*"], lambda key, value: value.replace("x", "") or None)
        assert dropped == (self.stores * 4, ())
        assert [store.get(f"s:{name}") for name in ("all", "part", "none")] == ["abc", "ab", None]
        assert store.newest("s:list", 9) == ["a", "b"] and store.get("other") == "x"
        assert 50 < (store.ttl_s("s:part") or 0) <= 60

    def test_a_key_is_of_one_kind(self, store: ShortTermStore) -> None:
        store.append("list", ["x"], 60, 10)
        store.put("value", "x", 60)
        for wrong in (
            lambda: store.get("list"),
            lambda: store.put("list", "y", 60),
            lambda: store.update("list", lambda old: "y", 60),
            lambda: store.append("value", ["y"], 60, 10),
            lambda: store.newest("value", 1),
        ):
            with pytest.raises(UsageError, match=r"list|value"):
                wrong()
        assert store.newest("list", 9) == ["x"] and store.get("value") == "x"

    def test_no_update_is_lost(self, store: ShortTermStore) -> None:
        """C2: many writers of one session"""

        def count() -> None:
            mine = self.again()
            for _ in range(25):
                mine.update("session:s1", lambda old: str(int(old or 0) + 1), 60)
            mine.close()

        threads = [threading.Thread(target=count) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert store.get("session:s1") == "100"

    def test_a_failing_change_changes_nothing(self, store: ShortTermStore) -> None:
        def fail(old: str | None) -> str:
            raise UsageError(f"no: {old}")

        store.put("a", "x", 60)
        with pytest.raises(UsageError, match="no: x"):
            store.update("a", fail, 60)
        assert store.get("a") == "x"

    def test_it_goes_on_after_close(self, store: ShortTermStore) -> None:
        store.put("a", "x", 60)
        store.close()
        assert store.get("a") == "x"


class TestEmbedded(Contract):
    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path) -> None:
        self.root = tmp_path

    def again(self) -> ShortTermStore:
        return EmbeddedStore(self.root)


class TestRedis(Contract):
    @pytest.fixture(autouse=True)
    def place(self, server: RedisServer) -> None:
        self.server = server

    def again(self) -> ShortTermStore:
        return RedisStore(self.server.url)


class TestMirrored(TestRedis):
    stores = 2

    @pytest.fixture(autouse=True)
    def beside(self, place: None, tmp_path: Path) -> None:
        self.root = tmp_path

    def again(self) -> ShortTermStore:
        return MirroredStore(RedisStore(self.server.url), EmbeddedStore(self.root))


class TestMirroredWhileRedisIsAway(TestMirrored):
    """The shared store never answered: the embedded one does the same, but for what uses the list up."""

    @pytest.fixture(autouse=True)
    def away(self, beside: None) -> None:
        self.server.kill()

    def test_a_value_is_what_was_put(self, store: ShortTermStore) -> None:
        store.put("a", "x", 60)
        assert self.again().get("a") == "x" and "cannot be reached" in store.problem()

    def test_what_is_left_of_values(self, store: ShortTermStore) -> None:
        store.put("a", "xy", 60)
        with pytest.raises(EndpointError):
            store.drop(["a"], lambda _, value: value.replace("x", ""))
        assert self.again().get("a") == "y"

    def test_what_is_used_up_is_taken_out_once(self, store: ShortTermStore) -> None:
        store.append("pending:list", ["a"], 60, 10)
        assert store.oldest("pending:list", 9) == ["a"]
