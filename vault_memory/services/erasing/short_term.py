"""Entries of the short-term store that are erased."""

from __future__ import annotations

from datetime import datetime

from vault_memory.adapters.shortterm import Dropped
from vault_memory.adapters.state import Place
from vault_memory.core import recent
from vault_memory.errors import ConfigError, EndpointError
from vault_memory.services.erasing.unreached import REDIS, Unreached, noted_unreached, used_elsewhere
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

_KEYS = (recent.context_key("*"), recent.history_key("*"), "sessions:*", "session:*", recent.PENDING_KEY)


def clear_short_term(vault: Vault, wanted: Wanted) -> tuple[int, str]:
    """Take entries out of the short-term store: how many, and what could not be done, in words ("": nothing). A Redis
    that is away, and each other one that the vault has ever used, is noted as unreached."""
    store, values = vault.short_term, 0
    missed, told = used_elsewhere(vault, REDIS, wanted, lambda used: store.is_shared and used.address == store.address)
    try:
        dropped = drop_entries(vault, wanted)
    except (EndpointError, ConfigError) as error:
        if store.address or isinstance(error, EndpointError):  # nothing was ever written at an address that is wrong
            missed.append(Unreached(REDIS, Place(store.address), wanted, vault.now()))
        told.append(f"the short-term store was not asked: {error}")
    else:
        values = dropped.values
        if left := ", ".join(dropped.foreign):
            told.append(f"another program's values stay in the short-term store, under keys that we use, too: {left}")
    told += noted_unreached(vault, missed, "it keeps it until it expires")
    return values, "; ".join(told)


def drop_entries(vault: Vault, wanted: Wanted, asked_at: datetime | None = None) -> Dropped:
    """Take entries out of the short-term store, those of users whom only another vault knows never; with the time at
    which that was asked for, none that was said later. Raises what the store raises; where Redis is away, the embedded
    one is done before."""
    theirs = {"", wanted.user_id, *wanted.former_ids}
    erasure = wanted.erasure()

    def left(key: str, value: str) -> str | None:
        owner = recent.owner(key, value)
        is_said = erasure is not None and owner in theirs and erasure.holds(value.encode("utf-8", "surrogatepass"))
        if not is_said and owner not in wanted.users:
            return value
        return recent.said_after(key, value, asked_at.timestamp()) if asked_at else None

    return vault.short_term.drop(_KEYS, left)
