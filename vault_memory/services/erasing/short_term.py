"""Entries of the short-term store that are erased."""

from __future__ import annotations

from vault_memory.adapters.shortterm import Dropped
from vault_memory.core import recent
from vault_memory.errors import ConfigError, EndpointError, VaultMemoryError
from vault_memory.services.erasing.private_files import UNREACHED
from vault_memory.services.erasing.unreached import REDIS, Unreached, note_unreached
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

_KEYS = (recent.context_key("*"), recent.history_key("*"), "sessions:*", "session:*", recent.PENDING_KEY)


def clear_short_term(vault: Vault, wanted: Wanted) -> tuple[int, str]:
    """Take entries out of the short-term store: how many, and what could not be done, in words ("": nothing). Where
    Redis is away, that is noted."""
    try:
        dropped = drop_entries(vault, wanted)
    except (EndpointError, ConfigError) as error:
        told = f"the short-term store was not asked: {error}"
        try:
            note_unreached(vault, [Unreached(REDIS, vault.short_term.address, wanted)])
        except VaultMemoryError as why:
            return 0, f"{told}; it keeps it until it expires: {why}"
        return 0, f"{told}; it is done there as soon as it answers, and until then {UNREACHED} says what goes"
    left = ", ".join(dropped.foreign)
    told = f"another program's values stay in the short-term store, under keys that we use, too: {left}"
    return dropped.values, told if left else ""


def drop_entries(vault: Vault, wanted: Wanted) -> Dropped:
    """Take entries out of the short-term store. Raises what that raises; where Redis is away, the embedded one is done
    before."""
    others = {folder.name for folder in wanted.request.spared}
    erasure = wanted.erasure()

    def holds(key: str, value: str) -> bool:
        of_whom = {key.partition(":")[2], str((recent.decoded(value) or {}).get("user_id"))}
        if not of_whom.isdisjoint(wanted.users):
            return True
        is_others = not of_whom.isdisjoint(others)
        return erasure is not None and not is_others and erasure.holds(value.encode("utf-8", "surrogatepass"))

    return vault.short_term.drop(_KEYS, holds)
