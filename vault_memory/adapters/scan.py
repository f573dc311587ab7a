"""The files of a scope as they are on disk: which there are, their stamps, and what cannot be read.

No symbolic link is followed: it could lead out of the vault, into another user's folder, or round in a circle.
Only regular files are opened, and without waiting (a FIFO would block without end). A folder with a `vault-memory.toml`
of its own is another vault and is skipped, where there may be one (`layout.may_be_vault`). A test keeps the names
chosen here equal to those of `layout.place_of`.

A day of conversation that is in the archive has the source of its file, as if that were still there, and a stamp by its
content alone. So nothing is indexed anew when it goes there, and its lines are found under their old numbers.
"""

from __future__ import annotations

import hashlib
import os
import stat as modes
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.adapters import files, records
from vault_memory.core import layout, months
from vault_memory.errors import VaultMemoryError

READ_BLOCK_BYTES = 1 << 20
RACY_NS = 2_000_000_000
"""2 s: the coarsest time stamp in use (FAT); ext4's is about 4 ms, network drives lie in between."""


class SourceStamp(NamedTuple):
    """What changes when a file does, from `lstat`: size in bytes, times in ns since 1970, inode number."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


Stamp = tuple[int, int, int, int]
"""A `SourceStamp`, or the same numbers as a plain tuple."""

_NO_STAMP = SourceStamp(0, 0, 0, 0)


@dataclass
class Scan:
    """What was found, by source: every file's stamp (a plain tuple, since there are so many), and why some are
    unreadable.

    A folder that cannot be listed is in both under its own name (`.`: the scope itself), and in `unseen`.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unseen: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Content:
    """A file as it was read: at most `limit` bytes of it, their SHA-256, its stamp while it was read."""

    data: bytes
    content_hash: bytes
    stamp: SourceStamp


def scan(root: Path, scope: str) -> Scan:
    """Walk all of a scope of the vault at `root`. A scope without a folder is empty."""
    found = Scan()
    folder = _folder(root, scope)
    if folder is not None:
        _walk(found, os.path.realpath(folder), scope)
        for month, path in records.month_files(folder) if scope != layout.SHARED else ():
            _note_archived(found, root, path, month)
    return found


def look(root: Path, scope: str, sources: Iterable[str]) -> Scan:
    """The same for some sources; one that is not there, or may not be indexed, is missing from `files`."""
    found = Scan()
    base = _folder(root, scope)
    if base is None:
        return found
    is_plain: dict[str, bool] = {}
    archived: dict[str, set[str]] = {}
    for source in sources:
        if layout.place_of(layout.scope_dir(scope) / source) != layout.Place(scope, source):
            continue
        folder = source.rpartition("/")[0]
        try:
            if folder not in is_plain:
                is_plain[folder] = _has_plain_folders(base, scope, source)
            if is_plain[folder]:
                _note(found, source, os.lstat(f"{base}/{source}"))
        except (FileNotFoundError, NotADirectoryError):
            if day := layout.recorded_day(source):
                archived.setdefault(layout.month_source(day), set()).add(source)
        except (OSError, ValueError):
            found.unseen.append(source)
    for month_source, wanted in archived.items():
        month = layout.month_of(month_source.rpartition("/")[2])
        if month and os.path.lexists(base / month_source):
            _note_archived(found, root, base / month_source, month, wanted)
    return found


def listed(root: Path, scope: str, name: str) -> Scan:
    """The notes of one folder of a scope, not those of folders in it. One that is not there is empty, and so is a link
    in its place. It is asked for at every look at a graph, so it does no more for a note than it must."""
    found = Scan()
    base = _folder(root, scope)
    if base is None or (base / name).is_symlink():
        return found
    files, prefix, is_regular = found.files, f"{name}/", modes.S_ISREG
    try:
        with _entries(f"{os.path.realpath(base)}/{name}") as entries:
            for entry in entries:
                note = entry.name
                if not note.endswith(".md") or note[0] == ".":
                    continue
                try:
                    stat = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if is_regular(stat.st_mode) and (note.isascii() or _is_utf8(note)):
                    files[prefix + note] = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
                elif not modes.S_ISDIR(stat.st_mode):
                    _note(found, prefix + note, stat)
    except (FileNotFoundError, NotADirectoryError):
        return found
    except OSError as error:
        found.unseen.append(name)
        _cannot(found, name, _NO_STAMP, f"the folder cannot be listed: {error.strerror}")
    return found


def read(root: Path, scope: str, source: str, limit: int) -> Content:
    """Read at most `limit` bytes of a regular file, or of a day that is in the archive. Raises `OSError` when it cannot
    be read."""
    path = root / layout.scope_dir(scope) / source
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        if scope != layout.SHARED and (day := layout.recorded_day(source)):
            return _read_archived(root, scope, day, limit)
        raise
    with open(number, "rb", buffering=0) as file:
        before = os.fstat(number)
        if not modes.S_ISREG(before.st_mode):
            raise OSError(_unreadable(before.st_mode))
        digest, kept = hashlib.sha256(), bytearray()
        while block := file.read(min(READ_BLOCK_BYTES, limit - len(kept))):
            digest.update(block)
            kept += block
        return Content(bytes(kept), digest.digest(), stamp_of(before))


def _read_archived(root: Path, scope: str, day: date, limit: int) -> Content:
    try:
        with records.opened_month(root / layout.scope_dir(scope) / layout.month_source(day), root) as month:
            lines = month.lines(day, limit)
            if lines is not None:
                return Content(lines, hashlib.sha256(lines).digest(), _archived_stamp(month, day))
    except VaultMemoryError as error:
        raise OSError(str(error)) from error
    raise FileNotFoundError(day.isoformat())


def _archived_stamp(month: records.MonthFile, day: date) -> SourceStamp:
    size, number = month.stamp(day)
    return SourceStamp(size, number, 0, 0)


def _note_archived(found: Scan, root: Path, path: Path, month: date, wanted: Collection[str] | None = None) -> None:
    """Add the days in the file of a month to `found`, or the `wanted` ones. A day that has a file, too, is that."""
    try:
        with records.opened_month(path, root) as opened:
            stamps = {layout.conversation_source(day): _archived_stamp(opened, day) for day in opened.days}
    except (FileNotFoundError, NotADirectoryError):
        return
    except VaultMemoryError as error:
        days = (month.replace(day=number) for number in range(1, months.last_day(month).day + 1))
        found.unseen += [source for source in map(layout.conversation_source, days) if not wanted or source in wanted]
        if wanted is None:
            _cannot(found, f"{layout.ARCHIVED_RECORDS}/{path.name}", _NO_STAMP, str(error))
        return
    for source, stamp in stamps.items():
        if wanted is None or source in wanted:
            found.files.setdefault(source, stamp)


def stamp_of(status: os.stat_result) -> SourceStamp:
    """The stamp in an `lstat`."""
    return SourceStamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def stamp_to_record(stamp: SourceStamp, now_ns: int) -> SourceStamp:
    """The stamp to record for a file read at `now_ns`; without a time if it was touched less than `RACY_NS` before.

    It may change again in the same clock tick. The recorded stamp never equals its own, so it is read again. A time in
    the future (a clock that jumped) counts as just before: that file is read at every look, and stays right.
    """
    is_young = max(stamp.mtime_ns, stamp.ctime_ns) > now_ns - RACY_NS
    return stamp._replace(mtime_ns=0) if is_young else stamp


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
            _cannot(found, source or ".", _NO_STAMP, f"the folder cannot be listed: {error.strerror}")


def _list(found: Scan, folder: str, prefix: str, scope: str) -> list[tuple[str, str]]:
    """Add the files of one folder to `found`; returns the folders in it, each with its path and its prefix."""
    if prefix and _is_vault(scope, prefix, folder):
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
    """The entries of a folder, which is opened by number where the system can: the kernel then looks up each file
    without its whole path, and a link that has just replaced the folder is not followed.
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
        _cannot(found, source, stamp_of(status), _unreadable(status.st_mode))
    elif not source.isascii() and not _is_utf8(source):
        _cannot(found, source, stamp_of(status), "the file's name is not UTF-8: rename it")
    else:
        found.files[source] = stamp_of(status)


def _cannot(found: Scan, source: str, stamp: Stamp, problem: str) -> None:
    shown = os.fsencode(source).decode("utf-8", "replace")
    found.files[shown] = stamp
    found.problems[shown] = problem


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _has_plain_folders(base: Path, scope: str, source: str) -> bool:
    """Whether every folder above `source` is a real folder and none of them another vault."""
    folder = base
    for part in source.split("/")[:-1]:
        folder = folder / part
        if not modes.S_ISDIR(os.lstat(folder).st_mode) or _is_vault(scope, source, folder):
            return False
    return True


def _is_vault(scope: str, source: str, folder: str | Path) -> bool:
    """Whether a folder with the path of `source` or above it is a vault of its own."""
    is_possible = scope == layout.SHARED and layout.may_be_vault(PurePosixPath(source))
    return is_possible and os.path.lexists(os.path.join(folder, layout.SETTINGS_FILE))


def _unreadable(mode: int) -> str:
    if modes.S_ISLNK(mode):
        return "a symbolic link: links are not followed; put the file itself into the vault"
    return "not a regular file (a folder, pipe, socket or device): it cannot be indexed"


def walk(
    top: str | os.PathLike[str], on_error: Callable[[OSError], None] = lambda error: None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """All folders below one, however deep they are nested: `os.walk` of Python 3.11 ends at some 900 of them. Gives
    (folder, names of the folders in it, other names) of each, the upper one first, as `os.walk` does.

    No link is followed, though one to a folder counts as a folder. What the caller takes out of the names of folders
    is not walked. `on_error` is told of each folder that cannot be listed.
    """
    todo = [os.fspath(top)]
    while todo:
        folder = todo.pop()
        folders: list[str] = []
        others: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if _is_folder(entry) else others).append(entry.name)
        except OSError as error:
            on_error(error)
            continue
        yield folder, folders, others
        below = (os.path.join(folder, name) for name in reversed(folders))
        todo += [path for path in below if not os.path.islink(path)]


def abandoned_below(top: Path) -> Iterator[Path]:
    """Temporary files below a folder whose writers are dead, but for those in git's own folders."""
    for folder, below, _ in walk(top):
        below[:] = [name for name in below if name != ".git"]
        yield from sorted(files.abandoned(Path(folder)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that cannot be followed
        return False
