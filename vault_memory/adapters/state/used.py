"""Which shared stores a vault has written to: what is erased here is to be erased there, too, whatever is set then."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.errors import UsageError, VaultMemoryError

REDIS_USED = "redis-used"
POSTGRES_USED = "postgres-used"


@dataclass(frozen=True)
class Place:
    """Where rows or keys are: the `address` that was set, without its password ("" where that cannot be told for sure);
    of a table also what the server says of itself: which it is, its database, the table with its schema, and the
    `number` that these two have whatever they are called. Two servers may have one address by turns, and a server that
    was copied says the same as the first, so both count. Without a `server` it stands for each at that address, without
    a `table` for all tables; without a `database` the table has the name that is mapped, which may lack its schema."""

    address: str
    server: str = ""
    database: str = ""
    table: str = ""
    number: str = ""

    def __str__(self) -> str:
        """In words, "" for nothing that is known."""
        return f"{self.address}, table {self.table}".removeprefix(", ") if self.table else self.address

    @classmethod
    def of(cls, told: object) -> Place:
        """That of `told`. Raises `TypeError` for anything else."""
        if isinstance(told, str):
            return cls(told)
        if not isinstance(told, dict) or not all(isinstance(each, str) for each in told.values()):
            raise TypeError("neither an address nor a place")
        return cls(**told)

    def told(self) -> str | dict[str, str]:
        """For JSON: of what is known by its address alone, that."""
        return asdict(self) if self.server or self.table else self.address

    def is_at(self, other: Place) -> bool:
        """Whether this is the `other` one, or stands for it."""
        if self.address != other.address or (self.server and self.server != other.server):
            return False
        if self.number and other.number:
            return self.number == other.number
        if not self.database:
            return not self.table or f".{other.table}".endswith(f".{self.table}")
        return (self.database, self.table) == (other.database, other.table)


class UsedStores:
    """The places of the stores of one kind, in a private file of that name in the state of the vault at `root`. Threads
    and processes may share it."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self.path = PurePosixPath(layout.STATE_DIR, name)
        self._lock = root / layout.STATE_DIR / "locks" / f"{name}.lock"

    def places(self) -> list[Place]:
        """All of them, in the order of their first use. Raises `UsageError` for a file that does not say which."""
        try:
            stored = files.read_private(self._root / self.path, self._root)
            told = [] if stored is None else json.loads(stored)
            if not isinstance(told, list):
                raise TypeError("no list")
            return [*map(Place.of, told)]
        # The last two: a folder, or a link.
        except (ValueError, TypeError, RecursionError, OSError, VaultMemoryError) as error:
            raise UsageError(
                f"{self.path} is damaged, so which stores this vault has used is not known: delete it; what was erased "
                "meanwhile is to be erased again with each of them set"
            ) from error

    def has(self, place: Place) -> bool:
        """Whether one is noted for sure."""
        try:
            return place in self.places()
        except UsageError:
            return False

    def problem(self) -> str:
        """Why they are not known, in words; "" where they are."""
        try:
            self.places()
        except UsageError as error:
            return str(error)
        return ""

    def note(self, place: Place) -> None:
        """Note one, durably. Raises `Busy`, `Unwritable`, or `UsageError` for a damaged file."""
        if self.has(place):
            return
        with files.lock(self._lock, below=self._root):
            if place not in (known := self.places()):
                told = [each.told() for each in (*known, place)]
                files.write_private(self._root / self.path, json.dumps(told).encode(), self._root)
