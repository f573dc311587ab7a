"""Erasing what a store has missed, when it answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vault_memory.adapters.longterm import RowsKept
from vault_memory.adapters.state import Place
from vault_memory.errors import Busy, ConfigError, VaultMemoryError
from vault_memory.services.erasing.private_files import UNREACHED
from vault_memory.services.erasing.stores import drop_entries, drop_long_term
from vault_memory.services.erasing.unreached import (
    NAMED_BY,
    POSTGRES,
    REDIS,
    USED,
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
            waiting, left = [*noted], list[Unreached]()
            away: dict[tuple[str, Place], str] = {}  # a store that is away is asked once
            while waiting:
                first = waiting.pop(0)
                if _not_asked(vault, first) or (first.store == POSTGRES and not long_term):
                    left.append(first)
                elif why := away.get((first.store, first.at)) or _problem(vault, first, away):
                    left.append(replace(first, why=why))
                else:
                    write_unreached(vault, [*left, *waiting])
            if [each.why for each in left] != [each.why for each in noted]:
                write_unreached(vault, left)
    except Busy:
        return ""
    except VaultMemoryError as error:
        return f"what {UNREACHED} says is still to be erased: {error}"
    return "; ".join(_told(vault, left))


def still_to_erase(vault: Vault) -> str:
    """What of the long-term store is still to be erased, in words; "" for nothing. No store is asked."""
    try:
        waiting = [each for each in read_unreached(vault) if each.store == POSTGRES]
    except VaultMemoryError as error:
        return str(error)
    return "; ".join(_told(vault, waiting))


def _told(vault: Vault, waiting: Sequence[Unreached]) -> Iterator[str]:
    lines = dict.fromkeys((each.where, _not_asked(vault, each) or _reason(each)) for each in waiting)
    for where, why in lines:
        yield f"what {UNREACHED} says is still to be erased in {where}: {why}"


def _reason(missed: Unreached) -> str:
    """Why it waits for the store that is set now, as far as that was asked."""
    if missed.store == REDIS:
        return missed.why
    if missed.why:
        return f"{missed.why}; the daemon asks it again, and so does `vault-memory longterm flush`"
    return "the daemon does it when that answers, or `vault-memory longterm flush`"


def _problem(vault: Vault, missed: Unreached, away: dict[tuple[str, Place], str]) -> str:
    """Erase it; why that could not be done, in words, which is so of all that waits for a store that is `away`."""
    dropped = Dropped()
    try:
        if missed.store == REDIS:
            drop_entries(vault, missed.wanted, missed.asked_at)
            return ""
        drop_long_term(vault, missed.wanted, dropped, missed.asked_at, missed.at)
        if dropped.is_done(missed.at):
            return ""
        why = _elsewhere(missed.at, dropped)
    except RowsKept as error:  # those of another erasing may go
        return str(error)
    except VaultMemoryError as error:
        why = str(error)
    return away.setdefault((missed.store, missed.at), why)


def _elsewhere(at: Place, dropped: Dropped) -> str:
    """What answers in place of the table that is at a place, in words, and what to do."""
    now = dropped.found.get(at) or at
    if (now.number, now.table) != (at.number, at.table):
        return f"the table is called {now.table} now: name that in MEMORY_TABLE_MAP, or {_OR_ELSEWHERE[POSTGRES]}"
    answers = ", ".join(f"{each.table} in {each.database} of the server {each.server}" for each in dropped.looked)
    waits = " in ".join(filter(None, (at.table, at.database))) + f" of the server {at.server}" * bool(at.server)
    return f"it waits for {waits}, and what answers is another server or table ({answers}): {_again(POSTGRES)}"


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


_OR_ELSEWHERE = {
    store: f"where that is gone, or what it held is elsewhere now, erase the same again there, and take it out of "
    f"{used} and {UNREACHED}"
    for store, used in USED.items()
}


def _again(store: str) -> str:
    return f"set {NAMED_BY[store]} to that once more; or {_OR_ELSEWHERE[store]}"
