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
from typing import NamedTuple, Protocol

MAX_BYTES = 200_000_000
"""Of what a file holds, uncompressed."""
_MAX_PIECE_BYTES = 1 << 20
_PACKED_PIECE_BYTES = 1 << 14
"""What is behind the end of a packed part is copied, and there may be one in every 20 bytes."""
_MAX_MEMORY_BYTES = 200_000_000
"""That a decoder of xz may take: a header of a few bytes asks for it."""
_OPAQUE = (
    *(b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\x02\x21\x4c\x18"),
    *(b"\x1f\x9d", b"LZIP", b"xar!", b"MSCF", b"!<arch>\n", b"07070", b"hsqs", b"AA01", b"pbz"),
    *(b"# v2 git bundle", b"# v3 git bundle"),
)
"""How archives begin whose names Python cannot read: 7-Zip, RAR, Zstandard, LZ4, compress, lzip, xar, Cabinet, ar,
cpio, SquashFS, Apple Archive, bundles of git."""
_NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
"""A note may begin with `AA01` or `BZh`, too."""
_IN_ZIP = re.compile(rb"PK(?:\x01\x02.{24}(..).{16}|\x03\x04.{4}(..).{16}(..)(..))", re.DOTALL)
"""The header of each member in the list at the end (the length of its name), and the one before each (the method of
its packing, the lengths of its name and of what follows that); and then the name."""
_STORED, _DEFLATED = 0, 8
MAX_MEMBERS = 200_000
_MAX_NAME_BYTES = 4096
_BLOCK_BYTES = 512
_PATH_RECORD = re.compile(rb"(?<![0-9])[0-9]{1,7} path=([^\n\0]{1,4096})")


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
HEAD_BYTES = 4 * _BLOCK_BYTES
"""Of the beginning of a file, so that the functions below know it."""


def is_compressed(head: bytes) -> bool:
    """Whether `unpacked` reads a file with this beginning."""
    return head.startswith(tuple(_DECODERS)) and _NO_TEXT.search(head) is not None


def is_archive(head: bytes) -> bool:
    """Whether `members` reads a file with this beginning: zip or tar."""
    return is_zip(head) or _is_tar_header(head[:_BLOCK_BYTES])


def is_zip(head: bytes) -> bool:
    """Whether a file with this beginning is a zip."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK00PK"))


def is_opaque(head: bytes) -> bool:
    """Whether this is the beginning of an archive of which nothing can be read here."""
    return head.startswith(_OPAQUE) and _NO_TEXT.search(head) is not None


def unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What a compressed file holds, a megabyte at a time. Raises `Unreadable`."""
    decoder, new, done = None, None, 0
    try:
        for piece in _whole(pieces, _PACKED_PIECE_BYTES):
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


class Member(NamedTuple):
    """A member of an archive: its name as it stands there, and how it begins, as far as that is known.

    `is_open` where what it holds stands in the archive as it is: if that is an archive, its members come, too.
    `is_known` unless it is packed in a way that Python does not know.
    """

    name: str
    head: bytes = b""
    is_open: bool = True
    is_known: bool = True


def members(head: bytes, pieces: Iterable[bytes]) -> Iterator[Member]:
    """The members of an archive that begins with `head`; one may come twice. Raises `Unreadable`."""
    found = _in_zip(pieces) if is_zip(head) else _in_tar(pieces)
    for count, (name, begins, is_open, is_known) in enumerate(found):
        if count >= MAX_MEMBERS:
            raise Unreadable("it holds more members than are looked through")
        yield Member(name.decode("utf-8", "replace"), begins, is_open, is_known)


def _in_zip(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bytes, bool, bool]]:
    rest = b""
    for piece in _whole(pieces):
        data, at = rest + piece, 0
        while header := _IN_ZIP.search(data, at):
            if header.end() + _MAX_NAME_BYTES + HEAD_BYTES > len(data) and piece:
                break
            at = header.end() + min(_number(header[1] or header[3]), _MAX_NAME_BYTES)
            name, begins, method = data[header.end() : at], b"", _STORED
            if header[1] is None:
                begin, method = at + _number(header[4]), _number(header[2])
                begins = data[begin : begin + HEAD_BYTES]
                begins = _inflated(begins) if method == _DEFLATED else begins
            yield name, begins, method == _STORED, method in (_STORED, _DEFLATED)
        rest = data[header.start() :] if header else data[max(at, len(data) - _BLOCK_BYTES) :]


def _number(field: bytes) -> int:
    return int.from_bytes(field, "little")


def _inflated(begin: bytes) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(begin, HEAD_BYTES)
    except zlib.error:
        return b""


def _in_tar(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bytes, bool, bool]]:
    long_name, size, named = b"", 0, b""
    for block in _blocks(pieces):
        is_header = _is_tar_header(block)
        if named:
            yield named, b"" if is_header else block, True, True
            named = b""
        if size and not is_header:
            long_name += block
            size = max(0, size - _BLOCK_BYTES)
            if not size:
                names = _PATH_RECORD.findall(long_name) or [long_name.rstrip(b"\0")]
                yield from ((name, b"", True, True) for name in names)
        elif is_header and block[156:157] in b"LKxg":  # what follows is the name of the next member, or has it
            long_name, size = b"", min(_octal(block[124:136]), _MAX_NAME_BYTES)
        elif is_header:
            prefix = block[345:500].partition(b"\0")[0] if block[257:263] == b"ustar\0" else b""
            name = block[:100].partition(b"\0")[0]
            named, size = prefix + b"/" + name if prefix else name, 0
    if named:
        yield named, b"", True, True


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


def _whole(pieces: Iterable[bytes], size: int = _MAX_PIECE_BYTES) -> Iterator[bytes]:
    """The same bytes in pieces of some `size`, then an empty one: a line may be short, or a whole file."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        whole = len(rest) - len(rest) % size
        for at in range(0, whole, size):
            yield bytes(rest[at : at + size])
        del rest[:whole]
    yield bytes(rest)
    yield b""


def _blocks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        data = rest + piece
        end = len(data) - len(data) % _BLOCK_BYTES
        for at in range(0, end, _BLOCK_BYTES):
            yield data[at : at + _BLOCK_BYTES]
        rest = data[end:]
