"""The SQL of the long-term store. Names of tables and columns are the mapping's, and quoted; values are bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from psycopg import sql
from psycopg.adapt import PyFormat

from vault_memory.adapters.longterm.table import Table
from vault_memory.core.longterm import KEY, parts

COLUMNS = """
SELECT attname, format_type(atttypid, -1), attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = ''
FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""
"""(name, type without its limit, whether a row must have it) of each column."""
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
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('vault-memory ' || %s, 0))"
"""It holds up those of our writers who write the same table, and no other program."""

PAGE = 500
"""So many rows are read at a time."""
_MEASURES = {"conversations": ("assistant_message", "text_cache", "token_data"), "memories": ()}
"""The fields that tell how long an answer is: the first that is mapped. A reflection may become shorter."""
_CHANGED = "{0} = coalesce(EXCLUDED.{0}, kept.{0})"
_UNLESS_SHORTER = (
    "{0} = CASE WHEN {new} < {old} THEN coalesce(kept.{0}, EXCLUDED.{0}) ELSE coalesce(EXCLUDED.{0}, kept.{0}) END"
)
"""A change of a column. No condition of the row: then it would count as refused."""
_LENGTH = "length({0}.{1}::text)"
_LENGTH_OF_TOKENS = "jsonb_array_length(coalesce({0}.{1}::jsonb->'assistant', '[]'))"
_TOKENS_OF_BOTH = """{0} = CASE
  WHEN kept.{0} IS NULL THEN EXCLUDED.{0}
  WHEN kept.{0}::jsonb->'encoding' IS DISTINCT FROM EXCLUDED.{0}::jsonb->'encoding' THEN
    CASE WHEN {new} < {old} THEN kept.{0} ELSE EXCLUDED.{0} END
  ELSE (EXCLUDED.{0}::jsonb || coalesce((
    SELECT jsonb_object_agg(part, CASE
      WHEN jsonb_array_length(new) = 0 OR (part <> 'reflection' AND jsonb_array_length(new) < jsonb_array_length(old))
      THEN old ELSE new END)
    FROM unnest(ARRAY['user', 'assistant', 'reflection']) AS part,
      LATERAL (SELECT coalesce(kept.{0}::jsonb->part, '[]') AS old, coalesce(EXCLUDED.{0}::jsonb->part, '[]') AS new)
        AS parts
    WHERE jsonb_exists(kept.{0}::jsonb, part) OR jsonb_exists(EXCLUDED.{0}::jsonb, part)), '{{}}'))::{kind}
END"""
"""Of the tokens each part by itself: the longer text's, of reflections the later. Two encodings are not mixed."""


def limits(timeout_s: float) -> sql.Composed:
    """For this transaction alone: a pooler hands the session on."""
    ms = sql.Literal(max(1, int(1_000 * timeout_s)))
    return sql.SQL("SET LOCAL statement_timeout = {}").format(ms)


def upsert(table: Table) -> sql.Composed:
    """Insert rows, given as a list of texts for each column, and two lists of former ids of users and those of now; of
    one that is there, and the same user's, replace the other columns, unless the answer there is longer. What is not
    given stays."""
    columns = table.target.columns
    typed = zip(columns.items(), table.types, strict=True)
    changing = [(field, _name(column), sql.SQL(kind)) for (field, column), kind in typed if field not in KEY]
    measures = [field for field in _MEASURES[table.target.logical] if field in columns]
    measured = _lengths(columns[measures[0]], measures[0] == "token_data") if measures else {}
    change = _UNLESS_SHORTER if measures else _CHANGED
    return sql.SQL(
        "INSERT INTO {table} AS kept ({columns}) SELECT {typed} FROM {given} ON CONFLICT ({key}) DO UPDATE "
        "SET {changes} WHERE kept.{user} = EXCLUDED.{user} OR "
        "(kept.{user}::text, EXCLUDED.{user}::text) IN (SELECT * FROM unnest({texts}, {texts}))"
    ).format(
        **_parts(table),
        key=_joined(", ", [_name(columns[field]) for field in KEY]),
        changes=_joined(
            ", ",
            [
                sql.SQL(_TOKENS_OF_BOTH).format(column, kind=kind, **(measured or _lengths(columns[field], True)))
                if field == "token_data"
                else sql.SQL(change).format(column, **measured)
                for field, column, kind in changing
            ],
        ),
        user=_name(columns["user_id"]),
        texts=_texts(),
    )


def _lengths(column: str, of_tokens: bool) -> dict[str, sql.Composed]:
    """How long an answer is, in the new row and in the old one."""
    form = sql.SQL(_LENGTH_OF_TOKENS if of_tokens else _LENGTH)
    return {which: form.format(sql.SQL(row), _name(column)) for which, row in (("new", "EXCLUDED"), ("old", "kept"))}


def insert(table: Table) -> sql.Composed:
    """Insert those of such rows that are not there."""
    typed = zip(table.target.columns.items(), table.types, strict=True)
    same = [
        sql.SQL("kept.{0} = given.{0}::{1}").format(_name(column), sql.SQL(kind))
        for (field, column), kind in typed
        if field in KEY
    ]
    return sql.SQL(
        "INSERT INTO {table} ({columns}) SELECT {typed} FROM {given} "
        "WHERE NOT EXISTS (SELECT 1 FROM {table} AS kept WHERE {same})"
    ).format(**_parts(table), same=_joined(" AND ", same))


def page(table: Table, *, is_first: bool) -> sql.Composed:
    """`PAGE` rows of a user as texts: the key, then the other columns; after those of a key, unless it `is_first`."""
    names = [_name(column) for column in table.target.columns.values()]
    others = [_name(column) for field, column in table.target.columns.items() if field not in KEY]
    key = [_name(table.target.columns[field]) for field in KEY]
    texts = _joined(", ", [sql.SQL("{}::text").format(name) for name in [*key, *others]])
    after = sql.SQL("AND ({}) > (%s::{}, %s::{})").format(_joined(", ", key), *_key_types(table))
    return sql.SQL("SELECT {texts} FROM {table} WHERE {user} = %s {after} ORDER BY {key} LIMIT {page}").format(
        texts=texts,
        table=_name(*parts(table.target.table)),
        user=names[[*table.target.columns].index("user_id")],
        after=sql.SQL("") if is_first else after,
        key=_joined(", ", key),
        page=sql.Literal(PAGE),
    )


def delete(table: Table) -> sql.Composed:
    """Delete the row of a user, by its key."""
    columns = table.target.columns
    return sql.SQL("DELETE FROM {table} WHERE {user} = %s AND ({key}) = (%s::{}, %s::{})").format(
        *_key_types(table),
        table=_name(*parts(table.target.table)),
        user=_name(columns["user_id"]),
        key=_joined(", ", [_name(columns[field]) for field in KEY]),
    )


def _key_types(table: Table) -> list[sql.SQL]:
    fields = [*table.target.columns]
    return [sql.SQL(table.types[fields.index(field)]) for field in KEY]


def _parts(table: Table) -> dict[str, sql.Composable]:
    """What both statements have: the rows come as texts, and become what the columns are. The statement is the same for
    any number of rows, and so is read once."""
    names = [_name(column) for column in table.target.columns.values()]
    typed = zip(names, table.types, strict=True)
    lists = _joined(", ", [_texts()] * len(names))
    return {
        "table": _name(*parts(table.target.table)),
        "columns": _joined(", ", names),
        "typed": _joined(", ", [sql.SQL("given.{0}::{1}").format(name, sql.SQL(kind)) for name, kind in typed]),
        "given": sql.SQL("unnest({}) AS given ({})").format(lists, _joined(", ", names)),
    }


def _texts() -> sql.Composed:
    """A place for a list of texts."""
    return sql.SQL("{}::text[]").format(sql.Placeholder(format=PyFormat.BINARY))


def _joined(between: Literal[", ", " AND "], each: Sequence[sql.Composable]) -> sql.Composed:
    return sql.SQL(between).join(each)


def _name(*names: str) -> sql.Identifier:
    """A name, quoted; psycopg would read a % in it as a place for a value."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))
