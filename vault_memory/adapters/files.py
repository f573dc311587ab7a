"""Read, replace, remove and append to files of the vault without losing anybody's words.

Every write is durable when it returns (fsynced, the folder too), and either complete or not there: a full disk or a
`kill -9` leaves the old file. Every replacement is a compare-and-swap: the writer says what it read, and a save that
landed meanwhile, even between the check and the rename, is put back and reported by `Changed`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

from vault_memory.adapters import private
from vault_memory.adapters.private import OpenFolder
from vault_memory.errors import Busy, Changed, ForeignFile, TooLarge, Unwritable, UsageError

MAX_FILE_BYTES = 20_000_000
"""Of a file that is read, written and committed whole: each takes some ten times its size of memory on its way."""
_TEMP_SUFFIX = ".vault-memory.tmp"
_TEMP_NAME = re.compile(r"\..*\.(?P<pid>\d+)-\d+\.vault-memory\.tmp")
_NAME_BYTES = 255  # the longest name Linux, macOS and Windows file systems take
_TEMP_TAIL_BYTES = 50
_NOT_A_NAME = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)
"""What a disk says of a name that no file on it can have: too long, or with signs that it does not take."""
_DELETED_WITHIN_S = 2.0
"""Whoever deletes a folder of state is done with it by then."""
_LOCK_POLL_S = 0.005
_FILLED_WITHIN_S = 5.0
"""An editor that empties a file fills it again within this time."""
_serial = itertools.count()
_READ_FLAGS = os.O_RDONLY  # O_NONBLOCK: to open a pipe must not wait for its other end
for _name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"):
    _READ_FLAGS |= getattr(os, _name, 0)


class FileStamp(NamedTuple):
    """A file's size, times, inode and owner, as git's index keeps them: the same stamp, the same content.

    An empty stamp (all zero) equals no file's stamp, so every reader opens the file.
    """

    ctime_ns: int = 0
    mtime_ns: int = 0
    dev: int = 0
    ino: int = 0
    uid: int = 0
    gid: int = 0
    size: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> FileStamp:
        """The stamp in what `stat` returned."""
        return cls(
            status.st_ctime_ns,
            status.st_mtime_ns,
            status.st_dev,
            status.st_ino,
            status.st_uid,
            status.st_gid,
            status.st_size,
        )


def contained(root: Path, relative: str | PurePosixPath) -> Path:
    """The real path of `relative` inside `root`, symlinks resolved; `UsageError` when it leads out of `root`.

    The file itself need not exist.
    """
    text = str(relative)
    home = root.resolve()
    if "\0" not in text and not PurePosixPath(text).is_absolute():
        with contextlib.suppress(RuntimeError, OSError):  # a link that leads to itself, or was none a moment before
            path = (home / text).resolve()
            if path != home and path.is_relative_to(home):
                return path
    raise UsageError(
        f"{text!r} is not a path inside {home}: use a path relative to it, without '..' or links out of it"
    )


def can_hold(root: Path, path: PurePosixPath) -> bool:
    """Whether the disk of `root` takes a path of these names and of this length.

    Each name is asked for by itself: the disk looks at none that comes after a missing folder.
    """
    for place in (*(root / part for part in path.parts), root / path):
        try:
            os.lstat(place)
        except OSError as error:
            if error.errno in _NOT_A_NAME:
                return False
    return True


def can_write(root: Path, path: PurePosixPath) -> bool:
    """Whether the disk takes that path, and the longer one of the temporary file through which it is written."""
    return can_hold(root, path) and can_hold(root, path.with_name(_temp_path(root / path).name))


def names(folder: Path) -> list[str]:
    """The names in a folder; none where there is no such folder, or no longer."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def read(path: Path, max_bytes: int | None = MAX_FILE_BYTES, *, folder: OpenFolder | None = None) -> bytes | None:
    """The file's bytes, or None when there is no such file, nor can be one of that name on this disk.

    It is read in `folder`, if given. Raises `ForeignFile` for a folder, pipe, socket or device, and `TooLarge` for more
    than `max_bytes` (None: any).
    """
    try:
        file = opened(path, folder=folder)
    except OSError as error:
        if not _is_absent(error):
            raise
        return None
    with file:
        return _all_of(file, path, max_bytes)


def _all_of(file: BinaryIO, path: Path, max_bytes: int | None) -> bytes:
    size = os.fstat(file.fileno()).st_size
    if max_bytes is None:
        return file.read()
    content = file.read(size + 1) if size <= max_bytes else b""
    if len(content) > size:  # it has grown just now
        content += file.read(max_bytes + 1 - len(content))
    if max(size, len(content)) > max_bytes:
        raise TooLarge(f"{path} has more than {max_bytes:,} bytes, so it is not read: divide it, or take it away")
    return content


def _is_absent(error: OSError) -> bool:
    return isinstance(error, (FileNotFoundError, NotADirectoryError)) or error.errno in _NOT_A_NAME


def opened(path: Path, *, follow: bool = True, folder: OpenFolder | None = None) -> BinaryIO:
    """An existing file, open for reading; in `folder`, if given. Raises `ForeignFile` for a folder, pipe, socket or
    device; unless `follow`, `OSError` for a link."""
    name, number = (folder.at(path.name), folder.number) if folder else (path, None)
    try:
        number = os.open(name, _READ_FLAGS if follow else _READ_FLAGS | getattr(os, "O_NOFOLLOW", 0), dir_fd=number)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket cannot even be opened
            raise _no_file(path) from error
        if error.errno == errno.ELOOP and follow:
            raise _loop(path) from error
        raise
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise ForeignFile(f"{path} is a folder, and a file belongs there: give it another name, or take it away")
        if not stat.S_ISREG(mode):
            raise _no_file(path)
        return open(number, "rb")
    except BaseException:
        os.close(number)
        raise


def opened_below(path: Path, above: Path) -> BinaryIO:
    """An existing file, open for reading, and reached from the folder `above` without a link, however fast a folder on
    the way is swapped for one. Raises `ForeignFile` for what is no file, `OSError` for a link."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(private.folder_of(path, above, is_private=False))
        except ForeignFile as error:
            raise OSError(errno.ELOOP, "a link is in the place of a folder above it", os.fspath(path)) from error
        return opened(path, follow=False, folder=folder)


def _loop(path: Path) -> ForeignFile:
    return ForeignFile(f"{path} is reached through a link that leads to itself: delete that link")


def _no_file(path: Path) -> ForeignFile:
    return ForeignFile(f"{path} is no file but a pipe, socket or device: take it away, or give it another name")


class ReadCache:
    """Files as one writer has read them, each opened once, and again only when its stamp differs.

    Use it to decide what to write, not as proof: two saves of one size within a tick of the file system's clock (4 ms
    on ext4) have the same stamp. The compare-and-swap finds that out; then `clear` the cache and decide again.
    """

    def __init__(self) -> None:
        self._files: dict[Path, tuple[FileStamp, bytes | None]] = {}

    def read(self, path: Path) -> bytes | None:
        """As `read`."""
        try:
            stamp = FileStamp.of(path.stat())  # before reading: a save in between then differs from the stamp
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _loop(path) from error
            if not _is_absent(error):
                raise
            return None
        if path not in self._files or self._files[path][0] != stamp:
            self._files[path] = stamp, read(path)
        return self._files[path][1]

    def clear(self) -> None:
        """Forget every file."""
        self._files.clear()


def replace(
    path: Path, content: bytes, expected: bytes | None, below: Path | None = None, *, sync: bool = True
) -> FileStamp:
    """Make `content` the file's bytes if they are `expected` now (None: there is no file), else raise `Changed`.

    Returns the stamp of the new file before its renaming, which changes `ctime_ns`; an empty one if nothing was
    written.

    Missing folders are made. A folder on the way from `below` (the vault's root) that is a link, or is swapped for one
    at this moment, is not written through: this raises `ForeignFile`. The mode (and, where allowed, the owner) of the
    old file stays; a new file has the mode that the umask gives. `sync=False` is for a caller that can redo the change:
    the bytes are fsynced, the name is not. Raises `Unwritable` on a full disk or without permission, with the old file
    untouched.
    """
    with (
        unwritable(path),
        _folder_of(path, below, make=expected is None) as folder,
        _leased(path, folder) as (held, is_wanted),
    ):
        on_disk = _all_of(held, path, _most(expected)) if held else None
        if on_disk != expected:
            raise changed(path, on_disk)
        if on_disk == content:
            return FileStamp()
        temp, stamp = _write_temp(path, folder, content)
        try:
            if expected is None:
                _put_new(temp, path, folder)
            else:
                _swap_in(temp, path, folder, expected, content, is_wanted)
        finally:
            _discard(temp, folder)
        if sync:
            folder.sync()
    return stamp


def read_private(path: Path, below: Path | None = None) -> bytes | None:
    """The bytes of a private file, or None when there is no such file. Raises `ForeignFile` for a link."""
    try:
        with private.folder_of(path, below) as folder:
            return folder.read(path.name)
    except (FileNotFoundError, NotADirectoryError):
        return None


def write_private(
    path: Path, content: bytes, below: Path | None = None, *, within: Path | None = None, sync: bool = True
) -> None:
    """Make `content` the file's bytes, whatever they were, readable by the owner only, from the start.

    `below`, `within` and what this raises: see `private.folder_of`. With `sync=False` the bytes are fsynced, the name
    is not.
    """
    with unwritable(path):
        give_up = time.monotonic() + _DELETED_WITHIN_S
        while True:
            try:
                return _write_private(path, content, below, within, sync=sync)
            except FileNotFoundError:  # somebody deletes its folder at this moment, which is allowed
                if time.monotonic() > give_up:
                    raise


def _write_private(path: Path, content: bytes, below: Path | None, within: Path | None, *, sync: bool) -> None:
    with private.folder_of(path, below, within=within, make=True) as folder:
        folder.refuse_link(path.name)
        temp = _temp_path(path).name
        try:
            fd = folder.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                write_all(fd, content)
                os.fsync(fd)
            finally:
                os.close(fd)
            folder.replace(temp, path.name)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                folder.remove(temp)
            raise
        if sync:
            folder.sync()


def remove_private(path: Path, below: Path | None = None, within: Path | None = None) -> bool:
    """Delete a private file; whether there was one. Raises `ForeignFile` when a folder on the way is a link."""
    try:
        with private.folder_of(path, below, within=within) as folder:
            folder.remove(path.name)
            return True
    except (FileNotFoundError, NotADirectoryError):
        return False


def remove(path: Path, expected: bytes, below: Path | None = None) -> None:
    """Delete the file if its bytes are `expected` now; else leave it and raise `Changed`. `below`: see `replace`."""
    with unwritable(path), _folder_of(path, below) as folder:
        on_disk = read(path, _most(expected), folder=folder)
        if on_disk != expected:
            raise changed(path, on_disk)
        # Moved aside first and read again: a save that landed since the check is not deleted with the rest.
        aside = _temp_path(path)
        _rename(path, aside, folder)
        displaced = read(aside, None, folder=folder)
        if displaced != expected:
            with contextlib.suppress(FileExistsError):  # it exists again already: that one is newer
                _put_new(aside, path, folder)
            _discard(aside, folder)
            raise changed(path, displaced)
        folder.remove(aside.name)
        folder.sync()


def append_line(path: Path, line: bytes, below: Path | None = None, within: Path | None = None) -> int:
    """Append one line to a private file and return its 1-based number; see `append_lines`."""
    return append_lines(path, [line], below, within)


def append_lines(path: Path, lines: Iterable[bytes], below: Path | None = None, within: Path | None = None) -> int:
    """Append lines to a private file and return the 1-based number of the first; the caller holds the lock for this
    file. They are durable together.

    A last line without its line break (a write that was cut off) gets one first. On a full disk the file is cut back to
    what it was, and this raises `Unwritable`. `below`, `within` and `ForeignFile`: see `private.folder_of`.
    """
    stripped = [line.rstrip(b"\n") for line in lines]
    if any(b"\n" in line for line in stripped):
        raise UsageError(f"{path}: the line to append holds a line break: append one line at a time")
    new = b"".join(line + b"\n" for line in stripped)
    with unwritable(path):
        if below is None and within is None:
            _make_folders(path.parent)
        with private.folder_of(path, below, within=within, make=True) as folder:
            fd = folder.open(path.name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                size, count, last = 0, 0, b"\n"
                while block := os.read(fd, 1 << 20):
                    size, count, last = size + len(block), count + block.count(b"\n"), block[-1:]
                torn = last != b"\n"
                try:
                    write_all(fd, (b"\n" if torn else b"") + new)
                    os.fsync(fd)
                except OSError:
                    os.ftruncate(fd, size)
                    raise
            finally:
                os.close(fd)
            if not size:
                folder.sync()
    return count + torn + 1


@contextlib.contextmanager
def lock(
    path: Path,
    timeout_s: float = 10.0,
    below: Path | None = None,
    within: Path | None = None,
    *,
    make: bool = True,
    in_line: bool = True,
) -> Iterator[int]:
    """Hold the lock file `path` against other processes and threads; `Busy` when it is not free within `timeout_s`.
    Gives the number of the open file: a process that inherits it holds the lock, too, until we give it back or both
    have ended.

    Missing folders are made, unless `make` is false: then this raises `Busy`, too. Who waits holds `path`.next
    meanwhile and comes next, unless `in_line` is false: in a folder where each file stands for something.

    `below`, `within` and `ForeignFile`: see `private.folder_of`.
    """
    give_up = time.monotonic() + timeout_s

    def wait_for(file: Path) -> int:
        while (held := _try_lock(file, below, within, make=make)) is None:
            if time.monotonic() >= give_up:
                raise Busy(f"{path} has been held by another process for {timeout_s:.2g} s: try again")
            time.sleep(_LOCK_POLL_S)
        return held

    # Who looks now and then would rarely find a lock free that another takes again at once. So whoever comes later
    # waits for a second lock first.
    second = path.with_name(f"{path.name}.next")
    with unwritable(path):
        held = None if in_line and is_locked(second) else _try_lock(path, below, within, make=make)
        if held is None and in_line and timeout_s:
            first_in_line = wait_for(second)
            try:
                held = wait_for(path)
            finally:
                with contextlib.suppress(OSError):  # on Windows another has it open
                    second.unlink()
                _give_back(first_in_line)
        elif held is None:
            held = wait_for(path)
    try:
        yield held
    finally:
        _give_back(held)  # each holder has opened the file, so threads exclude each other too


def _try_lock(path: Path, below: Path | None, within: Path | None, *, make: bool) -> int | None:
    """The open lock file, locked; None when somebody else holds it, or it was deleted just now, which is allowed."""
    try:
        with private.folder_of(path, below, within=within, make=make) as folder:
            number = folder.open(path.name, os.O_RDWR | os.O_CREAT)
    except FileNotFoundError:
        return None
    try:
        _lock_file(number)
        if os.fstat(number).st_nlink:
            return number
    except BlockingIOError:
        pass
    except BaseException:
        os.close(number)
        raise
    os.close(number)
    return None


def _lock_file(number: int) -> None:
    """Lock an open file until it is closed. Raises `BlockingIOError` when it is locked already."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError(errno.EAGAIN, "locked") from error
    else:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _give_back(number: int) -> None:
    """Unlock and close a lock file.

    Closing alone is not enough: a process that another thread is starting has a copy of each open file until it runs
    its program, and such a copy keeps the lock.
    """
    with contextlib.suppress(ImportError):  # on Windows, where no process gets copies, closing is enough
        import fcntl

        fcntl.flock(number, fcntl.LOCK_UN)
    os.close(number)


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder itself, which nobody else has yet; a no-op where folders cannot be opened (Windows)."""
    if os.name == "nt":
        yield
        return
    number = os.open(folder, _READ_FLAGS)
    try:
        _lock_file(number)
        yield
    finally:
        _give_back(number)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock file `path`, or a folder (`locked_folder`). It takes 10 us; an attempt at `lock`
    takes 130."""
    try:
        import fcntl
    except ImportError:  # Windows
        return path.exists() and _is_busy(path)
    try:
        number = os.open(path, _READ_FLAGS)  # nothing is written: where a link leads does not matter
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        _give_back(number)


def _is_busy(path: Path) -> bool:
    try:
        with lock(path, 0):
            return False
    except Busy:
        return True


def adopt(number: int, path: Path) -> None:
    """Give the open file `path` that root has just made to the owner of its folder (`private.give_to_owner`)."""
    private.give_to_owner(number, path.parent.stat())


def sync_folder(folder: Path) -> None:
    """Make names that were made, renamed or removed in a folder durable (a no-op where folders cannot be synced)."""
    if os.name == "nt":
        return
    fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def is_temporary(name: str) -> bool:
    """Whether a file's name is one of our temporary ones, which a watcher and a scan skip."""
    return name.endswith(_TEMP_SUFFIX) and _TEMP_NAME.fullmatch(name) is not None


def temporaries(path: Path) -> list[Path]:
    """Temporary files for `path`, of any process."""
    stem = _temp_stem(path) + "."
    return [temp for temp in _temporaries_in(path.parent) if temp.name.startswith(stem)]


def abandoned(folder: Path) -> list[Path]:
    """Temporary files in a folder whose writer is dead."""
    return [temp for temp in _temporaries_in(folder) if not _alive(temp.name)]


def abandoned_for(path: Path) -> list[Path]:
    """Temporary files for `path`, and for files beside it whose names begin like its own, whose writer is dead; none
    where there is no folder."""
    return [temp for temp in temporaries(path) if not _alive(temp.name)] if path.parent.is_dir() else []


def _temporaries_in(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        found = (each for each in entries if is_temporary(each.name) and not each.is_dir(follow_symlinks=False))
        return [folder / each.name for each in found]


def _alive(temp_name: str) -> bool:
    match = _TEMP_NAME.fullmatch(temp_name)
    try:
        os.kill(int(match["pid"]) if match else 0, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass
    return True


def _most(expected: bytes | None) -> int:
    """The most bytes that are read of a file that should hold these."""
    return max(MAX_FILE_BYTES, len(expected or b""))


def changed(path: Path, on_disk: bytes | None) -> Changed:
    """The error for a file that holds `on_disk`, not what a writer had read."""
    event = "is gone" if on_disk is None else "was saved by somebody else meanwhile"
    return Changed(f"{path} {event}: read it again and redo the change", found=on_disk)


@contextlib.contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """Raise `Unwritable` for what the disk says while a file is written, and `Changed` where it is gone."""
    try:
        yield
    except FileNotFoundError as error:
        raise changed(path, None) from error  # deleted since it was read
    except OSError as error:
        advice = {
            errno.ENOSPC: "free some space",
            errno.EFBIG: "let files be larger (`ulimit -f`)",
            errno.EDQUOT: "free some space",
            errno.EROFS: "mount it writable",
            errno.ENOTDIR: "give the file in the place of one of its folders another name",
            errno.EISDIR: "give the folder in its place another name",
            errno.ELOOP: "delete the link on its way that leads to itself",
            **dict.fromkeys(_NOT_A_NAME, "give it a name that this disk takes"),
        }.get(error.errno or 0, "check the permissions of its folder")
        raise Unwritable(f"{path} cannot be written ({error.strerror or error}): {advice} and try again") from error


@contextlib.contextmanager
def _folder_of(path: Path, below: Path | None, *, make: bool = False) -> Iterator[OpenFolder]:
    """The folder of a file that is changed, open; with `make`, it is made. `below`: see `replace`."""
    if make and not below:
        _make_folders(path.parent)
    try:
        with private.folder_of(path, below, make=make, is_private=False) as folder:
            yield folder
    except NotADirectoryError as error:
        raise changed(path, None) from error


def _make_folders(folder: Path) -> None:
    """Make the missing folders of a path. Raises `ForeignFile` for a file in the place of one."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    above = missing[-1].parent if missing else folder
    if not above.is_dir():
        raise ForeignFile(f"{above} is a file, and a folder belongs there: give it another name, or take it away")
    for each in reversed(missing):
        private.make_folder(each)


def _temp_path(path: Path) -> Path:
    return path.with_name(f"{_temp_stem(path)}.{os.getpid()}-{next(_serial)}{_TEMP_SUFFIX}")


def _temp_stem(path: Path) -> str:
    return "." + os.fsencode(path.name)[: _NAME_BYTES - _TEMP_TAIL_BYTES].decode("utf-8", "ignore")


def _write_temp(path: Path, folder: OpenFolder, content: bytes) -> tuple[Path, FileStamp]:
    temp = _temp_path(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    fd = os.open(folder.at(temp.name), flags, 0o666, dir_fd=folder.number)
    try:
        write_all(fd, content)
        try:
            _keep_attributes(fd, os.stat(folder.at(path.name), dir_fd=folder.number))
        except FileNotFoundError:
            private.give_to_owner(fd, folder.status())
        os.fsync(fd)
        return temp, FileStamp.of(os.fstat(fd))
    except BaseException:
        _discard(temp, folder)
        raise
    finally:
        os.close(fd)


def _keep_attributes(fd: int, old: os.stat_result) -> None:
    """Give a new file the mode and owner of the one it replaces: a daemon run as root must not take a note over."""
    if os.name == "nt":
        return
    if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(fd, old.st_uid, old.st_gid)
    os.fchmod(fd, stat.S_IMODE(old.st_mode))


def write_all(fd: int, content: bytes | memoryview) -> None:
    """Write all of it to an open file; a single `os.write` may stop halfway."""
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _rename(old: Path, new: Path, folder: OpenFolder) -> None:
    number = folder.number
    os.replace(folder.at(old.name), folder.at(new.name), src_dir_fd=number, dst_dir_fd=number)


def _discard(temp: Path, folder: OpenFolder) -> None:
    with contextlib.suppress(FileNotFoundError):
        folder.remove(temp.name)


def _put_new(temp: Path, path: Path, folder: OpenFolder) -> None:
    """Give a finished temporary file its name, which must be free."""
    number = folder.number
    try:
        os.link(folder.at(temp.name), folder.at(path.name), src_dir_fd=number, dst_dir_fd=number)
    except FileExistsError:
        raise changed(path, read(path, folder=folder)) from None
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
            raise
        # a file system without hard links: the window between the check and the rename stays
        if (on_disk := read(path, folder=folder)) is not None:
            raise changed(path, on_disk) from None
        _rename(temp, path, folder)


def is_being_written(path: Path) -> bool:
    """Whether a program has the file open for writing, or emptied it just now to fill it anew; False where the system
    does not tell."""
    try:
        status = path.lstat()
        if status.st_size == 0 and 0 <= time.time() - status.st_mtime < _FILLED_WITHIN_S:
            return True
        with private.folder_of(path, None, is_private=False) as folder, _leased(path, folder, timeout_s=0):
            return False
    except Busy:
        return True
    except (OSError, ForeignFile):
        return False


@contextlib.contextmanager
def _leased(
    path: Path, folder: OpenFolder, timeout_s: float = 1.0
) -> Iterator[tuple[BinaryIO | None, Callable[[], bool]]]:
    """Hold up whoever opens the file for writing, for a moment; yields the file (None: there is none), and whether
    somebody wants to write to it now.

    An editor that writes a file in place would write into the old one, which is gone. Raises `Busy` when one has the
    file open for longer than `timeout_s`. The leases are Linux's (`fcntl(2)`); elsewhere, and on file systems without
    them, nobody is held up.
    """
    try:
        file = opened(path, folder=folder)
    except OSError as error:
        if not _is_absent(error):
            raise
        yield None, lambda: False
        return
    with file:  # to close it ends the lease
        try:
            from fcntl import F_GETLEASE, F_RDLCK, F_SETLEASE, F_SETSIG, fcntl
            from signal import SIGURG
        except ImportError:
            yield file, lambda: False
            return
        number = file.fileno()
        give_up = time.monotonic() + timeout_s
        is_held = False
        while not is_held:
            try:
                fcntl(number, F_SETSIG, SIGURG)  # the kernel's sign that somebody wants the file; the usual one kills
                fcntl(number, F_SETLEASE, F_RDLCK)
                is_held = True
            except BlockingIOError as error:
                if time.monotonic() >= give_up:
                    raise Busy(f"{path} is open for writing in another program: save and close it there") from error
                time.sleep(_LOCK_POLL_S)
            except OSError:  # another owner's file, or a file system without leases
                break
        yield file, lambda: is_held and fcntl(number, F_GETLEASE) != F_RDLCK


def _swap_in(
    temp: Path, path: Path, folder: OpenFolder, expected: bytes, content: bytes, is_wanted: Callable[[], bool]
) -> None:
    """Rename a finished temporary file over `path`, and undo it when what it displaced is not `expected`, or when
    somebody begins to write to that."""
    exchange = _exchange()
    if exchange is None or not exchange(temp, path, folder):
        _swap_by_rename(temp, path, folder, expected)
        return
    displaced = read(temp, None, folder=folder)
    if displaced == expected and not is_wanted():
        return
    # A save landed between the check and the exchange: put it back. If another save lands before that, the exchange
    # displaces it; it is newer, so it is put back over the first; and so on until our own bytes are displaced.
    placed: bytes | None = content
    while True:
        putting = read(temp, None, folder=folder)
        exchange(temp, path, folder)
        if read(temp, None, folder=folder) == placed:
            raise changed(path, putting)
        placed = putting


def _swap_by_rename(temp: Path, path: Path, folder: OpenFolder, expected: bytes) -> None:
    """Without an atomic exchange: keep the old file open over the rename, and read it again to see a late change."""
    with opened(path, folder=folder) as old:
        if (on_disk := old.read()) != expected:
            raise changed(path, on_disk)
        _rename(temp, path, folder)
        old.seek(0)
        displaced = old.read()
    if displaced != expected:
        back, _ = _write_temp(path, folder, displaced)
        _rename(back, path, folder)
        raise changed(path, displaced)


@functools.cache
def _exchange() -> Callable[[Path, Path, OpenFolder], bool] | None:
    """`renameat2(…, RENAME_EXCHANGE)`; it returns whether the file system can do it. None on other systems."""
    import ctypes

    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
    here, exchange_flag = -100, 2  # AT_FDCWD, RENAME_EXCHANGE

    def exchange(one: Path, other: Path, folder: OpenFolder) -> bool:
        number = here if folder.number is None else folder.number
        names = (os.fsencode(folder.at(path.name)) for path in (one, other))
        if renameat2(number, next(names), number, next(names), exchange_flag) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
            return False
        raise OSError(code, os.strerror(code), str(other))

    return exchange
