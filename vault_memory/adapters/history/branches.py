"""Which files on the disk are as another local branch has them.

A `git switch` that was killed half-way leaves HEAD and git's index as they were, and on the disk some files of the
other branch: git deletes what that lacks, then deletes and writes the others one by one. Nothing but the content tells
this from edits.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import git
from vault_memory.adapters.git import FILE_MODES, Filters, Objects, Repository
from vault_memory.errors import ForeignFile, HistoryError, TooLarge

_MAX_BRANCHES = 50
"""The newest, which a person goes between. For one edit these take 0.2 s, if 5,000 notes lie beside it and each branch
has another one of them otherwise; less where they have most folders alike."""
_WHEN = re.compile(rb"^committer .*> ([0-9]{1,15}) ", re.MULTILINE)

Contents = Callable[[PurePosixPath], bytes | None]
"""What a file holds on the disk; None for no file. Paths are from the repository's top."""


@dataclass(frozen=True)
class _Branch:
    name: str
    commit: str
    tree: str


@dataclass(frozen=True)
class _Alike:
    """Of the files that a branch has otherwise than HEAD: those that are on the disk exactly as it has them, and those
    that are gone, or empty before their first byte was written."""

    same: frozenset[PurePosixPath]
    gone: frozenset[PurePosixPath]


class OtherBranches:
    """The local branches of a repository, to compare files on the disk with. Make a new one for each task."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self._filters = Filters(repository, objects)
        commit = repository.head().commit
        self._commit = commit or ""
        self._head = objects.tree_of(commit)
        self._blobs: dict[PurePosixPath, str | None] = {}
        self._branches = self._newest()

    def holding(
        self,
        paths: Iterable[PurePosixPath],
        content: Contents,
        changed: Callable[[], Iterable[PurePosixPath]],
        known: Mapping[PurePosixPath, str],
    ) -> dict[PurePosixPath, str]:
        """Those of the paths that look as the checkout of a branch leaves them, and the branch's name.

        One file that is exactly as a branch has it is enough. A deletion needs such a file beside it, among all those
        that are `changed` on the disk: alone it is the person's own. And so does a file as it is on a branch that
        HEAD has left behind: a person takes an edit back. What is `known` to be so stays so while it looks so.
        """
        paths = list(paths)
        found: dict[PurePosixPath, str] = {}
        all_changed: list[PurePosixPath] | None = None
        for branch in self._branches:
            alike = self._alike(branch.tree, paths, content)
            mine = alike.same | alike.gone
            if not mine:
                continue
            is_begun = self._is_begun(branch, alike)
            if not is_begun:
                all_changed = list(changed()) if all_changed is None else all_changed
                is_begun = self._is_begun(branch, self._alike(branch.tree, all_changed, content))
            for path in mine:
                if is_begun or known.get(path) == branch.name:
                    found.setdefault(path, branch.name)
        return found

    def _is_begun(self, branch: _Branch, alike: _Alike) -> bool:
        if len(alike.same) + len(alike.gone) > 1:
            return bool(alike.same)
        return bool(alike.same) and not self._is_behind(branch)

    def _is_behind(self, branch: _Branch) -> bool:
        """Whether HEAD has all commits of the branch."""
        command = ("rev-list", "--max-count=1", branch.commit, "--not", self._commit, "--")
        return not git.run(self._repository.top, *command).strip()

    def _newest(self) -> list[_Branch]:
        """The branches that hold anything else than HEAD, newest first; none before HEAD's first commit, which takes
        what is on the disk. One that cannot be read cannot be checked out either."""
        found = []
        for ref, commit in self._repository.branches().items() if self._commit else ():
            with contextlib.suppress(HistoryError):
                tree = self._objects.tree_of(commit)
                if tree != self._head:
                    when = _WHEN.search(self._objects.read(commit)[1])
                    found.append((int(when[1]) if when else 0, _Branch(ref.removeprefix("refs/heads/"), commit, tree)))
        newest = sorted(found, key=lambda row: (-row[0], row[1].name))
        return [branch for _, branch in newest[:_MAX_BRANCHES]]

    def _alike(self, tree: str, paths: Iterable[PurePosixPath], content: Contents) -> _Alike:
        same, gone = set(), set()
        folders: dict[PurePosixPath, list[PurePosixPath]] = {}
        for path in paths:
            folders.setdefault(path.parent, []).append(path)
        for folder, inside in folders.items():
            try:
                theirs, ours = (self._objects.find(root, folder) for root in (tree, self._head))
                if theirs == ours:
                    continue
                names = [path.name for path in inside]
                held, known = (self._objects.children(entry, names) for entry in (theirs, ours))
            except HistoryError:  # damaged: git cannot check it out
                continue
            for path in inside:
                entry, before = held.get(path.name), known.get(path.name)
                if (entry and entry.id) == (before and before.id) or (entry and entry.mode not in FILE_MODES):
                    continue
                try:
                    on_disk = content(path)
                except (TooLarge, ForeignFile, PermissionError):
                    continue
                if entry and on_disk is not None and self._blob(path, on_disk) == entry.id:
                    same.add(path)
                elif (before and on_disk is None) or (entry and on_disk == b""):
                    gone.add(path)
        return _Alike(frozenset(same), frozenset(gone))

    def _blob(self, path: PurePosixPath, content: bytes) -> str | None:
        if path not in self._blobs:
            self._blobs[path] = self._filters.blob(path, content)
        return self._blobs[path]
