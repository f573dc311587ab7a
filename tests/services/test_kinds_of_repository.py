"""Every kind of index and repository that git supports takes commits, a new user's too."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from tests.services.test_person_edits import git, read, save
from vault_memory.services.admin import create_vault
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


def settings(*pairs: str) -> Callable[[Vault], Vault]:
    def prepare(vault: Vault) -> Vault:
        for pair in pairs:
            git(vault, "config", *pair.split("="))
        git(vault, "update-index", "--force-write-index")
        git(vault, "status")
        return vault

    return prepare


def split(vault: Vault) -> Vault:
    git(vault, "update-index", "--split-index")
    return vault


def sparse(vault: Vault) -> Vault:
    save(vault, PurePosixPath("elsewhere/x.md"), "x\n")
    git(vault, "add", ".")
    git(vault, "commit", "-qm", "elsewhere")
    git(vault, "sparse-checkout", "set", "--cone", "--sparse-index", "memory", "notes")
    return vault


def submodule(vault: Vault) -> Vault:
    other = vault.root.parent / "other"
    git(vault, "init", "-q", str(other))
    me = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(other), *me, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    git(vault, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "beside")
    git(vault, "commit", "-qm", "beside")
    return vault


def worktree(vault: Vault) -> Vault:
    place = vault.root.parent / "linked"
    git(vault, "worktree", "add", "-q", "-b", "linked", str(place))
    return open_vault(place)


def partial(vault: Vault) -> Vault:
    git(vault, "config", "uploadpack.allowFilter", "true")
    place = vault.root.parent / "partial"
    git(vault, "clone", "-q", "--filter=blob:none", f"file://{vault.root}", str(place))
    return open_vault(place)


KINDS: dict[str, Callable[[Vault], Vault]] = {
    "version 4": settings("index.version=4"),
    "untracked cache": settings("core.untrackedCache=true"),
    "many files": settings("feature.manyFiles=true"),
    "skip hash": settings("index.skipHash=true"),
    "split": split,
    "sparse": sparse,
    "submodule": submodule,
    "worktree": worktree,
    "partial": partial,
}


@pytest.mark.parametrize("kind", KINDS)
def test_takes_commits(vault: Vault, kind: str) -> None:
    record_turn(vault, "alice", "I prefer dark mode", "Noted.")
    vault = KINDS[kind](vault)
    for user_id in ("alice", "bob"):
        recorded = record_turn(vault, user_id, "I prefer light mode", "Noted.")
        assert recorded.paused is None and recorded.commits, recorded
    save(vault, PurePosixPath("notes/new.md"), "new\n")
    save(vault, PurePosixPath("memory/carol/USER.md"), read(vault, PurePosixPath("memory/bob/USER.md")))
    assert commit_person_edits(vault, None) == 2
    assert git(vault, "status", "--porcelain") == ""
    git(vault, "fsck", "--strict")


def test_a_repository_with_sha_256_is_named_at_init(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--object-format=sha256", str(tmp_path)], check=True)
    assert any(
        "SHA-256" in line and "no commit can be made" in line for line in create_vault(tmp_path, adopt=True).notes
    )
