"""What is known of a table before rows are written there, and what became of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from vault_memory.adapters.state import Place
from vault_memory.core.longterm import Target
from vault_memory.errors import EndpointError


@dataclass(frozen=True)
class Table:
    """A table as the database has it: the type of each mapped column, in the order of the mapping; those of the key
    with their limits, to which the database cuts a value; whether it `is_keyed` by conversation and time, so that a row
    can be found again; the `problems` that writing there will have, in words; and its `place`."""

    target: Target
    types: tuple[str, ...]
    key_types: tuple[str, ...]
    is_keyed: bool
    problems: tuple[str, ...]
    place: Place


class RowsKept(EndpointError):
    """The database keeps rows that are to go; the others are deleted."""


@dataclass
class Written:
    """What became of rows, by their indexes: which the database refused, and why; of which the reflection is
    `outdated` by the row that was there."""

    refused: dict[int, str] = field(default_factory=dict)
    outdated: set[int] = field(default_factory=set)
