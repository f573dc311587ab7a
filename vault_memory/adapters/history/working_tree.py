"""What git says of the vault's files on the disk: which it tracks, finds changed or ignores, which are staged or left
out, and what it makes of their bytes. Turns ask none of this; a sync, `status` and whoever commits edits do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import git
from vault_memory.adapters.git import Content, Filters, Objects, Repository, is_failed_filter
from vault_memory.adapters.history.faults import Faults
from vault_memory.adapters.history.plan import head_tree
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.errors import HistoryError

_STATUS_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class WorkingTree:
    """The files of the vault in one repository. All paths are from the vault's root."""

    repository: Repository
    objects: Objects
    faults: Faults

    def has_modes(self) -> bool:
        """Whether git heeds which of the files may be run."""
        return self.repository.has_modes()

    # Which files --------------------------------------------------------------------------------------------------

    def tracked(self) -> list[PurePosixPath]:
        """Every file of the vault that git tracks; none while git can judge no file."""
        if self.faults.problem():
            return []
        listed = git.run(self.repository.root, "ls-files", "-z", "--", ".", timeout_s=_STATUS_TIMEOUT_S)
        return [PurePosixPath(name) for name in os.fsdecode(listed).split("\0") if name]

    def changed(self) -> list[PurePosixPath]:
        """Files that differ from HEAD or are new; those in a merge conflict are left to the person.

        None while git can judge no file: `History.state` says why.
        """
        if self.faults.problem():
            return []
        options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
        command = ("status", *options, "--", ".")
        try:
            out = git.run(self.repository.root, *command, timeout_s=_STATUS_TIMEOUT_S)
        except HistoryError as error:
            if not is_failed_filter(error):
                raise
            # Without filters git lists some files too many, and who asks compares them one by one.
            settings = [
                (name, key) for name in self.repository.filters() for key in ("clean=", "process=", "required=no")
            ]
            off = [option for name, key in settings for option in ("-c", f"filter.{name}.{key}")]
            out = git.run(self.repository.root, *off, *command, timeout_s=_STATUS_TIMEOUT_S)
        rows = [
            row for row in os.fsdecode(out).split("\0") if row and "U" not in row[:2] and row[:2] not in ("AA", "DD")
        ]
        return [PurePosixPath(row[3:]).relative_to(self.repository.prefix) for row in rows]

    def staged(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """The files that the person has staged: their commits wait, and should wait alone."""
        try:
            tree = head_tree(self.repository, self.objects)
        except HistoryError:  # all commits wait
            return set()
        full = {self.repository.prefix / path: path for path in paths}
        held = GitIndexUpdate(self.repository).blobs(list(full))
        found = {path: self.objects.find(tree, path) for path in full}
        return {full[path] for path, entry in found.items() if held[path] != (entry.id if entry else None)}

    def left_out(self, paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose file on disk does not count, as git's skip-worktree flag says."""
        return self._flagged(paths, GitIndexUpdate.left_out)

    def unseen(self, paths: Sequence[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths whose changes on the disk git does not see: `left_out` ones, and with assume-unchanged."""
        return self._flagged(paths, GitIndexUpdate.unseen)

    def _flagged(
        self,
        paths: Sequence[PurePosixPath],
        find: Callable[[GitIndexUpdate, list[PurePosixPath]], set[PurePosixPath]],
    ) -> set[PurePosixPath]:
        if not paths:
            return set()
        flagged = find(GitIndexUpdate(self.repository), self._from_top(paths))
        return {path.relative_to(self.repository.prefix) for path in flagged}

    def is_ignored(self, path: PurePosixPath) -> bool:
        """Whether git ignores an untracked file of that name."""
        return bool(self.ignored([path]))

    def ignored(self, paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
        """Those of the paths of untracked files that git ignores: one process looks at all."""
        out = self._check_ignore(paths)
        return {PurePosixPath(name) for name in out if name}

    def ignoring(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the names that git's patterns ignore, tracked or not, and the line that does: `.gitignore:3:*`."""
        if not paths or self.faults.problem():
            return {}
        fields = self._check_ignore(paths, "--no-index", "--verbose")
        rows = zip(fields[0:-1:4], fields[1::4], fields[2::4], fields[3::4], strict=False)
        return {PurePosixPath(row[3]): ":".join(row[:3]) for row in rows if not row[2].startswith("!")}

    def _check_ignore(self, paths: Iterable[PurePosixPath], *options: str) -> list[str]:
        # `check-ignore` refuses literal path specs; ./ keeps a leading colon from being read as one that is not.
        plain = {"GIT_LITERAL_PATHSPECS": "0"}
        names = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths)
        command = ("check-ignore", *options, "-z", "--stdin")
        return os.fsdecode(git.run(self.repository.root, *command, stdin=names, extra=plain, ok=(0, 1))).split("\0")

    # Their bytes --------------------------------------------------------------------------------------------------

    def as_in_git(self, path: PurePosixPath, content: bytes) -> bytes:
        """A file's bytes as git holds them: with its line ends, after its filter."""
        return self._filters().cleaned(self.repository.prefix / path, content)

    def as_on_disk(self, path: PurePosixPath, content: Content) -> Content:
        """What a file that git holds is on the disk. Raises `HistoryError` when its filter may not be run."""
        return self._filters().smudged(self.repository.prefix / path, content)

    def filtered(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths whose bytes in git differ from those on disk, because of a filter; and its name."""
        return self._from_root(self._filters().drivers(self._from_top(paths)))

    def with_refused_filter(self, paths: Sequence[PurePosixPath]) -> dict[PurePosixPath, str]:
        """Those of the paths whose filter is refused, and its name."""
        return self._from_root(self._filters().refused(self._from_top(paths)))

    def claimed(self, paths: Iterable[PurePosixPath]) -> tuple[list[PurePosixPath], list[Path]]:
        """Those of the files of which attributes claim that they are in another encoding than UTF-8, or hold `$Id$`;
        and the attributes files that claim such a thing."""
        filters = self._filters()
        claimed = filters.claimed(self._from_top(paths))
        return [path.relative_to(self.repository.prefix) for path in claimed], filters.claimants()

    def _filters(self) -> Filters:
        return Filters(self.repository, self.objects)

    def _from_top(self, paths: Iterable[PurePosixPath]) -> list[PurePosixPath]:
        return [self.repository.prefix / path for path in paths]

    def _from_root(self, named: Mapping[PurePosixPath, str]) -> dict[PurePosixPath, str]:
        return {path.relative_to(self.repository.prefix): name for path, name in named.items()}
