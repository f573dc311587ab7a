"""Erase from a git repository: new objects, files on the disk, references and git's index, logs, and then what was.

Each step may be done again, from any state that a kill can leave: what holds nothing of the texts stays as it is. So
what is asked for stands in a private file until all is done, and who finds that file does it all again.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.former import JOURNAL, MAP_FILE, read_map, write_map
from vault_memory.adapters.erasing.pack import NewPack
from vault_memory.adapters.erasing.references import (
    TIMEOUT_S,
    Step,
    called,
    move_references,
    moves_of,
    rewrite_all,
)
from vault_memory.adapters.erasing.request import Erased, Request
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.erasing.working_tree import (
    INDEX,
    LOCK,
    index_entries,
    index_lock,
    mask_files,
    rename_on_disk,
    with_names,
    write_index,
)
from vault_memory.adapters.git import ObjectReader, Repository
from vault_memory.adapters.scan import walk
from vault_memory.core import reading
from vault_memory.errors import Changed, DiskFull, ForeignFile, HistoryError, Unwritable

_LEFT_ALONE = ("objects", "refs", "index", "packed-refs", JOURNAL, LOCK, INDEX, MAP_FILE, "vault-memory/lock")
_OF_MESSAGES = ("COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG")
_MET = "vault-memory/met"
_OF_ALL_OBJECTS = ("info/commit-graph", "pack/multi-pack-index")
_NO_ROOM = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "Out of diskspace")
"""How the system says that a disk is full, and git."""
_HARDLY_ANY_BYTES = 16_000_000


def erase_from_git(repository: Repository, request: Request, step: Step = lambda _: None) -> Erased:
    """Erase what is asked for. The caller holds the vault's lock, and no change waits for its commit.

    Raises `HistoryError` where that cannot be done, with nothing changed if it names the repository's state, and
    `Changed` when a file or a branch changes at each attempt; it is taken up again then by `finish_erasing`, and so it
    is after `DiskFull`.
    """
    request.erasure()
    refuse_erasing(repository)
    request = with_names(repository.top, request)
    told = json.dumps(request.as_dict()).encode()
    files.write_private(repository.common_dir / JOURNAL, told, repository.common_dir)
    step("asked")
    with full_disk_told(repository.top):
        return _erase(repository, request, step)


def finish_erasing(repository: Repository, step: Step = lambda _: None) -> Erased | None:
    """Do again what a kill has ended; None where nothing was. The caller holds the vault's lock."""
    journal = repository.common_dir / JOURNAL
    try:
        if (stored := files.read_private(journal, repository.common_dir)) is None:
            return None
        request = Request.of(json.loads(stored))
    except (ValueError, KeyError, TypeError, ForeignFile) as error:
        raise HistoryError(f"{journal} is damaged: delete it, then erase again what was to be erased") from error
    refuse_erasing(repository)
    with full_disk_told(repository.top):
        return _erase(repository, with_names(repository.top, request), step)


@contextmanager
def full_disk_told(folder: Path, is_begun: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Raise `DiskFull` for an error that comes from a full disk, with what is left to do: `is_begun` says whether that
    is noted by then."""
    try:
        yield
    except DiskFull:
        raise
    except (OSError, Unwritable, git.Failed) as error:
        if not _is_full(folder, error):
            raise
        left = "nothing was erased: free some space, then erase it again"
        if is_begun():
            left = "not all is erased yet: free some space, then the next command goes on with it"
        raise DiskFull(f"the disk is full, and {left} ({error})") from error


def _is_full(folder: Path, error: Exception) -> bool:
    """Git and SQLite do not always say why they could not write: then what is left of the disk does."""
    if any(words in str(error) for words in _NO_ROOM):
        return True
    says_why = isinstance(error, OSError) or isinstance(error.__cause__, OSError)
    return not says_why and shutil.disk_usage(folder).free < _HARDLY_ANY_BYTES


def refuse_erasing(repository: Repository) -> None:
    """Raise `HistoryError` for a repository of which not all can be made anew."""
    where = repository.common_dir
    if repository.prefix.parts:
        why = f"{repository.top} holds more than the vault: its other files would get other commits, too"
    elif reason := repository.paused():
        why = reason
    elif (where / "shallow").exists():
        why = "this clone lacks a part of its history: `git fetch --unshallow` brings it"
    elif (where / "worktrees").is_dir() and any((where / "worktrees").iterdir()):
        why = "there are other working trees: `git worktree list` names them, `git worktree remove` takes one away"
    elif (where / "objects/info/alternates").exists():
        why = "objects of another repository belong to this one: `git repack -a -d` copies them, then delete "
        why += str(where / "objects/info/alternates")
    elif [*(where / "objects/pack").glob("*.promisor")]:
        why = "this is a clone without all objects: make a whole one"
    else:
        return
    raise HistoryError(f"nothing can be erased from git's history now: {why}")


def _erase(repository: Repository, request: Request, step: Step) -> Erased:
    where, top = repository.common_dir, repository.top
    with ObjectReader(top) as reader, NewPack(where, top) as pack:

        def read(name: str) -> tuple[str, bytes]:
            return made[name] if name in made else reader.read(name)

        def add(kind: str, body: bytes) -> str:
            name = pack.add(kind, body)
            if kind == "tag":
                made[name] = (kind, body)
            return name

        made: dict[str, tuple[str, bytes]] = {}
        former = read_map(where)
        rewrite = Rewrite(read, add, request, former)
        rewrite_all(top, rewrite)
        moves = moves_of(top, rewrite)
        entries = index_entries(top, rewrite)
        pack.finish()
    step("objects written")
    write_map(where, former)
    step("map written")
    with index_lock(repository):
        changed = tuple(dict.fromkeys([*mask_files(top, entries, rewrite), *rename_on_disk(top, rewrite)]))
        step("files written")
        moved = move_references(repository, moves, rewrite, step)
        write_index(repository, entries)
        step("index written")
        _mask_git_files(where, rewrite)
        step("logs written")
        _drop_old_objects(where, top, step)
        files.remove_private(where / JOURNAL, where)
    now = [(path, rewrite.path(path)) for path in changed]
    renamed = tuple(path for old, path in now if path is not None and path.name != old.name)
    tags = tuple(called(each.name_now) for each in moves if each.id in rewrite.emptied_tags)
    return Erased(rewrite.commits, moved, changed, rewrite.people, renamed, tags)


# What else git keeps --------------------------------------------------------------------------------------------------


def _mask_git_files(where: Path, rewrite: Rewrite) -> None:
    """Take the texts out of logs, messages, settings and all else in git's folder, and name commits as they are now.
    What killed writers of ours have left there goes."""
    for folder, below, names in walk(where):
        relative = Path(folder).relative_to(where)
        below[:] = [name for name in below if str(relative / name) not in _LEFT_ALONE]
        for left in files.abandoned(Path(folder)):
            left.unlink()
        for name in names:
            path = Path(folder, name)
            if str(relative / name) in _LEFT_ALONE or path.is_symlink() or not path.is_file() or name.endswith(".lock"):
                continue
            made = partial(_log, rewrite) if relative.parts[:1] == ("logs",) else rewrite.words.told
            if name in _OF_MESSAGES:
                made = rewrite.draft
            elif str(relative / name) == _MET:
                made = partial(_met, rewrite)
            while True:
                old = files.read(path, None) or b""
                new = made(old)
                try:
                    files.replace(path, new, old, where)
                except Changed:
                    continue
                break


def _log(rewrite: Rewrite, old: bytes) -> bytes:
    """A log of a reference, without the lines of our own moves."""
    rows = []
    for row in reading.lines(old, keep_ends=True):
        told = rewrite.log(row)
        is_ours = told[:40] == told[41:81] and row[:40] != row[41:81]
        rows += [] if is_ours else [told]
    return b"".join(rows)


def _met(rewrite: Rewrite, old: bytes) -> bytes:
    """The length of a log, and the line of it that was met last."""
    size, blank, row = old.partition(b" ")
    return size + blank + (rewrite.log(row) if row else row)


def _drop_old_objects(where: Path, top: Path, step: Step) -> None:
    """Pack what is reached anew, and delete all other objects."""
    objects = where / "objects"
    for name in _OF_ALL_OBJECTS:
        (objects / name).unlink(missing_ok=True)
    shutil.rmtree(objects / "info/commit-graphs", ignore_errors=True)
    for pattern in ("*.keep", ".tmp-*"):  # a pack that a person keeps, and what a repack that was killed has left
        for kept in (objects / "pack").glob(pattern):
            kept.unlink()
    git.run(top, "repack", "-a", "-d", "-q", timeout_s=TIMEOUT_S, memory_bytes=None)
    step("packed")
    git.run(top, "prune", "--expire=now", timeout_s=TIMEOUT_S, memory_bytes=None)
    git.give_to_owner(where)
    step("pruned")
