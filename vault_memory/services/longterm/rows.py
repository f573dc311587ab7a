"""Rows of the long-term store that are to go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from vault_memory.adapters.longterm import RowsKept
from vault_memory.adapters.state import POSTGRES_USED, Place, UsedStores
from vault_memory.adapters.tokenizer import text_of_tokens
from vault_memory.core.longterm import targets
from vault_memory.errors import UsageError
from vault_memory.services.longterm.waiting import round_state
from vault_memory.services.vault import Vault

Holds = Callable[[Sequence[str | None]], bool]
"""Whether a row is meant: its conversation_id, created_at and the other mapped columns, as texts."""

_REFLECTED = {"summary", "causes", "type", "updated_at"}
"""The parts of a reflection."""


@dataclass
class Dropped:
    """How many rows the database has deleted; the places of the tables that were `looked` at, and of those of them that
    have none of the rows meant any more; and what the places that were asked about are called now
    (`PostgresStore.found`)."""

    rows: int = 0
    looked: list[Place] = field(default_factory=list)
    done: list[Place] = field(default_factory=list)
    found: dict[Place, Place | None] = field(default_factory=dict)

    def is_done(self, place: Place) -> bool:
        """Whether none of the rows meant is at a place any more: its table has none, or has gone with all of them."""
        now = self.found.get(place, place)
        return now is None or any(map(now.is_at, self.done))


def drop_rows(vault: Vault, user_ids: Iterable[str], holds: Holds, dropped: Dropped, at: Place | None = None) -> None:
    """Delete the rows of these ids that are meant, while nobody sends, in each mapped table; with `at` in those only
    which that place stands for, whatever they are called now. What is deleted is counted in `dropped`, also where this
    raises `Busy`, `ConfigError` or `EndpointError`; where that is `RowsKept` all others are deleted."""
    users = [*user_ids]
    kept: list[str] = []
    with round_state(vault).lock(), vault.long_term() as store:
        dropped.found |= {each: store.found(each) for each in ([at] if at else _used(vault))}
        if at and (at := dropped.found[at]) is None:
            return
        for target in targets(vault.config.longterm_tables, vault.config.longterm_columns_map):
            table = store.look(target)
            dropped.looked.append(table.place)
            if at and not at.is_at(table.place):
                continue
            before = len(kept)
            for user_id in users:
                try:
                    for count in store.drop(table, user_id, holds):
                        dropped.rows += count
                except RowsKept as error:
                    kept.append(str(error))
            if len(kept) == before:
                dropped.done.append(table.place)
    if kept:
        raise RowsKept("; ".join(kept))


def _used(vault: Vault) -> list[Place]:
    """The places that this vault has used, as far as that is known: `used_problem` tells of a damaged file."""
    try:
        return UsedStores(vault.root, POSTGRES_USED).places()
    except UsageError:
        return []


def count_rows(vault: Vault, user_ids: Iterable[str], holds: Holds) -> int:
    """How many rows are meant; none is deleted. Raises what `drop_rows` raises."""
    found = 0

    def counted(values: Sequence[str | None]) -> bool:
        nonlocal found
        found += holds(values)
        return False

    drop_rows(vault, user_ids, counted, Dropped())
    return found


def said_in(values: Iterable[str | None]) -> Iterator[str]:
    """The texts of a row: of tokens what they say (their numbers say nothing), of a reflection what was reflected."""
    for value in filter(None, values):
        try:
            told = json.loads(value)
        except ValueError:
            told = None
        if isinstance(told, dict) and "encoding" in told:
            for tokens in filter(_is_list, told.values()):
                with suppress(UsageError):  # an encoding that is not known here
                    yield from said_in([text_of_tokens(tokens, str(told["encoding"]))])
        elif isinstance(told, dict) and told.keys() <= _REFLECTED:
            for part in told.values():
                yield from map(str, part if isinstance(part, list) else [part])
        else:
            yield value


def told_at(values: Sequence[str | None]) -> datetime | None:
    """When what a row (`Holds`) says was said: its created_at, of a typed memory the time of its note. None for a row
    that tells no time."""
    times = [moment_of(values[1])]
    for value in filter(None, values[2:]):
        try:
            told = json.loads(value)
        except ValueError:
            continue
        if isinstance(told, dict) and told.keys() <= _REFLECTED and "updated_at" in told:
            times.append(moment_of(str(told["updated_at"])))
    return max(filter(None, times), default=None)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def moment_of(created_at: str | None) -> datetime | None:
    """The time in a row; one without an offset is of UTC, as all are written. None for no time."""
    try:
        at = datetime.fromisoformat(created_at or "")
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
