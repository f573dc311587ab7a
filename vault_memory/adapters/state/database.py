"""Opening a private SQLite database in `.vault-memory/`: it may be deleted, replaced, damaged or held by others."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from vault_memory.adapters import git, private
from vault_memory.core import layout
from vault_memory.errors import Busy, Unwritable

BUSY_TIMEOUT_S = 5.0
_PAUSE_S = 0.005
_BESIDE = ("-wal", "-shm", "-journal")


def _wait(tries: int) -> bool:
    """What SQLite calls while another connection holds the lock: whether to try again."""
    time.sleep(_PAUSE_S)
    return tries * _PAUSE_S < BUSY_TIMEOUT_S


class StateDatabase:
    """The database `.vault-memory/NAME` of the vault at `root`, with a write-ahead log; threads and processes share it.

    `settings` are SQLite's pragmas. One of another `version`, or none, gets the tables of `schema`. One that is damaged
    is made anew; unless what it holds `is_derived`, the damaged file stays as `NAME.damaged`.
    """

    def __init__(
        self, root: Path, name: str, version: int, schema: str, settings: Mapping[str, Any], *, is_derived: bool
    ) -> None:
        self.path = root / layout.STATE_DIR / name
        self._root = root
        self._version = version
        self._schema = schema
        self._settings = settings
        self._is_derived = is_derived
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._made_by: tuple[int, int, int] | None = None

    @contextmanager
    def open(self) -> Iterator[apsw.Connection]:
        """The open database; other threads wait. Raises `Busy` while another process holds it or when it was damaged,
        `Unwritable` or `ForeignFile` when it cannot be used."""
        with self._lock:
            try:
                yield self._ready()
            except (apsw.NotADBError, apsw.CorruptError) as error:
                raise Busy(f"{self.path} was damaged and is made anew{self._put_away()}: try again") from error
            except (apsw.BusyError, apsw.LockedError) as error:
                raise Busy(f"{self.path} is held by another process: try again") from error
            except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.IOError) as error:
                raise Unwritable(
                    f"{self.path} cannot be used ({error}): check its folder and the free space"
                ) from error

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """The open database in a transaction, which is undone by an error; nested, it is a savepoint."""
        with self.open() as db:
            try:
                with db:
                    yield db
            except apsw.SQLError as error:  # SQLite itself has undone all of it, and apsw finds nothing to undo
                if isinstance(error.__context__, apsw.FullError):
                    raise error.__context__ from None
                raise

    def purge(self) -> None:
        """Leave nothing of deleted rows in the database's files. Raises `Busy` while another process reads it, and what
        `open` raises."""
        with self.open() as db:
            db.execute("VACUUM")
            row: Any = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if row[0]:
                raise Busy(f"{self.path} is read by another process: try again")

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _put_away(self) -> str:
        """Take a damaged database out of the way; where it is then, in words."""
        self.close()
        kept = self.path.with_name(f"{self.path.name}.damaged")
        if not self._is_derived:
            with suppress(FileNotFoundError):  # another process has done so
                os.replace(self.path, kept)
        for suffix in ("", *_BESIDE):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        return "" if self._is_derived else f" (the damaged one is {kept.name})"

    def _ready(self) -> apsw.Connection:
        """The open connection, or a new one where the file was deleted or replaced, or this process was forked."""
        made_by = self._identity()
        if self._connection and made_by == self._made_by:
            return self._connection
        if self._made_by and self._made_by[0] == os.getpid():
            self.close()
        self._connection = self._connect()
        self._made_by = self._identity()
        return self._connection

    def _identity(self) -> tuple[int, int, int] | None:
        try:
            status = os.lstat(self.path)
        except OSError:
            return None
        return os.getpid(), status.st_dev, status.st_ino

    def _connect(self) -> apsw.Connection:
        for suffix in ("", *_BESIDE):
            git.refuse_tracked(self._root, Path(f"{self.path}{suffix}"))
        private.secure(self.path, [f"{self.path.name}{suffix}" for suffix in _BESIDE], self._root)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
        connection = apsw.Connection(os.path.join(os.path.realpath(self.path.parent), self.path.name), flags=flags)
        try:
            connection.set_busy_handler(_wait)
            connection.transaction_mode = "IMMEDIATE"
            if "page_size" in self._settings:  # before the first page is written
                connection.pragma("page_size", self._settings["page_size"])
            self._use_log(connection)
            for setting, value in self._settings.items():
                connection.pragma(setting, value)
            connection.pragma("secure_delete", True)
            with connection:
                if connection.pragma("user_version") != self._version:
                    self._make_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_tables(self, connection: apsw.Connection) -> None:
        found: list[Any] = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
        ).fetchall()
        for (name,) in found:
            connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute(self._schema)
        connection.pragma("user_version", self._version)

    @staticmethod
    def _use_log(connection: apsw.Connection) -> None:
        """Switch to a write-ahead log, which needs the database alone; SQLite does not wait for that, so we do."""
        until = time.monotonic() + BUSY_TIMEOUT_S
        while True:
            try:
                connection.pragma("journal_mode", "wal")
                return
            except (apsw.BusyError, apsw.LockedError):
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
