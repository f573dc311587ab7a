"""A connection to a PostgreSQL, and transactions on it that end in time.

Nothing that psycopg says is passed on: its words may hold a row's values, or the password.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from vault_memory.adapters.longterm.table import Table
from vault_memory.adapters.state import Place
from vault_memory.core.longterm import parts
from vault_memory.errors import ConfigError, EndpointError, EndpointSlow

if TYPE_CHECKING:
    import psycopg

VARIABLE = "SUPABASE_DB_URL"
CONNECT_TIMEOUT_S = 5.0
TIMEOUT_S = 15.0
MAPPING = "correct longterm.tables (MEMORY_TABLE_MAP) or longterm.columns_map"
_ROW_CLASSES = ("21", "22", "23", "44", "54", "P0")
"""Of such an SQLSTATE the row is the cause: another one may be taken."""
_RIGHTS = {"write": "SELECT, INSERT and UPDATE", "delete": "SELECT and DELETE"}
_AT_THE_DOOR = (
    ("password authentication failed|no password supplied", f"it refuses the password: correct that in {VARIABLE}"),
    ("does not exist|[Tt]enant or user not found|pg_hba", f"it knows no such user or database: correct {VARIABLE}"),
    ("SSL|certificate", f"the encryption that {VARIABLE} asks for is not to be had: see sslmode in it"),
)
"""What the server says to a connection that somebody must do something about, and what that is."""


class Session:
    """A connection to the database at a URL, which is made when it is first needed, and again after it has ended; with
    `where` that is, in words, and its `address`, without the password: "" where that cannot be told for sure.

    Raises `ConfigError` for a wrong URL, or where psycopg is missing; the server is not asked.
    """

    def __init__(self, url: str, timeout_s: float, connect_timeout_s: float) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise ConfigError("the long-term store needs psycopg: pip install 'vault-memory[postgres]'") from error
        from vault_memory.adapters.longterm import statements  # which needs psycopg, too

        self._psycopg = psycopg
        self.sql = statements
        self._url = url
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._connection: psycopg.Connection | None = None
        self._server = ""  # of the connection, "" while that has not been asked
        try:
            if not re.match(r"postgres(ql)?://", url):
                raise ValueError("another scheme")
            given = _defaults(psycopg) | psycopg.conninfo.conninfo_to_dict(url)
            service = given.get("service")  # a file of libpq's says what that is
            host = str(given.get("host") or (f"service={service}" if service else "localhost"))
            if not re.fullmatch(r"[0-9,]*", str(given.get("port") or "")):  # it is part of a password with a /
                raise ValueError("a port of letters")
        except (ValueError, psycopg.Error):  # its words would show the password
            raise ConfigError(
                f"{VARIABLE} or longterm.url is wrong: it must be like postgresql://user:password@host:5432/postgres, "
                "and of a password's signs others than letters and digits are written as %40 and so on"
            ) from None
        name = str(given.get("dbname") or given.get("user") or "")
        # Of a password with an unwritten @ libpq takes the end for the host, of one with a / also for the name.
        is_clear = url.count("@") < 2 and "@" not in name and re.fullmatch(r"[\w.,:/=-]+", host)
        self.where = f"PostgreSQL at {host}" if is_clear else "PostgreSQL"
        # One pooler stands before many databases of one name: their users tell them apart.
        address = f"{given.get('user') or ''}@{host}:{given.get('port') or 5432}/{name}"
        self.address = address if is_clear else ""

    def close(self) -> None:
        """End the connection; a later call makes another."""
        connection, self._connection = self._connection, None
        if connection:
            with suppress(self._psycopg.Error):
                connection.close()

    def place(self, connection: psycopg.Connection, table: str) -> Place:
        """The place of a table, asked in a transaction; without its names where there is none."""
        names = connection.execute(self.sql.PLACE, (quoted(table),)).fetchone() or ()
        return Place(self.address, self._asked_server(connection), *names)

    def found(self, place: Place) -> Place | None:
        """What a place is called now, if it is here: a table that was renamed, or was made anew. None where there is no
        such table any more; the same one where that cannot be told, or the server or database is another."""
        if not place.database or place.address != self.address:
            return place
        with self.asking() as connection:
            server = self._asked_server(connection)
            if place.server != server:
                return place
            names = connection.execute(self.sql.FOUND, asdict(place)).fetchone()
        if names is None:
            return place
        if names[1]:
            return Place(self.address, server, *names)
        return None if place.number else place  # by its name alone it may have been renamed

    def _asked_server(self, connection: psycopg.Connection) -> str:
        """Which server this is, asked in a transaction: what it got when it was made, or where nobody may read that,
        where the connection leads."""
        errors = self._psycopg.errors
        try:
            with connection.transaction():
                ((number,),) = connection.execute(self.sql.SERVER).fetchall()
                self._server = str(number)
        except (errors.InsufficientPrivilege, errors.UndefinedFunction, errors.FeatureNotSupported):
            info = connection.info
            self._server = " ".join((info.host, info.hostaddr, str(info.port)))
        return self._server

    def _refuse_other(self, connection: psycopg.Connection, table: Table, work: Literal["write", "delete"]) -> None:
        """Raise `EndpointError` where a table is no more the one that was looked at: what is written and what counts as
        deleted is noted by its place. A pooler may lead each transaction to another server; to ask each time is what
        deleting is worth."""
        if work == "delete":
            is_same = self.place(connection, table.target.table) == table.place
        else:
            is_same = (self._server or self._asked_server(connection)) == table.place.server
        if not is_same:
            raise EndpointError(f"{self.where}: another server or table answers than a moment ago: try again")

    @contextmanager
    def asking(
        self, work: Literal["write", "delete"] = "write", table: Table | None = None
    ) -> Iterator[psycopg.Connection]:
        """A transaction that ends in time, with a `table` that is the same still; psycopg's errors as ours, which say
        what rights the `work` needs."""
        connection = self._connected()
        watch = _Watch(connection, self._timeout_s)
        try:
            with watch, connection.transaction():
                connection.execute(self.sql.limits(self._timeout_s))
                if table:
                    self._refuse_other(connection, table, work)
                yield connection
        except self._psycopg.Error as error:
            if (error.sqlstate or "")[:2] in _ROW_CLASSES:
                raise RowRefused(_refusal(error), self.where) from None
            self.close()
            if watch.is_cut or isinstance(error, self._psycopg.errors.QueryCanceled):
                raise EndpointSlow(
                    f"{self.where}: no answer within {self._timeout_s:g} s: is it busy, or far?"
                ) from None
            raise self._ours(error, work) from None
        except UnicodeError:  # a database without an encoding has any bytes
            raise RowRefused("a text is not of UTF-8", self.where) from None

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._server = ""
            try:
                self._connection = self._psycopg.connect(
                    self._url,
                    autocommit=True,
                    connect_timeout=max(1, int(self._connect_timeout_s)),
                    client_encoding="UTF8",  # whatever PGCLIENTENCODING or the address says
                    prepare_threshold=None,  # a pooler gives each transaction another session
                    application_name="vault-memory",
                )
            except self._psycopg.Error as error:
                raise self._ours(error, "write") from None
        return self._connection

    def _ours(self, error: psycopg.Error, work: Literal["write", "delete"]) -> EndpointError | ConfigError:
        errors = self._psycopg.errors
        if isinstance(error, (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidColumnReference)):
            return ConfigError(f"{self.where}: a table has changed: {MAPPING}; `vault-memory longterm check` names it")
        if isinstance(error, errors.ReadOnlySqlTransaction):
            return ConfigError(f"{self.where}: it is read-only: name the primary in {VARIABLE}")
        if isinstance(error, errors.InsufficientPrivilege):
            return ConfigError(f"{self.where}: its user may not {work} there: grant it {_RIGHTS[work]}")
        if error.sqlstate or not isinstance(error, self._psycopg.OperationalError):
            return EndpointError(f"{self.where}: {type(error).__name__} ({error.sqlstate or 'psycopg'})")
        said = str(error)
        if told := next((told for pattern, told in _AT_THE_DOOR if re.search(pattern, said)), ""):
            return ConfigError(f"{self.where}: {told}")
        if "timeout" in said:
            return EndpointSlow(
                f"{self.where}: no answer within {self._connect_timeout_s:g} s: is it running, and near?"
            )
        return EndpointError(f"{self.where}: it cannot be reached, or has ended the connection: is it running?")


class RowRefused(EndpointError):
    """A row is the cause of an error: `why`, in words."""

    def __init__(self, why: str, where: str = "") -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.why = why


class _Watch:
    """Ends a connection that sends nothing for `timeout_s`: psycopg itself would wait for ever for a server that stands
    still."""

    def __init__(self, connection: psycopg.Connection, timeout_s: float) -> None:
        self.is_cut = False
        self._connection = connection
        self._timer = threading.Timer(timeout_s, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> _Watch:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _cut(self) -> None:
        self.is_cut = True
        with suppress(OSError, ValueError), socket.socket(fileno=socket.dup(self._connection.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)


def quoted(table: str) -> str:
    """A mapped table as `to_regclass` takes it."""
    return ".".join(f'"{part.replace(chr(34), chr(34) * 2)}"' for part in parts(table))


def _refusal(error: psycopg.Error) -> str:
    """What is wrong with a row: the name of the error and of the column or rule, none of the values."""
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(error).__name__).lower()
    diagnosis = error.diag
    at = next(
        (
            f" in {kind} {name}"
            for kind, name in (("column", diagnosis.column_name), ("rule", diagnosis.constraint_name))
            if name
        ),
        "",
    )
    return f"{words}{at} ({error.sqlstate})"


def _defaults(psycopg: Any) -> dict[str, str]:
    """What libpq's variables (PGHOST, PGPORT) and its service file say; what nobody says is left out."""
    known = psycopg.pq.Conninfo.get_defaults()
    return {each.keyword.decode(): each.val.decode() for each in known if each.val}
