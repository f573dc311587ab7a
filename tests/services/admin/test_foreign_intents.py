"""Commits that wait in an archive or a folder from elsewhere are nobody's work: they are dropped, and named."""

from __future__ import annotations

import tarfile
from pathlib import Path, PurePosixPath

import pytest

from vault_memory.adapters.history import Draft, FileChange
from vault_memory.adapters.history.model import Author
from vault_memory.adapters.machine import MachineRecord
from vault_memory.services.admin import create_vault, restore
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow

PATH = PurePosixPath("planted.md")


@pytest.fixture
def waiting(vault: Vault) -> Vault:
    """A vault in which a commit in another's name waits."""
    (vault.root / ".git/MERGE_HEAD").write_text("0" * 40)
    vault.history.commit([Draft("planted", Author("mallory", "m@x"), (FileChange(PATH, None, b"text\n"),))])
    (vault.root / ".git/MERGE_HEAD").unlink()
    assert vault.history.state().waiting == 1
    return vault


def test_an_archive_brings_no_intents(waiting: Vault, tmp_path: Path) -> None:
    (waiting.root / ".git/refs/heads/vault-memory").mkdir()
    branch = waiting.root / ".git/refs/heads/vault-memory/mine"
    branch.write_text(waiting.history.commit_named("HEAD") + "\n")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(waiting.root, arcname="")
    lines: list[str] = []
    root = restore(tmp_path / "a.tar.gz", tmp_path / "restored", on_left_out=lines.append)
    assert any("00000001.written: unfinished work" in line for line in lines)
    restored = open_vault(root)
    assert restored.history.flush().commits == () and (root / PATH).read_text() == "text\n"
    assert (root / ".git/refs/heads/vault-memory/mine").exists()


def test_init_drops_the_intents_of_a_folder_that_this_machine_does_not_know(waiting: Vault) -> None:
    assert not MachineRecord(waiting.root).has_own_tokens()
    (line,) = [line for line in create_vault(waiting.root).notes if "dropped" in line]
    assert "00000001.written" in line
    assert not any(entry.author == "mallory" for entry in open_vault(waiting.root).history.log())


def test_init_keeps_what_waits_in_a_vault_of_this_machine(vault: Vault) -> None:
    create_vault(vault.root)
    (vault.root / ".git/MERGE_HEAD").write_text("0" * 40)
    vault.history.commit([Draft("mine", Author("me", "m@x"), (FileChange(PATH, None, b"text\n"),))])
    (vault.root / ".git/MERGE_HEAD").unlink()
    assert not any("dropped" in line for line in create_vault(vault.root).notes)
    open_vault(vault.root).history.flush()
    assert any(entry.author == "me" for entry in open_vault(vault.root).history.log())
