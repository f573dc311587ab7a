"""What grows in proportion passes, whatever the machine; what grows faster, or never seems to end, does not."""

from __future__ import annotations

import pytest

from tests.pace import assert_at_most, assert_in_proportion, fixed_work


def linear(size: int) -> None:
    sum(range(size))


def quadratic(size: int) -> None:
    for _ in range(size // 1_000):
        linear(size)


def test_growth() -> None:
    assert_in_proportion(linear, 4_000_000)
    with pytest.raises(AssertionError, match="not in proportion"):
        assert_in_proportion(quadratic, 200_000)


def test_a_multiple_of_the_fixed_work() -> None:
    assert_at_most(20, fixed_work)
    with pytest.raises(AssertionError, match="times as long"):
        assert_at_most(1, lambda: [fixed_work() for _ in range(4)])
