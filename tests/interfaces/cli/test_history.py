"""History and restore of any file, by the real command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli

pytestmark = pytest.mark.slow

NOTE = "memory/alice/notes/想法 1.md"


@pytest.fixture
def note(cli: Cli) -> Path:
    """A note with two commits: created and changed."""
    cli.git("config", "user.name", "Alice")
    cli.git("config", "user.email", "alice@example.org")
    path = cli.folder / NOTE
    path.parent.mkdir(parents=True)
    for text, day in (("一\n二\n", "2026-01-28"), ("一\n貳\n", "2026-01-30")):
        path.write_text(text, encoding="utf-8")
        cli.git("add", NOTE)
        cli.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", f"note of {day}", "--date", f"{day}T12:00:00+08:00")
    return path


def test_log_of_a_file_of_the_vault_and_of_a_deleted_file(cli: Cli, note: Path) -> None:
    """G4: every change is a commit with its own author, of any file."""
    rows = cli.json("log", NOTE)
    subjects = [(row["subject"], row["author"]) for row in rows]
    assert subjects == [("note of 2026-01-30", "Alice"), ("note of 2026-01-28", "Alice")]
    assert cli.json("log", "-n", "1", "memory/alice")[0]["subject"] == "note of 2026-01-30"
    assert cli.json("log")[-1]["subject"] == "vault: lay out a new vault"
    assert "note of 2026-01-28" in Cli(note.parent)("log", note.name), "the path is relative to the current folder"
    note.unlink()
    assert len(cli.json("log", NOTE)) == 2
    assert "has no history" in cli("log", "nothing.md", code=1)
    assert "inside" in cli("log", "../../etc/passwd", code=2)


def test_blame_tells_who_wrote_each_line_and_why(cli: Cli, note: Path) -> None:
    note.write_text("一\n貳\n三\n", encoding="utf-8")
    rows = cli.json("blame", NOTE)
    assert [(row["text"], row["commit"] and row["commit"]["subject"]) for row in rows] == [
        *(("一", "note of 2026-01-28"), ("貳", "note of 2026-01-30"), ("三", None)),
    ]
    assert "not committed" in cli("blame", NOTE)
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    (theme,) = (row for row in cli.json("blame", "memory/alice/USER.md") if "主題偏好" in row["text"])
    assert theme["commit"]["reason"] == "我喜歡暗色主題" and theme["commit"]["author"] == "vault-memory"
    assert "in no commit" in cli("blame", "memory/alice/index.db", code=1)


def test_diff_of_the_last_change_and_between_two_states(cli: Cli, note: Path) -> None:
    note.write_text("一\n貳\n三\n", encoding="utf-8")
    shown = cli("diff", NOTE)
    assert "-二\n+貳\n+三\n" in shown
    assert "+三" not in cli("diff", NOTE, "--to", "HEAD")
    assert "+一\n+二\n" in cli("diff", NOTE, "--to", "HEAD~1", "--from", "HEAD~2")
    assert cli("diff", NOTE, "--from", "HEAD", "--to", "HEAD") == ""
    assert "no commit 'nonsense'" in cli("diff", NOTE, "--from", "nonsense", code=1)
    assert "not a date" in cli("diff", NOTE, "--from", "2026-13-01", code=2)


def test_restoring_a_file_is_a_commit_of_the_persons_and_touches_no_other(cli: Cli, note: Path) -> None:
    other = cli.folder / "other.md"
    other.write_text("mine, not committed\n")
    note.write_text("一\n貳\n三\n", encoding="utf-8")
    cli("restore", NOTE, "--to", "HEAD~1")
    assert note.read_text(encoding="utf-8") == "一\n二\n"
    assert cli.git("log", "-2", "--format=%an %s").splitlines() == [
        f"Alice restore {NOTE} to {cli.git('rev-parse', 'HEAD~3')[:12]}",
        f"Alice edit {NOTE}",
    ]
    assert cli.git("status", "--porcelain") == "?? other.md\n"
    assert "is the same already" in cli("restore", NOTE, "--to", "HEAD~3")
    cli("restore", NOTE, "--to", "HEAD~1")
    assert note.read_text(encoding="utf-8") == "一\n貳\n三\n", "what was not committed can be brought back too"
    assert "was not there" in cli("restore", "other.md", "--to", "HEAD", code=1)
    assert "begins after" in cli("restore", NOTE, "--date", "1999-01-01", code=1)


def test_a_date_means_when_it_was_said(cli: Cli) -> None:
    """Turns of former years, recorded now after one of today: their commits are made now, and each date brings back
    what was said by then."""
    user = "memory/alice/USER.md"
    cli("turn", "--user", "alice", "--message", "以後請叫我小安")
    said = [("2024-03-01", "我喜歡暗色主題"), ("2025-03-01", "我改變主意了，以後都用亮色主題")]
    rows = [{"user_message": text, "created_at": f"{day}T09:00:00+08:00"} for day, text in said]
    cli("turn", "--user", "alice", "--jsonl", "-", stdin="".join(json.dumps(row) + "\n" for row in rows))
    assert [row["at"][:10] for row in cli.json("history", "--user", "alice", "theme")] == ["2025-03-01", "2024-03-01"]
    assert cli("pref", "restore", "--user", "alice", "theme", "--date", "2024-12-31") == "theme = dark (restored)\n"
    cli("restore", user, "--date", "2025-03-01")
    assert "主題偏好：light" in (cli.folder / user).read_text()
    cli("restore", user, "--date", "2024-03-01")
    assert "主題偏好：dark" in (cli.folder / user).read_text()
    assert "begins after" in cli("restore", user, "--date", "2024-02-29", code=1)
    assert "no profile yet" in cli("pref", "restore", "--user", "alice", "theme", "--date", "2024-02-29", code=1)


def test_a_restored_profile_is_told_by_key(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    before = cli.git("rev-parse", "HEAD").strip()
    cli("turn", "--user", "alice", "--message", "改用淺色主題")
    cli("restore", "memory/alice/USER.md", "--to", before)
    newest = cli.json("history", "--user", "alice", "theme")[0]
    assert (newest["old"], newest["new"], newest["strength"]) == ("light", "dark", "manual")
    assert cli.git("status", "--porcelain") == ""


def test_restore_knows_a_backup_from_a_file_by_what_follows(cli: Cli, note: Path, tmp_path: Path) -> None:
    cli("backup", str(tmp_path / "all.tar.gz"))
    cli("restore", str(tmp_path / "all.tar.gz"), str(tmp_path / "again"))
    assert (tmp_path / "again" / NOTE).read_text(encoding="utf-8") == "一\n貳\n"
    for words in ([NOTE], [NOTE, "--to", "HEAD", "--date", "2026-01-30"], [NOTE, str(tmp_path / "x"), "--to", "HEAD"]):
        assert "say what to restore" in cli("restore", *words, code=2)


def test_sync_and_status_by_command(cli: Cli, tmp_path: Path) -> None:
    cli.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    assert "no remote" in cli("sync", code=2)
    for words in (("sync", "nowhere"), ("erase", "--push", "nowhere")):
        assert "there is no remote nowhere: `git remote add nowhere ADDRESS`" in cli(*words, code=1)
    assert "received 0 commits, sent 1" in cli("sync", str(tmp_path / "hub.git"))
    assert "loose objects" in cli("status")
    assert cli.json("status")["conflicts"] == []
