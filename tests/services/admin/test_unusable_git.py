"""What makes git, or its index, unusable is named; turns are kept, and their commits are made once it is mended."""

from __future__ import annotations

import os
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_memory.adapters.files import MAX_FILE_BYTES
from vault_memory.errors import ConfigError
from vault_memory.services.admin import doctor, status
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

Mend = Callable[[], object]


def git(vault: Vault, *args: str) -> None:
    subprocess.run(["git", *args], cwd=vault.root, check=True, capture_output=True)


def turns_wait_and_come(vault: Vault, named: str, mend: Mend) -> None:
    """Two turns are kept; `named` is in what every command says of it; after `mend` all is committed."""
    before = vault.history.state().waiting
    written = record_turn(vault, "alice", "我喜歡暗色主題")
    (vault.root / "memory/alice/notes").mkdir(exist_ok=True)
    (vault.root / "memory/alice/notes/new.md").write_text("a note of my own\n")
    again = record_turn(open_vault(vault.root), "alice", "我喜歡淺色主題")
    assert named in (written.paused or "") and named in (again.paused or "")
    state = vault.history.state()
    assert state.waiting > before and named in (state.paused or "")
    assert any(named in line for line in status(vault).unhealthy)
    assert any(named in found.message for found in doctor(vault) if found.name == "git")
    mend()
    mended = open_vault(vault.root)
    record_turn(mended, "alice", "好")
    state = mended.history.state()
    assert not state.waiting and not state.paused and not state.problem
    profile = (vault.root / "memory/alice/USER.md").read_text()
    shown = subprocess.run(
        ["git", "show", "HEAD:memory/alice/USER.md"], cwd=vault.root, capture_output=True, text=True, check=True
    )
    assert shown.stdout == profile and "light" in profile


@pytest.mark.parametrize("damage", ["cut", "empty", "noise", "version 4 without a checksum"])
def test_a_damaged_index(vault: Vault, damage: str) -> None:
    record_turn(vault, "alice", "你好")
    index = vault.root / ".git/index"
    if damage.startswith("version"):
        git(vault, "update-index", "--index-version", "4")
    whole = index.read_bytes()
    damaged = {"cut": whole[:100], "empty": b"", "noise": os.urandom(3000)}
    index.write_bytes(damaged.get(damage, whole[: len(whole) // 2] + bytes(20)))
    assert all("exit code" not in found.message for found in doctor(vault)), "git itself fails without a word"

    def mend() -> None:
        index.unlink()
        git(vault, "reset", "-q")

    turns_wait_and_come(vault, f"{index} cannot be read", mend)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.attributesFile", "~nosuchuser/x"),
        ("core.attributesFile", "/dev/zero"),
        ("core.excludesFile", "~nosuchuser/x"),
        ("core.attributesFile", "large"),
        ("core.compression", "99"),
    ],
)
def test_a_setting_with_which_git_fails(vault: Vault, tmp_path: Path, key: str, value: str) -> None:
    if value == "large":
        value = str(tmp_path / "large")
        (tmp_path / "large").touch()
        os.truncate(value, MAX_FILE_BYTES + 1)
    git(vault, "config", key, value)
    config = vault.root / ".git/config"
    mended = config.read_text().replace(f"{key.split('.')[1]} = {value}", "")
    turns_wait_and_come(vault, f"{key.lower()} ", lambda: config.write_text(mended))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("version = 0", "version = 9", "core.repositoryformatversion = 9: write 0"),
        ("version = 0", "version = 1\n[extensions]\n\tfoo = bar", "extensions.foo: take it out"),
        ("[core]", "[core", "bad config line 1 in file .git/config): correct"),
    ],
)
def test_a_config_that_git_refuses_whole(vault: Vault, old: str, new: str, named: str) -> None:
    config = vault.root / ".git/config"
    whole = config.read_text()
    assert old in whole
    config.write_text(whole.replace(old, new))
    assert all("fatal" not in found.message for found in doctor(vault))
    turns_wait_and_come(vault, named, lambda: config.write_text(whole))


def test_a_folder_in_the_place_of_the_branch(vault: Vault) -> None:
    commit = vault.history.commit_named("HEAD")
    branch = vault.root / ".git/refs/heads/main"
    branch.unlink(missing_ok=True)
    branch.mkdir()

    def mend() -> None:
        branch.rmdir()
        branch.write_text(f"{commit}\n")

    turns_wait_and_come(vault, f"{branch} is a folder", mend)


def test_attributes_that_are_too_large_to_be_read_are_named(vault: Vault) -> None:
    attributes = vault.root / "memory/alice/.gitattributes"
    record_turn(vault, "alice", "你好")
    attributes.touch()
    os.truncate(attributes, MAX_FILE_BYTES + 1)
    assert str(attributes) in (record_turn(vault, "alice", "我喜歡暗色主題").paused or "")
    attributes.unlink()
    assert vault.history.flush().commits


@pytest.mark.parametrize("name", [".git/index", ".git/refs/heads/main", ".git/packed-refs", ".gitignore"])
def test_a_large_file_of_gits_is_not_read(vault: Vault, name: str) -> None:
    """It came in a folder: 300 MB of nothing took 900 MB."""
    path = vault.root / name
    record_turn(vault, "alice", "你好")
    os.utime(vault.root / "memory/alice/USER.md", (0, 0))  # else it is later than all turns by the vault's clock
    held = path.read_bytes() if path.exists() else None
    with path.open("wb") as file:
        file.truncate(150_000_000)

    def mend() -> None:
        path.unlink() if held is None else path.write_bytes(held)

    tracemalloc.start()
    try:
        turns_wait_and_come(vault, name, mend)
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_a_large_intent_is_not_read(vault: Vault) -> None:
    record_turn(vault, "alice", "你好")
    planted = vault.root / ".git/vault-memory/intents/00000001.written"
    with planted.open("wb") as file:
        file.truncate(300_000_000)
    tracemalloc.start()
    try:
        assert record_turn(vault, "alice", "我喜歡暗色主題").commits
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()
    assert any("00000001" in line for line in status(vault).unhealthy)


def test_large_settings_are_not_read(vault: Vault) -> None:
    with (vault.root / "vault-memory.toml").open("a") as file:
        file.write("# a comment\n" * 12_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(ConfigError, match=r"vault-memory\.toml has more than"):
            open_vault(vault.root)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
