"""Access by token: the vault's own token gives access to everything, a user's token to that user's data.

The vault's token is in `.vault-memory/token`, for the programs of its owner. A user's token is not stored, only its
digest, in `.vault-memory/tokens/<user_id>`. Only the owner of the files can read both, and both can be made anew at any
time. A token has 256 random bits: nobody can guess it, and a plain digest is enough.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from vault_memory.adapters import files
from vault_memory.adapters.git import refuse_tracked
from vault_memory.core import layout
from vault_memory.errors import NotFound, Unauthenticated
from vault_memory.services.vault import Vault

_PREFIX = "vault"
"""Every token begins with this, so a search for secrets recognises one."""


@dataclass(frozen=True)
class Caller:
    """Who calls: a user, or (with `admin`) the holder of the vault's own token; `user_id` is None then."""

    user_id: str | None
    admin: bool = False


def own_token(root: Path) -> str:
    """The vault's own token; it is created if it is missing."""
    path = root / layout.STATE_DIR / "token"
    stored = files.read_private(path, root)
    refuse_tracked(root, path)
    if not stored:
        files.write_private(path, _new_token("admin").encode() + b"\n", root)
        stored = files.read_private(path, root) or b""  # another process may have made one at the same time
    return stored.decode("ascii", "replace").strip()


def new_user_token(vault: Vault, user_id: str) -> str:
    """A new token for a user, who may be new too; the former one stops working. Raises `InvalidId`."""
    token = _new_token(vault.new_user(user_id))
    files.write_private(_token_path(vault.root, user_id), _digest(token).encode() + b"\n", vault.root)
    return token


def revoke_user_token(vault: Vault, user_id: str) -> None:
    """Make the user's token stop working. Raises `NotFound` if there is none."""
    if not files.remove_private(_token_path(vault.root, user_id), vault.root):
        raise NotFound(f"user {user_id!r} has no token: nothing to revoke")


def drop_user_token(vault: Vault, user_id: str) -> None:
    """Revoke the token of an id if there is one: the id will belong to another person."""
    with contextlib.suppress(NotFound):
        revoke_user_token(vault, user_id)


def caller_of(vault: Vault, token: str) -> Caller:
    """The caller that a token belongs to. Raises `Unauthenticated`; a wrong token takes as long as a right one."""
    if hmac.compare_digest(_digest(token), _digest(own_token(vault.root))):
        return Caller(None, admin=True)
    _, _, user_id = token.rpartition("_")[0].partition("_")
    if layout.is_user_id(user_id):
        path = _token_path(vault.root, user_id)
        stored = files.read_private(path, vault.root) or b""
        refuse_tracked(vault.root, path)
        # The digest covers the id: where the disk ignores case, ALICE cannot use the token of alice.
        if hmac.compare_digest(_digest(token).encode(), stored.strip()):
            return Caller(user_id)
    raise Unauthenticated("this token is not valid here: `vault-memory token` shows the vault's own one")


def readable_by_others(root: Path) -> list[Path]:
    """Token files that other users of this machine can read: a copy or a sync program may have changed their mode."""
    state = root / layout.STATE_DIR
    paths = [state / "token", *sorted((state / "tokens").glob("*"))]
    return [path for path in paths if os.name != "nt" and path.is_file() and path.stat().st_mode & 0o077]


def _new_token(whose: str) -> str:
    return f"{_PREFIX}_{whose}_{secrets.token_hex(32)}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _token_path(root: Path, user_id: str) -> Path:
    return root / layout.STATE_DIR / "tokens" / layout.check_user_id(user_id)
