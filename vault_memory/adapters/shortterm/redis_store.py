"""The short-term store in Redis, which other machines and programs see too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from vault_memory.adapters.shortterm.base import Change, Dropped, Holds, Left
from vault_memory.errors import ConfigError, EndpointError, UsageError

TIMEOUT_S = 0.5
"""How long a command may take: a chat waits for it."""
_PAGE = 500
_SCHEMES = ("redis", "rediss", "unix")
_TEXT_OPTION = re.compile(r"host|path|username|password|client_name|protocol|ssl_\w+")
"""An option of a URL that may stay a text: redis-py takes any name, and fails later at one whose value is none."""
_NO_RIGHTS = "the user in REDIS_URL may not do this: give it the rights in Redis"


class RedisStore:
    """The `ShortTermStore` at a Redis URL, `redis://:password@host:6379/0`. Its methods raise `ConfigError` for a wrong
    URL, or where redis-py is missing. A key with a value, or a list with a first or last one, for which not
    `is_ours(key, value)` is another program's: it counts as one of the other kind, and is not written."""

    is_shared = True
    degraded = ""

    def __init__(self, url: str, is_ours: Holds = lambda _, __: True) -> None:
        self._is_ours = is_ours
        self.address = ""
        self.where = "Redis"  # of an address that cannot be read any part may be the password
        self._client: Any = None
        self._wrong = ""
        try:
            self._open(url)
        except ConfigError as error:  # who asks is told; a store beside this one serves meanwhile
            self._wrong = str(error)

    def _open(self, url: str) -> None:
        try:
            import redis
        except ImportError as error:
            raise ConfigError("REDIS_URL needs redis-py: pip install 'vault-memory[redis]'") from error
        self._redis = redis
        try:
            parts = urlsplit(url)
            if parts.scheme not in _SCHEMES:
                raise ConfigError("REDIS_URL must begin with redis://, rediss:// or unix://")
            is_socket = parts.scheme == "unix"
            if not is_socket and not re.fullmatch(r"/?[0-9]*", parts.path):  # redis-py would take the database 0
                raise ConfigError(
                    "REDIS_URL is wrong: behind the port stands the number of a database, as in "
                    "redis://:password@host:6379/0, and of a password's signs others than letters and digits are "
                    "written as %40 and so on"
                )
            where = parts.path if is_socket else f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
            options: dict[str, Any] = redis.connection.parse_url(url)  # type: ignore[no-untyped-call]
            if not all(_TEXT_OPTION.fullmatch(name) for name, value in options.items() if isinstance(value, str)):
                raise ValueError("an option that redis-py does not read")
            options |= {"decode_responses": True, "encoding_errors": "replace"}
            options |= {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S}
            pool = redis.ConnectionPool(**options, retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0))
            pool.make_connection()  # which reads the options; else the first command would
            self._client = redis.Redis.from_pool(pool)
            if url.count("@") < 2:  # else a part of the password may stand for the host
                self.where, self.address = f"Redis at {where}", f"{where}/{options.get('db', 0)}"
        except ConfigError:
            raise
        except Exception:  # redis-py raises any of many for an option; its words would show the password
            raise ConfigError(
                "REDIS_URL is wrong: it must be like redis://:password@host:6379/0, and what is after a ? is an option "
                "that redis-py knows for such an address"
            ) from None

    def problem(self) -> str:
        try:
            with self._asking("PING"):
                self._client.ping()
        except (ConfigError, EndpointError) as error:
            return str(error)
        return ""

    def get(self, key: str) -> str | None:
        with self._asking(key):
            value: str | None = self._client.get(key)
        self._refuse_foreign(key, value)
        return value

    def put(self, key: str, value: str, ttl_s: int) -> None:
        self.update(key, lambda _: value, ttl_s)

    def update(self, key: str, change: Change, ttl_s: int) -> str:
        value = ""

        def step(pipe: Any) -> None:
            nonlocal value
            there = pipe.get(key)
            self._refuse_foreign(key, there)
            value = change(there)
            pipe.multi()
            pipe.set(key, value, ex=ttl_s)

        with self._asking(key):
            self._client.transaction(step, key)
        return value

    def append(self, key: str, values: Sequence[str], ttl_s: int, most: int, *, again: bool = False) -> None:
        def step(pipe: Any) -> None:
            new = [each for each in values if not again or pipe.lpos(key, each) is None]
            pipe.multi()
            if new:
                pipe.rpush(key, *new)
                pipe.ltrim(key, -most, -1)
            pipe.expire(key, ttl_s)

        with self._asking(key):
            ends = self._client.pipeline(transaction=False)  # of another kind it is refused here: later, its expiry
            for at in (0, -1):  # would be set all the same
                ends.lindex(key, at)
            self._refuse_foreign(key, *ends.execute())
            if again:
                self._client.transaction(step, key)
            elif values:
                pipe = self._client.pipeline()
                pipe.rpush(key, *values)
                pipe.ltrim(key, -most, -1)
                pipe.expire(key, ttl_s)
                pipe.execute()

    def newest(self, key: str, limit: int) -> list[str]:
        return self._range(key, -limit, -1) if limit else []

    def oldest(self, key: str, limit: int) -> list[str]:
        return self._range(key, 0, limit - 1) if limit else []

    def discard(self, key: str, values: Sequence[str]) -> None:
        with self._asking(key):
            pipe = self._client.pipeline()
            for value in values:
                pipe.lrem(key, 1, value)
            pipe.execute()

    def remove(self, *keys: str) -> tuple[str, ...]:
        return self._dropped(keys, lambda _, __: None).foreign

    def drop(self, patterns: Sequence[str], left: Left) -> Dropped:
        return self._dropped(dict.fromkeys(key for pattern in patterns for key in self.keys(pattern)), left)

    def _dropped(self, keys: Iterable[str], left: Left) -> Dropped:
        dropped, foreign = 0, dict[str, None]()
        for key in keys:
            with self._asking(key):
                kind = self._client.type(key)
            if kind == "string":
                found = self._lessened(key, left)
                dropped += found is True
                foreign |= {key: None} if found is None else {}
            elif kind == "list":
                for value in dict.fromkeys(each for each in self.all(key) if left(key, each) != each):
                    if self._is_ours(key, value):
                        with self._asking(key):
                            dropped += self._client.lrem(key, 0, value)
                    else:
                        foreign[key] = None
            elif kind != "none":
                foreign[key] = None
        return Dropped(dropped, tuple(foreign))

    def _lessened(self, key: str, left: Left) -> bool | None:
        """Whether the value of a key has become what is `left` of it; None where it should, and is another program's.
        No other writer comes between."""
        done: bool | None = False

        def step(pipe: Any) -> None:
            nonlocal done
            done, value = False, pipe.get(key)
            rest = value if value is None else left(key, value)
            if value is not None and rest != value:
                done = True if self._is_ours(key, value) else None
            pipe.multi()
            if done and rest is None:
                pipe.delete(key)
            elif done:
                pipe.set(key, rest, keepttl=True)

        with self._asking(key):
            self._client.transaction(step, key)
        return done

    def ttl_s(self, key: str) -> int | None:
        with self._asking(key):
            left: int = self._client.pttl(key)
        return -(-left // 1000) if left >= 0 else None

    def keys(self, pattern: str) -> Iterator[str]:
        """The keys of a pattern such as `conversation:*`, in no order."""
        with self._asking(pattern):
            yield from self._client.scan_iter(pattern, count=1_000)

    def all(self, key: str) -> Iterator[str]:
        """A list, oldest first, a page at a time: it may be longer than memory wants."""
        at = 0
        while page := self._range(key, at, at + _PAGE - 1):
            yield from page
            at += _PAGE

    def close(self) -> None:
        if self._client:
            self._client.close()

    def _range(self, key: str, first: int, last: int) -> list[str]:
        with self._asking(key):
            found: list[str] = self._client.lrange(key, first, last)
        return found

    def _refuse_foreign(self, key: str, *values: str | None) -> None:
        if not all(value is None or self._is_ours(key, value) for value in values):
            raise UsageError(f"the key {key!r} of {self.where} holds something else: another program uses it")

    @contextmanager
    def _asking(self, *keys: str) -> Iterator[None]:
        """Redis's errors as ours; none of its messages that could hold a value or a password is passed on."""
        if self._wrong:
            raise ConfigError(self._wrong)
        errors = self._redis.exceptions
        why: tuple[tuple[type[Exception], str], ...] = (
            (errors.AuthenticationError, "it refuses the password in REDIS_URL: correct that"),
            (errors.AuthorizationError, _NO_RIGHTS),
            (errors.NoPermissionError, _NO_RIGHTS),
            (errors.ReadOnlyError, "it is a read-only replica: name the primary in REDIS_URL"),
            (errors.OutOfMemoryError, "its memory is full: see maxmemory in docs/stores.md"),
            (errors.BusyLoadingError, "it is loading its data: it will answer soon"),
            (errors.TimeoutError, f"no answer within {TIMEOUT_S} s: is it running, and near?"),
            (errors.InvalidResponse, "what answers there is no Redis: correct host and port in REDIS_URL"),
            (errors.ConnectionError, "it cannot be reached: is it running, and a Redis, and is TLS as REDIS_URL says?"),
            (
                errors.ResponseError,
                "it refuses this command, or an option in REDIS_URL: is it of version 6.0.6 or later?",
            ),
        )
        try:
            yield
        except errors.RedisError as error:
            said = str(error).rpartition(" of pipeline caused error: ")[2]  # what is before it holds the value
            if said.startswith("WRONGTYPE"):
                raise UsageError(
                    f"the key {', '.join(map(repr, keys))} of {self.where} is of another kind: another program uses it"
                ) from error
            told = next((text for kind, text in why if isinstance(error, kind)), type(error).__name__)
            if said.startswith(("NOAUTH", "WRONGPASS", "invalid username-password")):
                told = why[0][1]
            if said.startswith(("DB index is out of range", "invalid DB index")):
                told = "it has no database of that number: correct the one at the end of REDIS_URL"
            raise EndpointError(f"{self.where}: {told}") from error
