"""When something is due. Pure: the caller brings the clock.

A schedule is written as `03:00` (every day at that time in the time zone of `now`), `15m` or `2h` (that long after the
last start), or `off`.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}


def parse(when: str) -> time | timedelta | None:
    """A schedule's time of day or interval, None for `off`. Raises `ValueError` for what is none of them."""
    if when == "off":
        return None
    if ":" in when:
        hour, minute = when.split(":")
        return time(int(hour), int(minute))
    if when[-1:] not in _UNITS:
        raise ValueError(f"{when!r} is no schedule: write a time as 03:00, an interval as 30s, 15m or 2h, or off")
    return timedelta(**{_UNITS[when[-1]]: int(when[:-1])})


def is_due(when: str, last: datetime, now: datetime) -> bool:
    """Whether something that last started at `last` is to be started at `now`.

    What was missed during a downtime is due once, however long that was. A last start in the future (the clock was set
    back) counts as none.
    """
    rule = parse(when)
    if rule is None:
        return False
    if isinstance(rule, timedelta):
        turn = now.astimezone(UTC) - rule
    else:
        # Instants are compared in UTC: two times of one zone would be compared by the wall clock, wrong across DST.
        turns = (datetime.combine(now.date() - timedelta(days=back), rule, now.tzinfo) for back in (0, 1))
        turn = next(t for t in (t.astimezone(UTC) for t in turns) if t <= now.astimezone(UTC))
        turn -= timedelta(microseconds=1)
    return last.astimezone(UTC) <= turn or last.astimezone(UTC) > now.astimezone(UTC)
