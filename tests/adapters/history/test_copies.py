"""A copy beside a file takes no name that something else has."""

from __future__ import annotations

import os
from pathlib import PurePosixPath

from vault_memory.adapters import git
from vault_memory.adapters.history.copies import copy_beside
from vault_memory.services.vault import Vault

PLAN = PurePosixPath("plan.canvas")


def test_a_name_that_something_has_is_passed_over(vault: Vault) -> None:
    """A file there that git ignores was overwritten, and a folder or link ended the sync."""
    (vault.root / ".git/info/exclude").write_text("plan (*\n")

    def name(content: bytes) -> str:
        return copy_beside(vault.history, PLAN, " (old)", content).path.name

    assert name(b"old") == "plan (old).canvas"
    (vault.root / "plan (old).canvas").write_text("mine")
    assert name(b"old") == "plan (old) 2.canvas"
    assert name(b"mine") == "plan (old).canvas", "this copy was made before"
    (vault.root / "plan (old) 2.canvas").mkdir()
    os.symlink("nowhere", vault.root / "plan (old) 3.canvas")
    gone = vault.root / "plan (old) 4.canvas"
    gone.write_text("committed")
    git.run(vault.root, "add", "-f", gone.name)
    me = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git.run(vault.root, *me, "commit", "--no-verify", "-qm", "a file of that name")
    gone.unlink()
    assert name(b"old") == "plan (old) 5.canvas"
    assert (
        len(os.fsencode(copy_beside(vault.history, PurePosixPath("文" * 83 + ".md"), " (old)", b"x").path.name)) <= 255
    )
