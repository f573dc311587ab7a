"""A vault with memories of alice's."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault_memory.adapters.git import LogEntry
from vault_memory.services.memories import MemoryFile, memory_files
from vault_memory.services.vault import Vault


@dataclass
class Home:
    """Alice's folder, and what git says of it."""

    vault: Vault

    @property
    def path(self) -> Path:
        return self.vault.root / "memory/alice"

    def names(self, folder: str = "memories") -> list[str]:
        """Of the notes in a folder and those below it."""
        return sorted(path.name for path in (self.path / folder).rglob("*.md"))

    def file(self, memory_id: str) -> MemoryFile:
        (found,) = memory_files(self.vault, "alice", [memory_id])
        return found

    def log(self, limit: int = 20) -> list[LogEntry]:
        return self.vault.history.log(limit=limit)

    def body(self, entry: LogEntry) -> str:
        """The whole message of a commit."""
        shown = ["git", "show", "-s", "--format=%B", entry.commit]
        return subprocess.run(shown, cwd=self.vault.root, check=True, capture_output=True, encoding="utf-8").stdout

    def is_clean(self) -> bool:
        return not [*self.vault.history.uncommitted()]


@pytest.fixture
def home(vault: Vault) -> Home:
    return Home(vault)
