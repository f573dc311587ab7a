"""Which remote a branch follows, as git says; and what is said of one that fails."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.adapters.conftest import Vault
from vault_memory.adapters.git import Remote, followed_remote
from vault_memory.errors import HistoryError


@pytest.mark.parametrize(
    ("remotes", "settings", "followed"),
    [
        ([], {}, None),
        (["backup"], {}, "backup"),
        (["backup", "origin"], {}, "origin"),
        (["backup", "laptop"], {}, None),
        (["backup", "origin"], {"branch.main.remote": "backup"}, "backup"),
        (["backup", "origin"], {"branch.other.remote": "backup"}, "origin"),
        (["origin"], {"branch.main.remote": "."}, "origin"),
        (["2026"], {}, "2026"),
        (["origin", "2026"], {"branch.main.remote": "2026"}, "2026"),
        ([], {"branch.main.remote": "https://example.org/vault.git"}, "https://example.org/vault.git"),
    ],
)
def test_the_remote_of_a_branch(
    vault: Vault, remotes: list[str], settings: dict[str, str], followed: str | None
) -> None:
    for name in remotes:
        vault.git("remote", "add", name, f"/somewhere/{name}")
    for key, value in settings.items():
        vault.git("config", key, value)
    assert followed_remote(vault.root, "main") == followed


def test_an_outer_git_does_not_choose_the_repository(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of another repository runs us with GIT_DIR set."""
    vault.git("remote", "add", "mine", "/somewhere")
    other = tmp_path / "other"
    vault.git("init", "-q", str(other))
    vault.git("-C", str(other), "remote", "add", "theirs", "/elsewhere")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert followed_remote(vault.root, "main") == "mine"


def test_a_linked_worktree_has_the_remotes_of_its_repository(vault: Vault, tmp_path: Path) -> None:
    vault.git("remote", "add", "mine", "/somewhere")
    vault.add(b"one")
    vault.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert followed_remote(tmp_path / "side", "side") == "mine"


def test_a_remote_that_does_not_answer_is_named(vault: Vault) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        address = f"git://127.0.0.1:{port}/x.git"
        with pytest.raises(HistoryError, match=rf"the remote {address} did not finish `git ls-remote` within 0\.3 s"):
            Remote(vault.root, address, timeout_s=0.3).tip("main")
    with pytest.raises(HistoryError, match=r"^`git ls-remote --` failed: "):
        Remote(vault.root, address).tip("main")


def test_a_config_that_asks_for_the_remotes_is_read(vault: Vault) -> None:
    vault.git("remote", "add", "mine", "/somewhere")
    vault.git("config", "includeIf.hasconfig:remote.*.url:https://x/**.path", "x.inc")
    assert followed_remote(vault.root, "main") == "mine"


def test_a_bundle_and_an_address_without_a_host_are_named_as_what_they_are(vault: Vault, tmp_path: Path) -> None:
    vault.add(b"one")
    vault.git("bundle", "create", "-q", str(tmp_path / "x.bundle"), "main")
    remote = Remote(vault.root, "../x.bundle")
    tip = remote.tip("main")
    assert tip
    vault.add(b"two")
    with pytest.raises(HistoryError, match=r"x\.bundle is a bundle, which takes no push"):
        remote.push("main", vault.git("rev-parse", "main").strip())
    with pytest.raises(HistoryError, match=r"u:\*\*\*@host:x, which names no host .* ssh://NAME@HOST/PATH"):
        Remote(vault.root, "u:Sup3r@host:x").tip("main")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give a folder away")
def test_what_root_fetches_is_the_owners(vault: Vault, tmp_path: Path) -> None:
    """The owner could fetch nothing more, or read none of it."""
    vault.add(b"one")
    vault.git("clone", "-q", "--bare", ".", str(tmp_path / "remote"))
    vault.add(b"two")
    vault.git("push", "-q", str(tmp_path / "remote"), "main")
    vault.git("reset", "-q", "--hard", "HEAD~1")
    vault.git("reflog", "expire", "--all", "--expire=now")
    vault.git("prune")
    vault.git("config", "--global", "--add", "safe.directory", "*")
    for path in (vault.root, *vault.root.rglob("*")):
        os.chown(path, 12345, 12345)
    remote = Remote(vault.root, str(tmp_path / "remote"))
    assert (fetched := remote.tip("main"))
    remote.fetch("main", fetched)
    assert (vault.root / ".git/refs/vault-memory/fetched").read_text().strip() == fetched
    assert {path.lstat().st_uid for path in (vault.root / ".git").rglob("*")} == {12345}


@pytest.mark.parametrize("folder", ["remotes", "branches"])
def test_a_remote_of_gits_old_form_is_refused(vault: Vault, folder: str) -> None:
    """`git remote get-url` knows `.git/remotes/origin`; what git was asked for was then the folder `origin` of the
    vault, whose hooks ran. What is shown is what git is asked for."""
    vault.add(b"one")
    inside, ran = vault.root / "origin", vault.root.parent / "ran"
    vault.git("init", "-q", "--bare", str(inside))
    for name in ("pre-receive", "post-receive"):
        (inside / "hooks" / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (inside / "hooks" / name).chmod(0o755)
    old = vault.root / ".git" / folder / "origin"
    old.parent.mkdir(exist_ok=True)
    address = "https://example.org/notes.git"
    old.write_text(f"URL: {address}\n" if folder == "remotes" else f"{address}\n")
    remote = Remote(vault.root, "origin")
    assert remote.addresses() == ["origin"]
    with pytest.raises(HistoryError, match="old form"):
        remote.push("main", vault.git("rev-parse", "HEAD").strip())
    old.unlink()
    with pytest.raises(HistoryError, match="inside the vault"):
        remote.push("main", vault.git("rev-parse", "HEAD").strip())
    assert not ran.exists()


def test_a_name_that_is_no_remotes_is_told_with_the_next_step(vault: Vault) -> None:
    """A folder inside the vault is refused as what it is, and so is a remote of which the config has half."""
    vault.add(b"one")
    with pytest.raises(HistoryError, match="there is no remote nowhere: `git remote add nowhere ADDRESS` makes one"):
        Remote(vault.root, "nowhere").tip("main")
    (vault.root / "here").mkdir()
    vault.git("config", "remote.half.fetch", "+refs/heads/*:refs/remotes/half/*")
    for name in ("here", "half", "./nowhere"):
        with pytest.raises(HistoryError, match="a repository inside the vault"):
            Remote(vault.root, name).tip("main")
