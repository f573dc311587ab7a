"""Tokens: whom each one admits, and what is kept of it."""

from __future__ import annotations

import os

import pytest

from vault_memory.core import layout
from vault_memory.errors import NotFound, Unauthenticated
from vault_memory.services.admin import Caller, caller_of, new_user_token, own_token, revoke_user_token
from vault_memory.services.admin.access import readable_by_others
from vault_memory.services.vault import Vault


def test_each_token_admits_its_own_caller(bare_vault: Vault) -> None:
    assert caller_of(bare_vault, own_token(bare_vault.root)) == Caller(None, admin=True)
    assert caller_of(bare_vault, new_user_token(bare_vault, "alice")) == Caller("alice")


def test_a_new_token_and_a_revocation_end_the_old_one(bare_vault: Vault) -> None:
    old = new_user_token(bare_vault, "alice")
    new = new_user_token(bare_vault, "alice")
    with pytest.raises(Unauthenticated):
        caller_of(bare_vault, old)
    revoke_user_token(bare_vault, "alice")
    with pytest.raises(Unauthenticated):
        caller_of(bare_vault, new)
    with pytest.raises(NotFound, match="nothing to revoke"):
        revoke_user_token(bare_vault, "alice")


def test_a_token_copied_to_another_user_s_name_admits_nobody(bare_vault: Vault) -> None:
    alice = new_user_token(bare_vault, "alice")
    tokens = bare_vault.root / layout.STATE_DIR / "tokens"
    (tokens / "bob").write_bytes((tokens / "alice").read_bytes())
    for token in (alice.replace("alice", "bob"), alice[:-1], alice + "0", "", "vault_admin_", "vault_../alice_0", "é"):
        with pytest.raises(Unauthenticated):
            caller_of(bare_vault, token)


def test_of_a_user_s_token_only_the_digest_is_kept(bare_vault: Vault) -> None:
    token = new_user_token(bare_vault, "alice")
    kept = [path.read_text() for path in bare_vault.root.rglob("*") if path.is_file()]
    assert kept and not any(token in text or token.rpartition("_")[2] in text for text in kept)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such rights")
def test_a_token_that_others_can_read_is_named(bare_vault: Vault) -> None:
    own_token(bare_vault.root)
    new_user_token(bare_vault, "alice")
    assert readable_by_others(bare_vault.root) == []
    path = bare_vault.root / layout.STATE_DIR / "tokens" / "alice"
    path.chmod(0o644)
    assert readable_by_others(bare_vault.root) == [path]
