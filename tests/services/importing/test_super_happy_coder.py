"""Importing a `memory/` tree of Super Happy Coder."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.services.turns.test_second_look import values
from vault_memory.core.profile import Profile
from vault_memory.errors import HistoryError, UsageError
from vault_memory.services.importing import ImportedStudent, import_super_happy_coder
from vault_memory.services.notes import newest_turns
from vault_memory.services.profiles import history
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import Vault, open_vault

USER = """# 使用者資料

## 基本資訊
- 稱呼：小安
- 時區：Asia/Taipei

## 使用偏好
- 主題偏好：dark

## 我的話
- 不要叫我同學
"""
MEMORY = """# 記憶
- 任務：舊的一筆

## 2026-01-29 09:00
- 任務：做一個登入頁
- 模組：coding-agent
- 結果：成功
"""
DAILY = """
## 09:00
- 請求：做一個登入頁
- 模組：coding-agent
- 萃取偏好：{"tech": [{"framework": "React"}]}
"""


def row(at: str, user: str) -> str:
    return json.dumps({"timestamp": at, "user": user, "assistant": "好", "backend": "claude"}, ensure_ascii=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A student's folder as the design describes it, and what may stand beside it."""
    home = tmp_path / "shc" / "memory" / "alice"
    for folder in ("daily", "conversations", "old"):
        (home / folder).mkdir(parents=True)
    (home / "USER.md").write_text(USER, encoding="utf-8")
    (home / "MEMORY.md").write_text(MEMORY, encoding="utf-8")
    (home / "daily/2026-01-29.md").write_text(DAILY, encoding="utf-8")
    first, second = row("2026-01-29T00:30:00.123456", "做一個登入頁"), row("2026-01-29T23:30:00", "以後都用 Rust")
    (home / "conversations/2026-01-29.jsonl").write_text(f"{first}\n{second}\n", encoding="utf-8")
    broken = f'{first}\n{second}\n{{"timestamp": "2026-01-30T0\n{row("2026-01-30T09:00:00", "改用亮色主題")}'
    (home / "conversations/2026-01-30.jsonl").write_text(broken, encoding="utf-8")
    for name in ("index.db", "todo.md", "old/x.md", "daily/notes.md"):
        (home / name).write_text("x")
    return home.parent


def saved_at(path: Path, when: str) -> None:
    at = datetime.fromisoformat(when).timestamp()
    os.utime(path, (at, at))


def run(vault: Vault, tree: Path, **more: Any) -> dict[str, ImportedStudent]:
    return {each.student: each for each in import_super_happy_coder(vault, tree, **more)}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but the indexes and locks; links as what they lead to."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    kept = (path for path in found if not {".git", ".vault-memory"} & set(path.parts) and "index.db" not in path.name)
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


def test_a_student_becomes_a_user(vault: Vault, tree: Path) -> None:
    before = contents(tree)
    (alice,) = run(vault, tree).values()
    assert contents(tree) == before, "nothing is changed there"
    home = vault.root / "memory/alice"
    assert (home / "USER.md").read_text(encoding="utf-8") == USER
    assert (home / "MEMORY.md").read_text(encoding="utf-8") == MEMORY
    assert (home / "daily/2026-01-29.md").read_text(encoding="utf-8") == DAILY
    assert (alice.profile, alice.logs, alice.entries) == ("adopted as it is written", 2, 2)
    assert alice.left == ["index.db (made anew here, so it is not taken)", "todo.md", "daily/notes.md", "old/x.md"]
    imported = alice.imported
    assert imported and imported.kept.added == 3 and imported.learned is None
    assert imported.problems == ["alice/conversations/2026-01-30.jsonl:3: it is no JSON object: skipped"]
    turns = [(source, row["created_at"], row["user_message"]) for source, row in newest_turns(vault, "alice", 9)]
    assert turns == [
        ("conversations/2026-01-30.jsonl:1", "2026-01-30T09:00:00+08:00", "改用亮色主題"),
        ("conversations/2026-01-29.jsonl:2", "2026-01-29T23:30:00+08:00", "以後都用 Rust"),
        ("conversations/2026-01-29.jsonl:1", "2026-01-29T00:30:00.123456+08:00", "做一個登入頁"),
    ]
    for path in (home / "conversations").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.subject for entry in vault.history.log(limit=2)] == [
        "import(alice): MEMORY.md and daily logs of Super Happy Coder",
        "import(alice): USER.md of Super Happy Coder",
    ]
    assert vault.history.uncommitted() == [] and vault.history.log(limit=1)[0].author != "vault-memory"


def test_the_same_again_adds_nothing(vault: Vault, tree: Path) -> None:
    run(vault, tree)
    before, commit = contents(vault.root), vault.history.commit_named("HEAD")
    (alice,) = run(vault, tree).values()
    assert (alice.profile, alice.logs, alice.entries) == ("here already", 0, 0)
    assert alice.imported and (alice.imported.kept.added, alice.imported.kept.known) == (0, 3)
    assert contents(vault.root) == before and vault.history.commit_named("HEAD") == commit


def test_what_is_here_stays_and_logs_are_merged(vault: Vault, tree: Path) -> None:
    record_turn(vault, "alice", "我喜歡亮色主題")
    log = vault.path("alice", "daily/2026-01-29.md")
    log.write_text(
        "# 2026-01-29\n\n## 08:00\n- 請求：早安\n\n## 09:00\n- 請求：做一個登入頁\n- 我的補充\n", encoding="utf-8"
    )
    profile = vault.path("alice", "USER.md").read_bytes()
    (alice,) = run(vault, tree).values()
    assert alice.profile.startswith("not taken, the one that is here stays")
    assert vault.path("alice", "USER.md").read_bytes() == profile
    merged = log.read_text(encoding="utf-8")
    assert merged.startswith("# 2026-01-29\n") and merged.count("- 我的補充") == 1
    assert merged.index("早安") < merged.index("coding-agent") and "<<<<" not in merged
    assert [entry.subject for entry in vault.history.log(limit=2)] == [
        "import(alice): MEMORY.md and daily logs of Super Happy Coder",
        "add 2026-01-29 (memory/alice/daily/2026-01-29.md)",
    ]


def test_a_dry_run_tells_and_writes_nothing(vault: Vault, tree: Path) -> None:
    def files() -> dict[str, tuple[int, int]]:
        found = (path for path in vault.root.rglob("*") if path.is_file())
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}

    before = files()
    (alice,) = run(vault, tree, dry_run=True, learn=True).values()
    assert (alice.profile, alice.logs, alice.entries) == ("adopted as it is written", 2, 2)
    assert alice.imported and alice.imported.kept.added == 3 and files() == before


def test_ids_are_checked_and_may_be_given(vault: Vault, tree: Path, tmp_path: Path) -> None:
    for name in ("王小明", "Alice", ".hidden"):
        (tree / name).mkdir()
        (tree / name / "USER.md").write_text(USER, encoding="utf-8")
    (tree / "link").symlink_to(tmp_path)
    (tree / "stray.txt").write_text("x")
    found = run(vault, tree)
    taken = sorted(name for name, each in found.items() if each.imported)
    assert len(taken) == 1 and taken[0].casefold() == "alice", (
        "two ids that differ in case are one folder on some disks"
    )
    assert "--user '王小明=ID'" in found["王小明"].why and "not valid" in found["王小明"].why
    assert "no link is followed" in found["link"].why and "no folder" in found["stray.txt"].why
    assert [*run(vault, tree, students={"王小明": "ming"})] == ["王小明"]
    assert vault.path("ming", "USER.md").read_text(encoding="utf-8") == USER
    with pytest.raises(UsageError, match="has no folder 'nobody'"):
        run(vault, tree, students={"nobody": "x"})


def test_identities_name_users(vault: Vault, tree: Path) -> None:
    (tree / "alice").rename(tree / "tg-1")
    settings = vault.root / "vault-memory.toml"
    settings.write_text(settings.read_text() + '\n[identities]\n"tg-1" = "bob"\n')
    found = run(open_vault(vault.root), tree)
    assert found["tg-1"].imported and found["tg-1"].imported.user_id == "bob"


def test_links_are_named_and_not_followed(vault: Vault, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- 任務：秘密")
    (tree / "alice/MEMORY.md").unlink()
    (tree / "alice/MEMORY.md").symlink_to(tmp_path / "secret.md")
    (tree / "alice/daily/2026-01-28.md").symlink_to(tmp_path / "secret.md")
    (tree / "alice/conversations/2026-01-28.jsonl").symlink_to(tmp_path / "secret.md")
    (alice,) = run(vault, tree).values()
    assert {"MEMORY.md", "daily/2026-01-28.md", "conversations/2026-01-28.jsonl"} <= set(alice.left)
    assert not any(b"\xe7\xa7\x98\xe5\xaf\x86" in data for data in contents(vault.root).values())


def test_secrets_and_private_facts_stay_out_of_logs_and_profile(vault: Vault, tree: Path) -> None:
    key = "sk-proj-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4xY7zA0bC"
    (tree / "alice/USER.md").write_text(USER + f"- 金鑰 {key}\n", encoding="utf-8")
    (tree / "alice/MEMORY.md").write_text(
        MEMORY + f"\n## 2026-01-29 10:00\n- 任務：我有糖尿病\n- 金鑰 {key}\n", encoding="utf-8"
    )
    (alice,) = run(vault, tree).values()
    for name in ("USER.md", "MEMORY.md"):
        text = vault.path("alice", name).read_text(encoding="utf-8")
        assert key not in text and "[redacted: " in text
    assert "糖尿病" not in vault.path("alice", "MEMORY.md").read_text(encoding="utf-8")
    assert alice.paused is None and vault.history.state().waiting == 0
    assert alice.imported and alice.imported.kept.redactions
    (again,) = run(vault, tree).values()
    assert (again.profile, again.logs) == ("here already", 0)


def test_what_is_no_text_is_named(vault: Vault, tree: Path) -> None:
    (tree / "alice/USER.md").write_bytes(USER.encode("utf-16"))
    (tree / "alice/daily/2026-01-29.md").write_bytes(b"a\0b")
    (tree / "alice/daily/2026-01-28.md").mkdir()
    (alice,) = run(vault, tree).values()
    assert alice.profile == "" and alice.imported and alice.imported.kept.added == 3
    assert [line.split(":")[0] for line in alice.imported.problems] == [
        "alice/USER.md", "alice/daily/2026-01-29.md", "alice/conversations/2026-01-30.jsonl",
    ]  # fmt: skip
    assert not vault.path("alice", "USER.md").exists()


class TestLearning:
    def test_nothing_is_learned_while_the_profile_waits_for_its_commit(self, vault: Vault, tree: Path) -> None:
        """Nobody could tell that it is newer than the turns."""
        lock = vault.root / ".git/index.lock"
        lock.touch()
        for _ in range(2):
            (alice,) = run(vault, tree, learn=True).values()
            assert alice.imported and alice.imported.learned is None
            assert alice.imported.unlearned and "index.lock" in alice.imported.unlearned
        lock.unlink()
        (alice,) = run(vault, tree, learn=True).values()
        assert alice.paused is None and alice.imported and alice.imported.learned
        assert alice.imported.learned.changes and values(vault)["theme"] == "dark"

    def test_the_profile_is_newer_than_what_was_said_before_it_was_saved(self, vault: Vault, tree: Path) -> None:
        """It was made of these turns, or by the person."""
        saved_at(tree / "alice/USER.md", "2026-01-30T10:00:00+08:00")
        run(vault, tree, learn=True)
        found = values(vault)
        assert found["theme"] == "dark" and found["languages"] == "Rust"
        assert [change.key for change in history(vault, "alice", "theme")] == []

    def test_what_was_said_after_it_was_saved_counts(self, vault: Vault, tree: Path) -> None:
        saved_at(tree / "alice/USER.md", "2026-01-30T08:00:00+08:00")
        (alice,) = run(vault, tree, learn=True).values()
        assert values(vault)["theme"] == "light"
        assert alice.imported and alice.imported.learned and alice.imported.learned.changes
        (change,) = history(vault, "alice", "theme")
        assert (change.old, change.new, change.at.isoformat()) == ("dark", "light", "2026-01-30T09:00:00+08:00")

    def test_logs_get_no_second_entry_for_the_same_turn(self, vault: Vault, tree: Path) -> None:
        run(vault, tree, learn=True)
        assert vault.path("alice", "daily/2026-01-29.md").read_text(encoding="utf-8") == DAILY


def test_a_folder_that_is_no_tree_is_told(vault: Vault, tree: Path, tmp_path: Path) -> None:
    for folder, words in (
        (tree / "alice", "folder of one student"),
        (tree.parent, "holds the tree: give"),
        (tmp_path / "none", "cannot read the folder"),
        (tree / "alice/USER.md", "cannot read the folder"),
    ):
        with pytest.raises(UsageError, match=words):
            run(vault, folder)


def test_it_waits_for_a_rebase(vault: Vault, tree: Path) -> None:
    (vault.root / ".git/HEAD").write_text(vault.history.commit_named("HEAD"))
    with pytest.raises(HistoryError, match="nothing is imported now"):
        run(vault, tree)
    assert not (vault.root / "memory/alice").exists()


def test_a_vaults_own_tree_adds_nothing_to_itself(vault: Vault) -> None:
    record_turn(vault, "alice", "我喜歡暗色主題", "好" * 200)
    before = contents(vault.root)
    found = run(vault, vault.root / "memory")
    assert contents(vault.root) == before
    assert found["alice"].imported and found["alice"].imported.kept.known == 1


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again(vault: Vault, tree: Path) -> None:
    for day in range(1, 29):
        (tree / f"alice/daily/2025-06-{day:02}.md").write_text(DAILY, encoding="utf-8")
        lines = [row(f"2025-06-{day:02}T{hour:02}:00:00", f"第 {day} 天 {hour} 點") for hour in range(24)]
        (tree / f"alice/conversations/2025-06-{day:02}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "vault_memory", "import", "super-happy-coder", str(tree), "--learn"]
    seeded = random.Random(1)
    for _ in range(8):
        process = subprocess.Popen(command, cwd=vault.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seeded.uniform(0.4, 3))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    run(vault, tree, learn=True)
    vault.history.flush()
    said = [row["user_message"] for _, row in newest_turns(vault, "alice", 10_000)]
    assert len(said) == 28 * 24 + 3 == len(set(said))
    for path in (tree / "alice/daily").glob("2025*"):
        assert vault.path("alice", f"daily/{path.name}").read_bytes() == path.read_bytes()
    assert vault.history.state().waiting == 0 and vault.history.uncommitted() == []
    profile = Profile.decode(vault.path("alice", "USER.md").read_bytes())
    assert profile.get("theme") == "dark" and "Rust" in str(profile.get("languages"))
    log = [entry.subject for entry in vault.history.log(limit=100) if entry.subject.startswith("memory(alice)")]
    assert len(log) == len(set(log))
