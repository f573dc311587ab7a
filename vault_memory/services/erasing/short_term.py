"""Entries of the short-term store that are erased. What was to be erased in Redis while that was away is noted, and
done as soon as it answers."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.shortterm import Dropped
from vault_memory.core import layout, recent
from vault_memory.errors import Busy, ConfigError, EndpointError, UsageError, VaultMemoryError
from vault_memory.services.erasing.private_files import DONE, UNREACHED, forget_file
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

_KEYS = (recent.context_key("*"), recent.history_key("*"), "sessions:*", "session:*", recent.PENDING_KEY)
_LOCK = "locks/erasing-unreached.lock"
_WAIT_S = 5.0


def clear_short_term(vault: Vault, wanted: Wanted) -> tuple[int, str]:
    """Take entries out of the short-term store: how many, and what could not be done, in words ("": nothing). Where
    Redis is away, that is noted."""
    try:
        dropped = _drop(vault, wanted)
    except (EndpointError, ConfigError) as error:
        told = f"the short-term store was not asked: {error}"
        try:
            with _lock(vault, _WAIT_S):
                others = [each for each in _read(vault) if Wanted.of(each) != wanted]
                _write(vault, [*others, wanted.as_dict()])
        except VaultMemoryError as why:
            return 0, f"{told}; it keeps it until it expires: {why}"
        return 0, f"{told}; it is done there as soon as it answers, and until then {UNREACHED} says what goes"
    left = ", ".join(dropped.foreign)
    told = f"another program's values stay in the short-term store, under keys that we use, too: {left}"
    return dropped.values, told if left else ""


def reach_again(vault: Vault) -> str:
    """Erase in Redis what could not be erased there, if it answers now. Returns why that still waits, in words; ""
    where nothing does, or another process is at it."""
    if not (vault.root / UNREACHED).exists():
        return ""
    try:
        with _lock(vault, 0):
            if not (noted := _read(vault)):
                _write(vault, noted)
            while noted:
                if not vault.short_term.is_shared:
                    raise ConfigError("REDIS_URL is not set: set it once more, or delete that file")
                _drop(vault, Wanted.of(noted.pop(0)))
                _write(vault, noted)
    except Busy:
        return ""
    except VaultMemoryError as error:
        return f"short-term store: what {UNREACHED} says is still to be erased there: {error}"
    return ""


def _drop(vault: Vault, wanted: Wanted) -> Dropped:
    others = {folder.name for folder in wanted.request.spared}
    erasure = wanted.erasure()

    def holds(key: str, value: str) -> bool:
        of_whom = {key.partition(":")[2], str((recent.decoded(value) or {}).get("user_id"))}
        if not of_whom.isdisjoint(wanted.users):
            return True
        is_others = not of_whom.isdisjoint(others)
        return erasure is not None and not is_others and erasure.holds(value.encode("utf-8", "surrogatepass"))

    return vault.short_term.drop(_KEYS, holds)


def _lock(vault: Vault, wait_s: float) -> AbstractContextManager[int]:
    return files.lock(vault.root / layout.STATE_DIR / _LOCK, wait_s, vault.root)


def _read(vault: Vault) -> list[dict[str, Any]]:
    """The `Wanted` that are noted. Raises `UsageError` where that cannot be read."""
    stored = files.read_private(vault.root / UNREACHED, vault.root) or DONE
    try:
        noted = [] if stored.startswith(DONE) else json.loads(stored)
        for each in noted:
            Wanted.of(each)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{UNREACHED} is damaged: delete it, then erase again what was to be erased") from error
    return list(noted)


def _write(vault: Vault, noted: list[dict[str, Any]]) -> None:
    path = vault.root / UNREACHED
    if noted:
        files.write_private(path, json.dumps(noted).encode(), vault.root)
    else:
        forget_file(path, vault.root)
