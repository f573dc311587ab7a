"""Who may come in: the vault's own token, which opens everything, and tokens that open one user's data.

The own token stands in `.vault-memory/token`, for the programs of whoever owns the vault. Of a user's token only the
digest is kept, in `.vault-memory/tokens/<user_id>`. Both are readable by the owner of the files alone, and may be made
anew at any time. Tokens have 256 random bits, so that a plain digest is enough and nobody guesses one.
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
from vault_memory.core import layout
from vault_memory.errors import NotFound, Unauthenticated
from vault_memory.services.vault import Vault

_PREFIX = "vault"
"""Begins every token, so that one is known for what it is where it must not stand."""


@dataclass(frozen=True)
class Caller:
    """Who calls: a user, or with `admin` whoever holds the vault's own token (then `user_id` is None)."""

    user_id: str | None
    admin: bool = False


def own_token(root: Path) -> str:
    """The vault's own token, made where there is none."""
    path = root / layout.STATE_DIR / "token"
    stored = files.read(path)
    if not stored:
        files.write_private(path, _made("admin").encode() + b"\n")
        stored = path.read_bytes()
    return stored.decode("ascii", "replace").strip()


def new_user_token(vault: Vault, user_id: str) -> str:
    """A new token for a user, who may be new too; the one before opens nothing from now on. Raises `InvalidId`."""
    token = _made(vault.new_user(user_id))
    files.write_private(_place(vault.root, user_id), _digest(token).encode() + b"\n")
    return token


def revoke_user_token(vault: Vault, user_id: str) -> None:
    """Let the user's token open nothing any more. Raises `NotFound` where there is none."""
    try:
        os.unlink(_place(vault.root, user_id))
    except FileNotFoundError:
        raise NotFound(f"user {user_id!r} has no token: nothing to revoke") from None


def drop_user_token(vault: Vault, user_id: str) -> None:
    """Revoke what there is, if there is anything: for a user whose id comes to mean somebody else."""
    with contextlib.suppress(NotFound):
        revoke_user_token(vault, user_id)


def caller_of(vault: Vault, token: str) -> Caller:
    """Whose token it is. Raises `Unauthenticated`; takes as long for a wrong token as for a right one of its kind."""
    if hmac.compare_digest(_digest(token), _digest(own_token(vault.root))):
        return Caller(None, admin=True)
    _, _, user_id = token.rpartition("_")[0].partition("_")
    if layout.is_user_id(user_id):
        stored = files.read(_place(vault.root, user_id)) or b""
        # The digest covers the id: on a disk that takes ALICE for alice, alice's token is still nobody else's.
        if hmac.compare_digest(_digest(token).encode(), stored.strip()):
            return Caller(user_id)
    raise Unauthenticated("this token opens nothing here: `vault-memory token` shows the vault's own one")


def exposed(root: Path) -> list[Path]:
    """Files of tokens that others on this machine could read: a copy or a sync program may have opened them."""
    state = root / layout.STATE_DIR
    kept = [state / "token", *sorted((state / "tokens").glob("*"))]
    return [path for path in kept if os.name != "nt" and path.is_file() and path.stat().st_mode & 0o077]


def _made(whose: str) -> str:
    return f"{_PREFIX}_{whose}_{secrets.token_hex(32)}"


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _place(root: Path, user_id: str) -> Path:
    return root / layout.STATE_DIR / "tokens" / layout.check_user_id(user_id)
