"""Erasing what a store has missed, when it answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from vault_memory.adapters.state import Place
from vault_memory.errors import Busy, ConfigError, VaultMemoryError
from vault_memory.services.erasing.private_files import UNREACHED
from vault_memory.services.erasing.stores import drop_entries, drop_long_term
from vault_memory.services.erasing.unreached import (
    NAMED_BY,
    POSTGRES,
    REDIS,
    VARIABLES,
    Unreached,
    lock_unreached,
    read_unreached,
    write_unreached,
)
from vault_memory.services.longterm import Dropped
from vault_memory.services.vault import Vault


def reach_again(vault: Vault, *, long_term: bool = False) -> str:
    """Erase in Redis what could not be erased there, if it answers now; with `long_term` in PostgreSQL, too, which may
    take a quarter of a minute to say nothing, so who is in a hurry leaves it out. Returns why what is left waits, in
    words; "" where nothing does, or another process is at it."""
    if not os.path.lexists(vault.root / UNREACHED):
        return ""
    try:
        with lock_unreached(vault, 0):
            noted = read_unreached(vault)
            if not noted:
                write_unreached(vault, noted)
            left: list[Unreached] = []
            reasons: dict[tuple[str, Place], tuple[str, str]] = {}  # a store that is away is asked once
            while noted:
                first = noted.pop(0)
                name = first.store, first.at
                if name not in reasons and (why := _problem(vault, first, long_term=long_term)):
                    reasons[name] = first.where, why
                if name in reasons:
                    left.append(first)
                else:
                    write_unreached(vault, [*left, *noted])
    except Busy:
        return ""
    except VaultMemoryError as error:
        return f"what {UNREACHED} says is still to be erased: {error}"
    return "; ".join(_told(reasons.values()))


def still_to_erase(vault: Vault) -> str:
    """What of the long-term store is still to be erased, in words; "" for nothing. No store is asked."""
    try:
        waiting = [each for each in read_unreached(vault) if each.store == POSTGRES]
    except VaultMemoryError as error:
        return str(error)
    return "; ".join(_told((each.where, _not_asked(vault, each) or _LATER) for each in waiting))


_LATER = "the daemon does it when that answers, or `vault-memory longterm flush`"


def _told(reasons: Iterable[tuple[str, str]]) -> Iterator[str]:
    for where, why in dict.fromkeys(reasons):
        yield f"what {UNREACHED} says is still to be erased in {where}: {why}"


def _problem(vault: Vault, missed: Unreached, *, long_term: bool) -> str:
    """Erase it; why that could not be done, in words."""
    if why := _not_asked(vault, missed):
        return why
    if missed.store == POSTGRES and not long_term:
        return _LATER
    try:
        if missed.store == REDIS:
            drop_entries(vault, missed.wanted, missed.asked_at)
            return ""
        drop_long_term(vault, missed.wanted, dropped := Dropped(), missed.asked_at, missed.at)
    except VaultMemoryError as error:
        return str(error)
    if dropped.done:
        return ""
    return f"it waits for that one, and what answers is another server or table: {_again(POSTGRES)}"


def _not_asked(vault: Vault, missed: Unreached) -> str:
    """Why the store that is set now is not asked, in words: it is none, or another one."""
    variable = VARIABLES[missed.store]
    if not (vault.database_url if missed.store == POSTGRES else vault.redis_url):
        return f"{variable} is not set: {_again(missed.store)}"
    try:
        at = vault.database_address if missed.store == POSTGRES else vault.short_term.address
    except ConfigError as error:
        return str(error)
    if missed.at.address != at:
        return f"it waits for that one, and {variable} names another: {_again(missed.store)}"
    return ""


def _again(store: str) -> str:
    return f"set {NAMED_BY[store]} to that once more, or delete {UNREACHED} where it is gone for good"
