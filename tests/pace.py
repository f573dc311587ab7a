"""How long a thing may take, judged without a number of seconds: machines differ, and other processes take their share.

What claims to take a time in proportion to its input is measured at two sizes. What must only not hang is measured
against a fixed piece of work, done in the same process. Both count the processor time of this process. How fast
something is on a good machine is for `benchmarks/`.
"""

from __future__ import annotations

import functools
import gc
import re
import time
from collections.abc import Callable

TIMES_LARGER = 4
MAX_GROWTH = 8
"""Between two sizes of which one is four times the other: what is in proportion grows by 4, what is quadratic by 16."""
ATTEMPTS = 3
NOISE = 2
"""In fixed works: of a shorter time, the growth says nothing."""


def assert_in_proportion(work: Callable[[int], object], size: int) -> None:
    """`work(size)` takes a time in proportion to what `work` takes for a fourth of the size.

    One measurement within the bound is enough: another process may have emptied the caches during others. No size is
    used twice: what the work remembers of a text that it has seen must not count.
    """

    def seconds_for(size: int) -> float:
        return seconds(lambda: work(size))

    for attempt in range(ATTEMPTS):
        fourth = size // TIMES_LARGER - 2 * attempt
        small = min(seconds_for(fourth), seconds_for(fourth - 1))
        took = seconds_for(size - attempt)
        if took <= MAX_GROWTH * small + NOISE * usual_fixed_work():
            return
    raise AssertionError(f"{took:.3f} s, and a fourth of it took {small:.3f} s: that is not in proportion")


def assert_at_most(works: float, work: Callable[[], object]) -> None:
    """`work` takes at most so many times as long as the fixed work, which takes about a hundredth of a second."""
    took = seconds(work)
    if took > works * usual_fixed_work():
        fixed = fixed_work()  # what was measured first may have been in a better moment
        assert took <= works * fixed, f"it took {took / fixed:.0f} times as long as the fixed work, not {works}"


def repeated(piece: str, size: int) -> str:
    """So many characters of a text that repeats the piece."""
    return (piece * (size // len(piece) + 1))[:size]


def seconds(work: Callable[[], object]) -> float:
    """The processor time that the work takes, without a collection of what other tests left behind."""
    gc.disable()
    try:
        began = time.process_time()
        work()
        return time.process_time() - began
    finally:
        gc.enable()


@functools.cache
def usual_fixed_work() -> float:
    """How long it took when it was first asked for: it need not be done for each of a thousand texts."""
    return fixed_work()


def fixed_work() -> float:
    """How long a fixed piece of work takes on this machine at this moment: what parsers do, in Python and its `re`."""
    text = "".join(f"{n}: 我喜歡暗色主題, word{n % 7}\n" for n in range(2_000))

    def once() -> None:
        for _ in range(10):
            counts: dict[str, int] = {}
            for line in text.splitlines():
                key, _, rest = line.partition(": ")
                counts[rest] = counts.get(rest, 0) + len(key.strip().casefold())
            re.findall(r"(?:[a-z]+\d|\d+:)\s?", text)

    return min(seconds(once) for _ in range(2))
