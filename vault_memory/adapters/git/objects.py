"""Git's objects without a process for each: loose ones are written here, any are read, trees are edited along a path.

An object is named by the SHA-1 of `<kind> <size>\\0<body>` and stored deflated. A tree's body is a sequence of
`<mode> <name>\\0<20 bytes>`, sorted by name, folders as if their name ended in a slash.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple, TypeVar

from vault_memory.adapters import files, private
from vault_memory.errors import ForeignFile, HistoryError, LargeObject

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE, SUBMODULE_MODE = b"100644", b"100755", b"40000", b"160000"
LINK_MODE = b"120000"
_MODES = (FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE, SUBMODULE_MODE, LINK_MODE)
FILE_MODES = (FILE_MODE, EXECUTABLE_MODE)
_MODE = b"|".join(_MODES)
_MODE_AND_BLANK = re.compile(rb"(?:%s) " % _MODE)
_CANONICAL = re.compile(rb"(?:(?:%s) ([^\0/]++)\0.{20}(?!(?:%s) \1\0))*+" % (_MODE, _MODE), re.DOTALL)
"""A tree as git writes it, in which entries can be found by their bytes: no name stands twice in a row, as others may
have written it. 10,000 entries take 1.4 ms."""
_ENTRY = re.compile(rb"([0-7]{1,11}) ([^\0]+)\0(.{20})", re.DOTALL)
_OBJECT_ID = re.compile(r"[0-9a-f]{40}")
_PACK_FAULTS = (OSError, ValueError, IndexError, AssertionError, struct.error, zlib.error)
"""What gitdb raises for a pack that is damaged, beside its own errors."""
_PACKS_GUARD = threading.Lock()
"""All threads share gitdb's mapped packs; it does not guard them itself."""
_MAX_CACHED_TREES = 64
_MAX_LISTED_TREES = 4
_MAX_SEARCHES = 64
"""In one tree, before all its entries are listed."""
MAX_OBJECT_BYTES = 300_000_000
"""Of one object, unpacked: it may come from others, and a few kilobytes can hold gigabytes."""

_MAX_HEADER_BYTES = 32
"""Of a loose object: its kind, its size and a NUL."""
_BLOCK_BYTES = 1 << 20
_OPEN_AT_ONCE = 24
"""Objects that are written together, and then fsynced together."""
_Found = TypeVar("_Found")

_TOP = PurePosixPath()


class TreeEntry(NamedTuple):
    """A tree's entry for one name: git's mode in octal digits, and the object's id."""

    mode: bytes
    id: str


_NO_FOLDER = TreeEntry(FOLDER_MODE, EMPTY_TREE)


def _depth(folder: PurePosixPath) -> int:
    return len(folder.parts)


def object_id(kind: str, body: bytes) -> str:
    """The id git gives to these bytes."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(body)) + body, usedforsecurity=False).hexdigest()


class Stored(NamedTuple):
    """The content of a blob that the repository holds, read anew each time: a thousand of these take no memory."""

    id: str
    objects: Objects

    def read(self, max_bytes: int = files.MAX_FILE_BYTES) -> bytes:
        """The bytes. Raises `LargeObject`, and `HistoryError` when the repository lost it."""
        return self.objects.read(self.id, max_bytes)[1]


Content = bytes | Stored | None
"""What a file holds; None is "no such file"."""


def bytes_of(content: Content) -> bytes | None:
    """The bytes, read from the repository if they are there."""
    return content.read() if isinstance(content, Stored) else content


def is_content(data: bytes | None, content: Content) -> bool:
    """Whether a file that holds `data` has this content. Nothing is read for it."""
    if data is None or not isinstance(content, Stored):
        return data == content
    return object_id("blob", data) == content.id


class _Tree:
    """A tree's body as git would write it, and where its entries are.

    The first that are asked for are searched in its bytes. Who asks for many, as for each file of a large folder, has
    all of them listed: that takes 10 ms for 10,000 entries, and a search 0.1 ms. The trees in `listed` have such a
    list; one that falls out of there loses it.
    """

    def __init__(self, body: bytes, listed: deque[_Tree]) -> None:
        self.body = body
        self._others = listed
        self._searches = 0
        self._places: dict[bytes, tuple[int, int]] | None = None

    def locate(self, name: bytes) -> tuple[int, int] | None:
        """(start of the entry, start of its id), or None."""
        places = self._places
        if places is None and self._searches < _MAX_SEARCHES:
            self._searches += 1
            return _locate(self.body, name)
        if places is None:
            places = {found[2]: (found.start(), found.start(3)) for found in _ENTRY.finditer(self.body)}
            if len(self._others) == self._others.maxlen:
                self._others[0]._places = None
            self._others.append(self)
            self._places = places
        return places.get(name)

    def with_entries(self, entries: Mapping[bytes, TreeEntry | None]) -> bytes:
        """The body with the entries of these names set, in git's order, or removed.

        For an entry that only gets another id nothing is walked; for all others together the body is walked once.
        """
        changed, gone, rows = bytearray(self.body), [], []
        for name, entry in entries.items():
            at = self.locate(name)
            if entry and at and self.body[at[0] : at[1] - len(name) - 2] == entry.mode:
                changed[at[1] : at[1] + 20] = bytes.fromhex(entry.id)
                continue
            if at:
                gone.append((at[0], at[1] + 20))
            if entry:
                row = entry.mode + b" " + name + b"\0" + bytes.fromhex(entry.id)
                rows.append((_sort_key(entry.mode, name), row))
        for start, end in sorted(gone, reverse=True):
            del changed[start:end]
        kept, pieces = bytes(changed), []
        position = done = 0
        for key, row in sorted(rows):
            while position < len(kept):
                blank = kept.index(b" ", position)
                end = kept.index(b"\0", blank)
                if _sort_key(kept[position:blank], kept[blank + 1 : end]) > key:
                    break
                position = end + 21
            pieces += [kept[done:position], row]
            done = position
        return b"".join([*pieces, kept[done:]])


class Objects:
    """The object database of one repository. New objects gather in memory until `write` makes them durable at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._new: dict[str, tuple[str, bytes]] = {}
        self._trees: dict[str, _Tree] = {}
        self._listed: deque[_Tree] = deque(maxlen=_MAX_LISTED_TREES)
        self._packs: Any = None

    # Reading ------------------------------------------------------------------------------------------------------

    def read(self, object_id: str, max_bytes: int = MAX_OBJECT_BYTES) -> tuple[str, bytes]:
        """(kind, body) of an object, new, loose or packed.

        Raises `HistoryError` when the repository lacks it, `LargeObject` when it has more than `max_bytes`. A loose
        object is read here, a packed one by gitpython's gitdb.
        """
        if object_id in self._new:
            return self._new[object_id]
        try:
            with files.opened(self._folder / object_id[:2] / object_id[2:]) as file:
                stored = _unpacked(file, max_bytes + _MAX_HEADER_BYTES)
        except FileNotFoundError:
            return self._read_packed(object_id, max_bytes)
        except (OSError, zlib.error, ForeignFile) as error:
            raise HistoryError(f"object {object_id} cannot be read ({error}): run `git fsck`") from error
        header, _, body = stored.partition(b"\0")
        kind, _, size = header.partition(b" ")
        if size.isdigit() and len(size) < _MAX_HEADER_BYTES and int(size) > max_bytes:
            raise LargeObject(f"object {object_id} is larger than {max_bytes:,} bytes: it is not read")
        if size != b"%d" % len(body):
            raise HistoryError(f"object {object_id} is cut: run `git fsck`")
        return kind.decode("latin-1"), body

    def has_blob(self, object_id: str, max_bytes: int) -> bool:
        """Whether the repository has a blob of this id with at most `max_bytes`. It is not unpacked for it."""
        try:
            with files.opened(self._folder / object_id[:2] / object_id[2:]) as file:
                kind, _, size = _unpacked(file, _MAX_HEADER_BYTES).partition(b"\0")[0].partition(b" ")
            return kind == b"blob" and size.isdigit() and int(size) <= max_bytes
        except FileNotFoundError:
            pass
        except (OSError, zlib.error, ForeignFile):
            return False
        try:
            return self._in_packs(object_id, lambda packs, name: _is_blob(packs.info(name), max_bytes))
        except HistoryError:
            return False

    def _read_packed(self, object_id: str, max_bytes: int) -> tuple[str, bytes]:
        def read(packs: Any, name: bytes) -> tuple[str, bytes]:
            size = packs.info(name).size  # before it is put together in memory
            if size > max_bytes:
                raise LargeObject(f"object {object_id} has {size:,} bytes, more than {max_bytes:,}: it is not read")
            stream = packs.stream(name)
            return stream.type.decode(), stream.read()

        return self._in_packs(object_id, read)

    def _in_packs(self, object_id: str, find: Callable[[Any, bytes], _Found]) -> _Found:
        """What `find` takes of an object from gitdb's packs. Raises `HistoryError` when no pack has it."""
        from gitdb.db import GitDB  # type: ignore[import-untyped]
        from gitdb.exc import ODBError  # type: ignore[import-untyped]
        from gitdb.util import mman  # type: ignore[import-untyped]

        with _PACKS_GUARD:
            if self._packs is not None:
                with contextlib.suppress(ODBError, *_PACK_FAULTS):
                    return find(self._packs, bytes.fromhex(object_id))
                _close(self._packs)  # a fetch adds packs, a repack removes them: they are listed again
                mman.collect()
            self._packs = GitDB(str(self._folder))
            try:
                return find(self._packs, bytes.fromhex(object_id))
            except (ODBError, *_PACK_FAULTS) as error:
                raise HistoryError(f"object {object_id} is not in the repository: run `git fsck`") from error

    def tree(self, tree_id: str) -> bytes:
        """The body of a tree as git would write it; the last few are kept, since each turn of a chat reads the same
        ones. Raises `HistoryError` for one that cannot be read."""
        return self._tree(tree_id).body

    def _tree(self, tree_id: str) -> _Tree:
        tree = self._trees.pop(tree_id, None)
        if tree is None:
            body = b"" if tree_id == EMPTY_TREE else _canonical(self.read(tree_id)[1], tree_id)
            tree = _Tree(body, self._listed)
        self._trees[tree_id] = tree
        while len(self._trees) > _MAX_CACHED_TREES:
            with contextlib.suppress(KeyError, StopIteration, RuntimeError):
                del self._trees[next(iter(self._trees))]
        return tree

    def tree_of(self, commit: str | None) -> str:
        """The id of a commit's tree; the empty tree's before the first commit."""
        if commit is None:
            return EMPTY_TREE
        kind, body = self.read(commit)
        if kind != "commit":
            raise HistoryError(f"{commit} is a {kind}, not a commit")
        tree = body[5:45].decode("latin-1")
        if not body.startswith(b"tree ") or not _OBJECT_ID.fullmatch(tree):
            raise HistoryError(f"commit {commit} is damaged: run `git fsck`")
        return tree

    def find(self, tree_id: str, path: PurePosixPath) -> TreeEntry | None:
        """A tree's entry for a path, or None. A submodule on the way ends the search and is returned."""
        entry: TreeEntry | None = TreeEntry(FOLDER_MODE, tree_id)
        for part in path.parts:
            if entry is None or entry.mode == SUBMODULE_MODE:
                return entry
            if entry.mode != FOLDER_MODE:
                return None
            entry = self._child(entry.id, part)
        return entry

    def file(self, tree_id: str, path: PurePosixPath) -> str | None:
        """The blob of a file in a tree; None for anything else of that path."""
        entry = self.find(tree_id, path)
        return entry.id if entry and entry.mode in FILE_MODES else None

    def _child(self, tree_id: str, name: str) -> TreeEntry | None:
        tree = self._tree(tree_id)
        body, at = tree.body, tree.locate(os.fsencode(name))
        if at is None:
            return None
        start, id_at = at
        return TreeEntry(body[start : body.index(b" ", start)], body[id_at : id_at + 20].hex())

    def children(self, folder: TreeEntry | None, names: Sequence[str]) -> dict[str, TreeEntry]:
        """The entries of these names in a folder; none in what is no folder."""
        if folder is None or folder.mode != FOLDER_MODE:
            return {}
        return {name: entry for name in names if (entry := self._child(folder.id, name))}

    # Writing ------------------------------------------------------------------------------------------------------

    def add(self, kind: str, body: bytes) -> str:
        """Add a new object and return its id; `write` stores it."""
        name = object_id(kind, body)
        self._new[name] = (kind, body)
        return name

    def put(
        self,
        tree_id: str,
        blobs: Mapping[PurePosixPath, str | TreeEntry | None],
        executable: Collection[PurePosixPath] = (),
    ) -> str:
        """The id of the tree with these files set to a blob, keeping their modes, or to an entry, or removed (None).

        A file that the tree does not have yet is a program if it is in `executable`.
        """
        modes = dict.fromkeys(executable, EXECUTABLE_MODE)
        old = {_TOP: TreeEntry(FOLDER_MODE, tree_id)}
        new: dict[PurePosixPath, dict[bytes, TreeEntry | None]] = {_TOP: {}}
        folders = {folder for path in blobs for folder in path.parents}
        for folder in sorted(folders - {_TOP}, key=_depth):
            held = self._child(old[folder.parent].id, folder.name)
            old[folder] = held if held and held.mode == FOLDER_MODE else _NO_FOLDER
            new[folder] = {}
        for path, blob in blobs.items():
            if isinstance(blob, str):
                held = self._child(old[path.parent].id, path.name)
                is_file = held is not None and held.mode in FILE_MODES
                blob = TreeEntry(held.mode if held and is_file else modes.get(path, FILE_MODE), blob)
            new[path.parent][os.fsencode(path.name)] = blob
        for folder in sorted(new, key=_depth, reverse=True):
            body = self._tree(old[folder].id).with_entries(new[folder])
            tree = self.add("tree", body) if body else None
            if folder == _TOP:
                return tree or EMPTY_TREE
            if tree or old[folder] is not _NO_FOLDER:  # what is removed below a file is not there
                new[folder.parent][os.fsencode(folder.name)] = TreeEntry(FOLDER_MODE, tree) if tree else None
        raise AssertionError("the top is the last")

    def write(self, *also: Path, pause: Callable[[], None] = lambda: None) -> None:
        """Store the new objects, fsynced, and fsync the files `also` with the last of them. `pause` is called between
        two groups of them.

        Names appear only after the bytes are on disk, as git does it.
        """
        names = [name for name in self._new if not (self._folder / name[:2] / name[2:]).exists()]
        last = len(names) // _OPEN_AT_ONCE * _OPEN_AT_ONCE
        for at in range(0, last + 1, _OPEN_AT_ONCE):
            pause()
            self._write_some(names[at : at + _OPEN_AT_ONCE], also if at == last else ())
        self._new.clear()

    def _write_some(self, names: Sequence[str], also: Sequence[Path]) -> None:
        pending: list[tuple[int, Path, Path]] = []
        try:
            for name in names:
                kind, body = self._new[name]
                final = self._folder / name[:2] / name[2:]
                temp = final.with_name(f"tmp_obj_{os.getpid()}_{name[2:12]}")  # the prefix that `git gc` sweeps
                fd = _created(temp)
                pending.append((fd, temp, final))
                files.adopt(fd, temp)
                data = zlib.compress(b"%s %d\0" % (kind.encode(), len(body)) + body, 1)
                files.write_all(fd, data)
            beside = [path.open("rb") for path in also]
            _sync([*(fd for fd, _, _ in pending), *(file.fileno() for file in beside)])
            for file in beside:
                file.close()
            for _, temp, final in pending:
                os.replace(temp, final)
        except OSError as error:
            raise HistoryError(f"git objects cannot be written to {self._folder}: {error.strerror}") from error
        finally:
            for fd, temp, _ in pending:
                os.close(fd)
                temp.unlink(missing_ok=True)

    def forget(self) -> None:
        """Drop the new objects that were not written."""
        self._new.clear()


def _unpacked(file: BinaryIO, max_bytes: int) -> bytes:
    """A loose object with its header; of one that the header says is larger than `max_bytes` the beginning."""
    reader = zlib.decompressobj()
    stored = reader.decompress(file.read(_BLOCK_BYTES), max_bytes)
    size = stored[:_MAX_HEADER_BYTES].partition(b"\0")[0].partition(b" ")[2]
    if reader.eof or not size.isdigit() or int(size) > max_bytes:
        return stored
    pieces, left = [stored], max_bytes - len(stored)
    while left > 0 and not reader.eof and (block := reader.unconsumed_tail or file.read(_BLOCK_BYTES)):
        pieces.append(reader.decompress(block, left))
        left -= len(pieces[-1])
    return b"".join(pieces)


def _close(packs: Any) -> None:
    """Let go of gitdb's packs: it keeps each file mapped, and its place on the disk taken, while an object refers to
    it, and these refer to themselves."""
    for part in packs.databases():
        if hasattr(part, "databases"):  # git's alternates
            _close(part)
        elif hasattr(part, "entities"):
            for entity in part.entities():
                entity.pack().close()
                entity.index().close()


def _is_blob(info: Any, max_bytes: int) -> bool:
    return bool(info.type == b"blob" and info.size <= max_bytes)


def _sync(fds: Sequence[int]) -> None:
    """Fsync many files at once: a file system writes its journal once for calls that come together.

    On a busy disk five calls in a row take five times as long as one, five at once not twice as long.
    """
    failed: list[OSError] = []

    def sync(fd: int) -> None:
        try:
            os.fsync(fd)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=sync, args=(fd,)) for fd in fds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def commit_body(tree: str, parents: Iterable[str], author: str, committer: str, message: str) -> bytes:
    """A commit's body; `author` and `committer` are whole lines: name, address in angle brackets, seconds, zone."""
    lines = [f"tree {tree}", *(f"parent {p}" for p in parents), f"author {author}", f"committer {committer}"]
    text = "\n".join(lines) + "\n\n" + message.replace("\0", " ")
    return text.encode("utf-8", "replace")


def _canonical(body: bytes, tree_id: str) -> bytes:
    """A tree's body with the modes that git writes, and each name once.

    Git reads others too (`0100644`, `100600`, `40755`), which a remote, or another program, may have written.
    """
    if _CANONICAL.fullmatch(body):
        return body
    entries: dict[bytes, tuple[bytes, bytes]] = {}
    position = 0
    while position < len(body):
        found = _ENTRY.match(body, position)
        if found is None:
            raise HistoryError(f"tree {tree_id} is damaged: run `git fsck`, and take it from a backup or another clone")
        mode, name, blob = found.groups()
        entries.setdefault(name, (_canonical_mode(int(mode, 8)), blob))
        position = found.end()
    rows = sorted((_sort_key(mode, name), mode, name, blob) for name, (mode, blob) in entries.items())
    return b"".join(mode + b" " + name + b"\0" + blob for _, mode, name, blob in rows)


def _canonical_mode(mode: int) -> bytes:
    """As `canon_mode` of git's cache.h."""
    kinds = {stat.S_IFDIR: FOLDER_MODE, stat.S_IFLNK: LINK_MODE}
    if stat.S_ISREG(mode):
        return EXECUTABLE_MODE if mode & stat.S_IXUSR else FILE_MODE
    return kinds.get(stat.S_IFMT(mode), SUBMODULE_MODE)


def _locate(body: bytes, name: bytes) -> tuple[int, int] | None:
    """(start of the entry, start of its id) in a tree's body.

    Found by the bytes of mode, name and NUL together, not by walking: a folder of 10,000 users takes 3 ms to walk. The
    shortest pattern is 8 bytes, which a sequence of ids holds by chance once in 2^64. A *name* that holds one
    (`100644 a`) has its own mode before it, with no NUL between.
    """
    end = b" " + name + b"\0"
    at = body.find(end)
    while at >= 0:
        mode = next((mode for mode in _MODES if body.endswith(mode, 0, at)), None)
        if mode is not None:
            start = at - len(mode)
            if not _MODE_AND_BLANK.search(body, body.rfind(b"\0", 0, start) + 1, start):
                return start, at + len(end)
        at = body.find(end, at + 1)
    return None


def _sort_key(mode: bytes, name: bytes) -> bytes:
    return name + b"/" if mode == FOLDER_MODE else name


def _created(temp: Path) -> int:
    """A new file, open for writing. `git gc` may remove its folder at any moment while that is empty."""
    while True:
        try:
            return os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o444)
        except FileExistsError:  # of an ended process with our number, or a link that somebody planted
            temp.unlink(missing_ok=True)
        except FileNotFoundError:
            if not temp.parent.parent.is_dir():
                raise
            with contextlib.suppress(FileNotFoundError):  # gone again
                private.make_folder(temp.parent)
