"""Quiet times, schedules and rates, with a clock that the test moves."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.timing import Debouncer, TokenBucket, is_due, parse_schedule

TAIPEI, BERLIN = ZoneInfo("Asia/Taipei"), ZoneInfo("Europe/Berlin")


def at(text: str, zone: ZoneInfo = TAIPEI) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


class TestDebouncer:
    def test_a_key_is_due_once_after_the_quiet_time(self) -> None:
        events = Debouncer[str](quiet_s=1, cap_s=10)
        assert events.next_due() is None
        events.add("a", 0)
        events.add("b", 0.5)
        events.add("a", 0.9)
        assert events.next_due() == 1.5
        assert events.take_due(1.4) == []
        assert events.take_due(1.5) == ["b"]
        assert events.take_due(2) == ["a"]
        assert events.take_due(9) == []

    def test_a_key_with_events_all_the_time_is_due_at_the_cap(self) -> None:
        events = Debouncer[str](quiet_s=1, cap_s=3)
        times = [n / 2 for n in range(20)]
        taken = [now for now in times if (events.add("a", now), events.take_due(now))[1]]
        assert taken == [3.0, 6.5]

    def test_two_events_within_the_quiet_time_are_one(self) -> None:
        events = Debouncer[str](quiet_s=1, cap_s=9)
        events.add("a", 0)
        events.add("a", 0.99)
        assert len(events) == 1
        assert events.take_due(1) == []
        assert events.take_due(1.99) == ["a"]

    def test_an_event_in_the_future_delays_a_key_until_then(self) -> None:
        events = Debouncer[str](quiet_s=0, cap_s=9)
        events.add("a", 5)
        assert events.take_due(4) == []
        assert events.take_due(5) == ["a"]

    @given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 100)), max_size=50))
    def test_no_key_is_lost_or_waits_longer_than_the_cap(self, events: list[tuple[str, float]]) -> None:
        debouncer = Debouncer[str](quiet_s=1, cap_s=5)
        first: dict[str, float] = {}
        for key, now in sorted(events, key=lambda event: event[1]):
            for due in debouncer.take_due(now):
                del first[due]
            assert all(now - since < 5 for since in first.values())
            debouncer.add(key, now)
            first.setdefault(key, now)
        assert set(debouncer.take_due(102)) == set(first)


class TestSchedule:
    """Across time zones, downtimes and the two nights of the year when the clock changes."""

    @pytest.mark.parametrize(
        ("schedule", "last", "now", "due"),
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
            ("03:00", "2026-01-30T12:00", "2026-01-30T11:00", True),
            ("off", "2026-01-01T03:00", "2026-01-30T06:00", False),
        ],
    )
    def test_due(self, schedule: str, last: str, now: str, due: bool) -> None:
        assert is_due(schedule, at(last), at(now)) is due

    @pytest.mark.parametrize("night", ["2026-03-29", "2026-10-25"])
    def test_once_in_the_nights_when_the_clock_changes(self, night: str) -> None:
        """02:30 does not exist in one of them and comes twice in the other."""
        last = at(f"{night}T00:00", BERLIN) - timedelta(hours=12)
        runs, moment = 0, datetime.fromisoformat(f"{night}T00:00+00:00") - timedelta(hours=3)
        for _ in range(24):
            moment += timedelta(minutes=30)
            if is_due("02:30", last, moment.astimezone(BERLIN)):
                last, runs = moment.astimezone(BERLIN), runs + 1
        assert runs == 1

    def test_other_text_is_refused(self) -> None:
        assert parse_schedule("off") is None
        assert parse_schedule("90s") == timedelta(seconds=90)
        for text in ("", "soon", "25:00", "03:60", "5d", "0m", "-5m", "1.5h", "03:00 "):
            with pytest.raises(ValueError, match="a schedule is a time"):
                parse_schedule(text)


class TestTokenBucket:
    def test_some_at_once_and_then_the_rate(self) -> None:
        bucket = TokenBucket(rate=10, size=3, now=0.0)
        assert [bucket.wait_s(0.0) for _ in range(3)] == [0, 0, 0]
        assert bucket.wait_s(0.0) == 0.1
        assert bucket.wait_s(0.1) == 0
        assert bucket.wait_s(0.1) > 0

    @given(st.lists(st.floats(0, 0.5), max_size=200))
    def test_never_more_than_the_rate_allows(self, pauses: list[float]) -> None:
        bucket, now, allowed = TokenBucket(rate=10, size=5, now=0.0), 0.0, 0
        for pause in pauses:
            now += pause
            allowed += bucket.wait_s(now) == 0
        assert allowed <= 5 + now * 10 + 1e-6
