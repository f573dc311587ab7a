"""Opening an index database with apsw: settings, schema, and a new one when it has another version or is damaged."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import stat
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import apsw

from vault_memory.adapters import private
from vault_memory.core.text import tokens
from vault_memory.errors import Busy, ForeignFile, IndexUnusable

SCHEMA_VERSION = 18
"""Of the tables, and of what is read of a file into them."""
VERSION = f"{SCHEMA_VERSION}.{tokens.VERSION}"
"""An index of another version is dropped and rebuilt from the files, never migrated."""

BUSY_TIMEOUT_MS = 10_000
_RETRY_PAUSE_S = 0.005
_BESIDE = ("-wal", "-shm", "-journal")
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


Refuse = Callable[[Path], None]
"""Raises `ForeignFile` for a file that came from elsewhere."""


def connect(
    path: Path, below: Path | None = None, refuse: Refuse | None = None, within: Path | None = None
) -> apsw.Connection:
    """A connection to the index at `path`, for the calling thread alone; an empty index is made where none is usable.

    On a disk that cannot be written the index is opened for reading. `refuse` is asked about a file that does not say
    that it was made, or asked about before, at this place of this disk. Raises `Busy` when it stays locked for longer
    than `BUSY_TIMEOUT_MS`, `IndexUnusable` when it can be neither opened nor made, is a link, another user's, or is
    refused. `below`, `within`: see `private.folder_of`.
    """
    try:
        try:
            if _has_other_names(path):
                remove_damaged(path)
            return _ready(path, below, refuse, within)
        except (apsw.NotADBError, apsw.CorruptError):
            remove_damaged(path)
            return _ready(path, below, refuse, within)
    except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
        connection = _read_only(path, refuse)
        if connection is None:
            raise IndexUnusable(_why_none(path, error)) from error
        return connection
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Busy(f"{path} is held by another process: try again, or end that process") from error
    except ForeignFile as error:
        raise IndexUnusable(str(error)) from error
    except (apsw.FullError, apsw.IOError) as error:
        raise IndexUnusable(no_room(path, str(error))) from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise IndexUnusable(no_room(path, str(error.strerror))) from error
        raise IndexUnusable(f"{path} cannot be reached ({error.strerror}): put its folder itself there") from error
    except apsw.Error as error:
        raise IndexUnusable(f"{path} cannot be used ({error}): delete it and run `vault-memory reindex`") from error


def no_room(path: Path, why: str) -> str:
    """The message about an index that the disk does not take. SQLite says of a full disk also `disk I/O error`."""
    return f"{path} cannot be written ({why}): is the disk full? Free some space, then try again"


def rows(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """All rows of a query, as tuples."""
    return db.execute(sql, tuple(values)).fetchall()


def value(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    """The first column of a query's first row, None when it has no row."""
    row = db.execute(sql, tuple(values)).fetchone()
    return row[0] if row else None


def at_once(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    """What a query gives as one JSON value.

    SQLite releases the interpreter at every row; when other threads wait for it, each release costs a switch or a
    useless wake-up. Fetching a hundred rows one by one cost a server a third of its searches.
    """
    return json.loads(value(db, sql, values))


def remove_index(path: Path) -> None:
    """Delete an index database and what SQLite keeps beside it."""
    for suffix in ("", *_BESIDE):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def remove_damaged(path: Path) -> None:
    """`remove_index` for one that cannot be used. Raises `IndexUnusable` where it cannot be removed."""
    try:
        remove_index(path)
    except OSError as error:
        raise IndexUnusable(
            f"{path} is damaged, and cannot be removed ({error.strerror}): run `vault-memory reindex` where the vault "
            "can be written"
        ) from error


def _has_other_names(path: Path) -> bool:
    """Whether an index, or what SQLite keeps beside it, is also a file of another name (a hard link), such as a note or
    the index of another user: what is indexed would be read there. An index that is being made has two names, and is
    empty."""
    for suffix in ("", *_BESIDE):
        with contextlib.suppress(OSError):
            status = os.lstat(f"{path}{suffix}")
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and (suffix or status.st_size):
                return True
    return False


def _why_none(path: Path, error: apsw.Error) -> str:
    above = next(folder for folder in path.parents if folder.exists())
    if os.access(above, os.W_OK):
        return f"{path} cannot be opened ({error}): check the folder and its permissions"
    return (
        f"there is no index at {path} that this version can read, and none can be made, as the vault may only be read: "
        "run `vault-memory reindex` where it can be written"
    )


def _ready(path: Path, below: Path | None, refuse: Refuse | None, within: Path | None) -> apsw.Connection:
    """A usable connection. Switching a new file to WAL needs it exclusively; SQLite does not wait for that, so we
    do."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            return _opened(path, below, refuse, within)
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _opened(path: Path, below: Path | None, refuse: Refuse | None, within: Path | None) -> apsw.Connection:
    # SQLite gives the files that it makes beside this one the same mode, and does not follow links there.
    private.secure(path, [f"{path.name}{suffix}" for suffix in _BESIDE], below, within)
    connection = apsw.Connection(_real(path), flags=_FLAGS)
    try:
        # Not set_busy_timeout: it would sleep with the GIL held, and another thread of ours may hold the very lock.
        connection.set_busy_handler(waiting(BUSY_TIMEOUT_MS))
        # A deferred transaction that reads, then writes, fails at once when another has written since, despite the
        # busy handler.
        connection.transaction_mode = "IMMEDIATE"
        _set_up(connection)
        facts, home = _facts(connection), _home(path)
        is_unknown = refuse is not None and facts.get("home") != home
        if refuse is not None and is_unknown:
            for suffix in ("", *_BESIDE):
                refuse(Path(f"{path}{suffix}"))
        if facts.get("version") != VERSION:
            # Asked in this order, because another process may be making the tables, all in one transaction.
            if value(connection, "SELECT count(*) FROM sqlite_master") and "version" not in _facts(connection):
                raise ForeignFile(f"{path} is a database of another program: move it away")
            # The page size must be set before WAL; both stay with the file.
            connection.pragma("page_size", 16384)
            connection.pragma("journal_mode", "wal")
            with connection:
                if _facts(connection).get("version") != VERSION:  # no other process was faster
                    _empty(connection)
                    connection.execute(_schema()).fetchall()
                    connection.execute("INSERT INTO meta VALUES('version', ?)", (VERSION,))
        if is_unknown:
            connection.execute("INSERT OR REPLACE INTO meta VALUES('home', ?)", (home,))
    except BaseException:
        connection.close()
        raise
    return connection


def waiting(most_ms: int) -> Callable[[int], bool]:
    """What SQLite calls while another connection holds the lock: whether to try again."""

    def wait(tries: int) -> bool:
        time.sleep(_RETRY_PAUSE_S)
        return tries * _RETRY_PAUSE_S < most_ms / 1000

    return wait


def _empty(connection: apsw.Connection) -> None:
    """Drop the tables of another version in place: to delete the file would break other connections to it."""
    for pattern in ("CREATE VIRTUAL %", "CREATE TABLE %"):  # the newest first: one may read an older one
        for name in rows(
            connection,
            "SELECT name FROM sqlite_master WHERE type='table' AND sql LIKE ? ORDER BY rowid DESC",
            (pattern,),
        ):
            if not name[0].startswith("sqlite_"):
                connection.execute(f'DROP TABLE IF EXISTS "{name[0]}"')


def _read_only(path: Path, refuse: Refuse | None) -> apsw.Connection | None:
    """The index on a disk that cannot be written; None when there is none of this version."""
    if not path.exists():
        return None
    if refuse is not None:  # its home cannot be noted, so it is asked about each time
        refuse(path)
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_NOFOLLOW
    # Not immutable where another place of the same disk can be written: somebody may be writing the index there.
    for immutable in (0, 1):
        with contextlib.suppress(apsw.Error):
            connection = apsw.Connection(f"{Path(_real(path)).as_uri()}?immutable={immutable}", flags=flags)
            _load_extension(connection)
            if _facts(connection).get("version") == VERSION:
                return connection
    return None


def _real(path: Path) -> str:
    """The path with the links above its folder resolved: SQLite refuses every one."""
    return os.path.join(os.path.realpath(path.parent), path.name)


def _set_up(connection: apsw.Connection) -> None:
    # With the default cache of 2 MB inserts are 7 to 15 times slower. What is deleted is overwritten with zeros: an
    # update of one note in 4,000 takes 1.2 ms with it and without.
    settings = ("synchronous=normal", "cache_size=-65536", "foreign_keys=true", "secure_delete=true")
    connection.execute(";".join(f"PRAGMA {each}" for each in settings)).fetchall()
    _load_extension(connection)


def _load_extension(connection: apsw.Connection) -> None:
    library = vec_library()
    if library:
        connection.enable_load_extension(True)
        connection.load_extension(library)
        connection.enable_load_extension(False)


@cache
def vec_library() -> str:
    """Path of sqlite-vec's loadable library, empty where no wheel of it exists (musl, Windows on ARM).

    Its Python module is not imported: that would bring numpy with it, 200 ms on a cold search.
    """
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        return ""
    library = os.path.join(spec.submodule_search_locations[0], "vec0")
    try:
        trial = apsw.Connection(":memory:")
        trial.enable_load_extension(True)
        trial.load_extension(library)
        trial.close()
    except apsw.Error:
        return ""
    return library


def _facts(connection: apsw.Connection) -> dict[str, str]:
    """The version of the index, and its home, as far as it names them."""
    try:
        return {
            key: str(fact)
            for key, fact in rows(connection, "SELECT key, value FROM meta WHERE key NOT IN ('chunks', 'memories')")
        }
    except apsw.SQLError:
        return {}


def _home(path: Path) -> str:
    """The place of a file on this disk. Nobody elsewhere knows it, so an index that was copied or pulled names another
    one, or none."""
    status = os.stat(path)
    return f"{status.st_dev}:{status.st_ino}:{path}"


@cache
def _schema() -> str:
    return (Path(__file__).parent / "schema.sql").read_text(encoding="utf-8")
