"""Bring one file back to what it was at a commit. No other file is touched."""

from __future__ import annotations

from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.core import trailers
from vault_memory.errors import NotFound
from vault_memory.services.notes.save_note import save_note
from vault_memory.services.profiles.audit import resolve
from vault_memory.services.vault import Vault


def restore_file(vault: Vault, path: PurePosixPath, when: str) -> bool:
    """Restore a file (vault-relative) as the person's own edit; False when it stands so already.

    `when` is a commit or a date. What is in the file now is committed first, so that this can be taken back the same way.
    Raises `NotFound` for an unknown commit or a file that was not there then.
    """
    commit = resolve(vault, when)
    then = vault.history.blob(path, commit)
    if then is None:
        raise NotFound(f"{path} was not there at {when}: `vault-memory log {path}` shows when it was")
    now = files.read(files.contained(vault.root, path))
    if now == then:
        return False
    message = trailers.render(f"restore {path} to {commit[:12]}", "", {"Vault-Restores": commit})
    save_note(vault, path, now, then, message, vault.history.person())
    return True
