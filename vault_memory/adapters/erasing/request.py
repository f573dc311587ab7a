"""What is to be erased from a repository, and what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from vault_memory.core.erasing import Erasure


@dataclass(frozen=True)
class Request:
    """What is erased: texts, files and folders (`gone`), but no text in the folders that are `spared`; and messages in
    which one of the `named` words stands. `called` has names of files and folders, and what each is called without the
    texts. Paths are from the repository's top. Raises `UsageError` for a text that is too short, and for nothing at
    all."""

    texts: tuple[str, ...] = ()
    gone: tuple[PurePosixPath, ...] = ()
    spared: tuple[PurePosixPath, ...] = ()
    named: tuple[str, ...] = ()
    called: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Request:
        """That of `as_dict`. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        paths = {name: tuple(map(PurePosixPath, told[name])) for name in ("gone", "spared")}
        called = tuple((str(old), str(new)) for old, new in told.get("called", ()))
        return cls(tuple(told["texts"]), **paths, named=tuple(told["named"]), called=called)

    def as_dict(self) -> dict[str, list[Any]]:
        """For JSON."""
        plain = {name: [*map(str, getattr(self, name))] for name in ("texts", "gone", "spared", "named")}
        return {**plain, "called": [*map(list, self.called)]}

    def erasure(self) -> Erasure | None:
        """The texts as they are looked for, always the same object; None where only files go."""
        return self._erasure

    @cached_property
    def _erasure(self) -> Erasure | None:
        return Erasure(self.texts) if self.texts or not self.gone else None


@dataclass(frozen=True)
class Erased:
    """What was done: commits made anew, references that moved, files on the disk that changed, as they were called; of
    how many commits a text stood in who made them (`people`); and what those files are called now that got another
    name."""

    commits: int
    refs: int
    files: tuple[PurePosixPath, ...]
    people: int = 0
    renamed: tuple[PurePosixPath, ...] = ()
