"""Keep git's index in step with our commits, and every other entry of it as the person left it.

The new index is prepared beside the old one and only renamed over it under git's own `index.lock`, which is thus held
for a millisecond and made by nobody else's hand: a lock that was there before us is never removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import PurePosixPath

from vault_memory.adapters.history import git
from vault_memory.adapters.history.repository import Repository, claim, is_ours

_INTENT_TO_ADD = b"\0"


class IndexStep:
    """The index of one repository, on its way from one commit to the next. Paths here are from the repository's top."""

    def __init__(self, repository: Repository) -> None:
        self._top = repository.top
        self._index = repository.git_dir / "index"
        self._lock = repository.git_dir / "index.lock"
        self._draft = repository.git_dir / "vault-memory" / "index.new"
        self._seen: object = None

    def entries(self, paths: list[PurePosixPath]) -> dict[PurePosixPath, str | None]:
        """The blob that the index holds for each path (None: none). A path in conflict has the blob "conflict"."""
        listed = git.run(self._top, "ls-files", "--stage", "-z", "--", *map(str, paths))
        found: dict[PurePosixPath, str | None] = dict.fromkeys(paths)
        for row in filter(None, listed.split(b"\0")):
            facts, _, name = row.partition(b"\t")
            _, blob, stage = facts.decode().split()
            found[PurePosixPath(os.fsdecode(name))] = blob if stage == "0" else "conflict"
        return found

    def prepare(self, modes: Mapping[PurePosixPath, tuple[str, str] | None]) -> None:
        """Make the new index: (mode, blob) of each path, None to take it out."""
        self._seen = self._signature()
        if self._index.exists():
            shutil.copyfile(self._index, self._draft)
        else:
            self._draft.unlink(missing_ok=True)
        rows = [
            (f"{entry[0]} {entry[1]}\t" if entry else f"0 {'0' * 40}\t").encode() + os.fsencode(str(path)) + b"\0"
            for path, entry in modes.items()
        ]
        extra = {"GIT_INDEX_FILE": str(self._draft)}
        git.run(self._top, "update-index", "-z", "--index-info", stdin=b"".join(rows), extra=extra)

    def lock(self) -> bool:
        """Take git's `index.lock`; False when somebody else holds it."""
        return claim(self._draft, self._lock)

    def is_current(self) -> bool:
        """Whether the index is still the one that `prepare` started from."""
        return self._signature() == self._seen

    def publish(self) -> None:
        """Make the prepared index the index, and give the lock back."""
        os.replace(self._lock, self._index)
        self._draft.unlink(missing_ok=True)

    def unlock(self) -> None:
        """Give the lock back and leave the index as it is."""
        if is_ours(self._draft, self._lock):
            self._lock.unlink(missing_ok=True)
        self._draft.unlink(missing_ok=True)

    def _signature(self) -> object:
        try:
            status = self._index.stat()
        except FileNotFoundError:
            return None
        with self._index.open("rb") as index:
            index.seek(max(status.st_size - 20, 0))
            return status.st_ino, status.st_size, status.st_mtime_ns, index.read()
