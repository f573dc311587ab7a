"""Access by token: the vault's own token gives access to everything, a user's token to that user's data.

The vault's token is in `.vault-memory/token`, for the programs of its owner. A user's token is not stored, only its
digest, in `.vault-memory/tokens/<user_id>`. Only the owner of the files can read both, and both can be made anew at any
time. A token has 256 random bits: nobody can guess it, and a plain digest is enough.

A file that came from elsewhere must not open a vault: `drop_tokens` ends what lies in a folder that this machine did
not make a vault, and a token file that is a link or tracked by git opens nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.git import NoIndex, refuse_tracked
from vault_memory.adapters.machine import MachineRecord
from vault_memory.adapters.private import belongs_to_other, refuse_foreign
from vault_memory.core import layout
from vault_memory.errors import Busy, ForeignFile, NotFound, Unauthenticated, Unwritable
from vault_memory.services.vault import Vault

_PREFIX = "vault"
"""Every token begins with this, so a search for secrets recognises one."""


@dataclass(frozen=True)
class Caller:
    """Who calls: a user, or (with `admin`) the holder of the vault's own token; `user_id` is None then.

    `as_of` is how far the log of renamings went (`Vault.renamings`): by and by the id may be another person's.
    """

    user_id: str | None
    admin: bool = False
    as_of: int = field(default=0, compare=False)


def own_token(root: Path) -> str:
    """The vault's own token; it is created if it is missing. Raises `ForeignFile` if its file came from elsewhere."""
    path = root / layout.STATE_DIR / "token"
    stored = _read(root, path)
    if not stored:
        is_first = not _present(root)
        files.write_private(path, _new_token("admin").encode() + b"\n", root)
        files.write_private(path.with_name(".gitignore"), b"*\n", root)  # it goes along when the folder is copied
        stored = _read(root, path) or b""  # another process may have made one at the same time
        if is_first:
            with contextlib.suppress(Busy, Unwritable):  # then `trust` asks about a token of its own
                MachineRecord(root).note_own_tokens()
    return stored.decode("ascii", "replace").strip()


def new_user_token(vault: Vault, user_id: str) -> str:
    """A new token for a user, who may be new too; the former one stops working. Raises `InvalidId`, and `ForeignFile`
    where git tracks its file."""
    token = _new_token(vault.new_user(user_id))
    path = _token_path(vault.root, user_id)
    _refuse_foreign(vault.root, path)
    files.write_private(path, _digest(token).encode() + b"\n", vault.root)
    return token


def revoke_user_token(vault: Vault, user_id: str) -> None:
    """Make the user's token stop working. Raises `NotFound` if there is none."""
    if not files.remove_private(_token_path(vault.root, user_id), vault.root):
        raise NotFound(f"user {user_id!r} has no token: nothing to revoke")


def drop_user_token(vault: Vault, user_id: str) -> None:
    """Revoke the token of an id if there is one: the id will belong to another person."""
    with contextlib.suppress(NotFound):
        revoke_user_token(vault, user_id)


def drop_tokens(root: Path) -> list[str]:
    """End every token in a folder that came from elsewhere; returns the names of their files. No link is followed."""
    state = root / layout.STATE_DIR
    if state.is_symlink():
        state.unlink()
        return []
    ended = _present(root)
    for path in (state / "token", state / "tokens"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return ended


def caller_of(vault: Vault, token: str) -> Caller:
    """The caller that a token belongs to. Raises `Unauthenticated`; a wrong token takes as long as a right one."""
    as_of = vault.renamings()  # before the token is read: a renaming ends the token first
    with contextlib.suppress(ForeignFile):  # a file that came from elsewhere admits nobody; `doctor` names it
        if hmac.compare_digest(_digest(token), _digest(own_token(vault.root))):
            return Caller(None, admin=True, as_of=as_of)
    _, _, user_id = token.rpartition("_")[0].partition("_")
    if layout.is_user_id(user_id):
        with contextlib.suppress(ForeignFile):
            stored = _read(vault.root, _token_path(vault.root, user_id)) or b""
            # The digest covers the id: where the disk ignores case, ALICE cannot use the token of alice.
            if hmac.compare_digest(_digest(token).encode(), stored.strip()):
                return Caller(user_id, as_of=as_of)
    raise Unauthenticated("this token is not valid here: `vault-memory token` shows the vault's own one")


def people(vault: Vault) -> set[str]:
    """The ids of all whom the vault may know: those with a folder or a token, and those whom the settings name."""
    named = {vault.config.identities.get(name, name) for name in vault.config.off_record}
    with_token = {path.name for path in _token_files(vault.root)[1:] if path.parent.name == "tokens"}
    return {*vault.user_ids(), *with_token, *vault.config.identities.values(), *named}


def foreign_tokens(root: Path) -> list[str]:
    """What is wrong with each token file that opens nothing, and the next step."""
    problems: list[str] = []
    for path in _token_files(root):
        try:
            _refuse_foreign(root, path)
        except ForeignFile as error:
            problems.append(str(error))
    return list(dict.fromkeys(problems))  # a folder that is a link says the same of all its files


def unknown_tokens(root: Path) -> list[str]:
    """The token files in a vault of which this machine does not know that it made them: a vault that was copied here,
    or one that was made before machines kept a record."""
    return [] if MachineRecord(root).has_own_tokens() else _present(root)


def secure_tokens(root: Path) -> list[str]:
    """Make private what others can read. Returns lines about that, about files that open nothing, and about tokens that
    open the vault but may have come with it."""
    lines = []
    if closed := close_to_others(root):
        lines.append(f"others on this machine could read {', '.join(closed)}: make new ones if somebody may have")
    if unknown := unknown_tokens(root):
        lines.append(
            f"this machine does not know that it made {', '.join(unknown)}: `vault-memory trust` keeps them, "
            "`vault-memory init` ends them"
        )
    return [*lines, *foreign_tokens(root)]


def close_to_others(root: Path) -> list[str]:
    """Make the token files private that other users of this machine can read; returns their names."""
    readable = readable_by_others(root)
    for path in readable:
        path.chmod(0o600)
    return [path.name for path in readable]


def readable_by_others(root: Path) -> list[Path]:
    """Our token files that other users of this machine can read: a copy or a sync program may have changed their
    mode."""
    return [path for path in _token_files(root) if os.name != "nt" and _mode(path, root) & 0o077]


def _present(root: Path) -> list[str]:
    """The names of the token files that there are."""
    state = root / layout.STATE_DIR
    return [path.relative_to(state).as_posix() for path in _token_files(root) if os.path.lexists(path)]


def _token_files(root: Path) -> list[Path]:
    """Where tokens may lie: the vault's own file, there or not, and those of users; no link is followed to them."""
    state = root / layout.STATE_DIR
    tokens = state / "tokens"
    users = [] if state.is_symlink() or tokens.is_symlink() else sorted(tokens.glob("*"))
    return [
        state / "token",
        *([tokens] if tokens.is_symlink() else []),
        *(p for p in users if layout.is_user_id(p.name)),
    ]


def _mode(path: Path, root: Path) -> int:
    """The rights of a regular file that is ours; 0 for anything else."""
    try:
        status = os.lstat(path)
    except OSError:
        return 0
    is_ours = stat.S_ISREG(status.st_mode) and not belongs_to_other(status, os.stat(root))
    return stat.S_IMODE(status.st_mode) if is_ours else 0


def _read(root: Path, path: Path) -> bytes | None:
    """The bytes of a token file, None when there is none; one that others can read is made private. Raises
    `ForeignFile` for a file that came from elsewhere."""
    stored = files.read_private(path, root)
    with contextlib.suppress(NoIndex):  # then no git brings anything, and turns are to be kept
        refuse_tracked(root, path)
    return stored


def _refuse_foreign(root: Path, path: Path) -> None:
    """Raise `ForeignFile` for a token file that is a link, lies behind one, is another user's, or tracked by git."""
    refuse_foreign(path, root)
    refuse_tracked(root, path)


def _new_token(whose: str) -> str:
    return f"{_PREFIX}_{whose}_{secrets.token_hex(32)}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _token_path(root: Path, user_id: str) -> Path:
    return root / layout.user_token(user_id)
