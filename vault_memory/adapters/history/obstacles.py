"""What keeps a person's edits out of commits: asked before edits are committed, and by `status` and `doctor`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import Filters, Objects, Repository, settings_of
from vault_memory.adapters.history.intents import IntentLog, is_committed_by_itself
from vault_memory.adapters.history.model import FileChange
from vault_memory.adapters.history.plan import Planner
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.adapters.history.working_tree import WorkingTree
from vault_memory.core import layout
from vault_memory.errors import ForeignFile, LargeObject, TooLarge


@dataclass(frozen=True)
class Obstacles:
    """Finds the files whose changes no commit of ours takes, and why. All paths are from the vault's root."""

    repository: Repository
    objects: Objects
    intents: IntentLog
    working_tree: WorkingTree

    def left_alone(self) -> dict[PurePosixPath, int | None]:
        """Files that differ from HEAD and that no commit of ours takes, for the person to commit or move.

        With the bytes on disk (0: deleted) of one that is too large there or in HEAD; None for one that stands in the
        place of another (`core.layout.is_misplaced`).
        """
        root, prefix = self.repository.root, self.repository.prefix
        tree = self.objects.tree_of(self.repository.head().commit)
        found: dict[PurePosixPath, int | None] = {}
        for path in self.working_tree.changed():
            if layout.is_misplaced(path) and os.path.lexists(root / path):
                found[path] = None
            if not is_committed_by_itself(root, path, programs=layout.is_program(path)):
                continue
            try:
                size = (root / path).lstat().st_size
            except OSError:
                size = 0
            blob = self.objects.file(tree, prefix / path)
            if size > files.MAX_FILE_BYTES or (blob and self._is_large(blob)):
                found[path] = size
        return found

    def _is_large(self, blob: str) -> bool:
        try:
            self.objects.read(blob, files.MAX_FILE_BYTES)
        except LargeObject:
            return True
        return False

    def held_elsewhere(
        self, edits: Sequence[FileChange], known: Mapping[PurePosixPath, str]
    ) -> dict[PurePosixPath, str]:
        """Those of the edits that are as another local branch has the file, and its name: a checkout that was killed
        leaves them. `known` are those that were found to be so before.
        """
        from vault_memory.adapters.history.branches import OtherBranches  # only where a person has edited something

        prefix = self.repository.prefix
        branches = OtherBranches(self.repository, self.objects)
        given = {prefix / edit.path: edit for edit in edits}

        def content(path: PurePosixPath) -> bytes | None:
            return given[path].after if path in given else files.read(self.repository.top / path)

        found = branches.holding(
            given,
            content,
            changed=lambda: [prefix / path for path in self.working_tree.changed()],
            known={prefix / path: name for path, name in known.items()},
        )
        return {path.relative_to(prefix): name for path, name in found.items()}

    def waiting_for_filter(self) -> dict[PurePosixPath, str]:
        """Files that differ from HEAD and are not committed because their filter is refused; and the filter's name."""
        if not settings_of(self.repository.root).filters:
            return {}
        return self.working_tree.with_refused_filter(self.working_tree.changed())

    def failing_filters(self) -> dict[PurePosixPath, str]:
        """Files that differ from HEAD and are not committed because their filter fails; and the filter's name."""
        if not self.repository.filters():
            return {}
        prefix, filters = self.repository.prefix, Filters(self.repository, self.objects)
        drivers = filters.drivers([prefix / path for path in self.working_tree.changed()])
        failing: dict[PurePosixPath, str] = {}
        for full, name in drivers.items():
            with contextlib.suppress(TooLarge, ForeignFile, PermissionError):  # it is withheld for that
                if filters.fails(full, files.read(self.repository.top / full)):
                    failing[full.relative_to(prefix)] = name
        return failing

    def kept_back(self) -> set[PurePosixPath]:
        """The files whose commits wait because git leaves them out, and the person had edited them."""
        planner = Planner(self.repository, self.objects, sign=False)  # it commits nothing here
        pending = self.intents.pending()
        return planner.on_left_out(pending, GitIndexUpdate(self.repository)) if pending else set()
