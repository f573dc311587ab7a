"""Links in `.git`, and a working tree elsewhere: nothing is written through them, and each is named."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from vault_memory.errors import ForeignFile
from vault_memory.services.admin import create_vault, doctor, repository_programs, status
from vault_memory.services.notes import file_blame
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

pytestmark = pytest.mark.slow


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["config", "index", "hooks", "objects", "refs", "refs/heads"])
def test_init_doctor_and_a_commit_write_through_no_link(vault: Vault, tmp_path: Path, name: str) -> None:
    place, outside = vault.root / ".git" / name, tmp_path / "outside"
    shutil.move(place, outside)
    place.symlink_to(outside)
    before = state(outside) if outside.is_dir() else outside.read_bytes()
    for adopt in (True, False):
        with pytest.raises(ForeignFile, match=f"{place} is a link"):
            create_vault(vault.root, adopt=adopt)
    assert f"link {place}" in repository_programs(vault.root)
    record_turn(vault, "alice", "我喜歡暗色主題")
    assert any(f"{place} is a link" in line for line in status(vault).unhealthy)
    doctor(vault, fix=True)
    assert (state(outside) if outside.is_dir() else outside.read_bytes()) == before
    place.unlink()
    shutil.move(outside, place)
    vault.history.flush()
    assert open_vault(vault.root).history.state().waiting == 0


def test_a_working_tree_elsewhere_is_named_and_commits_wait(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    subprocess.run(["git", "config", "core.worktree", str(tmp_path / "elsewhere")], cwd=vault.root, check=True)
    assert any("core.worktree" in line and "elsewhere" in line for line in repository_programs(vault.root))
    record_turn(vault, "alice", "我喜歡暗色主題")
    [finding] = [each for each in doctor(vault) if each.name == "git"]
    assert not finding.ok and "core.worktree" in finding.message
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_line_end_in_a_setting_stays_in_its_line(vault: Vault) -> None:
    subprocess.run(["git", "config", "core.fsmonitor", "/evil\nall is well"], cwd=vault.root, check=True)
    lines = [*status(vault).degraded, *repository_programs(vault.root)]
    assert sum("/evil\\nall is well" in line for line in lines) == 2 and not any("\n" in line for line in lines)


@pytest.mark.parametrize("name", ["shallow", "info/grafts"])
def test_a_link_that_a_failing_git_would_quote_is_refused_by_name(vault: Vault, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").write_text("a line of mine\n")
    (vault.root / ".git" / name).unlink(missing_ok=True)
    (vault.root / ".git" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ForeignFile, match=f"{name} is a link") as caught:
        vault.history.log()
    assert "a line of mine" not in str(caught.value)


def test_a_file_of_revisions_that_a_repository_names_is_not_read(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("a line of mine\n")
    setting = ["git", "config", "blame.ignoreRevsFile", str(tmp_path / "elsewhere")]
    subprocess.run(setting, cwd=vault.root, check=True, timeout=60)
    assert all(line.entry for line in file_blame(vault, PurePosixPath("vault-memory.toml")))
