"""Small JSON files under `.vault-memory/`: what a service counts or notes for later runs and other processes.

All of it is derived or may be lost: anybody may delete these files at any time. So a missing or damaged file reads as
an empty object, and a write is atomic, but its name is not synced to disk. A link, or a file that git tracks, came from
elsewhere and is refused (`ForeignFile`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_memory.adapters import files, git
from vault_memory.core import layout, reading

LOCK_TIMEOUT_S = 5.0


class StateFile:
    """The JSON object in `.vault-memory/NAME.json` of the vault at `root`; a name may have folders: `jobs/sync`."""

    def __init__(self, root: Path, name: str) -> None:
        self.path = root / layout.STATE_DIR / f"{name}.json"
        self._root = root

    def read(self) -> dict[str, Any]:
        """The object; empty when the file is missing, damaged or holds something else. Raises `ForeignFile`."""
        content = files.read_private(self.path, self._root)
        if content is not None:
            git.refuse_tracked(self._root, self.path)
        try:
            state = reading.json_value(content or b"{}")
        except ValueError:
            return {}
        return state if isinstance(state, dict) else {}

    def write(self, state: Mapping[str, Any]) -> None:
        """Replace the object. Concurrent writers hold a lock. Raises `Unwritable` or `ForeignFile`."""
        text = json.dumps(state, ensure_ascii=False, indent=1) + "\n"
        content = text.encode(
            "utf-8", "backslashreplace"
        )  # a half of a pair, as in a name that is not UTF-8, as JSON has it
        files.write_private(self.path, content, self._root, sync=False)

    def update(self, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Replace the object by what `change` makes of it, under the lock. Raises `Busy` or `Unwritable`."""
        with self.lock():
            self.write(change(self.read()))

    def remove(self) -> None:
        """Delete the file if there is one."""
        files.remove_private(self.path, self._root)

    @contextmanager
    def lock(self, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
        """Hold the lock of this file against other threads and processes. Raises `Busy`."""
        with files.lock(self.path.with_suffix(".lock"), timeout_s, self._root):
            yield
