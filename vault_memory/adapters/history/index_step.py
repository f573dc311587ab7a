"""Keep git's index in step with our commits, and every other entry of it as the person left it.

The new index is prepared beside the old one and only renamed over it under git's own `index.lock`, which is thus held
for a millisecond or two. A lock that was there before is somebody else's and is never removed.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git.index_file import CONFLICT, IndexFile, Stat, UnknownIndex, Update
from vault_memory.adapters.git.objects import object_id
from vault_memory.adapters.git.repository import Repository, claim, is_ours

Folders = Mapping[PurePosixPath, tuple[str | None, str | None]]
"""Of each folder above a change, the tree that HEAD held and the one it will hold."""


class IndexStep:
    """One repository's index on its way from one commit to the next. Paths are from the repository's top."""

    def __init__(self, repository: Repository) -> None:
        self._top = repository.top
        self._index = repository.git_dir / "index"
        self.lock_file = repository.git_dir / "index.lock"
        self._draft = _draft(repository)
        self._data = files.read(self._index)
        self._parsed = _parse(self._data)

    def blobs(self, paths: list[PurePosixPath]) -> dict[PurePosixPath, str | None]:
        """The blob that the index holds for each path: None for none, `CONFLICT` for what is not ours to judge."""
        if self._parsed is not None:
            return {path: self._parsed.blob(os.fsencode(str(path))) for path in paths}
        found: dict[PurePosixPath, str | None] = dict.fromkeys(paths)
        listed = git.run(self._top, "ls-files", "--stage", "-z", "--", *map(str, paths))
        for row in filter(None, listed.split(b"\0")):
            facts, _, name = row.partition(b"\t")
            _, blob, stage = facts.decode().split()
            found[PurePosixPath(os.fsdecode(name))] = blob if stage == "0" else CONFLICT
        return found

    def prepare(self, changes: Mapping[PurePosixPath, tuple[str, str] | None], folders: Folders) -> None:
        """Make the new index: (mode, blob) for each path, None to take it out."""
        if self._parsed is None:
            self._prepare_by_git(changes)
            return
        updates = {
            os.fsencode(str(path)): Update(int(entry[0], 8), entry[1], self._stat(path, entry[1])) if entry else None
            for path, entry in changes.items()
        }
        trees = {b"" if str(folder) == "." else os.fsencode(str(folder)): both for folder, both in folders.items()}
        with self._draft.open("wb", buffering=0) as draft:
            for piece in self._parsed.patched(updates, trees):
                files.write_all(draft.fileno(), piece)
        files.adopt(self._draft)
        # An entry whose file is as young as the index is looked at again by git, since it may have changed within one
        # tick of the clock. A new index with a new time would end that suspicion for entries that we have not looked at.
        shutil.copystat(self._index, self._draft)

    def _prepare_by_git(self, changes: Mapping[PurePosixPath, tuple[str, str] | None]) -> None:
        self._draft.unlink(missing_ok=True)
        if self._data is not None:
            self._draft.write_bytes(self._data)
        rows = [
            (f"{entry[0]} {entry[1]}\t" if entry else f"0 {'0' * 40}\t").encode() + os.fsencode(str(path)) + b"\0"
            for path, entry in changes.items()
        ]
        extra = {"GIT_INDEX_FILE": str(self._draft)}
        git.run(self._top, "update-index", "-z", "--index-info", stdin=b"".join(rows), extra=extra, timeout_s=120)

    def lock(self) -> bool:
        """Take git's `index.lock`; False when somebody else holds it."""
        return claim(self._draft, self.lock_file)

    def is_current(self) -> bool:
        """Whether the index is still the one that was read."""
        try:
            with self._index.open("rb") as index:
                if self._data is None or os.fstat(index.fileno()).st_size != len(self._data):
                    return False
                index.seek(-20, os.SEEK_END)
                # The checksum stands for all of it; a git told to leave it out (zeros) makes us compare everything.
                tail = index.read()
                return tail == self._data[-20:] and (any(tail) or self._index.read_bytes() == self._data)
        except FileNotFoundError:
            return self._data is None

    def publish(self) -> None:
        """Make the prepared index the index, which gives the lock back."""
        os.replace(self.lock_file, self._index)
        self._draft.unlink(missing_ok=True)

    def unlock(self) -> None:
        """Give the lock back, if it is ours, and leave the index as it is."""
        _release(self._draft, self.lock_file)

    @staticmethod
    def release(repository: Repository) -> None:
        """Remove the lock that a killed flush of ours has left; the caller knows that none is running."""
        _release(_draft(repository), repository.git_dir / "index.lock")

    def _stat(self, path: PurePosixPath, blob: str) -> Stat:
        """What git is to remember of a file that is what was committed; nothing, so that it looks itself, of any other."""
        place = Path(self._top, path)
        try:
            seen = place.lstat()
            if not stat.S_ISREG(seen.st_mode) or object_id("blob", place.read_bytes()) != blob:
                return Stat()
            if place.lstat().st_mtime_ns != seen.st_mtime_ns:
                return Stat()
        except OSError:
            return Stat()
        return Stat(
            seen.st_ctime_ns, seen.st_mtime_ns, seen.st_dev, seen.st_ino, seen.st_uid, seen.st_gid, seen.st_size
        )


def _draft(repository: Repository) -> Path:
    return repository.git_dir / "vault-memory" / "index.new"


def _release(draft: Path, lock: Path) -> None:
    if is_ours(draft, lock):
        lock.unlink(missing_ok=True)
    draft.unlink(missing_ok=True)


def _parse(data: bytes | None) -> IndexFile | None:
    """The index, if it is one that we know how to change; else git must."""
    if data is None:
        return None
    try:
        return IndexFile(data)
    except UnknownIndex:
        return None
