"""Deleting rows of a PostgreSQL, page by page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from vault_memory.adapters.longterm.session import RowRefused, Session
from vault_memory.adapters.longterm.table import RowsKept, Table

_STAYS = (
    "a policy or trigger there refuses to delete them: let it allow that to the user of the address, or delete them "
    "there yourself"
)


def delete_rows(
    session: Session, table: Table, user_id: str, holds: Callable[[Sequence[str | None]], bool]
) -> Iterator[int]:
    """Delete the rows of a user for which `holds(values)`: those of the key, then those of the other mapped
    columns, as texts. Yields how many the database has deleted, after each page of rows, which is committed by
    itself. A row that has no key is none of ours, and stays. Raises `RowsKept`, after all others are deleted, for
    rows that the database refuses to delete."""
    after: Sequence[str] = ()
    kept: Counter[str] = Counter()
    while True:
        with session.asking("delete", table) as connection:
            page = session.sql.page(table, is_first=not after)
            found: list[Any] = connection.execute(page, (user_id, *after)).fetchall()
        yield _delete_all(session, table, user_id, [row[:2] for row in found if holds(row)], kept)
        if len(found) < session.sql.PAGE:
            break
        after = found[-1][:2]
    if kept:
        raise RowsKept(
            "; ".join(
                f"{session.where}: the table {table.target.table!r} kept {count:,} rows: {why}"
                for why, count in kept.items()
            )
        )


def _delete_all(session: Session, table: Table, user_id: str, keys: Sequence[Sequence[str]], kept: Counter[str]) -> int:
    """Delete rows of a user, by their keys, in one transaction; where one of them is refused, each in its own. How
    many the database has deleted; why those that are there still are `kept` is counted."""
    if not keys:
        return 0
    given = [(user_id, *key) for key in keys]
    try:
        with session.asking("delete", table) as connection:
            counts = [connection.execute(session.sql.delete(table), each).rowcount for each in given]
            # A policy or a trigger lets a row stay, and no error says so.
            there = [bool(connection.execute(session.sql.is_there(table), each).fetchone()) for each in given]
    except RowRefused as refused:
        if len(keys) > 1:
            return sum(_delete_all(session, table, user_id, [key], kept) for key in keys)
        kept[refused.why] += 1
        return 0
    if any(there):
        kept[_STAYS] += sum(there)
    return sum(count for count, stays in zip(counts, there, strict=True) if not stays)
