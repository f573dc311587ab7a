"""A function of this package in a process of its own: what it loads into memory goes when it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
"""Where the child finds this very package, and nothing else that happens to have its name."""


def start(function: Callable[..., None], *words: str, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Call a public function of a module with these words; its end is the process's end, an exception exit code 1."""
    script = f"import sys; from {function.__module__} import {function.__name__} as work; work(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        cwd=_PACKAGE,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
