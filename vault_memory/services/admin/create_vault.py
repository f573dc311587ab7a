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
from vault_memory.services.admin.adopt import plan_adoption
from vault_memory.services.indexing import reconcile
from vault_memory.services.sync import install_merge_driver
from vault_memory.services.vault import open_vault


@dataclass(frozen=True)
class Created:
    """What `create_vault` did: the paths written (vault-relative), a line per hook, the commit (None: nothing was new),
    and how many notes were indexed."""

    root: Path
    written: tuple[PurePosixPath, ...]
    hooks: tuple[str, ...]
    commit: str | None
    indexed: int


def create_vault(folder: Path, *, adopt: bool = False, track_all: bool = False) -> Created:
    """Make `folder` a vault, or complete an existing one.

    `adopt` is needed for a folder that holds files but is not a vault, an Obsidian vault for example. Its notes stay as
    they are; our settings and rules are added (see `plan_adoption`, also for `track_all`). Without `adopt`, raises
    `UsageError` for such a folder.
    """
    root = folder.expanduser().resolve()
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder")
    is_vault = (root / layout.SETTINGS_FILE).is_file()
    is_foreign = not is_vault and root.is_dir() and any(root.iterdir())
    if is_foreign and not adopt:
        raise UsageError(
            f"{root} is neither empty nor a vault: `vault-memory init --adopt {folder}` makes it one, and keeps "
            "its notes"
        )
    root.mkdir(parents=True, exist_ok=True)
    before = {path: files.read(root / path) for path in (PurePosixPath(".gitignore"), PurePosixPath(".gitattributes"))}
    # An existing vault gets only what it needs: a person may have deleted the rest on purpose.
    ignored = plan_adoption(root, track_all=track_all).ignored if is_foreign else ()
    written = starter.lay_out(root, adopt=is_foreign or is_vault, ignored=ignored)
    History.create(root)
    vault = open_vault(root)
    hooks = starter.install_hooks(vault.history.git_dir)
    install_merge_driver(root)
    own_token(root)
    changes = []
    for path in written:
        content = files.read(root / path)
        if content is not None and not vault.history.ignored(path):
            committed = vault.history.blob(path)
            changes.append(FileChange(path, committed if committed is not None else before.get(path), content))
    commit = None
    if changes:
        action = "adopt this folder" if adopt else "complete the vault" if is_vault else "lay out a new vault"
        flushed = vault.history.commit([Draft(f"vault: {action}", ASSISTANT, tuple(changes))])
        commit = flushed.commits[-1] if flushed.commits else None
    indexed = sum(len(reconcile(vault, scope).indexed) for scope in vault.scopes())
    return Created(root, tuple(written), tuple(hooks), commit, indexed)
