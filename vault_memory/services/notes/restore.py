"""Restore one file to its content at a commit. No other file changes."""

from __future__ import annotations

from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import bytes_of
from vault_memory.adapters.history import Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.trailers import Trailers
from vault_memory.errors import NotFound, UsageError, in_command
from vault_memory.services.notes.file_history import resolve
from vault_memory.services.person_edits import edit_drafts
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write


def restore_file(vault: Vault, path: PurePosixPath, when: str) -> bool:
    """Restore a file (vault-relative) as the person's edit; False when it already has that content.

    `when` is a commit or a date. The present content is committed first, so a restore can be undone by another restore.
    Raises `NotFound` for an unknown commit or a file that did not exist then, and `HistoryError` when the present
    content cannot be committed now; `UsageError` for a private file.
    """
    if layout.is_private(path):
        raise UsageError(
            f"{path} is private, and private state is never restored from history: a conversation comes back from a "
            "backup, an index by `vault-memory reindex`, a token is made anew by `vault-memory token`"
        )
    commit = resolve(vault, path, when)
    held = vault.history.blob(path, commit)
    if held is None:
        raise NotFound(f"{path} was not there at {when}: `vault-memory log {in_command(path)}` shows when it was")
    then = bytes_of(vault.history.working_tree.as_on_disk(path, held)) or b""
    message = trailers.render(f"restore {path} to {commit[:12]}", "", Trailers(restores=commit))
    author, file = vault.history.person(), files.contained(vault.root, path)

    def decide() -> Plan[bool]:
        now = files.read(file)
        if now == then:
            return Plan(False)
        refuse_uncommitted(vault, path, now)
        drafts = edit_drafts(vault, author, path, now, then)
        return Plan(True, drafts or [Draft(message, author, (FileChange(path, now, then),))])

    return write(vault, layout.scope_of(path), [path], decide).result
