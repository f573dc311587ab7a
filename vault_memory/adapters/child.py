"""Run a function of this package in a child process: the memory it takes is free again when it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
"""The working directory of the child, so that it imports this package and no other of the same name."""


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
