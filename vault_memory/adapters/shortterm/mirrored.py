"""A shared store with an embedded one beside it, for the time when the shared one is away.

Everything is written to both. What the shared one misses is noted, and made up for in order as soon as it answers. A
value that it has lost (it may come back empty) is the one that this machine knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from vault_memory.adapters.shortterm.base import Change, Dropped, Left, ShortTermStore
from vault_memory.adapters.shortterm.embedded import EmbeddedStore
from vault_memory.errors import Busy, ConfigError, EndpointError, Unwritable, UsageError

RETRY_AFTER_S = 1.0
"""After a failure the shared store is left alone this long: not every call waits for its timeout."""

_T = TypeVar("_T")


class MirroredStore:
    """The `ShortTermStore` of a `shared` store and a `local` one. `later(key, there, ours)` is the value of a key that
    another machine may have written while the shared store was away from this one. `used` is called once, when the
    shared one has answered and before anything is written there. `clock` tells seconds that only go forward."""

    is_shared = True

    def __init__(
        self,
        shared: ShortTermStore,
        local: EmbeddedStore,
        later: Callable[[str, str | None, str], str] = lambda _, there, ours: ours,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[], None] | None = None,
    ) -> None:
        self._used = used
        self._shared = shared
        self._local = local
        self._later = later
        self._clock = clock
        self._away_until = 0.0
        self._problem = ""
        self.address = shared.address
        self.where = f"{shared.where}, {local.where} while that is away"

    def problem(self) -> str:
        """It asks the shared store, and lets it make up for what it has missed."""
        try:
            refused = self._made_up()
            return self._shared.problem() or refused
        except (ConfigError, EndpointError) as error:
            left = ", ".join(self._local.missed_removals())
            return f"{error}; still to be removed there: {left}" if left else str(error)

    @property
    def degraded(self) -> str:
        return self._problem

    def get(self, key: str) -> str | None:
        found = self._read(lambda store: store.get(key))
        return self._local.get(key) if found is None else found

    def newest(self, key: str, limit: int) -> list[str]:
        return self._read(lambda store: store.newest(key, limit))

    def oldest(self, key: str, limit: int) -> list[str]:
        return self._read(lambda store: store.oldest(key, limit))

    def ttl_s(self, key: str) -> int | None:
        return self._read(lambda store: store.ttl_s(key))

    def put(self, key: str, value: str, ttl_s: int) -> None:
        self._local.put(key, value, ttl_s)
        if not self._try(lambda: self._shared.put(key, value, ttl_s)):
            self._local.miss(key, [value], ttl_s, None)

    def update(self, key: str, change: Change, ttl_s: int) -> str:
        made: list[str] = []
        known = self._local.get(key)

        def changed(found: str | None) -> str:
            return change(known if found is None else found)

        if self._try(lambda: made.append(self._shared.update(key, changed, ttl_s))):
            self._local.put(key, made[-1], ttl_s)
            return made[-1]
        value = self._local.update(key, change, ttl_s)
        self._local.miss(key, [value], ttl_s, None)
        return value

    def append(self, key: str, values: Sequence[str], ttl_s: int, most: int, *, again: bool = False) -> None:
        self._local.append(key, values, ttl_s, most, again=again)
        if not self._try(lambda: self._shared.append(key, values, ttl_s, most, again=again)):
            self._local.miss(key, values, ttl_s, most)

    def discard(self, key: str, values: Sequence[str]) -> None:
        """Raises `EndpointError` while the shared store is away: what is taken out of it is taken by whoever uses it
        up, and is found there again."""
        self._made_up()
        self._shared.discard(key, values)
        self._local.discard(key, values)

    def remove(self, *keys: str) -> tuple[str, ...]:
        self._local.remove(*keys)
        left: list[str] = []
        if not self._try(lambda: left.extend(self._shared.remove(*keys))):
            self._local.miss_removal(keys)
        return tuple(left)

    def drop(self, patterns: Sequence[str], left: Left) -> Dropped:
        """Raises `EndpointError` while the shared store is away: here it is done, and what that misses of it, too."""
        dropped = self._local.drop(patterns, left)
        self._made_up()
        found = self._shared.drop(patterns, left)
        return Dropped(dropped.values + found.values, found.foreign)

    def close(self) -> None:
        self._shared.close()
        self._local.close()

    def _read(self, ask: Callable[[ShortTermStore], _T]) -> _T:
        found: list[_T] = []
        if self._try(lambda: found.append(ask(self._shared))):
            return found[-1]
        return ask(self._local)

    def _try(self, ask: Callable[[], None]) -> bool:
        """Ask the shared store, which has made up for what it missed before; whether it has answered."""
        if self._clock() < self._away_until:
            return False
        try:
            self._made_up()
            ask()
        except UsageError as error:  # another program has taken this key: the local store serves
            self._problem = str(error)
            return False
        except (ConfigError, EndpointError) as error:
            self._problem, self._away_until = str(error), self._clock() + RETRY_AFTER_S
            return False
        self._problem = ""
        return True

    def _made_up(self) -> str:
        """Let the shared store make up for what it has missed. Returns what it refuses, in words: another program has
        taken a key, which gets the rest when it is free."""

        def write(key: str, value: str, ttl_s: int, most: int | None) -> None:
            if most == 0:
                self._shared.remove(key)  # another program's value there stays, and the rest of the key waits for it
            elif most is None:
                self._shared.update(key, lambda there: self._later(key, there, value), ttl_s)
            else:  # it may have come before the connection broke
                self._shared.append(key, [value], ttl_s, most, again=True)

        if self._used:
            if why := self._shared.problem():
                raise EndpointError(why)
            try:
                self._used()
            except (Busy, Unwritable, UsageError) as error:
                raise EndpointError(f"that it is used cannot be noted: {error}") from error
            self._used = None
        return self._local.make_up(write) if self._local.has_missed() else ""
