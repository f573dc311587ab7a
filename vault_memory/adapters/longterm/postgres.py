"""Rows in existing tables of a PostgreSQL: looking at a table, and writing. No statement makes or changes a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vault_memory.adapters.longterm.deleting import delete_rows
from vault_memory.adapters.longterm.session import (
    CONNECT_TIMEOUT_S,
    MAPPING,
    TIMEOUT_S,
    VARIABLE,
    RowRefused,
    Session,
    quoted,
)
from vault_memory.adapters.longterm.table import Table, Written
from vault_memory.adapters.state import Place
from vault_memory.adapters.tokenizer import pack_token_record, text_of_tokens
from vault_memory.core.longterm import KEY, NEEDED, Row, Target, has_other_tokens, merged
from vault_memory.errors import ConfigError, UsageError

if TYPE_CHECKING:
    import psycopg


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
        self._session = Session(url, timeout_s, connect_timeout_s)
        self._sql = self._session.sql
        self._used = used
        self.where, self.address = self._session.where, self._session.address

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; a later call makes another."""
        self._session.close()

    def look(self, target: Target) -> Table:
        """The table of a mapping. Raises `ConfigError`, which names the mapping, for one that is not there, or lacks a
        column."""
        name = quoted(target.table)
        with self._session.asking() as connection:
            columns: dict[str, Any] = {row[0]: row for row in connection.execute(self._sql.COLUMNS, (name,)).fetchall()}
            key = [target.columns[field] for field in KEY]
            is_keyed = connection.execute(self._sql.UNIQUE_KEY, {"table": name, "key": key}).fetchone() is not None
            (rights,) = connection.execute(self._sql.RIGHTS, {"table": name}).fetchall()
            place = self._session.place(connection, target.table)
        if not columns:
            raise ConfigError(
                f"{self.where}: there is no table {target.table!r} for {target.logical}: {MAPPING}, or "
                "make one: `vault-memory longterm print-ddl` shows how"
            )
        if lacking := [f"{c!r} for {field}" for field, c in target.columns.items() if c not in columns]:
            raise ConfigError(f"{self.where}: the table {target.table!r} has no column {', '.join(lacking)}: {MAPPING}")
        return Table(
            target,
            tuple(columns[column][1] for column in target.columns.values()),
            tuple(columns[column][3] for column in key),
            is_keyed,
            tuple(_problems(target, columns, rights)),
            place,
        )

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

    def found(self, place: Place) -> Place | None:
        """What a place is called now, as `Session.found` says."""
        return self._session.found(place)

    def drop(self, table: Table, user_id: str, holds: Callable[[Sequence[str | None]], bool]) -> Iterator[int]:
        """Delete rows of a user, as `delete_rows` does."""
        return delete_rows(self._session, table, user_id, holds)

    def _write_all(
        self, table: Table, rows: Mapping[int, Row], renamed: Sequence[tuple[str, str]], written: Written
    ) -> None:
        """Write rows, by their places, in one transaction; where one of them is refused, each in its own."""
        try:
            written.outdated |= self._write_together(table, rows, renamed)
        except RowRefused as refused:
            if len(rows) == 1:
                written.refused |= dict.fromkeys(rows, refused.why)
            else:
                for place, row in rows.items():
                    self._write_all(table, {place: row}, renamed, written)

    def _write_together(self, table: Table, rows: Mapping[int, Row], renamed: Sequence[tuple[str, str]]) -> set[int]:
        """Write rows, by their places, in one transaction; those that are outdated. Raises `RowRefused` for the fault
        of one of them."""
        key = [[*table.target.columns].index(field) for field in KEY]
        places = sorted(rows, key=lambda place: [rows[place].values[at] or "" for at in key])
        ordered = [rows[place] for place in places]  # no two writers wait for each other
        outdated: set[int] = set()
        with self._session.asking("write", table) as connection:
            if not table.is_keyed:  # two that insert what they do not find would both insert it
                connection.execute(self._sql.LOCK, (table.target.table,))
            done = connection.execute(self._sql.insert(table), _lists([row.values for row in ordered])).rowcount
            if table.is_keyed and done < len(rows):
                outdated = {places[at] for at in self._merge(connection, table, ordered, renamed)}
        return outdated

    def _merge(
        self, connection: psycopg.Connection, table: Table, rows: Sequence[Row], renamed: Sequence[tuple[str, str]]
    ) -> set[int]:
        """Merge rows into those that are there; which of them, by index, are outdated. Raises `RowRefused` for a row
        of another user."""
        fields = [*table.target.columns]
        key = [fields.index(field) for field in KEY]
        needed = [[row.values[fields.index(field)] for row in rows] for field in NEEDED]
        places = [str(place) for place in range(len(rows))]
        former = [[old for old, _ in renamed], [now for _, now in renamed]]
        there: list[Any] = connection.execute(self._sql.held(table), [*former, places, *needed]).fetchall()
        if not all(is_same for _, is_same, *_ in there):
            raise RowRefused("a row of another user has this conversation_id and created_at")
        if len(there) < len(rows):
            raise RowRefused("a row of this conversation_id and created_at may not be seen, or has just gone")
        if any(has_other_tokens(table.target, found) for _, _, *found in there):
            raise RowRefused(
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


def _lists(rows: Sequence[tuple[str | None, ...]]) -> list[list[str | None]]:
    """Rows as a list for each column."""
    return [list(column) for column in zip(*rows, strict=True)]


class _Encoder:
    """Tokens for `merged`. Raises `RowRefused` where they cannot be made or read."""

    def pack(
        self, user: str | None, assistant: str | None, reflection: Mapping[str, Any] | None, encoding: str
    ) -> Mapping[str, Any]:
        tokens = pack_token_record(user, assistant, reflection, encoding)
        if tokens["encoding"] != encoding:
            raise RowRefused(
                f"the tokens there are made by the encoding {encoding!r}, which is not here: pip install "
                "'vault-memory[tokens]', with the network"
            )
        return tokens

    def text(self, tokens: Sequence[int], encoding: str) -> str:
        try:
            return text_of_tokens(tokens, encoding)
        except UsageError as error:
            raise RowRefused(f"{error}, so the tokens there cannot be read, and stay") from error


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
