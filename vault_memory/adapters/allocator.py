"""Where a process that runs for long takes its memory from."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
"""Of glibc's `mallopt`, from its malloc.h."""


def use_one_heap() -> None:
    """Let the threads of this process that start from now on take memory from one heap.

    The C library glibc gives each thread a heap of its own, which stays as large as it ever was, mostly free. A daemon
    has a dozen threads, which work in turn. Other C libraries are left as they are.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)
