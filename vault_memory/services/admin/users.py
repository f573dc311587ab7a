"""The users of a vault, and giving a user another id."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.history import Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import ForeignFile, TooLarge, UsageError
from vault_memory.services.admin.access import drop_user_token
from vault_memory.services.indexing import reconcile
from vault_memory.services.person_edits import commit_person_edits, withheld
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


def rename_user(vault: Vault, old: str, new: str) -> None:
    """Give a user another id: the folder moves, and the history stays connected by the trailer `Vault-Renamed-From`.

    Commits and records under the old id keep it. Tokens of both ids are revoked. A folder moves once, but `write` may
    decide again; so this does the steps of `write` itself. Raises `NotFound`, `InvalidId`, or
    `UsageError` when the new id is taken or a file of the user is withheld from commits, `HistoryError` while a file of
    the user waits for its commit: nothing is changed then.
    """
    vault.known_user(old)
    layout.check_user_id(new)
    taken = next((other for other in vault.user_ids() if other.casefold() == new.casefold() and other != old), None)
    if taken or old == new:
        raise UsageError(f"user id {taken or new!r} is taken: choose another")
    old_dir, new_dir = layout.user_dir(old), layout.user_dir(new)
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
        moved: list[FileChange] = []
        for folder, _, names in os.walk(vault.root / old_dir):
            for name in names:
                source = Path(folder, name).relative_to(vault.root / old_dir)
                content = vault.history.blob(old_dir / source)
                if content is not None and not layout.is_private(old_dir / source):
                    moved += [FileChange(old_dir / source, content, None), FileChange(new_dir / source, None, content)]
        for user_id in (old, new):  # a token of the new id belongs to another person
            drop_user_token(vault, user_id)
        os.rename(vault.root / old_dir, vault.root / new_dir)
        vault.log_renaming(old, new)  # after the tokens: whoever was let in by one was so before this
        rename_redactions(vault, old, new)
        message = trailers.render(f"user({new}): renamed from {old}", "", Trailers(user=new, renamed_from=old))
        vault.history.commit([Draft(message, vault.history.person(), tuple(moved))])
    reconcile(vault, new)
