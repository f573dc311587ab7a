"""What a short-term store does, whichever it is. A *key* holds one *value* (a text) or one *list* of texts, and goes
away `ttl_s` seconds after it was last written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

Change = Callable[[str | None], str]
"""Makes the new value of a key of its present one (None: there is none). It may be called again."""

Holds = Callable[[str, str], bool]
"""Whether a value is meant, by its key and itself."""

Left = Callable[[str, str], str | None]
"""What is left of a value, by its key and itself: all, a part, or nothing (None). It may be called again."""


class Dropped(NamedTuple):
    """How many values were deleted or became less, and the keys of those that were meant and stay: another
    program's."""

    values: int
    foreign: tuple[str, ...] = ()


class ShortTermStore(Protocol):
    """Threads and processes may share it. Every method raises `UsageError` for a key of the other kind, `EndpointError`
    when Redis cannot be used, `ConfigError` when its address is wrong, `Unwritable` or `ForeignFile` when the embedded
    database cannot."""

    @property
    def is_shared(self) -> bool:
        """Whether other machines see the same values."""
        ...

    @property
    def where(self) -> str:
        """Where it is, in words and without a password. Nothing is asked."""
        ...

    @property
    def address(self) -> str:
        """Which shared store it is: host, port and database, without a password; "" for none, and where the address
        cannot be read for sure. Nothing is asked."""
        ...

    @property
    def degraded(self) -> str:
        """Why the last call did without the shared store, in words; "" if it did not. Nothing is asked."""
        ...

    def problem(self) -> str:
        """Why the store is not what the settings ask for, as it is found now; "" when all is well."""
        ...

    def get(self, key: str) -> str | None:
        """The value of a key, None when there is none."""
        ...

    def put(self, key: str, value: str, ttl_s: int) -> None:
        """Set the value of a key."""
        ...

    def update(self, key: str, change: Change, ttl_s: int) -> str:
        """Set the value of a key to what `change` makes of it, and return that; no other writer comes between."""
        ...

    def append(self, key: str, values: Sequence[str], ttl_s: int, most: int, *, again: bool = False) -> None:
        """Add to the end of a list, and keep its newest `most`. `again`: one that the list holds already is not added
        twice."""
        ...

    def newest(self, key: str, limit: int) -> list[str]:
        """The last `limit` of a list, oldest first; empty when there is none."""
        ...

    def oldest(self, key: str, limit: int) -> list[str]:
        """The first `limit` of a list, oldest first."""
        ...

    def discard(self, key: str, values: Sequence[str]) -> None:
        """Take values out of a list, of each the oldest that is equal; one that it does not hold is passed over."""
        ...

    def remove(self, *keys: str) -> tuple[str, ...]:
        """Delete what keys hold. Returns those that are left, as they hold another program's values. While a shared
        store is away, it is done there before anything of these keys is read or written again."""
        ...

    def drop(self, patterns: Sequence[str], left: Left) -> Dropped:
        """Let each value of the keys of these patterns (`conversation:*`) be `left(key, value)`, but for another
        program's; each value of a list stays or goes as a whole. Nothing of what goes is left in the embedded
        database's files."""
        ...

    def ttl_s(self, key: str) -> int | None:
        """In how many seconds a key goes away, rounded up; None when there is none."""
        ...

    def close(self) -> None:
        """Close the connections of this store; a later call opens them again."""
        ...
