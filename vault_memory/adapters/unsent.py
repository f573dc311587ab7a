"""The commits that a remote lacks: which files a push of them sends, and the same commits without some of these files.

Paths are from the repository's top, whatever bytes are in them. Neither files on the disk nor git's index nor any ref
is touched here; `History.take_out` moves the branch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from vault_memory.adapters import git
from vault_memory.adapters.git import EMPTY_TREE, FOLDER_MODE, SUBMODULE_MODE, Objects, TreeEntry

_TIMEOUT_S = 120.0
_HEADER = re.compile(rb"[^\n]+(?:\n [^\n]*)*")
"""One header of a commit; a line that begins with a blank goes on with it."""
_BEFORE = "refs/vault-memory/before/"
_MADE_ANEW = (b"tree ", b"parent ", b"gpgsig ", b"gpgsig-sha256 ")


@dataclass(frozen=True)
class Remade:
    """Commits that were made anew: `tip` is the last one, `paths` are the files that it and those before it lack now,
    and `commits` of the old ones held such a file. `before` is the ref that keeps the old last commit."""

    tip: str
    commits: int
    paths: tuple[PurePosixPath, ...]
    before: str


def unsent_files(root: Path, since: str | None, tip: str) -> Iterator[tuple[PurePosixPath, str]]:
    """(path, blob) of every file and link that the commits of `tip` which `since` (None: nothing) lacks have and their
    parents have not, each once. A merge is asked for what none of its parents has."""
    commits = _unsent(root, since, tip)
    args = ("diff-tree", "--stdin", "--root", "-r", "-c", "-z", "--no-renames", "--no-commit-id")
    fields = git.run(root, *args, stdin="".join(f"{each}\n" for each in commits).encode(), timeout_s=_TIMEOUT_S)
    seen = set()
    rows = iter(fields.split(b"\0"))
    for facts, name in zip(rows, rows, strict=False):
        parents = len(facts) - len(facts.lstrip(b":"))
        words = facts[parents:].split(b" ")  # a mode for each parent and the new one, an id for each, the kind
        mode, blob = words[parents], words[-2].decode()
        row = (PurePosixPath(os.fsdecode(name)), blob)
        if blob.strip("0") and mode != SUBMODULE_MODE and row not in seen:
            seen.add(row)
            yield row


def remade(
    root: Path, objects: Objects, since: str | None, tip: str, files: Mapping[PurePosixPath, Collection[str]]
) -> Remade | None:
    """Make the commits of `tip` that `since` lacks anew in `objects`, without these files: path → the blobs that go.
    None if no commit holds one of them.

    Each commit keeps its bytes but for its tree, its parents and its signature, which would not hold; one that neither
    has such a file nor stands on a new commit stays itself.
    """
    without = _Without(objects, files)
    anew: dict[str, str] = {}
    holding = 0
    for commit in _unsent(root, since, tip):
        body = objects.read(commit)[1]
        head = body.partition(b"\n\n")[0].rstrip(b"\n")
        headers = _HEADER.findall(head)
        old = objects.tree_of(commit)
        tree = without.tree(old)
        parents = [header[7:].decode() for header in headers if header.startswith(b"parent ")]
        holding += tree != old
        if tree == old and anew.keys().isdisjoint(parents):
            continue
        rows = [f"tree {tree}".encode(), *(f"parent {anew.get(parent, parent)}".encode() for parent in parents)]
        rows += [header for header in headers if not header.startswith(_MADE_ANEW)]
        anew[commit] = objects.add("commit", b"\n".join(rows) + body[len(head) :])
    if not holding:
        return None
    return Remade(anew[tip], holding, tuple(sorted(without.taken)), f"{_BEFORE}{tip[:10]}")


def kept_refs(root: Path) -> list[str]:
    """The refs that keep the last commits from before others were made anew, by name."""
    return git.run(root, "for-each-ref", "--format=%(refname)", _BEFORE).decode().split()


def _unsent(root: Path, since: str | None, tip: str) -> list[str]:
    """The commits of `tip` that `since` lacks, each after its parents."""
    args = ("rev-list", "--topo-order", "--reverse", tip, *(["--not", since] if since else []), "--")
    return git.run(root, *args, timeout_s=_TIMEOUT_S).decode().split()


@dataclass
class _Folder:
    """What goes from a folder: blobs of files in it, by name, and the folders with more of them."""

    path: PurePosixPath
    blobs: dict[str, set[str]] = field(default_factory=dict)
    below: dict[str, _Folder] = field(default_factory=dict)


class _Without:
    """Trees without some files; a folder that many commits share is looked at once."""

    def __init__(self, objects: Objects, files: Mapping[PurePosixPath, Collection[str]]) -> None:
        self.taken: set[PurePosixPath] = set()
        self._objects = objects
        self._top = _Folder(PurePosixPath())
        self._known: dict[tuple[PurePosixPath, str], str] = {}
        for path, blobs in files.items():
            folder = self._top
            for name in path.parts[:-1]:
                folder = folder.below.setdefault(name, _Folder(folder.path / name))
            folder.blobs.setdefault(path.name, set()).update(blobs)

    def tree(self, tree: str) -> str:
        """The id of the tree without the files."""
        return self._without(tree, self._top)

    def _without(self, tree: str, folder: _Folder) -> str:
        key = (folder.path, tree)
        if key not in self._known:
            self._known[key] = self._objects.put(tree, changed) if (changed := self._changed(tree, folder)) else tree
        return self._known[key]

    def _changed(self, tree: str, folder: _Folder) -> dict[PurePosixPath, TreeEntry | None]:
        names = [*folder.blobs.keys(), *folder.below.keys()]
        changed: dict[PurePosixPath, TreeEntry | None] = {}
        for name, entry in self._objects.children(TreeEntry(FOLDER_MODE, tree), names).items():
            if entry.mode == FOLDER_MODE and name in folder.below:
                below = self._without(entry.id, folder.below[name])
                if below != entry.id:
                    changed[PurePosixPath(name)] = TreeEntry(FOLDER_MODE, below) if below != EMPTY_TREE else None
            elif entry.mode != FOLDER_MODE and entry.id in folder.blobs.get(name, ()):
                changed[PurePosixPath(name)] = None
                self.taken.add(folder.path / name)
        return changed
