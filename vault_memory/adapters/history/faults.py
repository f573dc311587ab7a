"""What is wrong with the repository, in words with the next step: asked when something has failed, and by `status`.

`History` goes on without what is damaged, and what waits is kept: these words tell a person why.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.git import Objects, Repository
from vault_memory.adapters.history.intents import IntentLog
from vault_memory.adapters.history.model import WAITING_DIR
from vault_memory.adapters.history.plan import head_tree
from vault_memory.adapters.history.publish import GitIndexUpdate
from vault_memory.core import layout
from vault_memory.errors import ForeignFile, HistoryError, LargeObject, Unwritable

FAULTS = (HistoryError, ForeignFile, Unwritable, OSError)
"""What reading or writing git's own folder raises when that is damaged: no caller's mistake, and no reason to lose what
waits."""


def in_words(fault: Exception) -> str:
    """One of `FAULTS` for a person."""
    if isinstance(fault, OSError):
        return f"{fault.filename or 'a file of git'} cannot be used ({fault.strerror}): correct that"
    return str(fault)


@dataclass(frozen=True)
class Faults:
    """Looks for what is wrong with a repository in which a vault lies."""

    repository: Repository
    objects: Objects
    intents: IntentLog

    def problem(self) -> str | None:
        """Why git can judge no file here, in words with the next step, or None."""
        try:
            problem = self._damage() or self.repository.unusable() or GitIndexUpdate(self.repository).problem
            if problem:
                return problem
            tree = head_tree(self.repository, self.objects)
            for path in (PurePosixPath(layout.MEMORY_DIR, "x"), *self.intents.waiting()):
                self.objects.file(tree, self.repository.prefix / path)
        except FAULTS as error:
            return in_words(error)
        return None

    def lost_base(self) -> str | None:
        """A file that waits, and of which what HEAD holds cannot be read, in words; or None."""
        tree = head_tree(self.repository, self.objects)
        for path in self.intents.waiting():
            try:
                if blob := self.objects.file(tree, self.repository.prefix / path):
                    with contextlib.suppress(LargeObject):
                        self.objects.read(blob, files.MAX_FILE_BYTES)
            except HistoryError as error:
                return f"{path} in HEAD: {error}, or put .git back from a backup"
        return None

    def _damage(self) -> str | None:
        """What stands in the place of a file or folder in git's own, or of ours there, in words; or None."""
        ours = self.repository.git_dir / WAITING_DIR
        branch = ""
        with contextlib.suppress(HistoryError):  # then `head_tree` tells of it
            branch = self.repository.head().ref or ""
        found = self.repository.planted(branch) + self.repository.objects_in_the_way()
        found += git.wrong_kinds([ours, ours / "intents"], [ours / "lock", ours / "met"])
        return git.in_its_place(*found[0]) if found else None
