"""Git reads the objects of another repository where `objects/info/alternates` says so: that needs a yes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vault_memory.errors import HistoryError
from vault_memory.services.admin import doctor, repository_programs, status, to_trust, trust
from vault_memory.services.sync import sync
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


@pytest.fixture
def alternates(vault: Vault, tmp_path: Path) -> Path:
    vault.history.state()  # the settings are known before the file comes
    file = vault.root / ".git/objects/info/alternates"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{tmp_path}/secret/.git/objects\n")
    return file


def test_it_is_named_and_commits_and_syncs_wait_for_a_yes(vault: Vault, alternates: Path, tmp_path: Path) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    assert vault.history.state().waiting
    shown = status(vault)
    assert any("alternates" in line for line in shown.unhealthy) and any(
        "alternates" in line for line in shown.degraded
    )
    assert any("alternates" in line and "secret" in line for line in repository_programs(vault.root))
    assert any("alternates" in each.message for each in doctor(vault) if each.name == "git")
    with pytest.raises(HistoryError, match="alternates"):
        sync(vault, "https://example.invalid/notes.git")
    trust(vault, to_trust(vault))
    assert open_vault(vault.root).history.flush().commits


def test_commits_go_on_once_it_is_gone(vault: Vault, alternates: Path) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題")
    alternates.unlink()
    assert vault.history.flush().commits and not vault.history.state().waiting


def test_a_pipe_in_its_place_holds_nothing_up(vault: Vault, alternates: Path) -> None:
    alternates.unlink()
    os.mkfifo(alternates)
    assert any("alternates" in each.message for each in doctor(vault) if not each.ok)
