"""Erase from a git repository: new objects, files on the disk, references and git's index, logs, and then what was.

Each step may be done again, from any state that a kill can leave: what holds nothing of the texts stays as it is. So
what is asked for stands in a private file until all is done, and who finds that file does it all again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.erasing.former import JOURNAL, MAP_FILE, read_map, write_map
from vault_memory.adapters.erasing.pack import NewPack
from vault_memory.adapters.erasing.rewrite import Rewrite
from vault_memory.adapters.git import SUBMODULE_MODE, ObjectReader, Repository
from vault_memory.adapters.scan import walk
from vault_memory.core.erasing import Erasure
from vault_memory.errors import Changed, HistoryError

_LOCK, _INDEX = "vault-memory/erasing.lock", "vault-memory/erasing.index"
_TIMEOUT_S = 1800.0
_LEFT_ALONE = ("objects", "refs", "index", "packed-refs", JOURNAL, _LOCK, _INDEX, MAP_FILE, "vault-memory/lock")
_OF_ALL_OBJECTS = ("info/commit-graph", "pack/multi-pack-index")

Step = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What is erased: texts, files and folders (`gone`), but no text in the folders that are `spared`. Paths are from
    the repository's top. Raises `UsageError` for a text that is too short, and for nothing at all."""

    texts: tuple[str, ...] = ()
    gone: tuple[PurePosixPath, ...] = ()
    spared: tuple[PurePosixPath, ...] = ()

    def erasure(self) -> Erasure | None:
        """The texts as they are looked for; None where only files go."""
        return Erasure(self.texts) if self.texts or not self.gone else None


@dataclass(frozen=True)
class Erased:
    """What was done: commits made anew, references that moved, and files on the disk that changed."""

    commits: int
    refs: int
    files: tuple[PurePosixPath, ...]


def erase_from_git(repository: Repository, request: Request, step: Step = lambda _: None) -> Erased:
    """Erase what is asked for. The caller holds the vault's lock, and no change waits for its commit.

    Raises `HistoryError` where that cannot be done, with nothing changed if it names the repository's state, and
    `Changed` when a file or a branch changes at each attempt; it is taken up again then by `finish_erasing`.
    """
    request.erasure()
    _refuse(repository)
    told = {"texts": request.texts, "gone": [*map(str, request.gone)], "spared": [*map(str, request.spared)]}
    files.write_private(repository.common_dir / JOURNAL, json.dumps(told).encode(), repository.common_dir)
    step("asked")
    return _erase(repository, request, step)


def finish_erasing(repository: Repository, step: Step = lambda _: None) -> Erased | None:
    """Do again what a kill has ended; None where nothing was. The caller holds the vault's lock."""
    journal = repository.common_dir / JOURNAL
    if (stored := files.read_private(journal, repository.common_dir)) is None:
        return None
    try:
        told = json.loads(stored)
        paths = {name: tuple(map(PurePosixPath, told[name])) for name in ("gone", "spared")}
        request = Request(tuple(told["texts"]), **paths)
    except (ValueError, KeyError, TypeError) as error:
        raise HistoryError(f"{journal} is damaged: delete it, then erase again what was to be erased") from error
    _refuse(repository)
    return _erase(repository, request, step)


def _refuse(repository: Repository) -> None:
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
        rewrite = Rewrite(read, add, request.erasure(), request.gone, request.spared, former)
        notes = set(_listed(top, "--glob=refs/notes/*"))
        listed = _listed(top, "--all", "--reflog")
        for commit in listed:
            if commit not in notes:
                rewrite.commit(commit)
        for commit in listed:
            if commit in notes:
                rewrite.commit(commit, is_note=True)
        moves = _moves(top, rewrite)
        entries = _index_entries(top, rewrite)
        pack.finish()
    step("objects written")
    write_map(where, former)
    step("map written")
    with _index_lock(repository):
        changed = tuple(_mask_files(top, entries, rewrite))
        step("files written")
        moved = _move(repository, moves, rewrite, step)
        _write_index(repository, entries)
        step("index written")
        _mask_git_files(where, rewrite)
        step("logs written")
        _drop_old_objects(where, top, step)
        files.remove_private(where / JOURNAL, where)
    return Erased(rewrite.commits, moved, changed)


def _listed(top: Path, *which: str) -> list[str]:
    return git.run(top, "rev-list", "--topo-order", "--reverse", *which, timeout_s=_TIMEOUT_S).decode().split()


# References -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Move:
    """A reference: what it names, the one that it leads to ("" for none), and what both are now."""

    name: str
    id: str
    leads_to: str
    name_now: str
    id_now: str


def _moves(top: Path, rewrite: Rewrite) -> list[_Move]:
    listed = git.run(top, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)")
    refs = [row.split("\0") for row in os.fsdecode(listed).splitlines()]
    now = {name: rewrite.tag(old) for name, old, _ in refs}
    found: list[_Move] = []
    for name, old, leads_to in refs:
        called = os.fsdecode(rewrite.masked(os.fsencode(name)))
        if called != name and now.get(called, now[name]) != now[name]:  # else a killed run has made it
            called = os.fsdecode(rewrite.name(os.fsencode(name)))
        found.append(_Move(name, old, leads_to, called, now[name]))
    return found


def _move(repository: Repository, moves: Collection[_Move], rewrite: Rewrite, step: Step) -> int:
    """Bring all references to what they name now, at once, if nobody has moved one since; the number that moved."""
    top = repository.top
    names = {each.name: each.name_now for each in moves}
    plain = [each for each in moves if not each.leads_to]
    updates = [f"update {each.name} {each.id_now} {each.id}" for each in plain if each.id_now != each.id]
    new = {each.name_now: each.id_now for each in plain if each.name_now not in names}
    _update(top, [*updates, *(f"create {name} {commit}" for name, commit in new.items())])
    step("references moved")
    head = (files.read(repository.git_dir / "HEAD") or b"").decode().removeprefix("ref: ").strip()
    for link, target in [("HEAD", head), *((each.name, each.leads_to) for each in moves if each.leads_to)]:
        if (now := names.get(target, os.fsdecode(rewrite.masked(os.fsencode(target))))) != target:
            git.run(top, "symbolic-ref", link, now)
    step("head moved")
    _update(top, [f"delete {each.name} {each.id_now}" for each in plain if each.name_now != each.name])
    return len(updates)


def _update(top: Path, rows: Collection[str]) -> None:
    if rows:
        told = "".join(f"{row}\n" for row in ("start", *rows, "commit"))
        git.run(top, "update-ref", "--no-deref", "--stdin", stdin=os.fsencode(told), timeout_s=_TIMEOUT_S)


# Git's index, and the files -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Entry:
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


def _index_entries(top: Path, rewrite: Rewrite) -> list[_Entry]:
    found = []
    for row in filter(None, git.run(top, "ls-files", "--stage", "-z").split(b"\0")):
        facts, _, name = row.partition(b"\t")
        mode, blob, stage = facts.decode().split()
        path = PurePosixPath(os.fsdecode(name))
        is_kept = mode == SUBMODULE_MODE.decode() or rewrite.is_spared(path)
        found.append(_Entry(mode, blob, stage, path, rewrite.path(path), blob if is_kept else rewrite.blob(blob)))
    return found


def _mask_files(top: Path, entries: Collection[_Entry], rewrite: Rewrite) -> Iterator[PurePosixPath]:
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
def _index_lock(repository: Repository) -> Iterator[None]:
    """Hold `index.lock`, without which nobody commits or stages: what they add would be swept. One that a kill has
    left is ours if it is a second name of our file."""
    ours, lock = repository.git_dir / _LOCK, repository.git_dir / "index.lock"
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


def _write_index(repository: Repository, entries: Collection[_Entry]) -> None:
    """Bring the entries of git's index to what they are now. What a person has staged stays staged."""
    top, index, draft = repository.top, repository.git_dir / "index", repository.git_dir / _INDEX
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
        git.run(top, "update-index", "-z", "--index-info", stdin=b"".join(rows), extra=extra, timeout_s=_TIMEOUT_S)
    for flag, names in flags.items():
        if names:
            git.run(top, "update-index", "-z", flag, "--stdin", stdin=names, extra=extra)
    git.run(top, "update-index", "--clear-resolve-undo", extra=extra, ok=(0, 129))
    git.run(top, "update-index", "-q", "--refresh", extra=extra, ok=(0, 1), timeout_s=_TIMEOUT_S)
    with draft.open("rb") as written:
        os.fsync(written.fileno())
    os.replace(draft, index)
    files.sync_folder(index.parent)


# What else git keeps --------------------------------------------------------------------------------------------------


def _mask_git_files(where: Path, rewrite: Rewrite) -> None:
    """Take the texts out of logs, messages, settings and all else in git's folder, and name commits as they are now."""
    for folder, below, names in walk(where):
        relative = Path(folder).relative_to(where)
        below[:] = [name for name in below if str(relative / name) not in _LEFT_ALONE]
        for name in names:
            path = Path(folder, name)
            if str(relative / name) in _LEFT_ALONE or path.is_symlink() or not path.is_file() or name.endswith(".lock"):
                continue
            while True:
                old = files.read(path, None) or b""
                new = _log(rewrite, old) if relative.parts[:1] == ("logs",) else rewrite.told(old)
                try:
                    files.replace(path, new, old, where)
                except Changed:
                    continue
                break


def _log(rewrite: Rewrite, old: bytes) -> bytes:
    """A log of a reference, without the lines of our own moves."""
    rows = []
    for row in old.splitlines(keepends=True):
        told = rewrite.told(row)
        is_ours = told[:40] == told[41:81] and row[:40] != row[41:81]
        rows += [] if is_ours else [told]
    return b"".join(rows)


def _drop_old_objects(where: Path, top: Path, step: Step) -> None:
    """Pack what is reached anew, and delete all other objects."""
    objects = where / "objects"
    for name in _OF_ALL_OBJECTS:
        (objects / name).unlink(missing_ok=True)
    shutil.rmtree(objects / "info/commit-graphs", ignore_errors=True)
    for pattern in ("*.keep", ".tmp-*"):  # a pack that a person keeps, and what a repack that was killed has left
        for kept in (objects / "pack").glob(pattern):
            kept.unlink()
    git.run(top, "repack", "-a", "-d", "-q", timeout_s=_TIMEOUT_S, memory_bytes=None)
    step("packed")
    git.run(top, "prune", "--expire=now", timeout_s=_TIMEOUT_S, memory_bytes=None)
    git.give_to_owner(where)
    step("pruned")
