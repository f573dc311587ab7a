"""Git's index, and the files of the working tree: those that git tracks or would, without what is erased; and what
files are called then."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.references import TIMEOUT_S, trees_of
from vault_memory.adapters.erasing.request import Request
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.git import SUBMODULE_MODE, ObjectReader, Repository, object_id
from vault_memory.adapters.scan import abandoned_below, walk
from vault_memory.core import layout
from vault_memory.core.graph import numbered
from vault_memory.errors import HistoryError

LOCK, INDEX = "vault-memory/erasing.lock", "vault-memory/erasing.index"
_DRAFT = ".link.vault-memory.tmp"


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


def with_names(top: Path, request: Request) -> Request:
    """The request with what each file and folder is called without the texts, in history and on the disk. It is decided
    once for all: what a run that is killed has called so means the same to the next."""
    if not request.texts:
        return request
    folders: dict[PurePosixPath, set[bytes]] = {}
    staged = [each for path in _in_index(top) for each in (path, *path.parents[:-1])]
    for path in (*_on_disk(top), *staged):
        folders.setdefault(path.parent, set()).add(os.fsencode(path.name))
    with ObjectReader(top) as reader:
        rewrite = Rewrite(reader.read, object_id, request, {})
        for folder, names in sorted(folders.items()):  # what is there today keeps a name without a number
            rewrite.names.hear(name for name in sorted(names) if not rewrite.is_spared(folder / os.fsdecode(name)))
        for tree in trees_of(top):
            rewrite.hear_names(tree)
    called = rewrite.names.settled().items()
    return replace(request, called=tuple((os.fsdecode(old), os.fsdecode(new)) for old, new in called))


def _in_index(top: Path) -> list[PurePosixPath]:
    listed = git.run(top, "ls-files", "--cached", "-z")
    return [*dict.fromkeys(PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)]


def index_entries(top: Path, rewrite: Rewrite) -> list[Entry]:
    found = []
    for row in filter(None, git.run(top, "ls-files", "--stage", "-z").split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, blob, stage = facts.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        now = blob if mode == SUBMODULE_MODE.decode() else rewrite.blob_at(path, blob)
        found.append(Entry(mode, blob, stage, path, rewrite.path(path), now))
    return found


def mask_files(top: Path, entries: Collection[Entry], rewrite: Rewrite) -> Iterator[PurePosixPath]:
    """Take the texts out of the files that git tracks, or would, and delete what killed writers have left beside any,
    which git ignores. What a file was called goes last."""
    for left in abandoned_below(top):
        if not rewrite.is_spared(PurePosixPath(left.relative_to(top))):
            left.unlink(missing_ok=True)
    listed = git.run(top, "ls-files", "--others", "--exclude-standard", "-z")
    others = (PurePosixPath(os.fsdecode(name)) for name in listed.split(b"\0") if name)
    for path in dict.fromkeys([*(entry.path for entry in entries), *others]):
        place, now = top / path, rewrite.path(path)
        if place.is_symlink() or not place.is_file():
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


def named_on_disk(top: Path, rewrite: Rewrite) -> list[PurePosixPath]:
    """What is on the disk, ignored or not, whose name or, of a symbolic link, whose target says the texts."""
    return [path for path in _on_disk(top) if _says(top, path, rewrite)]


def rename_on_disk(top: Path, rewrite: Rewrite) -> Iterator[PurePosixPath]:
    """Give another name to what is still called by the texts, after `mask_files`: folders, links, files that git
    ignores. Each goes into its place by itself, what is in a folder first, so a kill leaves nothing half done."""
    for path in reversed(_on_disk(top)):
        place, now, is_said = top / path, rewrite.path(path), _says(top, path, rewrite)
        if now is None or (now == path and not is_said):
            if is_said:
                place.unlink()
                yield path
            continue
        (top / now).parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            target = rewrite.content(path, os.fsencode(os.readlink(place)))
            draft = place.with_name(_DRAFT)
            draft.unlink(missing_ok=True)  # of a run that was killed
            os.symlink(target, os.fsencode(draft))
            os.replace(draft, _free(top / now) if not (top / now).is_symlink() else top / now)
            if now != path:
                place.unlink()
        elif place.is_dir():
            (top / now).mkdir(exist_ok=True)
            shutil.copymode(place, top / now)
            with suppress(OSError):  # somebody writes into it: the second look names it
                place.rmdir()
        else:
            os.rename(place, _free(top / now))
        files.sync_folder((top / now).parent)
        if is_said:
            yield path


def _on_disk(top: Path) -> list[PurePosixPath]:
    """All files, links and folders but git's own and the state, a folder before what is in it."""
    found = list[PurePosixPath]()
    for folder, below, names in walk(top):
        relative = PurePosixPath(Path(folder).relative_to(top))
        below[:] = [name for name in below if str(relative / name) not in (".git", layout.STATE_DIR)]
        found += [relative / name for name in (*below, *names) if str(relative / name) != ".git"]
    return found


def _says(top: Path, path: PurePosixPath, rewrite: Rewrite) -> bool:
    """Whether the last name in a path, or a link's target, says the texts; or it is a link that goes."""
    if (now := rewrite.path(path)) is None:
        return (top / path).is_symlink()
    if (top / path).is_symlink():
        target = os.fsencode(os.readlink(top / path))
        return now.name != path.name or rewrite.content(path, target) != target
    return now.name != path.name


def _free(place: Path) -> Path:
    """The path, with a number where somebody has put something there meanwhile."""
    if not os.path.lexists(place):
        return place
    taken = set(map(os.fsencode, os.listdir(place.parent)))
    return place.with_name(os.fsdecode(numbered(os.fsencode(place.name), taken)))


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
    # What git has noted of untracked files names folders; with `keep` it would not be dropped.
    git.run(top, "-c", "core.untrackedCache=false", "update-index", "--no-untracked-cache", extra=extra)
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
