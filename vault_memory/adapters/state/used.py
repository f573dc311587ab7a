"""Which shared stores a vault has written to: what is erased here is to be erased there, too, whatever is set then."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.errors import UsageError, VaultMemoryError

REDIS_USED = "redis-used"
POSTGRES_USED = "postgres-used"


class UsedStores:
    """The addresses of the stores of one kind, without passwords, in a private file of that name in the state of the
    vault at `root`. Threads and processes may share it."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self.path = PurePosixPath(layout.STATE_DIR, name)
        self._lock = root / layout.STATE_DIR / "locks" / f"{name}.lock"

    def addresses(self) -> list[str]:
        """All of them, in the order of their first use. Raises `UsageError` for a file that does not say which."""
        try:
            stored = files.read_private(self._root / self.path, self._root)
            told = [] if stored is None else json.loads(stored)
        except (ValueError, RecursionError, OSError, VaultMemoryError):  # the last two: a folder, or a link
            told = None
        if isinstance(told, list) and all(isinstance(each, str) for each in told):
            return told
        raise UsageError(
            f"{self.path} is damaged, so which stores this vault has used is not known: delete it; what was erased "
            "meanwhile is to be erased again with each of them set"
        )

    def has(self, address: str) -> bool:
        """Whether one is noted for sure."""
        try:
            return address in self.addresses()
        except UsageError:
            return False

    def problem(self) -> str:
        """Why they are not known, in words; "" where they are."""
        try:
            self.addresses()
        except UsageError as error:
            return str(error)
        return ""

    def note(self, address: str) -> None:
        """Note one, durably. Raises `Busy`, `Unwritable`, or `UsageError` for a damaged file."""
        if self.has(address):
            return
        with files.lock(self._lock, below=self._root):
            if address not in (known := self.addresses()):
                files.write_private(self._root / self.path, json.dumps([*known, address]).encode(), self._root)
