"""Pack files into a gzipped tar file that `unpack` takes, whatever they hold and whatever happens to them meanwhile."""

from __future__ import annotations

import contextlib
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from vault_memory.adapters import files
from vault_memory.adapters.archive.rules import DEFAULT_LIMITS, LeaveOut, Limits, checked_name, links_out
from vault_memory.errors import ForeignFile

_BLOCK_BYTES = 1 << 20
_PIECE_BYTES = 4 << 20
_LEVEL = 6
_AS_GZIP = 16 + zlib.MAX_WBITS


@contextlib.contextmanager
def pack(out: BinaryIO, *, leave_out: LeaveOut, limits: Limits = DEFAULT_LIMITS) -> Iterator[Packing]:
    """Add the members to what this yields; at the end the archive is complete in `out`.

    `leave_out` and `limits` are those of the `unpack` to come. Raises `OSError` when `out` cannot be written.
    """
    gzipped = _Gzip(out, limits)
    tar = tarfile.TarFile(fileobj=gzipped, mode="w", copybufsize=_BLOCK_BYTES)  # type: ignore[arg-type]
    packing = Packing(tar, gzipped, leave_out)
    yield packing
    packing.add_links()
    tar.close()
    gzipped.finish()


class Packing:
    """An archive that is being written. `problems` has a line for each file that is not in it, or not as it stands."""

    def __init__(self, tar: tarfile.TarFile, gzipped: _Gzip, leave_out: LeaveOut) -> None:
        self._tar, self._gzipped, self._leave_out = tar, gzipped, leave_out
        self._links: dict[PurePosixPath, tuple[str, os.stat_result]] = {}
        self.problems: list[str] = []

    def add(self, path: Path, name: PurePosixPath, above: Path | None = None) -> bool:
        """Add a file, a link or an empty folder; whether there is one (still). What cannot be added is a problem.

        A file is reached without a link from the folder `above` (None: its own), however fast others make one.

        Links come last in the archive, because only all of them tell where one leads.
        """
        source = None
        try:
            checked_name(name.as_posix(), is_folder=False)
            status = path.lstat()
            if path.is_symlink():
                self._links[name] = os.readlink(path), status
                return True
            if not path.is_dir():
                source = _Source(path, above or path.parent)
                status = source.status
        except (FileNotFoundError, NotADirectoryError):
            return False
        except ForeignFile:
            self.problems.append(f"left out: {name}: no file but a pipe, socket or device")
        except (tarfile.TarError, OSError) as error:  # of the file: an error of `out` comes later
            self.problems.append(f"left out: {name}: {getattr(error, 'strerror', None) or error}")
        else:
            self._write(name, status, source)
        return True

    def add_links(self) -> None:
        """Write the links that `unpack` will take, and those that it leaves out."""
        checked = {name: target for name, (target, _) in self._links.items() if not self._leave_out(name, True)}
        while bad := links_out(checked):  # without them another may lead elsewhere
            for name in bad:
                self.problems.append(f"left out: {name}: a link to {checked.pop(name)!r}, which is not among the notes")
                del self._links[name]
        for name, (target, status) in self._links.items():
            self._write(name, status, None, target)

    def _write(self, name: PurePosixPath, status: os.stat_result, source: _Source | None, target: str = "") -> None:
        member = tarfile.TarInfo(name.as_posix())
        member.mode, member.mtime, member.linkname = status.st_mode & 0o7777, status.st_mtime, target
        member.uid, member.gid = status.st_uid, status.st_gid
        self._gzipped.members += 1
        if source is None:
            member.type = tarfile.SYMTYPE if target else tarfile.DIRTYPE
            self._tar.addfile(member)
        else:
            with source:
                member.size = source.size
                self._tar.addfile(member, source)  # type: ignore[arg-type]
                if source.has_changed():
                    self.problems.append(f"changed while it was copied, so the copy may lack its end: {name}")
        self._tar.members.clear()  # type: ignore[attr-defined]


class _Source:
    """A regular file on its way into an archive: as many bytes as its header says, with zeros for those that are gone.

    A small file is read before its header is written, so that the header is true.
    """

    def __init__(self, path: Path, above: Path) -> None:
        self._file = files.opened_below(path, above)
        try:
            self.status = os.fstat(self._file.fileno())
            self._before = self._state()
            head = self._file.read(_BLOCK_BYTES)
            self.size = len(head) if len(head) < _BLOCK_BYTES else max(self._state()[0], len(head))
        except BaseException:
            self._file.close()
            raise
        self._head, self._is_short = memoryview(head), False

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, count: int) -> bytes:
        """The next `count` bytes, of which tarfile asks for no more than `size`."""
        block, self._head = bytes(self._head[:count]), self._head[count:]
        if len(block) < count:
            with contextlib.suppress(OSError):  # a bad place on the disk: `has_changed` tells
                block += self._file.read(count - len(block))
            self._is_short = self._is_short or len(block) < count
        return block.ljust(count, b"\0")

    def has_changed(self) -> bool:
        """Whether the file is not as it was when it was opened, or could not be read to its end."""
        return self._is_short or self._state() != self._before

    def _state(self) -> tuple[int, int]:
        """(size, time of the last change): not `ctime`, which a new name changes too."""
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns


class _Gzip:
    """The bytes of an archive, gzipped in pieces, each a stream of its own, as gzip allows.

    `unpack` takes an archive for a bomb that holds more than its size explains. A piece with which this one would is
    packed again without a search for repetitions: to an eighth of its size at best.
    """

    def __init__(self, out: BinaryIO, limits: Limits) -> None:
        self._out, self._limits = out, limits
        self._piece = bytearray()
        self._bytes, self._packed_bytes, self.members = 0, 0, 0

    def tell(self) -> int:
        """How many bytes were written."""
        return self._bytes + len(self._piece)

    def write(self, data: bytes) -> int:
        """Take the next bytes."""
        self._piece += data
        while len(self._piece) >= _PIECE_BYTES:
            self._pack(bytes(self._piece[:_PIECE_BYTES]))
            del self._piece[:_PIECE_BYTES]
        return len(data)

    def finish(self) -> None:
        """Write what waits; then the archive is complete."""
        self._pack(bytes(self._piece))
        self._piece.clear()

    def _pack(self, piece: bytes) -> None:
        self._bytes += len(piece)
        packed = _gzipped(piece, zlib.Z_DEFAULT_STRATEGY)
        size = self._packed_bytes + len(packed)
        if self._limits.most_bytes(size) < self._bytes or self._limits.most_members(size) < self.members:
            packed = _gzipped(piece, zlib.Z_HUFFMAN_ONLY)
        self._out.write(packed)
        self._packed_bytes += len(packed)


def _gzipped(piece: bytes, strategy: int) -> bytes:
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _AS_GZIP, zlib.DEF_MEM_LEVEL, strategy)
    return packer.compress(piece) + packer.flush()
