"""Objects made anew without a text and without some files: what stays as it was keeps its id, and so do the commits
below which nothing has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from vault_memory.adapters.erasing.former import last_of
from vault_memory.adapters.erasing.messages import Messages, divided
from vault_memory.adapters.erasing.request import Request
from vault_memory.adapters.git import EMPTY_TREE, FOLDER_MODE, SUBMODULE_MODE, object_id
from vault_memory.core import reading
from vault_memory.core.erasing import MASK, PartsOfFile
from vault_memory.core.graph import FileNames

_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0]+)\0(.{20})", re.DOTALL)
_HEADER = re.compile(rb"[^\n]+(?:\n [^\n]*)*")
_KIND_OF_REFERENCE = re.compile(rb"refs/[^/]+/")
_ID_BYTES = 40
_CHANGED_BRANCH = b"checkout: moving from "
_PEOPLE = (b"author ", b"committer ")
_SIGNATURES = (b"gpgsig ", b"gpgsig-sha256 ")
_SIGNED = re.compile(rb"^-----BEGIN (?:PGP|SSH) SIGNATURE-----\n.*", re.DOTALL | re.MULTILINE)

Read = Callable[[str], tuple[str, bytes]]
Add = Callable[[str, bytes], str]


@dataclass
class _Folder:
    """What is special below a folder: names of files and folders that go, of files with parts of the texts, and folders
    with more of them."""

    gone: set[bytes] = field(default_factory=set)
    parts: dict[bytes, PartsOfFile] = field(default_factory=dict)
    below: dict[bytes, _Folder] = field(default_factory=dict)
    is_spared: bool = False


_PLAIN = _Folder()
_SPARED = _Folder(is_spared=True)


class Rewrite:
    """The image of a repository's objects for a request: texts are masked everywhere but in the folders that are
    spared, and parts of them in the files that were made of these; files and folders go. Paths are from the
    repository's top.

    `former` begins as the map of the commits made anew before, and gets each commit and tag that is made anew now;
    `emptied_tags` gets each annotated tag, by its former id, of whose words nothing is left.
    """

    def __init__(self, read: Read, add: Add, request: Request, former: dict[str, str]) -> None:
        self.former = former
        self.commits = self.people = 0
        self.emptied_tags: set[str] = set()
        self._read, self._add, self._request, self._texts = read, add, request, request.erasure()
        self.words = Messages(request, former)
        self._trees_of: dict[str, tuple[str, str]] = {}
        self._emptied: set[str] = set()
        self._emptied_now: set[bytes] = set()
        self._said: set[bytes] = set()
        self._first_lines: dict[bytes, tuple[bytes, bytes]] = {}
        self._top = _Folder()
        self._top_goes = bool(request.gone)
        for path in request.gone:
            self._folder(path.parent).gone.add(os.fsencode(path.name))
        for path in request.spared:
            self._folder(path.parent).below[os.fsencode(path.name)] = _SPARED
        with_parts = dict.fromkeys(part.path for part in request.parts)
        for path in with_parts:
            if parts := request.parts_in(str(path)):
                self._folder(path.parent).parts[os.fsencode(path.name)] = parts
        self._own: dict[bytes, PartsOfFile | None] = {}
        self._moved = {os.fsencode(path.name): request.parts_in(str(path)) for path in with_parts}
        called = {os.fsencode(old): os.fsencode(new) for old, new in request.called}
        self.names = FileNames(lambda name: self._masked(name, self._by_name(name) or self._moved.get(name)), called)
        self._heard: set[tuple[int, str]] = set()
        self._blobs: dict[tuple[str, PartsOfFile | None], str] = {}
        self._trees: dict[tuple[int, str], str | None] = {}

    def _folder(self, path: PurePosixPath) -> _Folder:
        folder = self._top
        for name in path.parts:
            folder = folder.below.setdefault(os.fsencode(name), _Folder())
        return folder

    def masked(self, data: bytes) -> bytes:
        """Bytes without the texts."""
        return self._masked(data, None)

    def _masked(self, data: bytes, parts: PartsOfFile | None) -> bytes:
        masked = self._texts.masked(data) if self._texts else data
        return parts.masked(masked, data) if parts else masked

    def _by_name(self, name: bytes) -> PartsOfFile | None:
        """The parts of a file that is known by its name, wherever it is."""
        if not self._request.parts:
            return None
        if name not in self._own:
            self._own[name] = self._request.parts_in(os.fsdecode(name))
        return self._own[name]

    def _parts(self, name: bytes, folder: _Folder) -> PartsOfFile | None:
        return folder.parts.get(name) or self._by_name(name)

    def _parts_at(self, path: PurePosixPath) -> PartsOfFile | None:
        folder = self._top
        for name in map(os.fsencode, path.parent.parts):
            folder = folder.below.get(name, _PLAIN)
        return self._parts(os.fsencode(path.name), folder)

    def hear_names(self, tree: str) -> None:
        """Hear of the names in the tree of a whole commit, before any is asked for."""
        self._hear(tree, self._top)

    def _hear(self, tree: str, folder: _Folder) -> None:
        if (id(folder), tree) in self._heard:
            return
        self._heard.add((id(folder), tree))
        names = list[bytes]()
        for mode, name, raw in _ENTRY.findall(self._read(tree)[1]):
            below = folder.below.get(name, _PLAIN)
            if name in folder.gone or below.is_spared:
                continue
            names.append(name)
            if mode.lstrip(b"0") == FOLDER_MODE:
                self._hear(raw.hex(), below)
        self.names.hear(names)

    def reference(self, name: bytes) -> bytes:
        """The name of a reference without the texts: `refs/heads/` is git's word, what stands behind it a person's."""
        kind = _KIND_OF_REFERENCE.match(name)
        begin = kind.end() if kind else 0
        return name[:begin] + self.words.masked(name[begin:]) if begin else name

    def path(self, path: PurePosixPath) -> PurePosixPath | None:
        """The path that a file has now; None for one that goes."""
        folder, parts = self._top, list[str]()
        for name in map(os.fsencode, path.parts):
            if name in folder.gone:
                return None
            below = folder if folder.is_spared else folder.below.get(name, _PLAIN)
            parts.append(os.fsdecode(name if below.is_spared else self.names.called(name)))
            folder = below
        return PurePosixPath(*parts)

    def content(self, path: PurePosixPath, data: bytes) -> bytes:
        """What a file at a path holds now."""
        return data if self.is_spared(path) else self._masked(data, self._parts_at(path))

    def is_spared(self, path: PurePosixPath) -> bool:
        """Whether a path is in a folder that stays."""
        folder = self._top
        for name in map(os.fsencode, path.parts):
            folder = folder.below.get(name, _PLAIN)
            if folder.is_spared:
                return True
        return False

    def blob_at(self, path: PurePosixPath, blob: str) -> str:
        """The id of the blob of a file at a path without the texts."""
        return blob if self.is_spared(path) else self.blob(blob, self._parts_at(path))

    def blob(self, blob: str, parts: PartsOfFile | None = None) -> str:
        """The id of the blob without the texts, and without these parts of them."""
        if self._texts is None:
            return blob
        key = blob, parts
        if key not in self._blobs:
            body = self._read(blob)[1]
            masked = self._masked(body, parts)
            self._blobs[key] = blob if masked == body else self._add("blob", masked)
        return self._blobs[key]

    def tree(self, tree: str) -> str:
        """The id of the tree of a whole commit."""
        return self._tree(tree, self._top) or self._add("tree", b"")

    def _tree(self, tree: str, folder: _Folder) -> str | None:
        if folder.is_spared:
            return tree
        key = (id(folder), tree)
        if key not in self._trees:
            self._trees[key] = self._made(tree, folder)
        return self._trees[key]

    def _made(self, tree: str, folder: _Folder) -> str | None:
        """The id of a folder's tree; None for one in which nothing is left."""
        entries: dict[bytes, tuple[bytes, bytes]] = {}
        has_changed = False
        body = self._read(tree)[1]
        for mode, name, raw in _ENTRY.findall(body):
            old = raw.hex()
            new: str | None = old
            if name in folder.gone:
                new = None
            elif mode.lstrip(b"0") == FOLDER_MODE:
                new = self._tree(old, folder.below.get(name, _PLAIN))
            elif mode != SUBMODULE_MODE:
                new = self.blob(old, self._parts(name, folder))
            called = name if folder.below.get(name, _PLAIN).is_spared else self.names.called(name)
            has_changed |= new != old or called != name
            if new is not None:
                entries[called] = (mode, bytes.fromhex(new))
        if not has_changed:
            return tree
        rows = sorted(
            (name + b"/" * (mode.lstrip(b"0") == FOLDER_MODE), mode, name) for name, (mode, _) in entries.items()
        )
        made = b"".join(mode + b" " + name + b"\0" + entries[name][1] for _, mode, name in rows)
        return self._add("tree", made) if made else None

    def look_at(self, commit: str) -> None:
        """Look at a commit before any is made anew: what its message says, if nothing of it is left, may be quoted by
        others. Its parents have been looked at before."""
        if not self._top_goes:
            return
        head, message = divided(self._read(commit)[1])
        if self._is_emptied(commit, _HEADER.findall(head)):
            self._emptied.add(commit)
        if commit in self._emptied or self.words.is_named(message):
            self.words.hide(message)

    def commit(self, commit: str, *, is_note: bool = False) -> None:
        """Make a commit anew if it, or one below it, has changed. Its parents have been made anew before, and all
        commits have been looked at."""
        self.words.know(commit)
        head, message = divided(self.words.in_utf8(self._read(commit)[1]))
        headers = _HEADER.findall(head)
        made = list[bytes]()
        for header in headers:
            word, _, rest = header.partition(b" ")
            if word == b"tree":
                old = rest.decode()
                rest = (self._notes(old) if is_note else self.tree(old)).encode()
            elif word == b"parent":
                rest = self.former.get(rest.decode(), rest.decode()).encode()
            else:
                rest = self.words.header(rest)
            made.append(word + b" " + rest)
        self.people += any(old != new and old.startswith(_PEOPLE) for old, new in zip(headers, made, strict=True))
        told = b"\n\n" + MASK + b"\n" if commit in self._emptied else self.words.message(message)
        if made != headers or told != message:
            self.commits += 1
            kept = [header for header in made if not header.startswith(_SIGNATURES)]
            self.words.remember(commit, self._add("commit", b"\n".join(kept) + told))
            if commit not in self._emptied and not self.words.is_named(message):  # `log` sees to these
                self._first_lines[commit.encode()] = _first_line(message), _first_line(told)
        if self._top_goes:
            self._said.add(told.strip())
            if told.strip() == MASK:
                self._emptied_now.add(self.former.get(commit, commit).encode())

    def _is_emptied(self, commit: str, headers: Collection[bytes]) -> bool:
        """Whether all that a commit changed is gone: then its message tells of nothing else. That of a merge tells of
        what was brought into the first parent, or, where that was nothing, of what differs from the others."""
        (tree,) = (header[5:].decode() for header in headers if header.startswith(b"tree "))
        parents = [header[7:].decode() for header in headers if header.startswith(b"parent ")]
        old, new = self._trees_of[commit] = tree, self.tree(tree)
        befores = [self._trees_of.get(each, ("", "")) for each in parents] or [(EMPTY_TREE, EMPTY_TREE)]
        compared = befores[:1] if befores[0][0] != old else befores
        return all(now == new for _, now in compared) and any(before != old for before, _ in compared)

    def log(self, row: bytes) -> bytes:
        """A line of the log of a reference. Where the message of the commit that it came to is gone, that goes here,
        too: what git was at (`commit (amend): `) stays, and the branches that it has changed between, which it reads
        there itself. Of another message it has the first line alone, also where a text goes on in the next one."""
        old, new = self._first_lines.get(row[_ID_BYTES + 1 : 2 * _ID_BYTES + 1], (b"", b""))
        if old and old != new and (before := row.rstrip(b"\n")).endswith(old):
            row = before.removesuffix(old) + new + row[len(before) :]
        told = self.words.log(row)
        facts, tab, message = told.partition(b"\t")
        is_emptied = facts[_ID_BYTES + 1 : 2 * _ID_BYTES + 1] in self._emptied_now
        if not is_emptied or message.startswith(_CHANGED_BRANCH):
            return told
        doing, colon, _ = message.partition(b": ")
        return facts + tab + (doing + colon if colon else b"") + MASK + b"\n"

    def draft(self, text: bytes) -> bytes:
        """What git keeps of the message that was written last; the mark alone where files go and no commit says it."""
        told = self.words.message(text)
        said = b"".join(line for line in reading.lines(text, keep_ends=True) if not line.startswith(b"#"))
        return told if not self._top_goes or not said.strip() or said.strip() in self._said else MASK + b"\n"

    def _notes(self, tree: str) -> str:
        """The tree of git's notes, in which a file is called like the object that it is about. Of a commit of which
        nothing is left, nothing is noted."""
        entries = dict[bytes, tuple[bytes, str]]()
        has_changed = False
        todo = [(b"", tree)]
        while todo:
            above, folder = todo.pop()
            for mode, name, raw in _ENTRY.findall(self._read(folder)[1]):
                if mode.lstrip(b"0") == FOLDER_MODE:
                    todo.append((above + name, raw.hex()))
                else:
                    about = (above + name).decode("latin-1")
                    now = last_of(self.former, about)
                    is_emptied = now.encode("latin-1") in self._emptied_now
                    told = self._add("blob", MASK + b"\n") if is_emptied else self.blob(raw.hex())
                    has_changed |= now != about or told != raw.hex()
                    entries[now.encode("latin-1")] = (mode, told)
        if not has_changed:
            return tree
        rows = (mode + b" " + name + b"\0" + bytes.fromhex(blob) for name, (mode, blob) in sorted(entries.items()))
        return self._add("tree", b"".join(rows))

    def tag(self, tag: str) -> str:
        """The id of an annotated tag, or of what a reference names otherwise. What a tag says of a commit of which
        nothing is left goes with it."""
        kind, body = self._read(tag)
        if kind == "commit":
            return self.former.get(tag, tag)
        if kind != "tag":
            return self.tree(tag) if kind == "tree" else self.blob(tag)
        now = self.tag(body[7:47].decode()).encode()
        head, between, message = body[47:].partition(b"\n\n")
        is_emptied = now in self._emptied_now
        said = message.strip()
        message = MASK + b"\n" if is_emptied and message else self.words.message(message)
        if message.strip() == MASK != said:
            self.emptied_tags.add(tag)
        told = b"object " + now + self.words.with_ids(self.words.header(head)) + between + message
        if is_emptied:
            self._emptied_now.add(object_id("tag", told).encode())
        if told != body:
            self.words.remember(tag, self._add("tag", _SIGNED.sub(b"", told)))
        return self.former.get(tag, tag)


def _first_line(message: bytes) -> bytes:
    return message.lstrip(b"\n").partition(b"\n")[0]
