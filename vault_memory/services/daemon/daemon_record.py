"""The daemon's note to everybody else, `.vault-memory/daemon.json`: that it runs, since when, and what troubles it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.errors import Busy

_WAIT_S = 1.0
"""Somebody who only asks whether a daemon runs holds the lock for an instant; a daemon holds it for good."""


@dataclass
class DaemonRecord:
    """What a daemon tells of itself. Times are ISO 8601 with offset; `beat` is when it last wrote this.

    `state` is `catching up`, `watching`, `polling` or `stopped`; `polling` says why events are not trusted. `problems`
    maps a worker or a scope to its last error, and empties when all is well again; `restarts` counts how often a worker
    crashed; `held` maps a scope to the number of deletions that wait for `resume`.
    """

    pid: int = field(default_factory=os.getpid)
    started: str = ""
    beat: str = ""
    state: str = "catching up"
    polling: str = ""
    problems: dict[str, str] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)


@contextmanager
def only_daemon(root: Path) -> Iterator[None]:
    """Be the one daemon of the vault. Raises `Busy`, naming the other's process id, when there is one already."""
    try:
        held = files.lock(lock_path(root), _WAIT_S)
        held.__enter__()
    except Busy:
        record = read_record(root)
        by = f" by process {record.pid}, since {record.started}" if record else ""
        raise Busy(f"{root} is already watched{by}: stop that daemon first, or let it do the work") from None
    try:
        yield
    finally:
        held.__exit__(None, None, None)


def is_running(root: Path) -> bool:
    """Whether a daemon watches the vault now."""
    if not lock_path(root).exists():
        return False
    try:
        with files.lock(lock_path(root), 0):
            return False
    except Busy:
        return True


def lock_path(root: Path) -> Path:
    """The lock that the one daemon of a vault holds."""
    return root / layout.STATE_DIR / "locks" / "daemon.lock"


def read_record(root: Path) -> DaemonRecord | None:
    """What the last daemon told; None when there was none, or when its note is unreadable (the next one writes it anew)."""
    try:
        return DaemonRecord(**json.loads(_path(root).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_record(root: Path, record: DaemonRecord) -> None:
    """Put the note in place of the last one."""
    text = json.dumps(asdict(record), ensure_ascii=False, indent=1)
    files.replace(_path(root), text.encode(), files.read(_path(root)))


def _path(root: Path) -> Path:
    return root / layout.STATE_DIR / "daemon.json"
