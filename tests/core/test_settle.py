"""Coming to rest, with a clock that the test moves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.settle import Settle


def test_rests_after_the_quiet_time_and_only_once() -> None:
    settle = Settle[str](quiet_s=1, cap_s=10)
    assert settle.next_due() is None
    settle.stir("a", 0)
    settle.stir("b", 0.5)
    settle.stir("a", 0.9)
    assert settle.next_due() == 1.5
    assert settle.take(1.4) == []
    assert settle.take(1.5) == ["b"]
    assert settle.take(2) == ["a"]
    assert settle.take(9) == []


def test_what_never_rests_is_taken_at_the_cap() -> None:
    settle = Settle[str](quiet_s=1, cap_s=3)
    times = [n / 2 for n in range(20)]
    taken = [now for now in times if (settle.stir("a", now), settle.take(now))[1]]
    assert taken == [3.0, 6.5]


def test_two_saves_within_the_quiet_time_are_one() -> None:
    settle = Settle[str](quiet_s=1, cap_s=9)
    settle.stir("a", 0)
    settle.stir("a", 0.99)
    assert len(settle) == 1
    assert settle.take(1) == []
    assert settle.take(1.99) == ["a"]


def test_left_alone_until_a_time_to_come() -> None:
    settle = Settle[str](quiet_s=0, cap_s=9)
    settle.stir("a", 5)
    assert settle.take(4) == []
    assert settle.take(5) == ["a"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 100)), max_size=50))
def test_nothing_is_forgotten_and_nothing_waits_too_long(events: list[tuple[str, float]]) -> None:
    settle = Settle[str](quiet_s=1, cap_s=5)
    first: dict[str, float] = {}
    for key, now in sorted(events, key=lambda event: event[1]):
        for rested in settle.take(now):
            del first[rested]
        assert all(now - since < 5 for since in first.values())
        settle.stir(key, now)
        first.setdefault(key, now)
    assert set(settle.take(102)) == set(first)
