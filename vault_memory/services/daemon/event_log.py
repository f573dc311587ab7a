"""What a daemon tells: to whoever listens as it happens, and in its log and its record to everybody who asks later."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

from vault_memory.adapters.log_file import LogFile
from vault_memory.core import layout
from vault_memory.errors import Changed, Unwritable, VaultMemoryError
from vault_memory.services.daemon.daemon_record import DaemonRecord, write_record
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Happening:
    """Something worth a line in a log: `kind` is one of started, watching, polling, indexed, removed, failed, held, committed,
    vectors, job, trouble, well, stopped."""

    time: datetime
    kind: str
    where: str
    message: str

    def json(self) -> str:
        """The same as one line of JSON, for other programs."""
        return json.dumps(asdict(self) | {"time": self.time.isoformat(timespec="milliseconds")}, ensure_ascii=False)


class Bulletin:
    """One daemon's voice; safe to use from all its threads. `where` is a worker's name or a scope's label."""

    def __init__(self, vault: Vault, tell: Callable[[Happening], None]) -> None:
        self.record = DaemonRecord()
        self._log = LogFile(vault.root / layout.STATE_DIR / "logs" / "daemon.jsonl")
        self._vault, self._tell = vault, tell
        self._lock = threading.Lock()

    def note(self, kind: str, where: str, message: str) -> None:
        """Tell of something that happened."""
        self.save()
        happening = Happening(self._vault.now(), kind, where, message)
        if self._vault.exists():
            with self._lock, contextlib.suppress(OSError):  # a full disk must not keep the daemon from its work
                self._log.write(happening.json())
        self._tell(happening)

    def trouble(self, where: str, error: Exception) -> None:
        """Tell of an error; it stands in the record until all is `well` there."""
        text = str(error) if isinstance(error, VaultMemoryError) else f"{type(error).__name__}: {error}"
        with self._lock:
            self.record.problems[where] = text
        self.note("trouble", where, text)

    def crashed(self, worker: str, error: Exception) -> None:
        """Tell of an error that ended a worker; it is started again."""
        with self._lock:
            self.record.restarts[worker] = self.record.restarts.get(worker, 0) + 1
        self.trouble(worker, error)

    def well(self, where: str) -> None:
        """Take back a trouble, if there was one."""
        with self._lock:
            was_ill = self.record.problems.pop(where, None)
        if was_ill:
            self.note("well", where, "works again")

    def started(self, message: str) -> None:
        self.record.started = self._now()
        self.note("started", "daemon", message)

    def state(self, state: str, polling: str, message: str) -> None:
        """Tell of another state, or of another reason for polling."""
        if (state, polling) != (self.record.state, self.record.polling):
            self.record.state, self.record.polling = state, polling
            self.note(state, "daemon", message)

    def held(self, scope: str, count: int) -> None:
        """Tell how many deletions of a scope wait for the person's word."""
        name = layout.label(scope)
        with self._lock:
            self.record.held = {where: n for where, n in self.record.held.items() if where != name}
            if count:
                self.record.held[name] = count
        what = f"{count} files are gone: `vault-memory resume` if you deleted them" if count else "none any more"
        self.note("held", name, what)

    def save(self) -> None:
        """Write the record, unless the vault is not where it was: nothing is to be written into a folder that is none.

        When that fails (the disk is full, `.vault-memory/` was deleted just now) the next time comes soon.
        """
        if self._vault.exists():
            with self._lock, contextlib.suppress(Unwritable, Changed):
                self.record.beat = self._now()
                write_record(self._vault.root, self.record)

    def _now(self) -> str:
        return self._vault.now().isoformat(timespec="seconds")
