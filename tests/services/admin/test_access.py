"""Tokens: whom each one admits, and what is kept of it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from vault_memory.core import layout
from vault_memory.errors import ForeignFile, NotFound, Unauthenticated
from vault_memory.services.admin import (
    Caller,
    caller_of,
    create_vault,
    doctor,
    new_user_token,
    own_token,
    restore,
    revoke_user_token,
    secure_tokens,
    to_trust,
    trust,
)
from vault_memory.services.admin.access import foreign_tokens, readable_by_others, unknown_tokens
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


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


def test_a_file_in_the_place_of_the_state_is_named_with_the_next_step(bare_vault: Vault) -> None:
    root = bare_vault.root
    shutil.rmtree(root / layout.STATE_DIR, ignore_errors=True)
    (root / layout.STATE_DIR).write_text("planted")
    named = r"\.vault-memory is a file, and a folder belongs there"
    for way in (own_token, lambda root: create_vault(root), lambda root: new_user_token(bare_vault, "alice")):
        with pytest.raises(ForeignFile, match=named):
            way(root)
    assert [re.search(named, line) is not None for line in foreign_tokens(root)] == [True]
    assert any(f"{layout.STATE_DIR} is a file" in finding.message for finding in doctor(bare_vault))


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


@pytest.fixture
def made(tmp_path: Path) -> Vault:
    """A vault that this machine made."""
    return open_vault(create_vault(tmp_path / "made").root)


def plant(root: Path) -> tuple[str, str]:
    """Put tokens that somebody else knows into a folder: the vault's own, and one of alice."""
    own, user = f"vault_admin_{'0' * 64}", f"vault_alice_{'1' * 64}"
    tokens = root / layout.STATE_DIR / "tokens"
    tokens.mkdir(parents=True, exist_ok=True)
    (root / layout.STATE_DIR / "token").write_text(own + "\n")
    (tokens / "alice").write_text(hashlib.sha256(user.encode()).hexdigest() + "\n")
    return own, user


def admits(vault: Vault, *tokens: str) -> list[bool]:
    admitted = []
    for token in tokens:
        try:
            caller_of(vault, token)
        except Unauthenticated:
            admitted.append(False)
        else:
            admitted.append(True)
    return admitted


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=root, check=True, timeout=30)


def test_an_init_run_again_keeps_the_tokens_that_were_made_here(made: Vault) -> None:
    tokens = own_token(made.root), new_user_token(made, "alice")
    assert create_vault(made.root).notes == () and create_vault(made.root, adopt=True).notes == ()
    assert admits(made, *tokens) == [True, True]


def test_tokens_in_an_adopted_folder_are_ended_and_it_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "note.md").write_text("a note\n")
    planted = plant(folder)
    created = create_vault(folder, adopt=True)
    vault = open_vault(folder)
    assert admits(vault, *planted, own_token(folder)) == [False, False, True]
    assert "token, tokens/alice" in created.notes[0] and "vault-memory token" in created.notes[0]


def test_tokens_that_came_with_a_copied_vault_are_ended_by_its_first_init(made: Vault, tmp_path: Path) -> None:
    """A clone with everything in it, and a download: the folder is a vault, but not of this machine."""
    copied = shutil.copytree(made.root, tmp_path / "copied", symlinks=True)
    planted = plant(copied)
    create_vault(copied)
    again = own_token(copied)
    assert admits(open_vault(copied), *planted, own_token(made.root), again) == [False, False, False, True]
    assert create_vault(copied).notes == () and own_token(copied) == again


def test_tokens_in_a_backup_are_ended(made: Vault, tmp_path: Path) -> None:
    planted = plant(made.root)
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        tar.add(made.root, arcname=".")
    vault = open_vault(restore(tmp_path / "evil.tar.gz", tmp_path / "again"))
    assert admits(vault, *planted) == [False, False]
    tokens = own_token(vault.root), new_user_token(vault, "alice")
    create_vault(vault.root)
    assert admits(vault, *tokens) == [True, True], "this machine made them"


def test_a_tracked_token_opens_nothing_and_the_next_step_is_named(made: Vault, tmp_path: Path) -> None:
    """It came with `git pull`; the server runs meanwhile and has asked before."""
    before = new_user_token(made, "bob")
    assert admits(made, before) == [True]
    planted = plant(made.root)
    git(made.root, "add", "--force", ".vault-memory/token", ".vault-memory/tokens/alice")
    assert admits(made, *planted, before) == [False, False, True]
    with pytest.raises(ForeignFile, match=r"git tracks \.vault-memory/token.*git rm -f \.vault-memory/token"):
        own_token(made.root)
    with pytest.raises(ForeignFile, match="git tracks .*tokens/alice"):
        new_user_token(made, "alice")
    git(made.root, "commit", "--quiet", "--no-verify", "-m", "evil")
    git(tmp_path, "clone", "--quiet", str(made.root), "clone")
    with pytest.raises(ForeignFile, match="git tracks"):
        create_vault(tmp_path / "clone")
    assert admits(open_vault(tmp_path / "clone"), *planted) == [False, False]
    git(made.root, "rm", "--quiet", "--force", "-r", ".vault-memory")
    assert admits(made, own_token(made.root), new_user_token(made, "alice")) == [True, True]


@pytest.mark.parametrize("folder", [".vault-memory", ".vault-memory/tokens"])
def test_tokens_in_a_submodule_open_nothing(made: Vault, folder: str) -> None:
    planted = plant(made.root)
    commit = "1" * 40
    git(made.root, "update-index", "--add", "--cacheinfo", f"160000,{commit},{folder}")
    assert admits(made, *planted) == [folder.endswith("tokens"), False]


@pytest.mark.parametrize("version", ["2", "4"])
def test_no_form_of_the_git_index_hides_a_tracked_token(made: Vault, version: str) -> None:
    """Version 4 stores only the ends of names; another case is the same file on some systems."""
    planted = plant(made.root)
    (made.root / ".vault-memory-").write_text("a name just before ours")
    git(made.root, "add", "--force", ".vault-memory-", ".vault-memory/token")
    git(made.root, "update-index", "--index-version", version)
    assert admits(made, planted[0]) == [False]
    git(made.root, "update-index", "--force-remove", ".vault-memory/token")
    assert admits(made, planted[0]) == [True]
    blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    git(made.root, "update-index", "--add", "--cacheinfo", f"100644,{blob},.Vault-Memory/Token")
    assert admits(made, planted[0]) == [False]


@pytest.mark.parametrize(
    "link", [".vault-memory", ".vault-memory/token", ".vault-memory/tokens", ".vault-memory/tokens/alice"]
)
def test_a_token_behind_a_link_opens_nothing_and_nothing_is_written_there(
    made: Vault, tmp_path: Path, link: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    planted = plant(elsewhere)
    held = {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}
    path = made.root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere / link)
    is_own = "tokens" not in link
    assert admits(made, planted[0] if is_own else planted[1]) == [False]
    with pytest.raises(ForeignFile, match=f"{re.escape(link)} is a link.*delete the link"):
        own_token(made.root) if is_own else new_user_token(made, "alice")
    assert any(link in problem for problem in foreign_tokens(made.root))
    with pytest.raises(ForeignFile, match="is a link"):
        create_vault(shutil.copytree(made.root, tmp_path / "copy", symlinks=True))
    assert held == {path: path.read_bytes() for path in elsewhere.rglob("*") if path.is_file()}


def test_tokens_that_came_with_a_whole_copy_are_told_and_kept_only_by_a_yes(made: Vault, tmp_path: Path) -> None:
    """Also a vault that was made before machines kept a record: after one yes its tokens outlast an `init`."""
    token = new_user_token(made, "alice")
    copied = open_vault(shutil.copytree(made.root, tmp_path / "copied", symlinks=True))
    assert secure_tokens(made.root) == [] and to_trust(made) == ()
    [told] = secure_tokens(copied.root)
    assert "token, tokens/alice" in told and "`vault-memory trust` keeps" in told and "`vault-memory init` ends" in told
    [asked] = to_trust(copied)
    assert asked.value == ["token", "tokens/alice"]
    trust(copied, [asked])
    create_vault(copied.root)
    assert admits(copied, token) == [True] and secure_tokens(copied.root) == []


def test_the_first_token_of_a_vault_is_this_machines_unless_another_lies_there(bare_vault: Vault) -> None:
    own_token(bare_vault.root)
    assert unknown_tokens(bare_vault.root) == []
    shutil.rmtree(bare_vault.root / layout.STATE_DIR)
    plant(bare_vault.root)
    (bare_vault.root / layout.STATE_DIR / "token").unlink()
    own_token(bare_vault.root)
    assert unknown_tokens(bare_vault.root) == ["token", "tokens/alice"], "ours does not make alice's trusted"


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such rights")
def test_a_token_that_others_can_read_is_made_private_and_told(bare_vault: Vault) -> None:
    tokens = own_token(bare_vault.root), new_user_token(bare_vault, "alice")
    state = bare_vault.root / layout.STATE_DIR
    for path in (state / "token", state / "tokens" / "alice"):
        path.chmod(0o644)
    [told] = secure_tokens(bare_vault.root)
    assert "could read token, alice" in told and secure_tokens(bare_vault.root) == []
    for path in (state / "token", state / "tokens" / "alice"):
        path.chmod(0o644)
    assert admits(bare_vault, *tokens) == [True, True]
    assert readable_by_others(bare_vault.root) == [], "their use closes them too"
