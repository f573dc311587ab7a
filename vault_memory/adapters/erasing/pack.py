"""New objects in one pack: a hundred thousand loose files would each wait for the disk."""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from vault_memory.adapters import files, git
from vault_memory.adapters.git import object_id

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_TIMEOUT_S = 1800.0
_HEADER = struct.Struct(">4sII")
_BLOCK_BYTES = 1 << 20


class NewPack:
    """A pack in the making, in a file that `git prune` sweeps when a kill leaves it. A context manager."""

    def __init__(self, common_dir: Path, top: Path) -> None:
        self._folder = common_dir / "objects" / "pack"
        self._top = top
        self._path = self._folder / f"tmp_pack_{os.getpid()}.pack"
        self._added: set[str] = set()

    def __enter__(self) -> NewPack:
        self._folder.mkdir(exist_ok=True)
        self._path.unlink(missing_ok=True)
        self._file = self._path.open("x+b")
        files.adopt(self._file.fileno(), self._path)
        self._file.write(_HEADER.pack(b"PACK", 2, 0))
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what is left to write is of no use
            self._file.close()
        for left in (self._path, self._path.with_suffix(".idx")):
            left.unlink(missing_ok=True)

    def add(self, kind: str, body: bytes) -> str:
        """Add an object; its id. Raises `Unwritable`."""
        name = object_id(kind, body)
        if name not in self._added:
            with files.unwritable(self._path):
                self._file.write(_entry_header(_KINDS[kind], len(body)) + zlib.compress(body, 1))
            self._added.add(name)
        return name

    def finish(self) -> None:
        """Give the objects to git, durably; nothing where there are none. Raises `Unwritable`, and what git
        raises."""
        if not self._added:
            return
        with files.unwritable(self._path):
            self._file.seek(0)
            self._file.write(_HEADER.pack(b"PACK", 2, len(self._added)))
            digest = hashlib.sha1(usedforsecurity=False)
            self._file.seek(0)
            while block := self._file.read(_BLOCK_BYTES):
                digest.update(block)
            self._file.write(digest.digest())
            self._file.flush()
            os.fsync(self._file.fileno())
            name = git.run(self._top, "index-pack", str(self._path), timeout_s=_TIMEOUT_S).decode().split()[-1]
            index = self._path.with_suffix(".idx")
            with index.open("rb") as written:
                os.fsync(written.fileno())
            files.adopt(self._file.fileno(), self._path)
            for ready in (self._path, index):  # git looks for a pack by its index, which comes last
                os.replace(ready, self._folder / f"pack-{name}{ready.suffix}")
            files.sync_folder(self._folder)


def _entry_header(kind: int, size: int) -> bytes:
    return bytes(_header_bytes(kind, size))


def _header_bytes(kind: int, size: int) -> Iterator[int]:
    """Three bits of kind and four of size, then seven of size in each byte; the highest bit says that more follow."""
    byte, size = kind << 4 | size & 15, size >> 4
    while size:
        yield byte | 128
        byte, size = size & 127, size >> 7
    yield byte
