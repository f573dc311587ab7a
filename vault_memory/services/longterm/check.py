"""Whether the mapping fits the tables of the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vault_memory.core.longterm import Target, ddl, targets
from vault_memory.errors import ConfigError, EndpointError
from vault_memory.services.longterm.waiting import long_term_problem
from vault_memory.services.vault import Vault


@dataclass(frozen=True)
class CheckedTable:
    """A mapped table: the logical name, its own, whether it `is_keyed` by conversation and time, and what keeps rows
    from being written there, in words."""

    logical: str
    table: str
    is_keyed: bool
    problems: tuple[str, ...]


def check_long_term(vault: Vault) -> Iterator[CheckedTable]:
    """Look at each mapped table in the database; nothing is written. Raises what `PostgresStore` raises, but for a
    table or column that is not there, which is a problem of its table; and `ConfigError` where none is mapped."""
    mapped = _mapped(vault)
    with vault.long_term() as store:
        for target in mapped:
            try:
                table = store.look(target)
            except ConfigError as error:
                yield CheckedTable(target.logical, target.table, False, (str(error),))
            else:
                yield CheckedTable(target.logical, target.table, table.is_keyed, table.problems)


def long_term_fault(vault: Vault) -> str:
    """What keeps turns from the long-term store, in words; "" when nothing does, or it is off. The database is
    asked."""
    if not vault.config.longterm_enabled:
        return ""
    try:
        faults = [f"{each.table}: {why}" for each in check_long_term(vault) for why in each.problems]
    except (ConfigError, EndpointError) as error:
        faults = [str(error)]
    return f"long-term store: {'; '.join(faults)}" if faults else long_term_problem(vault)


def tables_ddl(vault: Vault) -> str:
    """The statements that would make the mapped tables, for a person to run. Raises `ConfigError` where none is
    mapped."""
    return "\n\n".join(map(ddl, _mapped(vault)))


def _mapped(vault: Vault) -> list[Target]:
    found = targets(vault.config.longterm_tables, vault.config.longterm_columns_map)
    if not found or not vault.config.longterm_columns_map:
        raise ConfigError("no table is mapped: set longterm.tables and longterm.columns_map first (docs/stores.md)")
    return found
