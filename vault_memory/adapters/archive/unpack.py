"""Unpack a gzipped tar file that may come from anybody, or only look whether that could be done.

Only regular files, folders and relative symbolic links that stay inside are unpacked. Nothing here relies on
`TarFile.extractall` or its filters, whose rules differ between Python's patch versions: tarfile only reads the headers.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from vault_memory.adapters import files
from vault_memory.adapters.archive.rules import (
    DEFAULT_LIMITS,
    MAX_HEADER_BYTES,
    LeaveOut,
    Limits,
    check_links,
    checked_name,
)
from vault_memory.errors import ForeignFile, UsageError

_BLOCK_BYTES = 1 << 20
_LAST_BLOCKS_BYTES = 10_240
_KEPT_BITS = 0o755  # no setuid, setgid or sticky bit, and only the owner may write
_BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, OverflowError)


def unpack(
    archive: Path,
    folder: Path,
    *,
    leave_out: LeaveOut = lambda name, is_link: False,
    is_private: Callable[[PurePosixPath], bool] = lambda name: False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[PurePosixPath]:
    """Unpack `archive` into `folder`, which exists and is empty; return the members that were left out.

    Private members are readable by their owner only. A file keeps its mode otherwise, without setuid and the like.
    Raises `UsageError`, naming the member, for anything that a backup does not hold; the folder may be half full then.
    """
    with _opened(archive) as raw:
        free = shutil.disk_usage(folder).free - limits.spare_bytes
        members = _Checked(raw, leave_out, limits, free)
        _Unpacking(folder, is_private).run(members)
        return members.left_out


def check(archive: Path, leave_out: LeaveOut, limits: Limits = DEFAULT_LIMITS) -> None:
    """Read all of `archive` and raise what `unpack` would, as far as it does not depend on the disk; write nothing."""
    with _opened(archive) as raw:
        for _ in _Checked(raw, leave_out, limits):
            pass


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[BinaryIO]:
    try:
        with files.opened(archive) as raw:
            yield raw
    except ForeignFile as error:
        raise UsageError(
            f"{archive} is no file but a folder, pipe, socket or device: name the file of a backup"
        ) from error
    except FileNotFoundError as error:
        if archive.exists():
            raise UsageError(f"{archive} cannot be unpacked: {error.filename} was deleted meanwhile") from error
        raise UsageError(f"there is no file {archive}") from error
    except RecursionError as error:
        raise UsageError(
            f"{archive} is not a complete backup (a member has more headers than can be followed)"
        ) from error
    except _BROKEN as error:
        raise UsageError(f"{archive} is not a complete backup ({error or type(error).__name__})") from error


class _Checked:
    """The members of an archive as they come, each checked: at most as many, with as many bytes, as its size explains.

    Its names are held in memory, none of its content.
    """

    def __init__(self, raw: BinaryIO, leave_out: LeaveOut, limits: Limits, free: int | None = None) -> None:
        size = os.fstat(raw.fileno()).st_size
        self._most_bytes = limits.most_bytes(size) if free is None else min(free, limits.most_bytes(size))
        self._most_members = limits.most_members(size)
        self._raw, self._leave_out = raw, leave_out
        self._sizes: dict[PurePosixPath, int] = {}
        self._folders = {PurePosixPath(".")}
        self.links: dict[PurePosixPath, str] = {}
        self.left_out: list[PurePosixPath] = []

    def __iter__(self) -> Iterator[tuple[PurePosixPath, tarfile.TarInfo, Iterator[bytes]]]:
        """Each folder, file and hard link with its name and content. At the end the symbolic links are in `links`."""
        with gzip.GzipFile(fileobj=self._raw) as unzipped:
            stream = _Stream(unzipped)
            for count, member in enumerate(_members(stream)):
                if count >= self._most_members:
                    raise tarfile.TarError(f"it holds more than {self._most_members:,} members, too many for its size")
                name = checked_name(member.name, member.isdir())
                self._take_room(name, member.size)
                if self._leave_out(name, member.issym()):
                    self.left_out.append(name)
                    continue
                self._take_name(name, member)
                if member.issym():
                    self.links[name] = member.linkname
                else:
                    yield name, member, stream.data(member.offset_data, member.size)
        check_links(self.links)

    def _take_room(self, name: PurePosixPath, size: int) -> None:
        if size < 0:
            raise tarfile.TarError(f"{str(name)!r} has a size below zero")
        self._most_bytes -= size
        if self._most_bytes < 0:
            raise tarfile.TarError(
                f"with {str(name)!r} it needs more room than the disk has, or than its size explains"
            )

    def _take_name(self, name: PurePosixPath, member: tarfile.TarInfo) -> None:
        for above in name.parents:
            if above in self._sizes or above in self.links:
                raise tarfile.TarError(f"the path {str(name)!r} goes through {str(above)!r}, which is no folder")
            if above in self._folders:
                break
            self._folders.add(above)
        if member.isdir():
            self._folders.add(name)
        elif name in self._sizes or name in self.links or name in self._folders:
            raise tarfile.TarError(f"{str(name)!r} is there twice, or two names differ only in case")
        elif member.islnk():
            original = self._sizes.get(PurePosixPath(member.linkname))
            if original is None:
                raise tarfile.TarError(
                    f"{member.name!r} is a hard link to {member.linkname!r}, which is no file before it"
                )
            self._take_room(name, original)
            self._sizes[name] = original
        elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
            self._sizes[name] = member.size
        elif not member.issym():
            raise tarfile.TarError(f"{member.name!r} is neither a file nor a folder nor a link")


class _Unpacking:
    """One archive on its way into `folder`."""

    def __init__(self, folder: Path, is_private: Callable[[PurePosixPath], bool]) -> None:
        self._folder, self._is_private = folder, is_private
        self._folders: dict[PurePosixPath, Path] = {PurePosixPath("."): folder}

    def run(self, members: _Checked) -> None:
        for name, member, blocks in members:
            if member.isdir():
                self._make_folder(name)
            elif member.islnk():
                self._copy_of(member, name)
            else:
                self._write(member, name, blocks)
        self._make_links(members.links)

    def _make_folder(self, name: PurePosixPath) -> Path:
        """The folder of that name. No link exists yet, so a folder is where its name says."""
        if name not in self._folders:
            path = self._make_folder(name.parent) / name.name
            try:
                path.mkdir(0o700 if self._is_private(name) else 0o777)
            except FileExistsError:  # a file, or the same folder in other letters on a disk that ignores case
                if not path.is_dir():
                    raise tarfile.TarError(f"{str(name)!r} needs a folder where a file is") from None
            self._folders[name] = path
        return self._folders[name]

    def _write(self, member: tarfile.TarInfo, name: PurePosixPath, blocks: Iterator[bytes]) -> None:
        path = self._make_folder(name.parent) / name.name
        mode = 0o600 if self._is_private(name) else member.mode & _KEPT_BITS | 0o600
        with os.fdopen(self._new(path, name), "wb") as file:
            for block in blocks:
                file.write(block)
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
        os.utime(path, (member.mtime, member.mtime))

    def _copy_of(self, member: tarfile.TarInfo, name: PurePosixPath) -> None:
        """A second name of a file that came before it becomes a copy: tar writes files with two names so."""
        original = self._folder / PurePosixPath(member.linkname)
        member.mode = original.stat().st_mode
        with original.open("rb") as file:
            self._write(member, name, iter(lambda: file.read(_BLOCK_BYTES), b""))

    def _new(self, path: Path, name: PurePosixPath) -> int:
        """A new file, open for writing; never one that exists, also not one whose name differs only in case."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            return os.open(path, flags, 0o600)
        except FileExistsError:
            raise tarfile.TarError(f"{str(name)!r} is there twice, or two names differ only in case") from None

    def _make_links(self, links: dict[PurePosixPath, str]) -> None:
        """Links come last, so that no file or folder was reached through one."""
        for name, target in links.items():
            path = self._make_folder(name.parent) / name.name
            if os.path.lexists(path):
                raise tarfile.TarError(f"{str(name)!r} is there twice, or two names differ only in case")
            os.symlink(target, path)


class _Stream:
    """The unzipped bytes, as tarfile reads them: headers in small pieces, or not at all."""

    def __init__(self, unzipped: gzip.GzipFile) -> None:
        self._unzipped = unzipped
        self._header_bytes = 0

    def start_header(self) -> None:
        """The next member's headers may take `MAX_HEADER_BYTES` again."""
        self._header_bytes = 0

    def read(self, size: int = -1) -> bytes:
        self._header_bytes += size
        if size < 0 or self._header_bytes > MAX_HEADER_BYTES:
            raise tarfile.TarError(f"the headers of a member take more than {MAX_HEADER_BYTES:,} bytes")
        return self._unzipped.read(size)

    def seek(self, position: int) -> int:
        if position < self._unzipped.tell() - tarfile.BLOCKSIZE:
            raise tarfile.TarError("it leads back to an earlier member")
        return self._unzipped.seek(position)

    def tell(self) -> int:
        return self._unzipped.tell()

    def data(self, position: int, size: int) -> Iterator[bytes]:
        """The content of a member."""
        self._unzipped.seek(position)
        while size > 0:
            block = self._unzipped.read(min(size, _BLOCK_BYTES))
            if not block:
                raise EOFError("it ends in the middle of a file")
            size -= len(block)
            yield block


def _members(stream: _Stream) -> Iterator[tarfile.TarInfo]:
    """The members one by one; tarfile would keep all of them."""
    with tarfile.TarFile(fileobj=stream, errorlevel=2) as tar:  # type: ignore[arg-type]
        while (member := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined]
            if member.sparse is not None:
                raise tarfile.TarError(f"{member.name!r} is a file with holes")
            yield member
            stream.start_header()
        # tarfile takes a damaged header for the end.
        stream.seek(tar.offset)
        if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.TarError("it is damaged in the middle")
        while stream.read(_LAST_BLOCKS_BYTES):
            pass  # gzip compares its checksum at the end
