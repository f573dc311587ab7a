"""What a compressed file or an archive holds: its bytes, or the names of its members. Nothing is written for it.

Names are found by what the header of each member looks like, wherever it stands. So an archive that is cut, one part of
several, and one that stands uncompressed in another are read as far as they go.
"""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

MAX_BYTES = 500_000_000
"""Of what a file holds, uncompressed."""
_MAX_PIECE_BYTES = 1 << 20
_MAX_MEMORY_BYTES = 200_000_000
"""That a decoder of xz may take: a header of a few bytes asks for it."""
_OPAQUE = (
    *(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\x1f\x9d", b"LZIP", b"xar!"),
    *(b"MSCF", b"!<arch>\n", b"07070", b"hsqs", b"AA01", b"pbz", b"# v2 git bundle", b"# v3 git bundle"),
)
"""How archives begin whose names Python cannot read: 7-Zip, RAR, Zstandard, LZ4, compress, lzip, xar, Cabinet, ar,
cpio, SquashFS, Apple Archive, bundles of git."""
_IN_ZIP = re.compile(rb"PK(?:\x01\x02.{24}(..).{16}|\x03\x04.{22}(..)..)", re.DOTALL)
"""The headers in the list of members and before each; the length of the name, and then the name."""
_BLOCK_BYTES = 512
_MAX_LONG_NAME_BYTES = 100_000
_PATH_RECORD = re.compile(rb"[0-9]+ path=([^\n\0]+)\n")


class Unreadable(Exception):
    """A compressed file is damaged or cut, or holds more than `MAX_BYTES`."""


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """Zlib's decoder with the manners of the others."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length)


_DECODERS: dict[bytes, Callable[[], _Decoder]] = {
    b"\x1f\x8b": _Gunzip,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lambda: lzma.LZMADecompressor(memlimit=_MAX_MEMORY_BYTES),
    b"\x5d\0\0": lambda: lzma.LZMADecompressor(memlimit=_MAX_MEMORY_BYTES),
}
HEAD_BYTES = _BLOCK_BYTES
"""Of the beginning of a file, so that the functions below know it."""


def is_compressed(head: bytes) -> bool:
    """Whether `unpacked` reads a file with this beginning."""
    return head.startswith(tuple(_DECODERS))


def is_archive(head: bytes) -> bool:
    """Whether `names` reads a file with this beginning: zip or tar, compressed or not."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")) or _is_tar_header(head[:_BLOCK_BYTES])


def is_opaque(head: bytes) -> bool:
    """Whether this is the beginning of an archive of which nothing can be read here."""
    return head.startswith(_OPAQUE)


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What a compressed file holds, a megabyte at a time. Raises `Unreadable`."""
    decoder, new, done = None, None, 0
    try:
        for piece in _whole(pieces):
            if new is None:
                new = next(new for mark, new in _DECODERS.items() if piece.startswith(mark))
            while piece:
                if decoder is None:
                    decoder = new()
                yield (block := decoder.decompress(piece, _MAX_PIECE_BYTES))
                done += len(block)
                while not decoder.eof and not decoder.needs_input and done <= MAX_BYTES:
                    yield (block := decoder.decompress(b"", _MAX_PIECE_BYTES))
                    done += len(block)
                if done > MAX_BYTES:
                    raise Unreadable("it holds more than is looked through")
                piece = decoder.unused_data.lstrip(b"\0") if decoder.eof else b""
                decoder = None if decoder.eof else decoder  # another may follow, as `cat a.gz b.gz` makes it
    except (zlib.error, OSError, EOFError, lzma.LZMAError) as error:
        raise Unreadable("it is damaged") from error
    if decoder is not None:
        raise Unreadable("it is cut")


def names(head: bytes, pieces: Iterable[bytes]) -> Iterator[str]:
    """The names of an archive's members, as they stand there; one may come twice. `head` is its beginning."""
    found = _in_zip(b"".join(pieces)) if head.startswith(b"PK") else _in_tar(pieces)
    return (name.decode("utf-8", "replace") for name in found)


def _in_zip(data: bytes) -> Iterator[bytes]:
    for header in _IN_ZIP.finditer(data):
        yield data[header.end() : header.end() + int.from_bytes(header[1] or header[2], "little")]


def _in_tar(pieces: Iterable[bytes]) -> Iterator[bytes]:
    long_name, size = b"", 0
    for block in _blocks(pieces):
        if size:
            long_name += block
            if len(long_name) >= size:
                yield from _PATH_RECORD.findall(long_name[:size]) or [long_name[:size].rstrip(b"\0")]
                long_name, size = b"", 0
        elif _is_tar_header(block):
            if block[156:157] in b"LKxg":  # what follows is the name of the next member, or has it
                size = min(_octal(block[124:136]), _MAX_LONG_NAME_BYTES)
            else:
                prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
                name = block[:100].partition(b"\0")[0]
                yield prefix + b"/" + name if prefix else name


def _is_tar_header(block: bytes) -> bool:
    """Whether the sum that stands in a header is that of its bytes."""
    written = block[148:156]
    if len(block) < _BLOCK_BYTES or not written.strip(b" \0").isdigit():
        return False
    return _octal(written) == sum(block) - sum(written) + 8 * ord(" ")


def _octal(field: bytes) -> int:
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        return 0


def _whole(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of a megabyte: lines of a compressed file are a few bytes long."""
    gathered, size = [], 0
    for piece in pieces:
        gathered.append(piece)
        size += len(piece)
        if size >= _MAX_PIECE_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        data = rest + piece
        end = len(data) - len(data) % _BLOCK_BYTES
        for at in range(0, end, _BLOCK_BYTES):
            yield data[at : at + _BLOCK_BYTES]
        rest = data[end:]
