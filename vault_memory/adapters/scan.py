"""The disk as a scan sees it: which files a scope has, their `stat`, and what cannot be read.

No symbolic link is ever followed: one could lead out of the vault, into another user's folder, or round in a circle.
Only regular files are opened, and without waiting (a FIFO would block for ever). A folder that holds a `vault-memory.toml`
of its own is another vault, and left to it. A test keeps the names chosen here equal to those of `layout.place_of`.
"""

from __future__ import annotations

import hashlib
import os
import stat as modes
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.core import layout
from vault_memory.core.change import Identity, Stat

_BLOCK = 1 << 20
_NO_STAT = Stat(0, 0, 0, 0)


@dataclass
class Scan:
    """What was found, by source: every file's identity (a plain tuple, since there are so many), and why some cannot be read.

    A folder that cannot be listed is among both under its own name (`.` the scope itself), and in `unseen`.
    """

    files: dict[str, Identity] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Content:
    """A file as it was read: at most `limit` bytes of it, the SHA-256 of all of it, its identity while it was read."""

    data: bytes
    content_hash: bytes
    stat: Stat


def scan(root: Path, scope: str) -> Scan:
    """Walk all of a scope of the vault at `root`. A scope without a folder is empty."""
    found = Scan()
    folder = _folder(root, scope)
    if folder is not None:
        _walk(found, os.path.realpath(folder), scope)
    return found


def look(root: Path, scope: str, sources: Iterable[str]) -> Scan:
    """The same for some sources only; one that is not there, or may not be indexed, is missing from `files`."""
    found = Scan()
    base = _folder(root, scope)
    if base is None:
        return found
    plain: dict[str, bool] = {}
    for source in sources:
        if layout.place_of(layout.scope_dir(scope) / source) != layout.Place(scope, source):
            continue
        folder = source.rpartition("/")[0]
        try:
            if folder not in plain:
                plain[folder] = _is_plain_way(base, source)
            if plain[folder]:
                _note(found, source, os.lstat(f"{base}/{source}"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            found.unseen.append(source)
    return found


def read(root: Path, scope: str, source: str, limit: int) -> Content:
    """Read a regular file, keeping at most `limit` bytes in memory. Raises `OSError` when it cannot be read."""
    path = root / layout.scope_dir(scope) / source
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(number, "rb", buffering=0) as file:
        before = os.fstat(number)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(_unreadable(before.st_mode))
        digest, kept = hashlib.sha256(), bytearray()
        while block := file.read(_BLOCK):
            digest.update(block)
            kept += block[: limit - len(kept)]
        return Content(bytes(kept), digest.digest(), identity(before))


def identity(status: os.stat_result) -> Stat:
    """The parts of an `lstat` that change when a file does."""
    return Stat(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _folder(root: Path, scope: str) -> Path | None:
    folder = root / layout.scope_dir(scope)
    for part in (folder, *folder.parents):
        if part == root:
            return folder
        if not part.is_dir() or part.is_symlink():
            return None
    return None


def _walk(found: Scan, folder: str, scope: str) -> None:
    todo = [(folder, "")]
    while todo:  # not by recursion: folders may be nested deeper than Python's stack
        folder, prefix = todo.pop()
        try:
            todo.extend(_list(found, folder, prefix, scope))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            source = prefix.rstrip("/")
            found.unseen.append(source)
            _cannot(found, source or ".", _NO_STAT, f"the folder cannot be listed: {error.strerror}")


def _list(found: Scan, folder: str, prefix: str, scope: str) -> list[tuple[str, str]]:
    """Take in the files of one folder; returns the folders in it, each with its path and its prefix."""
    if prefix and os.path.lexists(os.path.join(folder, layout.SETTINGS_FILE)):
        return []
    folders = []
    has_records = scope != layout.SHARED and prefix.startswith("conversations/")
    with _entries(folder) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if prefix or scope != layout.SHARED or name != layout.MEMORY_DIR:
                        folders.append((f"{folder}/{name}", f"{prefix}{name}/"))
                elif (
                    name.endswith(".md")
                    or (has_records and name.endswith(".jsonl"))
                    or (entry.is_symlink() and entry.is_dir())
                ):
                    status = entry.stat(follow_symlinks=False)
                    if modes.S_ISREG(status.st_mode) and prefix.isascii() and name.isascii():  # as nearly all are
                        found.files[prefix + name] = (
                            status.st_size,
                            status.st_mtime_ns,
                            status.st_ctime_ns,
                            status.st_ino,
                        )
                    else:
                        _note(found, prefix + name, status)
            except FileNotFoundError:
                continue
            except OSError:
                found.unseen.append(prefix + name)
    return folders


@contextmanager
def _entries(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What lies in a folder, itself opened by number where that can be: the kernel then finds each file without the way to
    it, and no link that has just taken the folder's place is followed.
    """
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(number) as entries:
            yield entries
    finally:
        os.close(number)


def _note(found: Scan, source: str, status: os.stat_result) -> None:
    if not modes.S_ISREG(status.st_mode):
        _cannot(found, source, identity(status), _unreadable(status.st_mode))
    elif not source.isascii() and not _is_utf8(source):
        _cannot(found, source, identity(status), "the file's name is not UTF-8: rename it")
    else:
        found.files[source] = identity(status)


def _cannot(found: Scan, source: str, stat: Identity, problem: str) -> None:
    shown = os.fsencode(source).decode("utf-8", "replace")
    found.files[shown] = stat
    found.problems[shown] = problem


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain_way(base: Path, source: str) -> bool:
    """Whether every folder on the way to `source` is a real folder, and none of them another vault."""
    folder = base
    for part in source.split("/")[:-1]:
        folder = folder / part
        if not modes.S_ISDIR(os.lstat(folder).st_mode) or os.path.lexists(folder / layout.SETTINGS_FILE):
            return False
    return True


def _unreadable(mode: int) -> str:
    if modes.S_ISLNK(mode):
        return "a symbolic link: links are not followed; put the file itself into the vault"
    return "not a regular file (a folder, pipe, socket or device): it cannot be indexed"
