"""A file in which another program has given out its data: a file of JSON, or the archive (.zip) that it came in.

An archive may come from anybody. Its members are found by their names and read as a stream; nothing is unpacked to the
disk, and only so much is in memory as is asked for.
"""

from __future__ import annotations

import contextlib
import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from vault_memory.adapters import files
from vault_memory.core.exports import Damaged
from vault_memory.errors import TooLarge, UsageError

PIECE_BYTES = 1 << 20
MAX_BYTES = 8_000_000_000
"""Of a file, uncompressed; of an archive, of each file in it that is read."""
_MAX_LIST_BYTES = 64_000_000
"""Of the list of an archive's files, which is read whole; a hundred bytes each."""
_ENCRYPTED = 0x1
_CANNOT_BE_READ = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(EOFError, OSError, RuntimeError, ValueError),
)
"""What the library raises for archives that are cut, damaged, or packed in a way that it does not know."""


@dataclass(frozen=True)
class Part:
    """A file of JSON: its name for people, its size in bytes (of an archive's: as that claims), and its pieces, to be
    read once.

    A place from which on nothing can be read, or no more is, raises `Damaged`.
    """

    name: str
    size: int
    pieces: Iterator[bytes]


@contextlib.contextmanager
def opened_parts(path: Path, is_wanted: Callable[[str], bool], max_bytes: int = MAX_BYTES) -> Iterator[list[Part]]:
    """The file itself, or the wanted files of the archive that it is, in the order of their names; of each no more than
    `max_bytes`.

    Raises `UsageError` for what cannot be opened, is no archive that can be read, or holds none that is wanted.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give its conversations.json, or the archive that it came in")
    try:
        file = files.opened(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    with file:
        is_archive = file.read(4) == b"PK\x03\x04"
        file.seek(0)
        if not is_archive:
            yield [Part(path.name, os.fstat(file.fileno()).st_size, _pieces(file, max_bytes))]
            return
        with _archive(file, path) as archive:
            members = sorted(
                (each for each in archive.infolist() if is_wanted(each.filename)), key=lambda m: m.filename
            )
            if not members:
                raise UsageError(f"{path} holds no conversations.json: give the archive as it was exported")
            for each in members:
                if each.flag_bits & _ENCRYPTED:
                    raise UsageError(f"{each.filename} in {path} is encrypted: unpack it, and give that file")
            yield [Part(f"{path.name}/{m.filename}", m.file_size, _member(archive, m, max_bytes)) for m in members]


@contextlib.contextmanager
def _archive(file: IO[bytes], path: Path) -> Iterator[zipfile.ZipFile]:
    with _Bounded(file) as bounded:
        try:
            archive = zipfile.ZipFile(bounded)
        except _CANNOT_BE_READ as error:
            raise UsageError(f"{path} is cut or damaged, no archive that can be read: export it again") from error
        with archive:
            yield archive


class _Bounded(io.BufferedReader):
    """An archive, of which no more is read at once than a list of its files may have."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(io.FileIO(os.dup(file.fileno())))

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _MAX_LIST_BYTES:
            raise TooLarge(f"the archive says that the list of its files has {size:,} bytes: unpack it yourself")
        return super().read(size)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> Iterator[bytes]:
    try:
        with archive.open(member) as file:
            yield from _pieces(file, max_bytes)
    except _CANNOT_BE_READ as error:
        raise Damaged(f"the archive is damaged ({error})") from error


def _pieces(file: IO[bytes], max_bytes: int) -> Iterator[bytes]:
    left = max_bytes
    while piece := file.read(PIECE_BYTES):
        left -= len(piece)
        if left < 0:
            raise Damaged(f"it has more than {max_bytes:,} bytes, and no more is read")
        yield piece
