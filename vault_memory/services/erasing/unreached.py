"""What was to be erased in a store that did not answer. It is noted in one private file, and is done when that store
answers: another one at another address holds nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from vault_memory.adapters import files
from vault_memory.adapters.state import POSTGRES_USED, REDIS_USED, Place, UsedStores
from vault_memory.core import layout
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.erasing.private_files import DONE, UNREACHED, forget_file
from vault_memory.services.erasing.wanted import Wanted
from vault_memory.services.vault import Vault

REDIS = "Redis"
POSTGRES = "PostgreSQL"
VARIABLES = {REDIS: "REDIS_URL", POSTGRES: "SUPABASE_DB_URL"}
NAMED_BY = {REDIS: "REDIS_URL", POSTGRES: "SUPABASE_DB_URL (or the table: MEMORY_TABLE_MAP)"}
USED = {REDIS: PurePosixPath(layout.STATE_DIR, REDIS_USED), POSTGRES: PurePosixPath(layout.STATE_DIR, POSTGRES_USED)}
_LOCK = "locks/erasing-unreached.lock"
_WAIT_S = 5.0


@dataclass(frozen=True)
class Unreached:
    """What is still to be erased in a `store`, `at` a place; that of no address for any of those whose address cannot
    be told for sure. It was `asked_at` a time: what was said later stays, as it may be
    that of another person who has got the id. `why` it could not be done when the store was last asked, in words ("":
    it was not)."""

    store: str
    at: Place
    wanted: Wanted
    asked_at: datetime
    why: str = field(default="", compare=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Unreached:
        """That of `as_dict`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        if told["store"] not in (REDIS, POSTGRES):
            raise ValueError("a store that is not known")
        asked_at = datetime.fromisoformat(told["asked_at"])
        if asked_at.tzinfo is None:
            raise ValueError("a time without its zone")
        return cls(told["store"], Place.of(told["at"]), Wanted.of(told["wanted"]), asked_at, str(told.get("why", "")))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = {"store": self.store, "at": self.at.told(), "asked_at": self.asked_at.isoformat()}
        told |= {"why": self.why} if self.why else {}
        return told | {"wanted": self.wanted.as_dict()}

    @property
    def where(self) -> str:
        """In words."""
        if self.at.address:
            return f"{self.store} at {self.at}"
        return f"{self.store}, {self.at}" if self.at.table else self.store


def used_elsewhere(
    vault: Vault, store: str, wanted: Wanted, is_asked: Callable[[Place], bool], failed: str | None = None
) -> tuple[list[Unreached], list[str]]:
    """What each `store` misses that the vault has ever used and that was not asked, and what is to be told of it: of
    the address that has `failed` the caller tells why."""
    used = UsedStores(vault.root, USED[store].name)
    if why := used.problem():
        return [], [f"no other {store} was asked or noted: {why}"]
    missed = [Unreached(store, each, wanted, vault.now()) for each in used.places() if not is_asked(each)]
    return missed, [
        f"{each.where}, which this vault has used, was not asked: {NAMED_BY[store]} does not name it"
        for each in missed
        if each.at.address != failed
    ]


def noted_unreached(vault: Vault, missed: Sequence[Unreached], otherwise: str) -> list[str]:
    """Note what stores have missed; what is to be told of that, which is `otherwise` where it cannot be noted."""
    if not missed:
        return []
    try:
        note_unreached(vault, missed)
    except VaultMemoryError as why:
        return [f"{otherwise}: {why}"]
    return [f"it is done there as soon as it answers, and until then {UNREACHED} says what goes"]


def used_problem(vault: Vault) -> str:
    """Why it is not known which stores were used, in words; "" where it is."""
    return "; ".join(filter(None, (UsedStores(vault.root, path.name).problem() for path in USED.values())))


def note_unreached(vault: Vault, missed: Iterable[Unreached]) -> None:
    """Note what stores have missed, each once, with the later time. Raises `VaultMemoryError` where that cannot be
    noted."""
    with lock_unreached(vault, _WAIT_S):
        noted = {(each.store, each.at, each.wanted): each for each in (*read_unreached(vault), *missed)}
        write_unreached(vault, [*noted.values()])


def lock_unreached(vault: Vault, wait_s: float) -> AbstractContextManager[int]:
    """The lock of whoever changes the note. Raises `Busy`."""
    return files.lock(vault.root / layout.STATE_DIR / _LOCK, wait_s, vault.root)


def read_unreached(vault: Vault) -> list[Unreached]:
    """What is noted. Raises `UsageError` where that cannot be read."""
    try:
        stored = files.read_private(vault.root / UNREACHED, vault.root)
        told = [] if stored is None or stored.startswith(DONE) else json.loads(stored)
        if not isinstance(told, list):
            raise ValueError("no list")
        return [Unreached.of(each) for each in told]
    except (ValueError, KeyError, TypeError, RecursionError, OSError, VaultMemoryError) as error:
        raise UsageError(f"{UNREACHED} is damaged: delete it, then erase again what was to be erased") from error


def write_unreached(vault: Vault, noted: Sequence[Unreached]) -> None:
    """Make this the note; without any the file goes."""
    path = vault.root / UNREACHED
    if noted:
        files.write_private(path, json.dumps([each.as_dict() for each in noted]).encode(), vault.root)
    elif path.exists():
        forget_file(path, vault.root)
