"""The SQL of the long-term store. Names of tables and columns are the mapping's, and quoted; values are bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from psycopg import sql
from psycopg.adapt import PyFormat

from vault_memory.adapters.longterm.table import Table
from vault_memory.core.longterm import KEY, NEEDED, parts

COLUMNS = """
SELECT attname, format_type(atttypid, -1), attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = '',
       format_type(atttypid, atttypmod)
FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""
"""(name, type without its limit, whether a row must have it, type) of each column."""
UNIQUE_KEY = """
SELECT 1 FROM pg_index
WHERE indrelid = to_regclass(%(table)s) AND indisunique AND indisvalid AND indimmediate
  AND indpred IS NULL AND indexprs IS NULL AND indnkeyatts = cardinality(%(key)s::text[])
  AND (SELECT array_agg(attname::text) FROM pg_attribute WHERE attrelid = indrelid
       AND attnum = ANY ((indkey::int2[])[0:indnkeyatts - 1])) @> %(key)s::text[]
"""
RIGHTS = """
SELECT coalesce(has_table_privilege(to_regclass(%(table)s), 'SELECT'), true),
       coalesce(has_table_privilege(to_regclass(%(table)s), 'INSERT'), true),
       coalesce(has_table_privilege(to_regclass(%(table)s), 'UPDATE'), true),
       current_setting('transaction_read_only')::bool
"""
PLACE = """
SELECT datname::text, nspname || '.' || relname, pg_database.oid || '/' || pg_class.oid
FROM pg_database, pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE datname = current_database() AND pg_class.oid = to_regclass(%s)
"""
FOUND = """
SELECT datname::text, nspname || '.' || relname, here.oid || '/' || pg_class.oid
FROM (
  SELECT oid, datname, coalesce(
    (SELECT oid FROM pg_class WHERE pg_database.oid || '/' || oid = %(number)s),
    (SELECT min(pg_class.oid) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname || '.' || relname = %(table)s)
  ) AS number
  FROM pg_database WHERE datname = current_database() AND (
    oid::text = split_part(%(number)s, '/', 1) OR datname = %(database)s
    AND NOT EXISTS (SELECT FROM pg_database WHERE oid::text = split_part(%(number)s, '/', 1))
  )
) AS here LEFT JOIN (pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace) ON pg_class.oid = here.number
"""
"""As `PLACE`, of a table by its number, or where that is gone by its name; no name where that is gone, too, and no row
where its database is another one."""
SERVER = "SELECT system_identifier::text FROM pg_control_system()"
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('vault-memory ' || %s, 0))"
"""It holds up those of our writers who write the same table, and no other program."""

PAGE = 500
"""So many rows are read at a time."""


def limits(timeout_s: float) -> sql.Composed:
    """For this transaction alone: a pooler hands the session on. Times come in the form of ISO 8601, whatever the
    database is set to."""
    ms = sql.Literal(max(1, int(1_000 * timeout_s)))
    return sql.SQL("SET LOCAL statement_timeout = {}; SET LOCAL datestyle = 'ISO, YMD'").format(ms)


def insert(table: Table) -> sql.Composed:
    """Insert those of rows, given as a list of texts for each column, that are not there."""
    form = "INSERT INTO {table} ({columns}) SELECT {typed} FROM {given} "
    if table.is_keyed:
        form += "ON CONFLICT ({key}) DO NOTHING"
    else:
        form += "WHERE NOT EXISTS (SELECT 1 FROM {table} AS kept WHERE {same})"
    names = [_name(column) for column in table.target.columns.values()]
    typed = zip(names, table.types, strict=True)
    return sql.SQL(form).format(
        table=_name(*parts(table.target.table)),
        columns=_joined(", ", names),
        typed=_joined(", ", [sql.SQL("given.{0}::{1}").format(name, sql.SQL(kind)) for name, kind in typed]),
        given=_given(names),
        key=_joined(", ", _key(table)),
        same=_same_key(table),
    )


def held(table: Table) -> sql.Composed:
    """Rows that are there, held until the transaction ends: the place of each in what is given, whether it is of the
    same user, and its columns as texts. Given are two lists of former ids of users and those of now, then the places,
    and a list of texts for each of `NEEDED`."""
    names = [_name(table.target.columns[field]) for field in NEEDED]
    user = _name(table.target.columns["user_id"])
    kind = sql.SQL(table.types[[*table.target.columns].index("user_id")])
    return sql.SQL(
        "SELECT given.place::int, kept.{user} = given.{user}::{kind} OR "
        "(kept.{user}::text, given.{user}::{kind}::text) IN (SELECT * FROM unnest({texts}, {texts})), {all} "
        "FROM unnest({texts}, {lists}) AS given (place, {names}) JOIN {table} AS kept ON {same} "
        "ORDER BY given.place::int FOR UPDATE OF kept"
    ).format(
        user=user,
        kind=kind,
        texts=_texts(),
        all=_joined(", ", [sql.SQL("kept.{}::text").format(_name(column)) for column in table.target.columns.values()]),
        lists=_joined(", ", [_texts()] * len(names)),
        names=_joined(", ", names),
        table=_name(*parts(table.target.table)),
        same=_same_key(table),
    )


def update(table: Table) -> sql.Composed:
    """Give rows that are there other values: given is a list of texts for each column."""
    names = [_name(column) for column in table.target.columns.values()]
    changes = [
        sql.SQL("{0} = given.{0}::{1}").format(name, sql.SQL(kind))
        for field, name, kind in zip(table.target.columns, names, table.types, strict=True)
        if field not in KEY
    ]
    return sql.SQL("UPDATE {table} AS kept SET {changes} FROM {given} WHERE {same}").format(
        table=_name(*parts(table.target.table)),
        changes=_joined(", ", changes),
        given=_given(names),
        same=_same_key(table),
    )


def page(table: Table, *, is_first: bool) -> sql.Composed:
    """`PAGE` rows of a user as texts: the key, then the other columns; after those of a key, unless it `is_first`. Rows
    that lack a part of the key come in no order of it, and are left out."""
    names = [_name(column) for column in table.target.columns.values()]
    others = [_name(column) for field, column in table.target.columns.items() if field not in KEY]
    key = _key(table)
    texts = _joined(", ", [sql.SQL("{}::text").format(name) for name in [*key, *others]])
    after = sql.SQL("AND ({}) > (%s::{}, %s::{})").format(_joined(", ", key), *_key_types(table))
    return sql.SQL(
        "SELECT {texts} FROM {table} WHERE {user} = %s AND ({key}) IS NOT NULL {after} ORDER BY {key} LIMIT {page}"
    ).format(
        texts=texts,
        table=_name(*parts(table.target.table)),
        user=names[[*table.target.columns].index("user_id")],
        after=sql.SQL("") if is_first else after,
        key=_joined(", ", key),
        page=sql.Literal(PAGE),
    )


def delete(table: Table) -> sql.Composed:
    """Delete the row of a user, by its key."""
    return sql.SQL("DELETE FROM ") + _by_key(table)


def is_there(table: Table) -> sql.Composed:
    """A row for a user's row that is there, by its key; else none."""
    return sql.SQL("SELECT 1 FROM ") + _by_key(table) + sql.SQL(" LIMIT 1")


def _by_key(table: Table) -> sql.Composed:
    return sql.SQL("{table} WHERE {user} = %s AND ({key}) = (%s::{}, %s::{})").format(
        *_key_types(table),
        table=_name(*parts(table.target.table)),
        user=_name(table.target.columns["user_id"]),
        key=_joined(", ", _key(table)),
    )


def _key(table: Table) -> list[sql.Identifier]:
    return [_name(table.target.columns[field]) for field in KEY]


def _key_types(table: Table) -> list[sql.SQL]:
    return [sql.SQL(kind) for kind in table.key_types]


def _same_key(table: Table) -> sql.Composed:
    """Whether the row `kept` is `given`. The key is given as the column has it: a time of whole seconds is found by any
    of its parts."""
    form = sql.SQL("kept.{0} = given.{0}::{1}")
    typed = zip(_key(table), _key_types(table), strict=True)
    return _joined(" AND ", [form.format(name, kind) for name, kind in typed])


def _given(names: Sequence[sql.Identifier]) -> sql.Composed:
    """The rows come as texts, and become what the columns are. The statement is the same for any number of rows."""
    lists = _joined(", ", [_texts()] * len(names))
    return sql.SQL("unnest({}) AS given ({})").format(lists, _joined(", ", names))


def _texts() -> sql.Composed:
    """A place for a list of texts."""
    return sql.SQL("{}::text[]").format(sql.Placeholder(format=PyFormat.BINARY))


def _joined(between: Literal[", ", " AND "], each: Sequence[sql.Composable]) -> sql.Composed:
    return sql.SQL(between).join(each)


def _name(*names: str) -> sql.Identifier:
    """A name, quoted; psycopg would read a % in it as a place for a value."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))
