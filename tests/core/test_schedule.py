"""When a job is due, across time zones, downtimes and the two odd nights of the year."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from vault_memory.core.schedule import is_due, parse

TAIPEI, BERLIN = ZoneInfo("Asia/Taipei"), ZoneInfo("Europe/Berlin")


def at(text: str, zone: ZoneInfo = TAIPEI) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("when", "last", "now", "due"),
    [
        ("03:00", "2026-01-30T02:00", "2026-01-30T02:59", False),
        ("03:00", "2026-01-30T02:00", "2026-01-30T03:00", True),
        ("03:00", "2026-01-30T03:00", "2026-01-30T12:00", False),
        ("03:00", "2026-01-29T03:00", "2026-01-30T09:00", True),  # the machine slept at three
        ("03:00", "2026-01-01T03:00", "2026-01-30T01:00", True),  # and for a month: due, once
        ("15m", "2026-01-30T03:00", "2026-01-30T03:14", False),
        ("15m", "2026-01-30T03:00", "2026-01-30T03:15", True),
        ("2h", "2026-01-30T03:00", "2026-01-30T06:00", True),
        ("15m", "2026-01-30T03:00", "2026-01-30T02:00", True),  # the clock was set back
        ("off", "2026-01-01T03:00", "2026-01-30T06:00", False),
    ],
)
def test_due(when: str, last: str, now: str, due: bool) -> None:
    assert is_due(when, at(last), at(now)) is due


@pytest.mark.parametrize("night", ["2026-03-29", "2026-10-25"])
def test_once_in_the_nights_when_the_clock_changes(night: str) -> None:
    """02:30 does not exist in one of them and comes twice in the other."""
    last = at(f"{night}T00:00", BERLIN) - timedelta(hours=12)
    runs, moment = 0, datetime.fromisoformat(f"{night}T00:00+00:00") - timedelta(hours=3)
    for _ in range(24):
        moment += timedelta(minutes=30)
        if is_due("02:30", last, moment.astimezone(BERLIN)):
            last, runs = moment.astimezone(BERLIN), runs + 1
    assert runs == 1


def test_nonsense_is_refused() -> None:
    assert parse("off") is None
    for when in ("", "soon", "25:00", "5d"):
        with pytest.raises(ValueError):
            parse(when)
