"""What is known of a table before rows are written there."""

from __future__ import annotations

from dataclasses import dataclass

from vault_memory.core.longterm import Target


@dataclass(frozen=True)
class Table:
    """A table as the database has it: the type of each mapped column, in the order of the mapping; those of the key
    with their limits, to which the database cuts a value; whether it `is_keyed` by conversation and time, so that a row
    can be found again; and the `problems` that writing there will have, in words."""

    target: Target
    types: tuple[str, ...]
    key_types: tuple[str, ...]
    is_keyed: bool
    problems: tuple[str, ...]
