"""When has something come to rest? Pure: the caller brings the clock.

An editor writes a file several times in a row, by way of temporary names. `Settle` waits until nothing was heard of a
key for `quiet_s`, but not longer than `cap_s` since it first stirred, so that a file that never rests is served too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Settle(Generic[Key]):
    """Keys that stirred, each with the times (seconds, of any steady clock) it was first and last heard of."""

    def __init__(self, quiet_s: float, cap_s: float) -> None:
        self.quiet_s = quiet_s
        self.cap_s = max(cap_s, quiet_s)
        self._heard: dict[Key, tuple[float, float]] = {}

    def stir(self, key: Key, now: float) -> None:
        """Something happened to `key` at `now`; a time still to come means that it is to be left alone until then."""
        first, _ = self._heard.get(key, (now, now))
        self._heard[key] = (first, now)

    def take(self, now: float) -> list[Key]:
        """The keys at rest at `now`, in the order they first stirred; they are forgotten until they stir again."""
        rested = [key for key in self._heard if self._due(key) <= now]
        for key in rested:
            del self._heard[key]
        return rested

    def next_due(self) -> float | None:
        """When the next key will be at rest if nothing more happens, or None when nothing stirs."""
        return min(map(self._due, self._heard), default=None)

    def clear(self) -> list[Key]:
        """All keys, at rest or not; they are forgotten."""
        keys, self._heard = list(self._heard), {}
        return keys

    def __iter__(self) -> Iterator[Key]:
        return iter(self._heard)

    def __len__(self) -> int:
        return len(self._heard)

    def _due(self, key: Key) -> float:
        first, last = self._heard[key]
        return min(last + self.quiet_s, first + self.cap_s)
