"""What a daemon reports: to its caller at once, to its log, and to the record that other processes read."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime

from vault_memory.adapters.log_file import LogFile
from vault_memory.core import layout, reading
from vault_memory.core.privacy import redact
from vault_memory.errors import ForeignFile, Unwritable, VaultMemoryError
from vault_memory.services.daemon.daemon_record import DaemonRecord, write_record
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class Event:
    """One line of the log. `kind` is started, watching, polling, indexed, removed, failed, held, committed, waiting,
    withheld, vectors, job, trouble, well or stopped; `where` is a worker's name, a scope's label or (withheld) a
    path."""

    time: datetime
    kind: str
    where: str
    message: str

    def json(self) -> str:
        """One line of JSON, for other programs; a terminal that shows it obeys nothing in it."""
        row = asdict(self) | {"time": self.time.isoformat(timespec="milliseconds")}
        return reading.escape_controls_in_json(json.dumps(row, ensure_ascii=False))


class DaemonEvents:
    """The events of one daemon, passed to `on_event`; safe to use from all its threads."""

    def __init__(self, vault: Vault, on_event: Callable[[Event], None]) -> None:
        self.record = DaemonRecord()
        self._log = LogFile(vault.root / layout.STATE_DIR / "logs" / "daemon.jsonl", below=vault.root)
        self._vault, self._on_event = vault, on_event
        self._lock = threading.Lock()

    def publish(self, kind: str, where: str, message: str) -> None:
        """Log an event and pass it on, without the secrets in it: names of files hold some."""
        self.save_record()
        event = Event(self._vault.now(), kind, redact(where).text, redact(message).text)
        if self._vault.exists():
            try:
                with self._lock, contextlib.suppress(OSError):  # a full disk must not keep the daemon from its work
                    self._log.write(event.json())
            except ForeignFile as error:
                self._on_event(Event(event.time, "trouble", "log", str(error)))
        self._on_event(event)

    def report_error(self, where: str, error: Exception) -> None:
        """Publish an error as `trouble`; it stays in the record until `clear_error`."""
        text = str(error) if isinstance(error, VaultMemoryError) else f"{type(error).__name__}: {error}"
        self.set_problem(where, text)
        self.publish("trouble", where, text)

    def set_problem(self, where: str, text: str) -> None:
        """Keep in the record what is wrong, until `clear_error`."""
        with self._lock:
            self.record.problems[where] = redact(text).text
        self.save_record()

    def report_crash(self, worker: str, error: Exception) -> None:
        """Report an error that ended a worker, and count it."""
        with self._lock:
            self.record.restarts[worker] = self.record.restarts.get(worker, 0) + 1
        self.report_error(worker, error)

    def clear_error(self, where: str) -> None:
        """Publish `well` if there was an error."""
        with self._lock:
            error = self.record.problems.pop(where, None)
        if error:
            self.publish("well", where, "works again")

    def started(self, message: str) -> None:
        """Publish the start."""
        self.record.started = self._now()
        self.publish("started", "daemon", message)

    def set_state(self, state: str, polling: str, message: str) -> None:
        """Publish the state if it, or the reason for polling, is another one than before."""
        if (state, polling) != (self.record.state, self.record.polling):
            self.record.state, self.record.polling = state, polling
            self.publish(state, "daemon", message)

    def set_held(self, scope: str, count: int) -> None:
        """Publish how many deletions of a scope wait until a person confirms them."""
        label = layout.label(scope)
        with self._lock:
            self.record.held = {where: n for where, n in self.record.held.items() if where != label}
            if count:
                self.record.held[label] = count
        confirm = f"{count} files are gone: run `vault-memory resume` if you deleted them"
        self.publish("held", label, confirm if count else "no deletions wait any more")

    def save_record(self) -> None:
        """Write the record, unless the vault is gone: no folder must be made where it was.

        An error is ignored (a full disk, `.vault-memory/` just deleted): the record is soon written again.
        """
        if self._vault.exists():
            with self._lock, contextlib.suppress(Unwritable):
                self.record.beat = self._now()
                try:
                    write_record(self._vault.root, self.record)
                except ForeignFile as error:
                    self._on_event(Event(self._vault.now(), "trouble", "record", str(error)))

    def _now(self) -> str:
        return self._vault.now().isoformat(timespec="seconds")
