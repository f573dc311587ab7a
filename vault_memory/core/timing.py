"""When to act: after a quiet time, at a scheduled time, at a limited rate. Pure: the caller passes the time."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

_SCHEDULE = re.compile(
    r"(?P<off>off)|(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)|(?P<count>[1-9]\d{0,4})(?P<unit>[smh])"
)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


class Debouncer(Generic[Key]):
    """Keys with events; a key is due when it has had no event for `quiet_s`, but at most `cap_s` after its first one.

    An editor writes a file several times in a row, through temporary names. Without the cap a file that is written all
    the time would never be due. Times are seconds of any clock that never goes back.
    """

    def __init__(self, quiet_s: float, cap_s: float) -> None:
        self.quiet_s = quiet_s
        self.cap_s = max(cap_s, quiet_s)
        self._first_and_last: dict[Key, tuple[float, float]] = {}

    def add(self, key: Key, at: float) -> None:
        """Note an event of `key`. A time in the future keeps the key from being due until then."""
        first, _ = self._first_and_last.get(key, (at, at))
        self._first_and_last[key] = (first, at)

    def take_due(self, now: float) -> list[Key]:
        """Remove and return the keys that are due, in the order of their first events."""
        due = [key for key in self._first_and_last if self._due_at(key) <= now]
        for key in due:
            del self._first_and_last[key]
        return due

    def take_all(self) -> list[Key]:
        """Remove and return all keys, due or not."""
        keys, self._first_and_last = list(self._first_and_last), {}
        return keys

    def next_due(self) -> float | None:
        """When the next key is due if no more events come; None without keys."""
        return min(map(self._due_at, self._first_and_last), default=None)

    def __iter__(self) -> Iterator[Key]:
        return iter(self._first_and_last)

    def __len__(self) -> int:
        return len(self._first_and_last)

    def _due_at(self, key: Key) -> float:
        first, last = self._first_and_last[key]
        return min(last + self.quiet_s, first + self.cap_s)


def parse_schedule(schedule: str) -> time | timedelta | None:
    """A time of day (`03:00`), an interval (`30s`, `15m`, `2h`), None for `off`. Raises `ValueError` for other text."""
    match = _SCHEDULE.fullmatch(schedule)
    if match is None:
        raise ValueError(f"a schedule is a time (03:00), an interval (30s, 15m, 2h) or off, not {schedule!r}")
    if match["off"]:
        return None
    if match["hour"]:
        return time(int(match["hour"]), int(match["minute"]))
    return timedelta(**{_UNITS[match["unit"]]: int(match["count"])})


def is_due(schedule: str, last: datetime, now: datetime) -> bool:
    """Whether a job that last started at `last` is due. A time of day is in the time zone of `now`.

    Runs that a downtime prevented are due once, not once each. A last start in the future counts as none: the clock was
    set back.
    """
    rule = parse_schedule(schedule)
    if rule is None:
        return False
    # Instants are compared in UTC: Python compares two times of one zone by the wall clock, wrong across a DST change.
    last_utc, now_utc = last.astimezone(UTC), now.astimezone(UTC)
    if isinstance(rule, timedelta):
        return last_utc <= now_utc - rule or last_utc > now_utc
    today_and_yesterday = (datetime.combine(now.date() - timedelta(days=back), rule, now.tzinfo) for back in (0, 1))
    latest_utc = next(start for start in (t.astimezone(UTC) for t in today_and_yesterday) if start <= now_utc)
    return last_utc < latest_utc or last_utc > now_utc


@dataclass
class TokenBucket:
    """Limits requests to `rate` a second on average, and `size` at once. `now` is the time of the last request in
    seconds, of any clock that never goes back."""

    rate: float
    size: float
    now: float

    def __post_init__(self) -> None:
        self._tokens = self.size

    def wait_s(self, now: float) -> float:
        """Take one token and return 0; without a token, return the seconds until there is one."""
        self._tokens = min(self.size, self._tokens + (now - self.now) * self.rate)
        self.now = now
        if self._tokens < 1:
            return (1 - self._tokens) / self.rate
        self._tokens -= 1
        return 0.0
