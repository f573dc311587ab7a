"""A vault with real git, which sees none of the machine's own git settings."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import wait_until
from vault_memory.adapters.history import ASSISTANT, Author, Draft, FileChange, History

USER = PurePosixPath("memory/alice/USER.md")
PERSON = Author("Alice 王", "alice@example.org")


@dataclass
class Vault:
    """A vault's folder, with shorthands for what a person and the assistant do in it."""

    root: Path
    history: History

    def git(self, *args: str, ok: bool = True, stdin: bytes = b"", **extra: str) -> str:
        """Run git as the person does."""
        signature = {
            f"GIT_{role}_{kind}": getattr(PERSON, kind.lower())
            for role in ("AUTHOR", "COMMITTER")
            for kind in ("NAME", "EMAIL")
        }
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            input=stdin,
            capture_output=True,
            env=os.environ | signature | extra,
            timeout=60,
        )
        if ok and done.returncode:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def read(self, path: PurePosixPath = USER) -> bytes | None:
        place = self.root / path
        return place.read_bytes() if place.exists() else None

    def write(self, content: bytes, path: PurePosixPath = USER) -> None:
        """Save a file as the person's editor does."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def draft(self, line: bytes, path: PurePosixPath = USER, author: Author = ASSISTANT) -> Draft:
        """A draft that adds a line to what is on disk."""
        before = self.read(path)
        return Draft(f"add {line.decode()}", author, (FileChange(path, before, (before or b"") + line + b"\n"),))

    def add(self, line: bytes, path: PurePosixPath = USER) -> tuple[str, ...]:
        """Commit a line as the assistant."""
        flushed = self.history.commit([self.draft(line, path)])
        assert flushed.paused is None and flushed.waiting == 0
        return flushed.commits

    def subjects(self) -> list[str]:
        """Subjects of all commits, oldest first."""
        return self.git("log", "--reverse", "--format=%s").splitlines()

    def authors(self) -> dict[str, str]:
        """Subject → author."""
        rows = self.git("log", "--format=%s%x09%an").splitlines()
        return dict(row.split("\t") for row in rows)

    def assert_clean(self) -> None:
        """Nothing differs, nothing is broken, no lock is left."""
        assert self.git("status", "--porcelain") == ""
        assert self.git("write-tree") == self.git("rev-parse", "HEAD^{tree}"), "the index is not what HEAD holds"
        # The person's git may be collecting garbage in the background: it holds locks of its own, and takes away the
        # loose objects that it has packed, which a check then misses.
        git_dir = Path(self.history.git_dir)
        wait_until(lambda: not [*git_dir.rglob("*.lock"), *git_dir.glob("gc.pid")], "no lock is left")
        problems = self.git("fsck", "--strict", "--no-dangling")
        assert problems == "", problems
        assert self.history.state().waiting == 0


@pytest.fixture(autouse=True)
def bare_git(_nobody_in_particular: None) -> Path:
    """Git without the machine's settings; the file returned is its global configuration."""
    config = Path(os.environ["GIT_CONFIG_GLOBAL"])
    config.touch()
    return config


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    root = tmp_path / "vault"
    root.mkdir()
    yield Vault(root, History.create(root))
