"""What the pre-commit hook refuses in the files of a vault, and what it leaves alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from vault_memory.services.sync import check_staged
from vault_memory.services.vault import Vault

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PROFILE = "memory/alice/USER.md"


def git(root: Path, *words: str) -> None:
    identity = ("-c", "user.name=Alice", "-c", "user.email=alice@example.org")
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True, timeout=60)


def stage(vault: Vault, path: str, text: str) -> list[str]:
    """What the hook says when this file is staged."""
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    git(vault.root, "add", "-f", path)
    return check_staged(vault.root)


def test_good_notes_pass(vault: Vault) -> None:
    assert stage(vault, "notes/tea.md", "---\ntitle: Tea\n---\ngreen\n") == []


@pytest.mark.parametrize(
    ("path", "text", "problem"),
    [
        ("notes/tea.md", "---\ntitle: [unclosed\n---\n", "front matter"),
        ("notes/tea.md", f"key: {KEY}\n", "holds a secret ("),
        (PROFILE, "- 主題偏好：purple\n", "purple"),
    ],
)
def test_what_breaks_memory_or_leaks_is_named_with_the_way_on(vault: Vault, path: str, text: str, problem: str) -> None:
    *problems, hint = stage(vault, path, text)
    assert len(problems) == 1 and problems[0].startswith(path) and problem in problems[0]
    assert "--no-verify" in hint and KEY not in problems[0]


def test_a_name_that_is_a_secret_is_refused_and_not_shown(vault: Vault) -> None:
    problem, _ = stage(vault, f"notes/{KEY}.md", "\0")
    assert "notes/[redacted: token].md: its name is a secret of kind token: rename it" in problem and KEY not in problem


def test_a_link_to_a_secret_is_refused(vault: Vault) -> None:
    (vault.root / "notes").mkdir(exist_ok=True)
    stage(vault, "notes/tea.md", "green\n")
    git(vault.root, "commit", "-m", "tea")
    (vault.root / "notes/tea.md").unlink()
    for name, target in (("tea.md", KEY), ("b.md", f"../old-{KEY}/x"), ("ok.md", "tea.md")):
        (vault.root / "notes" / name).symlink_to(target)
    git(vault.root, "add", "-f", "notes")
    *problems, _ = check_staged(vault.root)
    assert [problem.partition(":")[0] for problem in problems] == ["notes/b.md", "notes/tea.md"]
    assert all("its target is a secret" in problem and KEY not in problem for problem in problems)


def test_only_what_the_commit_brings_in_is_searched_for_credentials(vault: Vault) -> None:
    long = "x" * 4_100_000
    (vault.root / "long.md").write_text(long)
    git(vault.root, "add", "long.md")
    git(vault.root, "commit", "--no-verify", "-m", "a long file")
    stage(vault, "notes/tea.md", f"old {KEY}\n")
    git(vault.root, "commit", "--no-verify", "-m", "it is in there")
    assert stage(vault, "notes/tea.md", f"old {KEY}\nand a new line\n") == []
    assert "holds a secret" in stage(vault, "long.md", f"{KEY}\n{long}")[0], "many words of a commit hide nothing"


def test_files_outside_of_a_vault_and_binary_files_are_left_alone(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "readme.md").write_text(f"{KEY}\n")
    git(tmp_path, "add", "readme.md")
    assert check_staged(tmp_path) == []
    inside = tmp_path / "vault"
    inside.mkdir()
    (inside / "vault-memory.toml").write_text("format = 1\n")
    (inside / "picture.png").write_bytes(b"\0" + KEY.encode())
    git(tmp_path, "add", "vault")
    assert check_staged(inside) == []
    (inside / "note.md").write_bytes(b"\0" + KEY.encode() + b"\n")
    git(tmp_path, "add", "vault")
    assert check_staged(inside)[0].startswith("vault/note.md: holds a secret (")


def test_settings_below_memory_open_no_door_for_records(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    home = tmp_path / "memory" / "alice"
    (home / "conversations").mkdir(parents=True)
    for folder in (tmp_path, home, home / "conversations"):
        (folder / "vault-memory.toml").write_text("format = 1\n")
    (home / "conversations" / "2026-01-30.jsonl").write_text("{}\n")
    git(tmp_path, "add", "-f", ".")
    assert "memory/alice/conversations/2026-01-30.jsonl must stay" in "\n".join(check_staged(tmp_path))
