"""Make a folder a vault: starter files, git repository, hooks, first commit. Safe to run again at any time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, History
from vault_memory.core import layout
from vault_memory.errors import UsageError
from vault_memory.services import starter
from vault_memory.services.admin.access import own_token
from vault_memory.services.sync import merge_driver
from vault_memory.services.vault import open_vault


@dataclass(frozen=True)
class Created:
    """What `create_vault` did: vault-relative paths written, a line per hook, and the commit (None: nothing was new)."""

    root: Path
    written: tuple[PurePosixPath, ...]
    hooks: tuple[str, ...]
    commit: str | None


def create_vault(folder: Path, *, adopt: bool = False) -> Created:
    """Make `folder` a vault, or complete one that is there.

    `adopt` is needed for a folder that holds files but is no vault: an Obsidian vault, say. Its notes are not touched; it
    gets our settings and rules beside them. Raises `UsageError` otherwise.
    """
    root = folder.expanduser().resolve()
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder")
    is_vault = (root / layout.SETTINGS_FILE).is_file()
    foreign = not is_vault and root.is_dir() and any(root.iterdir())
    if foreign and not adopt:
        raise UsageError(
            f"{root} is not empty and no vault: `vault-memory init --adopt {folder}` makes it one and leaves its notes alone"
        )
    root.mkdir(parents=True, exist_ok=True)
    before = {path: files.read(root / path) for path in (PurePosixPath(".gitignore"), PurePosixPath(".gitattributes"))}
    # A vault that is there gets only what it cannot do without: a person may have deleted the rest on purpose.
    written = starter.lay_out(root, adopt=adopt or is_vault)
    History.create(root)
    vault = open_vault(root)
    hooks = starter.install_hooks(vault.history.git_dir)
    merge_driver.install(root)
    own_token(root)
    changes = []
    for path in written:
        content = files.read(root / path)
        if content is not None and not vault.history.ignored(path):
            committed = vault.history.blob(path)
            changes.append(FileChange(path, committed if committed is not None else before.get(path), content))
    commit = None
    if changes:
        subject = f"vault: {'adopt this folder' if adopt else 'lay out a new vault' if not is_vault else 'complete the vault'}"
        flushed = vault.history.commit([Draft(subject, ASSISTANT, tuple(changes))])
        commit = flushed.commits[-1] if flushed.commits else None
    return Created(root, tuple(written), tuple(hooks), commit)
