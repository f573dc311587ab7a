"""The one way to a folder in which we write, and to a private file (state, indexes, conversation records): only its
owner may read that, from its first byte.

A vault's folder may be written by others: a `git pull`, a sync program, an archive. A link that they planted where we
write would turn our bytes into a change of any file of the person. So each name below a trusted folder (the vault's
root, a user's folder, git's) is opened from the folder above it, and none may be a link. A folder that is swapped for
a link while we are at work is not followed either: its open descriptor is used, not its name.

Nor may what is private be another user's: where a folder of the vault is shared with a group, one of them can put their
own in its place, and its owner can always read it. By its open descriptor too, so nothing is asked twice.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from vault_memory.errors import ForeignFile

_serial = itertools.count()

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OPEN_FILE_MODE = 0o666
_OPEN_FOLDER_MODE = 0o777
_IS_NO_FOLDER = (errno.ELOOP, errno.ENOTDIR)
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd  # not on Windows, where names are looked at before each step
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_FILE_FLAGS = 0  # O_NONBLOCK: to open a pipe must not wait for its other end
for _name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
    _FILE_FLAGS |= getattr(os, _name, 0)


class OpenFolder:
    """An open folder; its files are private unless `is_private` is false. Its methods take the names of files in it.

    `number` is its descriptor, None where the system has none for folders: then `at` gives whole paths. `home`: what
    the system says of the trusted folder from which it was reached.
    """

    def __init__(self, path: Path, number: int | None, home: os.stat_result, is_private: bool = True) -> None:
        self.path = path
        self.number = number
        self._home = home
        self._is_private = is_private

    def open(self, name: str, flags: int) -> int:
        """Open a file, which is made private if it is not. Raises `ForeignFile` for a link, what is no file, and a
        private file of another user.

        A private file that is appended to and has another name, too (a hard link), becomes a file of its own: what is
        written would be read under the other name. The caller holds its lock.
        """
        if self.number is None:
            _refuse_link(self.path / name)
        try:
            mode = FILE_MODE if self._is_private else _OPEN_FILE_MODE
            number = os.open(self.at(name), flags | _FILE_FLAGS, mode, dir_fd=self.number)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _link(self.path / name) from error
            if error.errno == errno.EISDIR:
                raise _no_file(self.path / name) from error
            raise
        try:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode):
                raise _no_file(self.path / name)
            if self._is_private:
                _refuse_other_user(self.path / name, status, self._home)
                _keep_to_owner(number, status, FILE_MODE)
            if flags & os.O_CREAT and status.st_size == 0 and self.number is not None:
                give_to_owner(number, self._home if self._is_private else os.fstat(self.number))
        except BaseException:
            os.close(number)
            raise
        if self._is_private and flags & os.O_APPEND and status.st_nlink > 1:
            os.close(number)
            self._part(name)
            return self.open(name, flags)
        return number

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None when there is no such file."""
        try:
            with os.fdopen(self.open(name, os.O_RDONLY), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def replace(self, name: str, new_name: str) -> None:
        """Rename a file, over another one if there is one; a link of that name is refused."""
        self.refuse_link(new_name)
        os.replace(self.at(name), self.at(new_name), src_dir_fd=self.number, dst_dir_fd=self.number)

    def remove(self, name: str) -> None:
        """Delete a file. Raises `FileNotFoundError`."""
        os.unlink(self.at(name), dir_fd=self.number)

    def make(self, name: str) -> None:
        """Make an empty file if there is none. It never has its name while it is open here."""
        temp = f".{name}.{os.getpid()}-{next(_serial)}.vault-memory.tmp"
        os.close(self.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        try:
            with contextlib.suppress(FileExistsError):
                os.link(self.at(temp), self.at(name), src_dir_fd=self.number, dst_dir_fd=self.number)
        except OSError:  # a file system without hard links
            os.close(self.open(name, os.O_WRONLY | os.O_CREAT))
        finally:
            self.remove(temp)

    def _part(self, name: str) -> None:
        """Put a copy of a file in the place of its name; its other names stay with the old one."""
        temp = f".{name}.{os.getpid()}-{next(_serial)}.vault-memory.tmp"
        with (
            os.fdopen(self.open(name, os.O_RDONLY), "rb") as old,
            os.fdopen(self.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as new,
        ):
            try:
                shutil.copyfileobj(old, new)
                new.flush()
                os.fsync(new.fileno())
            except BaseException:
                self.remove(temp)
                raise
        self.replace(temp, name)
        self.sync()

    def close_to_others(self, name: str) -> bool:
        """Make a file private without opening it; whether it exists. Raises `ForeignFile` for what is no file, and for
        another user's."""
        self.refuse_link(name)
        try:
            status = os.stat(self.at(name), dir_fd=self.number, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not stat.S_ISREG(status.st_mode):
            raise _no_file(self.path / name)
        _refuse_other_user(self.path / name, status, self._home)
        if os.name != "nt" and status.st_mode & 0o077:
            with contextlib.suppress(PermissionError):  # it is the vault's owner's
                os.chmod(self.at(name), FILE_MODE, dir_fd=self.number)
        return True

    def refuse_link(self, name: str) -> None:
        """Raise `ForeignFile` if the name is a link."""
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISLNK(os.stat(self.at(name), dir_fd=self.number, follow_symlinks=False).st_mode):
                raise _link(self.path / name)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold a lock on the folder itself; a no-op where folders cannot be opened (Windows)."""
        if self.number is None:
            yield
            return
        import fcntl

        fcntl.flock(self.number, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self.number, fcntl.LOCK_UN)

    def sync(self) -> None:
        """Make names that were made, renamed or removed durable."""
        if self.number is not None:
            os.fsync(self.number)

    def status(self) -> os.stat_result:
        """What the system says of the folder."""
        return os.stat(self.path if self.number is None else self.number)

    def at(self, name: str) -> str:
        """What `os` calls with `dir_fd=self.number` take for the file of that name."""
        return name if self.number is not None else os.fspath(self.path / name)


def give_to_owner(number: int, folder: os.stat_result) -> None:
    """Give an open file or folder that root has just made to the owner of `folder`, the one that it is in (what is
    private: the trusted one above it): a daemon that runs as root must not lock the person out. By its number, because
    the name may stand for another file by now."""
    if os.name != "nt" and os.geteuid() == 0 and folder.st_uid != 0:
        os.fchown(number, folder.st_uid, folder.st_gid)


def make_folder(folder: Path) -> None:
    """Make one folder that anybody may see, if it is not there, durably; what root makes belongs to the owner of the
    folder above. Raises `ForeignFile` for a link or file of that name."""
    if not _HAS_DESCRIPTORS:
        folder.mkdir(exist_ok=True)
        return
    above = os.open(folder.parent, _FOLDER_FLAGS)
    try:
        os.close(_open_folder(folder, above, make=True))
    finally:
        os.close(above)


@contextlib.contextmanager
def folder_of(
    path: Path,
    below: Path | None = None,
    *,
    within: Path | None = None,
    make: bool = False,
    is_private: bool = True,
) -> Iterator[OpenFolder]:
    """The folder of a private file, reached from the folder `below` (None: that folder itself), which is trusted or is
    reached without a link from the trusted folder `within`.

    With `make`, missing folders are made, but not `below` or `within`: a vault that was moved away just now must not
    come back as an empty folder. Raises `ForeignFile` when one on the way is a link, or a private one another
    user's (`belongs_to_other`), `FileNotFoundError` when one is missing. The modes of what is below `below` become
    private. Without `is_private` they stay as they are, and the umask gives those of what is new.
    """
    public = below or path.parent
    trusted = within or public
    if make and below is None and within is None:
        with contextlib.suppress(FileExistsError):  # pathlib says so of a folder that is deleted at this moment
            trusted.mkdir(parents=True, exist_ok=True)
    if not _HAS_DESCRIPTORS:
        yield OpenFolder(_checked_by_name(trusted, path.parent, make=make), None, os.stat(trusted), is_private)
        return
    try:
        number = os.open(trusted, _FOLDER_FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _link(trusted, is_private) from error
        raise
    here = trusted
    try:
        home = os.fstat(number)
        for depth, name in enumerate(path.parent.parts[len(trusted.parts) :], len(trusted.parts)):
            here = here / name
            is_below = depth >= len(public.parts)
            inner = _open_folder(here, number, make=make, home=home if is_private and is_below else None)
            os.close(number)
            number = inner
        yield OpenFolder(path.parent, number, home, is_private)
    finally:
        os.close(number)


def secure(path: Path, beside: Sequence[str] = (), below: Path | None = None, within: Path | None = None) -> None:
    """Make a missing file, and an existing one private, for SQLite, which opens files by their names.

    Missing folders are made, too, but not below `within`: a user's folder that is gone, or was renamed just now, must
    not come back because somebody reads. The library, which makes no folders, then finds none either.

    An existing file is not opened: to close it again would give up the locks that this process holds on it.

    Files of the names `beside` are made private if they exist; where the file itself is missing they are removed, for
    they are of one that somebody has deleted, and SQLite would take them for its own. `below`, `within`: see
    `folder_of`. Raises `ForeignFile` for a link, folder or pipe, and for another user's file. Other errors are left to
    the library, which will meet them too.
    """
    with contextlib.suppress(OSError), folder_of(path, below, within=within, make=within is None) as folder:
        if not folder.close_to_others(path.name):
            with folder.locked():  # two that do this at once would each remove what the other has made
                if not folder.close_to_others(path.name):
                    try:
                        for name in filter(folder.close_to_others, beside):
                            folder.remove(name)
                    finally:  # one that cannot be removed is named whenever the index is opened
                        folder.make(path.name)
        for name in beside:
            folder.close_to_others(name)


def refuse_links(path: Path, below: Path) -> None:
    """Raise `ForeignFile` if `path`, or a folder on the way from `below` to it, is a link, a pipe or a device, or if a
    file stands where a folder should be.

    It takes 1 us a name.
    """
    here = below
    for name in path.relative_to(below).parts:
        here = here / name
        _refuse_link(here)


def refuse_foreign(path: Path, below: Path) -> None:
    """As `refuse_links`, and raise `ForeignFile` if one of them is another user's. All of them are private."""
    refuse_links(path, below)
    home, here = os.stat(below), below
    for name in path.relative_to(below).parts:
        here = here / name
        with contextlib.suppress(FileNotFoundError):
            _refuse_other_user(here, os.lstat(here), home)


def belongs_to_other(status: os.stat_result, home: os.stat_result) -> bool:
    """Whether a private file or folder is another user's, who can read it whatever its mode is now.

    Ours is what belongs to the user of this process, or to the owner of the trusted folder `home`: root works in the
    vaults of others, and some disks (a share, a folder that a container is given) know one owner for everything.
    """
    return os.name != "nt" and status.st_uid not in (os.geteuid(), home.st_uid)


def _open_folder(path: Path, above: int, *, make: bool, home: os.stat_result | None = None) -> int:
    """Open a folder by its last name in the open folder `above`; a private one if `home` is given."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path.name, FOLDER_MODE if home else _OPEN_FOLDER_MODE, dir_fd=above)
            os.fsync(above)
    try:
        number = os.open(path.name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=above)
    except OSError as error:
        if error.errno not in _IS_NO_FOLDER:
            raise
        if _is_file(path.name, above):
            if make:
                raise _no_folder(path) from error
            raise
        raise _link(path, home is not None) from error  # or it was one just now
    try:
        status = os.fstat(number)
        if home:
            _refuse_other_user(path, status, home)
            _keep_to_owner(number, status, FOLDER_MODE)
        if status.st_uid == 0:
            give_to_owner(number, home or os.fstat(above))
    except BaseException:
        os.close(number)
        raise
    return number


def _is_file(name: str, above: int) -> bool:
    """Whether something else than a folder or a link has this name in the open folder `above`."""
    try:
        mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def _keep_to_owner(number: int, status: os.stat_result, mode: int) -> None:
    """Take away what others may do with an open file or folder of an older version, a copy or a sync program."""
    if os.name != "nt" and status.st_mode & 0o077:
        with contextlib.suppress(PermissionError):  # it is the vault's owner's
            os.fchmod(number, mode)


def _refuse_other_user(path: Path, status: os.stat_result, home: os.stat_result) -> None:
    if belongs_to_other(status, home):
        raise ForeignFile(
            f"{path} belongs to the user {user_name(status.st_uid)}, who could read what is private: move it away, and "
            f"it is made anew; or, if you know that it is yours, `sudo chown -R {user_name(home.st_uid)} {path}`"
        )


def user_name(number: int) -> str:
    """The name of a user of this machine, or the number where there is none."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _checked_by_name(trusted: Path, folder: Path, *, make: bool) -> Path:
    refuse_links(folder, trusted)
    if make:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _refuse_link(path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except NotADirectoryError as error:
        raise _no_folder(path.parent) from error
    if stat.S_ISLNK(mode):
        raise _link(path)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ForeignFile(f"{path} is a pipe, socket or device, which can hold a program up: delete it")


def _no_folder(path: Path) -> ForeignFile:
    return ForeignFile(f"{path} is a file, and a folder belongs there: give it another name, or delete it")


def _no_file(path: Path) -> ForeignFile:
    return ForeignFile(f"{path} is not a file: delete it, and it is made anew")


def _link(path: Path, is_private: bool = True) -> ForeignFile:
    if not is_private:
        return ForeignFile(
            f"{path} is a link to {_target(path)}, and nothing is written through it: put the folder there"
        )
    return ForeignFile(
        f"{path} is a link to {_target(path)}, and a private file is never reached through a link: delete the link "
        "(`git rm` it if git tracks it), and the file is made anew"
    )


def _target(path: Path) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return "somewhere else"
