"""Unpack a gzipped tar file that may come from anybody, by rules of our own.

Only regular files, folders and relative symbolic links that stay inside are unpacked. Nothing here relies on
`TarFile.extractall` or its filters, whose rules differ between Python's patch versions: tarfile only reads the headers.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.errors import UsageError

MAX_HEADER_BYTES = 1_000_000
"""Of one member's headers: names and extended attributes. tarfile holds them in memory."""
MAX_DEPTH = 100
"""Folders above a member."""
_MAX_LINKS_FOLLOWED = 40
_BLOCK_BYTES = 1 << 20
_LAST_BLOCKS_BYTES = 10_240
_KEPT_BITS = 0o755  # no setuid, setgid or sticky bit, and only the owner may write
_CLOSED = (".git", ".vault-memory")  # a link must not lead here: what reads or writes a note would reach our own files
_BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True)
class Limits:
    """How much an archive may unpack to, so that a small file cannot fill the disk.

    The text of notes is packed to a tenth, a very repetitive log to a hundredth; zeros to a thousandth. A member takes
    at least 20 bytes of an archive when its name, time and content are unlike the next one's.
    """

    bytes_per_archive_byte: int = 200
    more_bytes: int = 256 << 20
    archive_bytes_per_member: int = 20
    more_members: int = 10_000
    spare_bytes: int = 64 << 20
    """Stay free on the disk."""


DEFAULT_LIMITS = Limits()


def unpack(
    archive: Path,
    folder: Path,
    *,
    leave_out: Callable[[PurePosixPath, bool], bool] = lambda name, is_link: False,
    is_private: Callable[[PurePosixPath], bool] = lambda name: False,
    limits: Limits = DEFAULT_LIMITS,
) -> list[PurePosixPath]:
    """Unpack `archive` into `folder`, which exists and is empty; return the members that were left out.

    `leave_out` gets a member's name, and whether it is a symbolic link.
    Private members are readable by their owner only. A file keeps its mode otherwise, without setuid and the like.
    Raises `UsageError`, naming the member, for anything that a backup does not hold; the folder may be half full then.
    """
    try:
        size = archive.stat().st_size
        free = shutil.disk_usage(folder).free - limits.spare_bytes
        room = min(free, limits.more_bytes + size * limits.bytes_per_archive_byte)
        with archive.open("rb") as raw, gzip.GzipFile(fileobj=raw) as unzipped:
            unpacking = _Unpacking(
                folder, room, limits.more_members + size // limits.archive_bytes_per_member, is_private
            )
            return unpacking.run(_Stream(unzipped), leave_out)
    except FileNotFoundError as error:
        if archive.exists():
            raise UsageError(f"{archive} cannot be unpacked: {error.filename} was deleted meanwhile") from error
        raise UsageError(f"there is no file {archive}") from error
    except _BROKEN as error:
        raise UsageError(f"{archive} is not a complete backup ({error or type(error).__name__})") from error


class _Unpacking:
    """One archive on its way into `folder`: at most `room` bytes in at most `members` members."""

    def __init__(self, folder: Path, room: int, members: int, is_private: Callable[[PurePosixPath], bool]) -> None:
        self._folder, self._room, self._members, self._is_private = folder, room, members, is_private
        self._folders: dict[PurePosixPath, Path] = {PurePosixPath("."): folder}
        self._files: dict[PurePosixPath, Path] = {}
        self._links: dict[PurePosixPath, str] = {}

    def run(self, stream: _Stream, leave_out: Callable[[PurePosixPath, bool], bool]) -> list[PurePosixPath]:
        left_out = []
        for count, member in enumerate(_members(stream)):
            if count >= self._members:
                raise tarfile.TarError(f"it holds more than {self._members:,} members, too many for its size")
            name = _checked_name(member)
            self._take_room(name, member.size)
            if leave_out(name, member.issym()):
                left_out.append(name)
            elif member.isdir():
                self._make_folder(name)
            elif member.issym():
                self._links[name] = member.linkname
            elif member.islnk():
                self._copy_of(member, name)
            elif member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                self._write(member, name, stream.data(member.offset_data, member.size))
            else:
                raise tarfile.TarError(f"{member.name!r} is neither a file nor a folder nor a link")
        self._make_links()
        return left_out

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
        self._files[name] = path

    def _copy_of(self, member: tarfile.TarInfo, name: PurePosixPath) -> None:
        """A second name of a file that came before it becomes a copy: tar writes files with two names so."""
        original = self._files.get(PurePosixPath(member.linkname))
        if original is None:
            raise tarfile.TarError(f"{member.name!r} is a hard link to {member.linkname!r}, which is no file before it")
        member.mode = original.stat().st_mode
        self._take_room(name, original.stat().st_size)
        with original.open("rb") as file:
            self._write(member, name, iter(lambda: file.read(_BLOCK_BYTES), b""))

    def _new(self, path: Path, name: PurePosixPath) -> int:
        """A new file, open for writing; never one that exists, also not one whose name differs only in case."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        try:
            return os.open(path, flags, 0o600)
        except FileExistsError:
            raise tarfile.TarError(f"{str(name)!r} is there twice, or two names differ only in case") from None

    def _take_room(self, name: PurePosixPath, size: int) -> None:
        if size < 0:
            raise tarfile.TarError(f"{str(name)!r} has a size below zero")
        self._room -= size
        if self._room < 0:
            raise tarfile.TarError(
                f"with {str(name)!r} it needs more room than the disk has, or than its size explains"
            )

    def _make_links(self) -> None:
        """Links come last, so that no file or folder was reached through one."""
        targets = {_folded(name): target for name, target in self._links.items()}
        for name, target in self._links.items():
            if _leads_out(name, targets):
                raise tarfile.TarError(f"{str(name)!r} is a link to {target!r}, which is not among the notes")
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


def _checked_name(member: tarfile.TarInfo) -> PurePosixPath:
    """The member's name, if it stays inside and means the same on every file system."""
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts or not (name.parts or member.isdir()):
        raise tarfile.TarError(f"{member.name!r} is not a path inside the backup")
    if os.name == "nt" and any(char in member.name for char in "\\:"):
        raise tarfile.TarError(f"{member.name!r} is not a file name on Windows")
    if len(name.parts) > MAX_DEPTH:
        raise tarfile.TarError(f"{member.name[:100]!r}… is in more than {MAX_DEPTH} folders")
    disguised = next((part for part in name.parts if _plain(part) in _CLOSED and part not in _CLOSED), None)
    if disguised:
        raise tarfile.TarError(f"{member.name!r}: {disguised!r} is another way to write {_plain(disguised)!r}")
    return name


def _leads_out(link: PurePosixPath, targets: dict[tuple[str, ...], str]) -> bool:
    """Whether a link, followed through all other links, leaves the folder or enters git's files or ours.

    Decided by names alone. `targets`: folded name of each link → where it points.
    """
    here = list(link.parent.parts)
    ahead = list(reversed(_parts(targets[_folded(link)])))
    followed = 0
    if any(_plain(part) in _CLOSED for part in here):
        return True
    while ahead:
        part = ahead.pop()
        if part == "/" or (part == ".." and not here):
            return True
        if part in ("", ".", ".."):
            del here[len(here) - (part == "..") :]
            continue
        here.append(part)
        if _plain(part) in _CLOSED:
            return True
        target = targets.get(_folded(PurePosixPath(*here)))
        if target is not None:
            followed += 1
            if followed > _MAX_LINKS_FOLLOWED:
                return True
            here.pop()
            ahead.extend(reversed(_parts(target)))
    return False


def _parts(target: str) -> tuple[str, ...]:
    if os.name == "nt":
        target = target.replace("\\", "/")
    return ("/",) if target.startswith("/") else tuple(target.split("/"))


def _folded(name: PurePosixPath) -> tuple[str, ...]:
    return tuple(unicodedata.normalize("NFC", part).casefold() for part in name.parts)


def _plain(part: str) -> str:
    """A name as the most forgiving file system reads it: no case, no invisible characters, no dots at its end."""
    visible = "".join(char for char in part if unicodedata.category(char) != "Cf")
    plain = unicodedata.normalize("NFKC", visible).casefold().rstrip(". ")
    return ".git" if plain == "git~1" else plain
