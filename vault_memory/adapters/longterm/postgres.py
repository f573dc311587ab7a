"""Writing rows into existing tables of a PostgreSQL. No statement here makes or changes a table.

Nothing that psycopg says is passed on: its words may hold a row's values, or the password.
"""

from __future__ import annotations

import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from vault_memory.adapters.longterm.table import RowsKept, Table, Written
from vault_memory.adapters.state import Place
from vault_memory.adapters.tokenizer import pack_token_record, text_of_tokens
from vault_memory.core.longterm import KEY, NEEDED, Row, Target, has_other_tokens, merged, parts
from vault_memory.errors import ConfigError, EndpointError, EndpointSlow, UsageError

if TYPE_CHECKING:
    import psycopg

VARIABLE = "SUPABASE_DB_URL"
CONNECT_TIMEOUT_S = 5.0
TIMEOUT_S = 15.0
_MAPPING = "correct longterm.tables (MEMORY_TABLE_MAP) or longterm.columns_map"
_ROW_CLASSES = ("21", "22", "23", "44", "54", "P0")
"""Of such an SQLSTATE the row is the cause: another one may be taken."""
_RIGHTS = {"write": "SELECT, INSERT and UPDATE", "delete": "SELECT and DELETE"}
_STAYS = (
    "a policy or trigger there refuses to delete them: let it allow that to the user of the address, or delete them "
    "there yourself"
)
_AT_THE_DOOR = (
    ("password authentication failed|no password supplied", f"it refuses the password: correct that in {VARIABLE}"),
    ("does not exist|[Tt]enant or user not found|pg_hba", f"it knows no such user or database: correct {VARIABLE}"),
    ("SSL|certificate", f"the encryption that {VARIABLE} asks for is not to be had: see sslmode in it"),
)
"""What the server says to a connection that somebody must do something about, and what that is."""


class PostgresStore:
    """The database at a URL, `postgresql://user:password@host:5432/postgres`; of what it lacks libpq's variables and
    password file have the rest. One thread uses it, as a context, which ends the connection.

    `used` is told the place of a table before anything is written there. Raises `ConfigError` for a wrong URL, or where
    psycopg is missing; the server is not asked. The other methods raise `ConfigError` for what somebody must correct,
    `EndpointError` for what may be over later, `EndpointSlow` where nothing comes for `timeout_s`.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float = TIMEOUT_S,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        used: Callable[[Place], None] = lambda _: None,
    ) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise ConfigError("the long-term store needs psycopg: pip install 'vault-memory[postgres]'") from error
        from vault_memory.adapters.longterm import statements  # which needs psycopg, too

        self._psycopg = psycopg
        self._sql = statements
        self._url = url
        self._used = used
        self._timeout_s = timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._connection: psycopg.Connection | None = None
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
        # Of a password with an unwritten @ libpq takes the end for the host.
        is_clear = url.count("@") < 2 and re.fullmatch(r"[\w.,:/=-]+", host)
        self.where = f"PostgreSQL at {host}" if is_clear else "PostgreSQL"
        user = given.get("user") or ""
        # One pooler stands before many databases of one name: their users tell them apart.
        name = f"{user}@{host}:{given.get('port') or 5432}/{given.get('dbname') or user}"
        self.address = name if is_clear else ""

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; a later call makes another."""
        connection, self._connection = self._connection, None
        if connection:
            with suppress(self._psycopg.Error):
                connection.close()

    def look(self, target: Target) -> Table:
        """The table of a mapping. Raises `ConfigError`, which names the mapping, for one that is not there, or lacks a
        column."""
        name = ".".join(f'"{part.replace(chr(34), chr(34) * 2)}"' for part in parts(target.table))
        with self._asking() as connection:
            columns: dict[str, Any] = {row[0]: row for row in connection.execute(self._sql.COLUMNS, (name,)).fetchall()}
            key = [target.columns[field] for field in KEY]
            is_keyed = connection.execute(self._sql.UNIQUE_KEY, {"table": name, "key": key}).fetchone() is not None
            (rights,) = connection.execute(self._sql.RIGHTS, {"table": name}).fetchall()
            names = connection.execute(self._sql.PLACE, (name,)).fetchone() or ("", "")
            place = Place(self.address, self._server(connection), *names)
        if not columns:
            raise ConfigError(
                f"{self.where}: there is no table {target.table!r} for {target.logical}: {_MAPPING}, or "
                "make one: `vault-memory longterm print-ddl` shows how"
            )
        if lacking := [f"{c!r} for {field}" for field, c in target.columns.items() if c not in columns]:
            raise ConfigError(
                f"{self.where}: the table {target.table!r} has no column {', '.join(lacking)}: {_MAPPING}"
            )
        return Table(
            target,
            tuple(columns[column][1] for column in target.columns.values()),
            tuple(columns[column][3] for column in key),
            is_keyed,
            tuple(_problems(target, columns, rights)),
            place,
        )

    def _server(self, connection: psycopg.Connection) -> str:
        """Which server this is: what it got when it was made, or where nobody may read that, where the connection
        leads."""
        errors = self._psycopg.errors
        try:
            with connection.transaction():
                ((number,),) = connection.execute(self._sql.SERVER).fetchall()
                return str(number)
        except (errors.InsufficientPrivilege, errors.UndefinedFunction, errors.FeatureNotSupported):
            info = connection.info
            return " ".join((info.host, info.hostaddr, str(info.port)))

    def write(self, table: Table, rows: Sequence[Row], renamed: Sequence[tuple[str, str]] = ()) -> Written:
        """Write rows, which are committed when this returns: into one that is there it is `merged`; without a unique
        key, what is not there is inserted, and the others stay. Rows of one name are pieces of one turn, in their
        order. `renamed` are former ids of users with those of now. Raises what `used` raises, too."""
        written = Written()
        if not rows:  # a plain turn has none in `memories`
            return written
        self._used(table.place)
        key = [[*table.target.columns].index(field) for field in KEY]
        named: dict[tuple[str | None, ...], list[int]] = {}
        for place, row in enumerate(rows):
            named.setdefault(tuple(row.values[at] for at in key), []).append(place)
        if table.is_keyed:
            for pieces in zip_longest(*named.values()):  # the first ones of all turns, then the second ones
                given = {place: rows[place] for place in pieces if place is not None}
                self._write_all(table, given, renamed, written)
            return written
        wholes = {}
        for first, *others in named.values():  # a row that is there gets nothing more, so it is made here
            whole = rows[first]
            for place in others:
                both = merged(table.target, whole.values, rows[place], _Encoder())
                whole = replace(whole, values=both.values)
                written.outdated |= {place} if both.is_outdated else set()
            wholes[first] = whole
        self._write_all(table, wholes, renamed, written)
        for first, *others in named.values():
            if first in written.refused:
                written.refused |= dict.fromkeys(others, written.refused[first])
        return written

    def drop(self, table: Table, user_id: str, holds: Callable[[Sequence[str | None]], bool]) -> Iterator[int]:
        """Delete the rows of a user for which `holds(values)`: those of the key, then those of the other mapped
        columns, as texts. Yields how many the database has deleted, after each page of rows, which is committed by
        itself. A row that has no key is none of ours, and stays. Raises `RowsKept`, after all others are deleted, for
        rows that the database refuses to delete."""
        after: Sequence[str] = ()
        kept: Counter[str] = Counter()
        while True:
            with self._asking("delete") as connection:
                page = self._sql.page(table, is_first=not after)
                found: list[Any] = connection.execute(page, (user_id, *after)).fetchall()
            yield self._drop_all(table, user_id, [row[:2] for row in found if holds(row)], kept)
            if len(found) < self._sql.PAGE:
                break
            after = found[-1][:2]
        if kept:
            raise RowsKept(
                "; ".join(
                    f"{self.where}: the table {table.target.table!r} kept {count:,} rows: {why}"
                    for why, count in kept.items()
                )
            )

    def _drop_all(self, table: Table, user_id: str, keys: Sequence[Sequence[str]], kept: Counter[str]) -> int:
        """Delete rows of a user, by their keys, in one transaction; where one of them is refused, each in its own. How
        many the database has deleted; why those that are there still are `kept` is counted."""
        if not keys:
            return 0
        given = [(user_id, *key) for key in keys]
        try:
            with self._asking("delete") as connection:
                counts = [connection.execute(self._sql.delete(table), each).rowcount for each in given]
                # A policy or a trigger lets a row stay, and no error says so.
                there = [bool(connection.execute(self._sql.is_there(table), each).fetchone()) for each in given]
        except _RowRefused as refused:
            if len(keys) > 1:
                return sum(self._drop_all(table, user_id, [key], kept) for key in keys)
            kept[refused.why] += 1
            return 0
        if any(there):
            kept[_STAYS] += sum(there)
        return sum(count for count, stays in zip(counts, there, strict=True) if not stays)

    def _write_all(
        self, table: Table, rows: Mapping[int, Row], renamed: Sequence[tuple[str, str]], written: Written
    ) -> None:
        """Write rows, by their places, in one transaction; where one of them is refused, each in its own."""
        try:
            written.outdated |= self._write_together(table, rows, renamed)
        except _RowRefused as refused:
            if len(rows) == 1:
                written.refused |= dict.fromkeys(rows, refused.why)
            else:
                for place, row in rows.items():
                    self._write_all(table, {place: row}, renamed, written)

    def _write_together(self, table: Table, rows: Mapping[int, Row], renamed: Sequence[tuple[str, str]]) -> set[int]:
        """Write rows, by their places, in one transaction; those that are outdated. Raises `_RowRefused` for the fault
        of one of them."""
        key = [[*table.target.columns].index(field) for field in KEY]
        places = sorted(rows, key=lambda place: [rows[place].values[at] or "" for at in key])
        ordered = [rows[place] for place in places]  # no two writers wait for each other
        outdated: set[int] = set()
        with self._asking() as connection:
            if not table.is_keyed:  # two that insert what they do not find would both insert it
                connection.execute(self._sql.LOCK, (table.target.table,))
            done = connection.execute(self._sql.insert(table), _lists([row.values for row in ordered])).rowcount
            if table.is_keyed and done < len(rows):
                outdated = {places[at] for at in self._merge(connection, table, ordered, renamed)}
        return outdated

    def _merge(
        self, connection: psycopg.Connection, table: Table, rows: Sequence[Row], renamed: Sequence[tuple[str, str]]
    ) -> set[int]:
        """Merge rows into those that are there; which of them, by index, are outdated. Raises `_RowRefused` for a row
        of another user."""
        fields = [*table.target.columns]
        key = [fields.index(field) for field in KEY]
        needed = [[row.values[fields.index(field)] for row in rows] for field in NEEDED]
        places = [str(place) for place in range(len(rows))]
        former = [[old for old, _ in renamed], [now for _, now in renamed]]
        there: list[Any] = connection.execute(self._sql.held(table), [*former, places, *needed]).fetchall()
        if not all(is_same for _, is_same, *_ in there):
            raise _RowRefused("a row of another user has this conversation_id and created_at")
        if len(there) < len(rows):
            raise _RowRefused("a row of this conversation_id and created_at may not be seen, or has just gone")
        if any(has_other_tokens(table.target, found) for _, _, *found in there):
            raise _RowRefused(
                "the tokens there are of another form than ours, as another program writes them, and stay: leave "
                "token_data out of longterm.columns_map, or delete them"
            )
        outdated: set[int] = set()
        now: dict[tuple[str | None, ...], tuple[str | None, ...]] = {}
        was: dict[tuple[str | None, ...], tuple[str | None, ...]] = {}
        for place, _, *found in there:  # two names may be one for the database
            name = tuple(found[at] for at in key)
            kept = was.setdefault(name, tuple(found))
            both = merged(table.target, now.get(name, kept), rows[place], _Encoder())
            now[name] = both.values
            outdated |= {place} if both.is_outdated else set()
        if changed := [values for name, values in now.items() if values != was[name]]:
            connection.execute(self._sql.update(table), _lists(changed))
        return outdated

    @contextmanager
    def _asking(self, work: Literal["write", "delete"] = "write") -> Iterator[psycopg.Connection]:
        """A transaction that ends in time; psycopg's errors as ours, which say what rights the `work` needs."""
        connection = self._connected()
        watch = _Watch(connection, self._timeout_s)
        try:
            with watch, connection.transaction():
                connection.execute(self._sql.limits(self._timeout_s))
                yield connection
        except self._psycopg.Error as error:
            if (error.sqlstate or "")[:2] in _ROW_CLASSES:
                raise _RowRefused(_refusal(error), self.where) from None
            self.close()
            if watch.is_cut or isinstance(error, self._psycopg.errors.QueryCanceled):
                raise EndpointSlow(
                    f"{self.where}: no answer within {self._timeout_s:g} s: is it busy, or far?"
                ) from None
            raise self._ours(error, work) from None
        except UnicodeError:  # a database without an encoding has any bytes
            raise _RowRefused("a text is not of UTF-8", self.where) from None

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
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
            return ConfigError(f"{self.where}: a table has changed: {_MAPPING}; `vault-memory longterm check` names it")
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


class _RowRefused(EndpointError):
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


def _lists(rows: Sequence[tuple[str | None, ...]]) -> list[list[str | None]]:
    """Rows as a list for each column."""
    return [list(column) for column in zip(*rows, strict=True)]


class _Encoder:
    """Tokens for `merged`. Raises `_RowRefused` where they cannot be made or read."""

    def pack(
        self, user: str | None, assistant: str | None, reflection: Mapping[str, Any] | None, encoding: str
    ) -> Mapping[str, Any]:
        tokens = pack_token_record(user, assistant, reflection, encoding)
        if tokens["encoding"] != encoding:
            raise _RowRefused(
                f"the tokens there are made by the encoding {encoding!r}, which is not here: pip install "
                "'vault-memory[tokens]', with the network"
            )
        return tokens

    def text(self, tokens: Sequence[int], encoding: str) -> str:
        try:
            return text_of_tokens(tokens, encoding)
        except UsageError as error:
            raise _RowRefused(f"{error}, so the tokens there cannot be read, and stay") from error


def _problems(target: Target, columns: dict[str, Any], rights: tuple[bool, ...]) -> Iterator[str]:
    mapped = {*target.columns.values()}
    for name, _, is_needed, _ in columns.values():
        if is_needed and name not in mapped:
            yield f"refuses rows without {name!r}, and no field is mapped to it: map one, or give it a default"
    lacking = [name for name, is_given in zip(("SELECT", "INSERT", "UPDATE"), rights[:3], strict=True) if not is_given]
    if lacking:
        yield f"may not be used: grant {', '.join(lacking)} to the user"
    if rights[3]:
        yield f"is in a read-only database: name the primary in {VARIABLE}"


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
