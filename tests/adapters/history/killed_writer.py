"""A writer that kills itself at a step of its commit: `-m tests.adapters.history.killed_writer ROOT NUMBER STEP#N`.

It has a module of its own, without pytest, because the tests start it hundreds of times.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path, PurePosixPath

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History

USER = PurePosixPath("memory/alice/USER.md")
DAILY = PurePosixPath("memory/alice/daily/2026-01-30.md")


def turn(root: Path, number: int) -> list[Draft]:
    """The drafts of one turn, from what is on disk now: two preferences and a log, by the assistant."""

    def grown(path: PurePosixPath, *lines: str) -> list[FileChange]:
        place = root / path
        contents = [place.read_bytes() if place.exists() else None]
        for line in lines:
            contents.append((contents[-1] or b"") + line.encode() + b"\n")
        return [FileChange(path, before, after) for before, after in zip(contents, contents[1:], strict=False)]

    first, second = grown(USER, f"first {number}", f"second {number}")
    (log,) = grown(DAILY, f"log {number}")
    return [
        Draft(f"first {number}", ASSISTANT, (first,)),
        Draft(f"second {number}", ASSISTANT, (second,)),
        Draft(f"log {number}", ASSISTANT, (log,)),
    ]


def write(root: Path, number: int, fatal: str) -> None:
    """Commit a turn, and die when the step `fatal` (`NAME#N`: the N-th time) is reached."""
    name, _, count = fatal.rpartition("#")
    passed = 0

    def step(reached: str) -> None:
        nonlocal passed
        passed += reached == name
        if reached == name and passed == int(count):
            os.kill(os.getpid(), signal.SIGKILL)

    history = History(root, step=step)
    print("ready", flush=True)
    history.commit(turn(root, number))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
