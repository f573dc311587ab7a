"""Git's own upkeep, which never starts by itself when commits are made object by object."""

from __future__ import annotations

import subprocess
from datetime import timedelta
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Clock
from vault_memory.adapters.git import Growth
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.services.admin.status import status
from vault_memory.services.admin.users import rename_user
from vault_memory.services.daemon.git_upkeep import maintain_git
from vault_memory.services.daemon.heartbeat import heartbeat
from vault_memory.services.notes.file_history import file_blame, file_log
from vault_memory.services.turns.redactions import add_redactions, redactions
from vault_memory.services.vault import Vault

pytestmark = pytest.mark.slow

NOTE = PurePosixPath("memory/alice/notes/a.md")


def write(vault: Vault, count: int) -> None:
    before = None
    drafts = []
    for number in range(count):
        after = f"{number}\n".encode()
        drafts.append(Draft(f"set {number}", ASSISTANT, (FileChange(NOTE, before, after),)))
        before = after
    vault.history.commit(drafts)


def test_many_commits_are_packed_and_put_in_the_graph_once_nobody_writes(vault: Vault, clock: Clock) -> None:
    write(vault, 600)
    assert maintain_git(vault) == "files were just committed: later"
    clock.time += timedelta(minutes=5)
    loose = status(vault).growth.loose
    assert Growth(bytes=0, loose=loose, packs=0).needs_packing
    (outcome,) = heartbeat(vault, "maintenance")
    assert outcome.ok and "added to the commit graph" in outcome.said and "loose objects packed" in outcome.said
    after = status(vault).growth
    assert after.loose < 10 and after.packs == 1
    assert maintain_git(vault) == "nothing to do yet"
    assert len(file_log(vault, NOTE, limit=1000)) == 600, "an open vault reads what was packed under it"
    assert vault.history.blob(NOTE, "HEAD~300") == b"299\n"
    fsck = subprocess.run(["git", "fsck", "--strict"], cwd=vault.root, capture_output=True, text=True, timeout=60)
    assert fsck.returncode == 0 and fsck.stdout == ""


def test_blame_follows_a_user_to_another_id(vault: Vault, clock: Clock) -> None:
    write(vault, 3)
    add_redactions(vault, "alice", {"health": 2})
    rename_user(vault, "alice", "anna")
    assert redactions(vault, "anna") == {"health": 2} and redactions(vault, "alice") == {}
    path = PurePosixPath("memory/anna/notes/a.md")
    Path(vault.root / path).write_text("2\nnew\n")
    (old, new) = file_blame(vault, path)
    assert old.entry is not None and old.entry.subject == "set 2" and new.entry is None
