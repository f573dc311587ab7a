"""The users of a vault, and giving a user another id."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files, git
from vault_memory.adapters.git import object_id
from vault_memory.adapters.history import Draft, FileChange
from vault_memory.adapters.index import remove_index
from vault_memory.adapters.scan import walk
from vault_memory.core import layout, trailers
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import ForeignFile, HistoryError, TooLarge, UsageError, VaultMemoryError, in_command
from vault_memory.services.admin.access import drop_user_token
from vault_memory.services.indexing import reconcile
from vault_memory.services.learning import rename_sessions
from vault_memory.services.longterm import rename_noted, rename_waiting
from vault_memory.services.memories import drop_deletions, rename_accesses
from vault_memory.services.person_edits import commit_person_edits, withheld
from vault_memory.services.shortterm import forget_history
from vault_memory.services.turns import rename_redactions
from vault_memory.services.vault import Vault
from vault_memory.services.write import refuse_while_waiting


@dataclass(frozen=True)
class User:
    """A user, and the name in the profile by which to address the user (empty if there is none)."""

    user_id: str
    display_name: str


def users(vault: Vault, after: str = "", limit: int | None = None) -> list[User]:
    """The users of the vault in the order of their ids: those after `after`, at most `limit`."""
    ids = [user_id for user_id in vault.user_ids() if user_id > after]
    return [User(user_id, _name(vault, user_id)) for user_id in ids[:limit]]


def _name(vault: Vault, user_id: str) -> str:
    """The name in a user's profile; empty if the profile is no file to read: a link, a folder, a large file."""
    path = vault.root / layout.user_dir(user_id) / layout.PROFILE
    try:
        stored = None if path.is_symlink() else files.read(path)
        return str(Profile.decode(stored or b"").get("display_name") or "")
    except (ForeignFile, TooLarge):
        return ""


def remove_left_over(vault: Vault, name: str) -> None:
    """Delete what is left of a user (`Vault.left_overs`), if it still holds an index alone, or nothing. Raises
    `Busy`."""
    with vault.lock(name), vault.record_lock(name):
        if name in vault.left_overs():
            _remove_left_over(vault, name)


def _remove_left_over(vault: Vault, name: str) -> None:
    folder = vault.root / layout.user_dir(name)
    for file in files.names(folder):
        files.remove_private(folder / file, vault.root)
    folder.rmdir()


def rename_user(vault: Vault, old: str, new: str) -> tuple[str, ...]:
    """Give a user another id: the folder moves, and the history stays connected by the trailer `Vault-Renamed-From`.

    Commits and records under the old id keep it. Tokens of both ids are revoked. A sync on another machine stops where
    this must be done, too (`services.sync`). A folder moves once, but `write` may decide again; so this does the steps
    of `write` itself. Returns what of the stores could not follow, in words. Raises `NotFound`, `InvalidId`
    (also for the id of a user who was erased), or `UsageError` when the new id is taken, a file of the user is withheld
    from commits, or git's rules say something else of it under the new id; `HistoryError` while a file of the user
    waits for its commit, or could not be committed under the new id: nothing is changed then.
    """
    vault.known_user(old)
    layout.check_user_id(new)
    taken = next((other for other in vault.user_ids() if other.casefold() == new.casefold() and other != old), None)
    if taken or old == new:
        raise UsageError(f"user id {taken or new!r} is taken: choose another")
    old_dir, new_dir = layout.user_dir(old), layout.user_dir(new)
    vault.refuse_secret_id(new)
    vault.refuse_erased_id(new)
    with ExitStack() as locks:
        for user_id in sorted({old.casefold(), new.casefold()}):
            locks.enter_context(vault.lock(user_id))
        for user_id in sorted({old.casefold(), new.casefold()}):
            locks.enter_context(vault.record_lock(user_id))
        commit_person_edits(vault, old)
        if held := [each for each in withheld(vault) if layout.scope_of(PurePosixPath(each.path)) == old]:
            first = held[0]
            raise UsageError(f"{first.path}: {first.why}, so it waits: {first.next_step}")
        refuse_while_waiting(vault, lambda path: path.is_relative_to(old_dir), f"{old_dir} cannot be moved now")
        paths = _files_in(vault, old_dir)
        _refuse_staged(vault, old_dir, paths)
        moved = _moved(vault, old_dir, new_dir, paths)
        _refuse_other_rules(vault, old_dir, new_dir, paths, {change.path for change in moved})
        for user_id in (old, new):  # a token of the new id belongs to another person, and so does an index
            drop_user_token(vault, user_id)
        if vault.config.index_dir:
            for user_id in (old, new):
                remove_index(vault.index_path(user_id))
        if new in vault.left_overs():
            _remove_left_over(vault, new)
        os.rename(vault.root / old_dir, vault.root / new_dir)
        vault.log_renaming(old, new)  # after the tokens: whoever was let in by one was so before this
        rename_redactions(vault, old, new)
        left = _stores_followed(vault, old, new)
        rename_accesses(vault, old, new)
        for user_id in (old, new):
            drop_deletions(vault, user_id)
        message = trailers.render(f"user({new}): renamed from {old}", "", Trailers(user=new, renamed_from=old))
        vault.history.commit([Draft(message, vault.history.person(), tuple(moved))])
    reconcile(vault, new)
    return left


def _stores_followed(vault: Vault, old: str, new: str) -> tuple[str, ...]:
    """Let the stores know a user by the new id; what of them could not, in words. What fails expires, or is sent under
    the id that the records had it by."""
    told: dict[str, None] = {}
    for follow in (
        partial(rename_sessions, vault, old, new),
        partial(forget_history, vault, old, new),
        partial(rename_waiting, vault, old, new),
        partial(rename_noted, vault, old, new),
    ):
        try:
            told |= dict.fromkeys(follow() or ())
        except VaultMemoryError as error:
            told[str(error)] = None
    return tuple(told)


def _files_in(vault: Vault, folder: PurePosixPath) -> list[PurePosixPath]:
    """The files on the disk in a folder that are not private."""
    found = (
        PurePosixPath(Path(place, name).relative_to(vault.root))
        for place, _, names in walk(vault.root / folder)
        for name in names
    )
    return [path for path in found if not layout.is_private(path)]


def _refuse_staged(vault: Vault, folder: PurePosixPath, paths: Sequence[PurePosixPath]) -> None:
    """Raise `HistoryError` for a file that the person has staged, which git would commit under the old id, or of which
    git does not see the changes: a flag of git's index does not move along."""
    known = [*paths, *(path for path in vault.history.working_tree.tracked() if path.is_relative_to(folder))]
    for path in sorted(vault.history.working_tree.staged(known)):
        raise HistoryError(
            f"{path} is staged, so {folder} cannot be moved now: `git commit` it, or `git restore --staged "
            f"{in_command(path)}`, which leaves your text on the disk"
        )
    left_out = vault.history.working_tree.left_out(known)
    for path in sorted(vault.history.working_tree.unseen(known)):
        named, flag = in_command(path), "skip-worktree" if path in left_out else "assume-unchanged"
        is_there = os.path.lexists(vault.root / path)
        back = "" if is_there else f"`git restore --ignore-skip-worktree-bits -- {named}` puts it on the disk, then "
        raise HistoryError(
            f"git does not see changes of {path}, and would under another id: {back}`git update-index --no-{flag} "
            f"{named}` lets it see them, then rename again"
        )


def _refuse_other_rules(
    vault: Vault,
    old_dir: PurePosixPath,
    new_dir: PurePosixPath,
    paths: Sequence[PurePosixPath],
    tracked: Collection[PurePosixPath],
) -> None:
    """Raise `UsageError` for a file that would be committed under the new id and is not under the old one, or in other
    bytes: a sync would send what a rule that names the old id ignores or encrypts."""
    for other in git.other_rules(vault.root, old_dir, new_dir, paths, tracked):
        rules = "; ".join(other.rules) or f"a rule of git's that names {old_dir.name} or {new_dir.name}"
        renamed = new_dir / other.path.relative_to(old_dir)
        raise UsageError(
            f"of {other.path} git says: {other.now} ({rules}); of {renamed} it would say: {other.then}. Write the same "
            f"rule for {new_dir}, then rename again; nothing was changed"
        )


def _moved(
    vault: Vault, old_dir: PurePosixPath, new_dir: PurePosixPath, paths: Sequence[PurePosixPath]
) -> list[FileChange]:
    """The changes of a commit that moves what git holds of a folder with these files.

    Raises `HistoryError` for a file that is not as HEAD has it, or that could not be committed under either name.
    """
    held: dict[PurePosixPath, str] = {}
    contents: dict[PurePosixPath, bytes] = {}
    for path in paths:
        entry = vault.history.entry(path)
        if entry is not None and (content := files.read(vault.root / path)) is not None:
            held[path], contents[path] = entry.id, content
    renamed = {path: new_dir / path.relative_to(old_dir) for path in contents}
    ids = vault.history.blob_ids(contents | {renamed[path]: content for path, content in contents.items()})
    for path, blob in held.items():
        if blob not in (ids[path], object_id("blob", contents[path])):  # a filter may have been set since its commit
            raise HistoryError(
                f"{path} is not as its last commit has it (edits that git does not see, or a link), so {old_dir} "
                f"cannot be moved now: commit it with git, or move it out of {old_dir}"
            )
    return [
        change
        for path, content in contents.items()
        for change in (FileChange(path, content, None), FileChange(renamed[path], None, content))
    ]
