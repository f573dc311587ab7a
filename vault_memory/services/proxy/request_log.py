"""What became of each request to the proxy: a line in a private log of limited size, without contents.

A row is written when its response has ended, by a thread of its own: no chat waits for the disk.
"""

from __future__ import annotations

import json
import re
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from vault_memory.adapters.log_file import LogFile, LogReader
from vault_memory.core import layout, reading
from vault_memory.core.privacy import redact
from vault_memory.errors import ForeignFile
from vault_memory.services.vault import Vault

MAX_CHARS = 400
"""Of a text in a row: a client may name a model or a conversation as it likes."""
MAX_WAITING = 10_000
"""Rows that wait to be written; if there are more, the oldest are left out."""
POLL_S = 0.5
"""How often a log is looked at that somebody follows."""
_WORDS = re.compile(r"(?:/[a-z_]{1,40})*(?=/|\Z)")
"""The beginning of an address without ids."""


@dataclass
class Row:
    """One request: whose, what for, and what became of its memory and its turn, in the words of the response's
    headers. `end` it once; a second time does nothing."""

    log: RequestLog = field(repr=False)
    time: datetime
    user: str
    client: str
    door: str
    model: str = ""
    memory: str = ""
    turn: str = ""
    conversation: str = ""
    status: int = 0
    ms: int = 0
    _began: float = field(default_factory=monotonic)

    def end(self, status: int) -> None:
        """The response has ended, and had this status."""
        if not self.status:
            self.status, self.ms = status, round((monotonic() - self._began) * 1000)
            self.log.add(self)

    def json(self) -> str:
        """One line of JSON; a terminal that shows it obeys nothing in it."""
        names = ("user", "client", "door", "model", "memory", "turn", "conversation")
        row: dict[str, str | int] = {name: redact(str(getattr(self, name))[:MAX_CHARS]).text for name in names}
        row = {"time": self.time.isoformat(timespec="milliseconds"), **row, "status": self.status, "ms": self.ms}
        return reading.escape_controls_in_json(json.dumps(row, ensure_ascii=False))


class RequestLog:
    """The log of a vault's proxy. `begin` a row for each request; `close` at the end."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._log = LogFile(_path(vault.root), below=vault.root)
        self._thread = ThreadPoolExecutor(1, "request-log")
        self._waiting: deque[Row] = deque(maxlen=MAX_WAITING)
        self._lock = threading.Lock()

    def begin(self, user: str, client: str, method: str, path: str) -> Row:
        """A row for a request of a user (empty: the vault's own token) from a client with this `User-Agent`.

        Of `path`, which stands below `/v1`, no id is kept, and of `client` the name and version.
        """
        words = _WORDS.match(path)
        plain = words[0] if words else ""
        door = f"{method} /v1{plain}{'' if plain == path else '/…'}"
        return Row(self, self._vault.now(), user, " ".join(client.split()[:1]), door)

    def add(self, row: Row) -> None:
        """Have a row written soon."""
        with self._lock:
            is_first = not self._waiting
            self._waiting.append(row)
        if is_first:
            with suppress(RuntimeError):  # the server is stopping
                self._thread.submit(self._write)

    def close(self) -> None:
        """Write what waits."""
        self._thread.shutdown()

    def _write(self) -> None:
        with self._lock:
            rows = [*self._waiting]
            self._waiting.clear()
        if self._vault.exists():
            # A full disk must not keep anybody from a chat; a link in its place is named by who reads the log.
            with suppress(OSError, ForeignFile):
                self._log.write("\n".join(row.json() for row in rows))


def last_requests(root: Path, count: int, *, follow: bool = False) -> Iterator[dict[str, Any]]:
    """The newest rows in the log of the vault at `root`, the oldest first; with `follow` also those that come, without
    end. Raises `ForeignFile` for a link."""
    log = LogReader(_path(root), below=root)
    lines = log.last(count)
    while True:
        for line in lines:
            with suppress(ValueError):
                if isinstance(row := reading.json_value(line), dict):
                    yield row
        if not follow:
            return
        sleep(POLL_S)
        lines = log.new()


def _path(root: Path) -> Path:
    return root / layout.STATE_DIR / "logs" / "proxy.jsonl"
