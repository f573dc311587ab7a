"""How much is too often."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.bucket import Bucket


def test_some_at_once_and_then_so_many_a_second() -> None:
    bucket = Bucket(rate=10, size=3, now=0.0)
    assert [bucket.wait_s(0.0) for _ in range(3)] == [0, 0, 0]
    assert bucket.wait_s(0.0) == 0.1
    assert bucket.wait_s(0.1) == 0
    assert bucket.wait_s(0.1) > 0


@given(st.lists(st.floats(0, 0.5), max_size=200))
def test_never_more_than_the_rate_allows(pauses: list[float]) -> None:
    bucket, now, let_in = Bucket(rate=10, size=5, now=0.0), 0.0, 0
    for pause in pauses:
        now += pause
        let_in += bucket.wait_s(now) == 0
    assert let_in <= 5 + now * 10 + 1e-6
