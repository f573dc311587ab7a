"""A token bucket: so many requests a second on average, and some at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Bucket:
    """Holds up to `size` requests and gains `rate` a second. `now` is any clock in seconds that never goes back."""

    rate: float
    size: float
    now: float

    def __post_init__(self) -> None:
        self._held = self.size

    def wait_s(self, now: float) -> float:
        """Take one request and return 0; where there is none, seconds until there is."""
        self._held = min(self.size, self._held + (now - self.now) * self.rate)
        self.now = now
        if self._held < 1:
            return (1 - self._held) / self.rate
        self._held -= 1
        return 0.0
