"""What other processes can know of the daemon: its lock says that it runs, `.vault-memory/daemon.json` its state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.errors import Busy

_LOCK_TIMEOUT_S = 1.0
"""`is_running` holds the lock for an instant, another daemon for as long as it runs."""


@dataclass
class DaemonRecord:
    """The state of a daemon. Times are ISO 8601 with offset; `beat` is when the daemon last wrote this.

    `state` is `catching up`, `watching`, `polling` or `stopped`; `polling` says why the system's events cannot be
    trusted. `problems` maps a worker or a scope to its last error until it works again; `restarts` counts the crashes
    of each worker; `held` maps a scope to the number of deletions that wait for `resume`.
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
    """Hold the lock of the vault's only daemon. Raises `Busy`, naming its process, when there is one already."""
    try:
        lock = files.lock(lock_path(root), _LOCK_TIMEOUT_S, root)
        lock.__enter__()
    except Busy:
        record = read_record(root)
        by = f" by process {record.pid}, since {record.started}" if record else ""
        raise Busy(f"{root} is already watched{by}: stop that daemon first, or leave the work to it") from None
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def is_running(root: Path) -> bool:
    """Whether a daemon watches the vault now."""
    return lock_path(root).exists() and files.is_locked(lock_path(root))


def request_scan(root: Path) -> None:
    """Ask the daemon to look at all files at once, as the vault's git hooks do after a merge."""
    files.write_private(root / layout.SCAN_REQUEST, b"", root)


def is_scan_requested(root: Path) -> bool:
    """Whether one of the hooks, or a process, has asked for it since this was called last."""
    try:
        return files.remove_private(root / layout.SCAN_REQUEST, root)
    except OSError:
        return False


def lock_path(root: Path) -> Path:
    """The lock file that the only daemon of a vault holds."""
    return root / layout.STATE_DIR / "locks" / "daemon.lock"


def read_record(root: Path) -> DaemonRecord | None:
    """The state that the last daemon wrote; None when there was no daemon, or the file is damaged."""
    try:
        return DaemonRecord(**state) if (state := _state(root).read()) else None
    except TypeError:  # an unknown key: written by another version
        return None


def write_record(root: Path, record: DaemonRecord) -> None:
    """Replace the state."""
    _state(root).write(asdict(record))


def _state(root: Path) -> StateFile:
    return StateFile(root, "daemon")
