"""Obsidian's plugins, themes and snippets, which are programs: they travel only when a person asks for it. Hidden files
for other programs are sent, and put on the disk only then."""

from __future__ import annotations

from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import bytes_of
from vault_memory.adapters.history import Draft, copy_beside
from vault_memory.core import layout, trailers
from vault_memory.services.vault import Vault
from vault_memory.services.write import locked

SET_ASIDE = " (set aside)"
"""In the name of a program of this machine that differed from the remote's: `main (set aside).js`."""


def take_programs(vault: Vault) -> list[str]:
    """Put on disk what earlier syncs left in git, and commit this machine's own; return a line for each file set aside.

    What was left in git is newer than what is on disk, which is set aside and not lost.
    """
    history = vault.history
    notes = []
    with locked(vault, None):
        programs = list(filter(layout.is_for_programs, history.working_tree.tracked()))
        left_out = sorted(history.working_tree.left_out(programs))
        holdable = [path for path in left_out if files.can_write(history.root, path)]
        taken = [path for path in holdable if history.blob(path) is not None]  # a link stays where it is
        for path in taken:
            notes += _put_on_disk(vault, path)
        if taken:
            history.count_again(taken)
        edits = history.uncommitted(programs=True)
        if edits:
            message = trailers.render(f"Obsidian: {len(edits)} files of plugins, themes and snippets")
            history.commit_edits([Draft(message, history.person(), tuple(edits))])
    return notes


def changed_programs(vault: Vault) -> list[str]:
    """A line if programs that git tracks were changed here and are not committed."""
    edits = [edit for edit in vault.history.uncommitted(programs=True) if edit.before]
    if not edits:
        return []
    return [
        f"changed here and not sent, because Obsidian runs them: {', '.join(str(edit.path) for edit in edits[:3])}"
        f"{', …' if len(edits) > 3 else ''}: `vault-memory sync --plugins` sends them"
    ]


def _put_on_disk(vault: Vault, path: PurePosixPath) -> list[str]:
    root = vault.history.root
    file = files.contained(root, path)
    before, after = files.read(file), vault.history.blob(path)
    if after is None or after == before:
        return []
    notes = []
    if before is not None:
        aside = copy_beside(vault.history, path, SET_ASIDE, before)
        files.replace(root / aside.path, before, bytes_of(aside.old), root)
        notes.append(f"{path}: yours differed and is now {aside.path}")
    files.replace(file, after, before, root)
    return notes
