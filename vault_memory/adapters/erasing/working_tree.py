"""Git's index, and the files of the working tree: those that git tracks or would, without what is erased."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.references import TIMEOUT_S
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.git import SUBMODULE_MODE, Repository
from vault_memory.errors import HistoryError

LOCK, INDEX = "vault-memory/erasing.lock", "vault-memory/erasing.index"


@dataclass(frozen=True)
class Entry:
    """An entry of git's index, and what it is now: None for one that goes."""

    mode: str
    blob: str
    stage: str
    path: PurePosixPath
    now: PurePosixPath | None
    blob_now: str

    @property
    def has_changed(self) -> bool:
        return self.now != self.path or self.blob_now != self.blob


def index_entries(top: Path, rewrite: Rewrite) -> list[Entry]:
    found = []
    for row in filter(None, git.run(top, "ls-files", "--stage", "-z").split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, blob, stage = facts.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        is_kept = mode == SUBMODULE_MODE.decode() or rewrite.is_spared(path)
        found.append(Entry(mode, blob, stage, path, rewrite.path(path), blob if is_kept else rewrite.blob(blob)))
    return found


def mask_files(top: Path, entries: Collection[Entry], rewrite: Rewrite) -> Iterator[PurePosixPath]:
    """Take the texts out of the files that git tracks, or would. What a file was called goes last."""
    listed = git.run(top, "ls-files", "--others", "--exclude-standard", "-z")
    others = (PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)
    for path in dict.fromkeys([*(entry.path for entry in entries), *others]):
        place, now = top / path, rewrite.path(path)
        if place.is_symlink() or not place.is_file():
            continue
        if files.is_temporary(path.name) and place in files.abandoned(place.parent):
            place.unlink()  # of a writer that was killed
            continue
        old = files.read(place, None) or b""
        new = rewrite.content(path, old)
        if now == path and new == old:
            continue
        if now is not None:
            if now != path:
                files.replace(top / now, new, files.read(top / now, None), top)
                shutil.copymode(place, top / now)
            else:
                files.replace(place, new, old, top)
        if now != path:
            files.remove(place, old, top)
        yield path


@contextmanager
def index_lock(repository: Repository) -> Iterator[None]:
    """Hold `index.lock`, without which nobody commits or stages: what they add would be swept. One that a kill has
    left is ours if it is a second name of our file."""
    ours, lock = repository.git_dir / LOCK, repository.git_dir / "index.lock"
    if ours.exists() and lock.exists() and ours.samefile(lock):
        lock.unlink()
    ours.unlink(missing_ok=True)
    ours.touch(mode=0o600, exist_ok=False)
    try:
        os.link(ours, lock)
    except FileExistsError as error:
        raise HistoryError(f"git is at work ({lock}): what is being erased goes on with the next change") from error
    finally:
        if not lock.exists():
            ours.unlink()
    try:
        yield
    finally:
        lock.unlink()
        ours.unlink()


def write_index(repository: Repository, entries: Collection[Entry]) -> None:
    """Bring the entries of git's index to what they are now. What a person has staged stays staged."""
    top, index, draft = repository.top, repository.git_dir / "index", repository.git_dir / INDEX
    changed = [entry for entry in entries if entry.has_changed]
    if not index.exists():
        return
    draft.unlink(missing_ok=True)
    shutil.copy2(index, draft)
    extra = {"GIT_INDEX_FILE": str(draft)}
    flags: dict[str, bytes] = {"--skip-worktree": b"", "--assume-unchanged": b""}
    now = {os.fsencode(entry.path): os.fsencode(entry.now) for entry in changed if entry.now}
    for row in git.run(top, "ls-files", "-v", "-z", extra=extra).split(b"\0"):
        if row[2:] in now:
            flags["--skip-worktree"] += now[row[2:]] + b"\0" if row[:1] in b"Ss" else b""
            flags["--assume-unchanged"] += now[row[2:]] + b"\0" if row[:1].islower() else b""
    rows = [b"0 %s\t%s\0" % (b"0" * 40, os.fsencode(entry.path)) for entry in changed if entry.now != entry.path]
    rows += [
        f"{entry.mode} {entry.blob_now} {entry.stage}\t".encode() + os.fsencode(entry.now) + b"\0"
        for entry in changed
        if entry.now
    ]
    if rows:
        git.run(top, "update-index", "-z", "--index-info", stdin=b"".join(rows), extra=extra, timeout_s=TIMEOUT_S)
    for flag, names in flags.items():
        if names:
            git.run(top, "update-index", "-z", flag, "--stdin", stdin=names, extra=extra)
    git.run(top, "update-index", "--clear-resolve-undo", extra=extra, ok=(0, 129))
    if changed:  # its list of folders still names those that are gone
        git.run(top, "write-tree", "--missing-ok", extra=extra, ok=(0, 128), timeout_s=TIMEOUT_S)
    git.run(top, "update-index", "-q", "--refresh", extra=extra, ok=(0, 1), timeout_s=TIMEOUT_S)
    with draft.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(draft, index)
    files.sync_folder(index.parent)


def in_working_tree(top: Path) -> list[PurePosixPath]:
    listed = git.run(top, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    return [*dict.fromkeys(PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)]


def files_of(repository: Repository) -> list[PurePosixPath]:
    """All files in the working tree: from the repository's top."""
    return [*in_working_tree(repository.top), *ignored_files(repository)]


def ignored_files(repository: Repository) -> list[PurePosixPath]:
    """The files in the working tree that git does not track, and would not: from the repository's top."""
    listed = git.run(repository.top, "ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    return [PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name]
