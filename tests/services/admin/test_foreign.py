"""What a repository that came from elsewhere names is told, and not started."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Cli
from vault_memory.config import Waiting
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.admin.foreign import repository_programs
from vault_memory.services.admin.status import status
from vault_memory.services.admin.trust import to_trust, trust
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault, open_vault


def config(root: Path, key: str, value: str) -> None:
    subprocess.run(["git", "-C", str(root), "config", key, value], check=True, timeout=30)


def git_settings(vault: Vault) -> list[Waiting]:
    return [value for value in to_trust(vault) if value.key.startswith("git config ")]


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A program that leaves a file `ran` beside it."""
    script = tmp_path / "evil.sh"
    script.write_text('#!/bin/sh\ntouch "$(dirname "$0")/ran"\ncat\n')
    script.chmod(0o755)
    return script


def test_a_new_vault_names_nothing_foreign(vault: Vault) -> None:
    assert repository_programs(vault.root) == [] and vault.history.refused_settings() == ()


def test_settings_and_hooks_that_are_not_ours_are_named(vault: Vault, mark: Path) -> None:
    config(vault.root, "core.fsmonitor", str(mark))
    config(vault.root, "merge.vault-memory-profile.driver", str(mark))
    config(vault.root, "alias.st", f"!{mark}")
    for name in ("pre-push", "pre-commit.local"):
        (vault.history.git_dir / "hooks" / name).write_bytes(mark.read_bytes())
        (vault.history.git_dir / "hooks" / name).chmod(0o755)
    lines = repository_programs(vault.root)
    assert len(lines) == 5 and lines[1] == f"git setting merge.vault-memory-profile.driver = {mark}"
    assert [line.rpartition("/")[2] for line in lines[3:]] == ["pre-commit.local", "pre-push"]
    line = status(vault).degraded[-1]
    assert f"core.fsmonitor = {mark}" in line and "vault-memory trust" in line
    assert not mark.with_name("ran").exists()


def test_status_names_a_file_that_waits_for_its_filter(vault: Vault, mark: Path) -> None:
    config(vault.root, "filter.crypt.clean", str(mark))
    (vault.root / ".gitattributes").write_text("secret.md filter=crypt\n")
    (vault.root / "secret.md").write_text("# hidden\n")
    (vault.root / "open.md").write_text("# open\n")
    commit_person_edits(vault, None)
    committed = subprocess.run(
        ["git", "-C", str(vault.root), "ls-tree", "--name-only", "HEAD"], capture_output=True, text=True, timeout=30
    ).stdout
    assert "open.md" in committed and "secret.md" not in committed
    assert status(vault).degraded[-1] == "secret.md is not committed before the filter crypt may run"
    assert not mark.with_name("ran").exists()


def test_a_foreign_folder_is_adopted_and_nothing_of_it_runs(tmp_path: Path, mark: Path) -> None:
    root = tmp_path / "theirs"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True, timeout=30)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "diff.x.textconv", "core.sshCommand"):
        config(root, key, str(mark))
    (root / ".gitattributes").write_text("* filter=x diff=x\n")
    (root / "note.md").write_text("# a note\n")
    created = create_vault(root, adopt=True)
    assert not mark.with_name("ran").exists()
    assert len(repository_programs(created.root)) == 5


def test_init_and_restore_say_what_they_found(cli: Cli, mark: Path, tmp_path: Path) -> None:
    config(cli.folder, "core.fsmonitor", str(mark))
    (cli.folder / ".git" / "info" / "attributes").write_text("AGENTS.md working-tree-encoding=ISO-8859-1\n")
    claim = ".git/info/attributes set working-tree-encoding or ident for 1 file of the vault (context/AGENTS.md)"
    said = cli("init", ".")
    assert f"git setting core.fsmonitor = {mark}" in said and f"{cli.folder}/{claim}" in said
    cli("backup", str(tmp_path / "b.tar.gz"))
    assert f"git setting core.fsmonitor = {mark}" in cli("restore", str(tmp_path / "b.tar.gz"), str(tmp_path / "new"))
    assert any(line.startswith(f"{tmp_path}/new/{claim}") for line in status(open_vault(tmp_path / "new")).unhealthy)
    assert not mark.with_name("ran").exists()


def test_whom_a_repository_names_as_the_person_is_told(cli: Cli, tmp_path: Path) -> None:
    config(cli.folder, "user.name", "vault-memory")
    cli("backup", str(tmp_path / "b.tar.gz"))
    assert "user.name = vault-memory" in cli("restore", str(tmp_path / "b.tar.gz"), str(tmp_path / "new"))
    (line,) = open_vault(tmp_path / "new").history.passed_over()
    assert "`git config --unset-all user.name`" in line and line in status(open_vault(tmp_path / "new")).degraded


def test_what_a_stopped_rebase_would_run_is_shown_first(cli: Cli) -> None:
    todo = cli.folder / ".git" / "rebase-merge" / "git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("pick 1234567 a\n\tx touch \x1b[8mevil\n# exec not this\n")
    said = cli("init", ".")
    assert "`git rebase --continue`: x touch \\x1b[8mevil\n" in said and "not this" not in said
    assert said.index("touch") < said.index("commits wait until it is finished")


def test_adopting_says_what_it_found_before_it_writes(mark: Path, tmp_path: Path) -> None:
    """A careful person says no then."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "theirs")], check=True, timeout=30)
    config(tmp_path / "theirs", "core.fsmonitor", str(mark))
    said = Cli(tmp_path)("init", "--adopt", "theirs")
    assert said.count("git setting core.fsmonitor") == 1
    assert said.index("git setting core.fsmonitor") < said.index("wrote vault-memory.toml")


def test_with_a_yes_a_filter_runs_and_the_file_is_committed(vault: Vault, mark: Path) -> None:
    """A person's own git-lfs or git-crypt in an adopted repository: one question, and everything is committed."""
    config(vault.root, "filter.crypt.clean", str(mark))
    (vault.root / ".gitattributes").write_text("secret.md filter=crypt\n")
    (vault.root / "secret.md").write_text("# hidden\n")
    assert commit_person_edits(vault, None) == 1
    [waiting] = git_settings(vault)
    assert (waiting.key, waiting.value) == ("git config filter.crypt.clean", [str(mark)])
    trust(vault, [waiting])
    again = open_vault(vault.root)
    assert git_settings(again) == [] and commit_person_edits(again, None) == 1
    assert again.history.blob(PurePosixPath("secret.md")) == b"# hidden\n" and mark.with_name("ran").exists()
    config(vault.root, "filter.crypt.clean", f"{mark} --other")
    assert [value.key for value in git_settings(open_vault(vault.root))] == ["git config filter.crypt.clean"]
