"""Which commit holds a file as it is on disk: by it, who quotes a passage can say where it stands for good."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.errors import LargeObject, TooLarge
from vault_memory.services.vault import Vault


class Commits:
    """The newest commit, as far as it holds the files that are asked for; each is compared once."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._known: dict[PurePosixPath, str] = {}

    def of(self, path: PurePosixPath) -> str:
        """The newest commit, if it holds the file at this path of the vault as it is on disk; else "": a new edit, a
        conversation, a file too large to compare, or any file where no repository is. Raises `HistoryError` where git
        cannot be read."""
        if path not in self._known:
            held = self._committed(path)
            is_held = held is not None and self.read(self._vault.root / path) == held
            self._known[path] = self._head if is_held else ""
        return self._known[path]

    def _committed(self, path: PurePosixPath) -> bytes | None:
        if not self._is_in_git:
            return None
        with suppress(LargeObject):
            return self._vault.history.blob(path)
        return None

    @cached_property
    def _is_in_git(self) -> bool:
        return git.locate(self._vault.root) is not None

    @cached_property
    def _head(self) -> str:
        return self._vault.history.commit_named("HEAD")

    @staticmethod
    def read(path: Path) -> bytes | None:
        """A file that was found; None for one that is gone, or too large to be compared."""
        with suppress(TooLarge):
            return files.read(path)
        return None
