"""A folder of JSON files under `.vault-memory/`, such as one for each conversation of a user, which go all at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.state.json_file import StateFile


class StateFolder:
    """The files in `.vault-memory/NAME/` of the vault at `root`; `NAME.json` counts how often they were dropped."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self._name = root, name
        self._state = StateFile(root, name)

    def file(self, name: str) -> StateFile:
        """One of the files."""
        return StateFile(self._root, f"{self._name}/{name}")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the lock of all of them. Raises `Busy`."""
        with self._state.lock():
            yield

    def dropped(self) -> int:
        """How often they were dropped: what a process keeps from before that is over."""
        count = self._state.read().get("dropped")
        return count if isinstance(count, int) else 0

    def drop(self) -> None:
        """Delete all of them. Raises `Busy`, `Unwritable` or `ForeignFile`."""
        folder = self._state.path.with_suffix("")
        with self.lock():
            self._state.write({"dropped": self.dropped() + 1})
            for name in files.names(folder):
                if name.endswith(".json"):
                    files.remove_private(folder / name, self._root)
