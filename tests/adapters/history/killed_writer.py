"""A writer that kills itself at a step of its commit: `-m tests.adapters.history.killed_writer ROOT NUMBER STEP#N`.

The number 0 stands for a merge of the branch `other`, -1 for what the person has typed, -2 for taking `private.txt` out
of all commits, -3 for a turn that only adds `log 3` to a log, -4 for one that also tells a preference; what waits is
committed then.

It has a module of its own, without pytest, because the tests start it hundreds of times.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from vault_memory.adapters.git import changed_files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.core import trailers
from vault_memory.core.trailers import Trailers

USER = PurePosixPath("memory/alice/USER.md")
DAILY = PurePosixPath("memory/alice/daily/2026-01-30.md")
PRIVATE = PurePosixPath("private.txt")
SAID_AT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
"""The turns are old ones."""


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
        Draft(f"first {number}", ASSISTANT, (first,), made_at=SAID_AT),
        Draft(f"second {number}", ASSISTANT, (second,), made_at=SAID_AT),
        Draft(f"log {number}", ASSISTANT, (log,), made_at=SAID_AT),
    ]


def log(root: Path, number: int, path: PurePosixPath = DAILY) -> list[Draft]:
    """The draft of a turn that changes a log alone."""
    place = root / path
    before = place.read_bytes() if place.exists() else None
    after = (before or b"") + f"log {number}\n".encode()
    user = path.parts[1]
    subject = trailers.logs_subject(user, f"2026-01-30 12:{number:02}")
    message = trailers.render(subject, "", Trailers(user=user, turn=f"{number:08x}"))
    return [Draft(message, ASSISTANT, (FileChange(path, before, after),), waits=True)]


def merge(history: History) -> list[Draft]:
    """The draft of a merge that takes each file as the branch `other` has it: from git, as a sync does."""
    other = history.commit_named("other")
    changes = [
        FileChange(each.path, *(history.stored(blob) if blob else None for blob in (each.old, each.new)))
        for each in changed_files(history.root, history.commit_named("other~1"), other)
    ]
    return [Draft("merge 0", ASSISTANT, tuple(changes), other)]


def write(root: Path, number: int, fatal: str) -> None:
    """Commit a turn or the merge, and die when the step `fatal` (`NAME#N`: the N-th time) is reached."""
    name, _, count = fatal.rpartition("#")
    passed = 0

    def step(reached: str) -> None:
        nonlocal passed
        passed += reached == name
        if reached == name and passed == int(count):
            os.kill(os.getpid(), signal.SIGKILL)

    history = History(root, step=step)
    print("ready", flush=True)
    if number == -2:
        blob = history.entry(PRIVATE)
        history.take_out({PRIVATE: {blob.id}} if blob else {}, None, history.commit_named("HEAD"))
    elif number in (-3, -4):
        user = (root / USER).read_bytes()
        theme = Draft("theme = dark", ASSISTANT, (FileChange(USER, user, user + b"theme\n"),))
        history.commit([*([theme] if number == -4 else []), *log(root, 3)])
        history.flush()
    elif number < 0:
        history.commit_edits([Draft("by hand", history.person(), tuple(history.uncommitted()))])
    else:
        history.commit(turn(root, number) if number else merge(history))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
