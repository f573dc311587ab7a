"""What a process that runs for long does about memory: it has a child process run a function, and the memory that this
takes is free again when it ends; its threads share a heap."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
"""The working directory of the child, so that it imports this package and no other of the same name."""

_M_ARENA_MAX = -8
"""Of glibc's `mallopt`, from its malloc.h."""


def start(function: Callable[..., None], *arguments: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a child that calls a public function of a module with these arguments. An exception gives exit code 1."""
    script = f"import sys; from {function.__module__} import {function.__name__} as run; run(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=_PACKAGE,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def use_one_heap() -> None:
    """Let the threads of this process that start from now on take memory from one heap.

    The C library glibc gives each thread a heap of its own, which stays as large as it ever was, mostly free. A daemon
    has a dozen threads, which work in turn. Other C libraries are left as they are.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 1)
