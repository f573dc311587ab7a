"""Obsidian's plugins, themes and snippets, which are programs: they travel only when a person asks for it. Hidden files
for other programs are sent, and put on the disk only then."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import bytes_of
from vault_memory.adapters.history import Draft, copy_beside
from vault_memory.core import layout, trailers
from vault_memory.core.privacy import shown_path
from vault_memory.errors import ForeignFile, TooLarge
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
        holdable = [path for path in _left_in_git(vault) if files.can_write(history.root, path)]
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
    """A line for programs that git tracks, or files for such, which were changed here and are not committed."""
    edits = [edit.path for edit in vault.history.uncommitted(programs=True) if edit.before]
    lines = [f"changed here and not sent, because Obsidian runs them: {_named(edits)} sends them"] if edits else []
    if kept := [path for path in _left_in_git(vault) if _differs(vault, path)]:
        lines.append(
            f"not as git has them, and not sent, since another machine has changed them: {_named(kept)} puts git's "
            "here, and yours beside them"
        )
    return lines


def _named(paths: Sequence[PurePosixPath]) -> str:
    shown = ", ".join(map(shown_path, paths[:3]))
    return f"{shown}{', …' if len(paths) > 3 else ''}: `vault-memory sync --plugins`"


def _left_in_git(vault: Vault) -> list[PurePosixPath]:
    """The programs, and the files for such, that earlier syncs left in git."""
    programs = list(filter(layout.is_for_programs, vault.history.working_tree.tracked()))
    return sorted(vault.history.working_tree.left_out(programs))


def _differs(vault: Vault, path: PurePosixPath) -> bool:
    """Whether this disk has another text of a file than git."""
    with suppress(TooLarge, ForeignFile):
        text = files.read(files.contained(vault.root, path))
        return text is not None and not vault.history.is_kept(path, text)
    return False


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
