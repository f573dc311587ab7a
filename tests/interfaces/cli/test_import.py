"""`import`: what other programs keep of conversations, by the real command line."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.core.exports import test_chatgpt as chatgpt
from tests.core.exports import test_claude as claude
from tests.services.importing.test_super_happy_coder import tree

__all__ = ["tree"]
pytestmark = pytest.mark.slow

USER = "memory/alice/USER.md"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """ChatGPT's archive: two conversations, of 2023 and of 2024, the newer first."""
    found = []
    for day, text in (("2024-03-01", "我改變主意了，以後都用亮色主題"), ("2023-11-14", "我喜歡暗色主題")):
        at = datetime.fromisoformat(f"{day}T09:00:00+08:00").timestamp()
        messages = [chatgpt.message("user", text, at=at), chatgpt.message("assistant", "好。" * 80, at=at + 5)]
        found.append(chatgpt.conversation(*messages, conversation_id=f"c-{day}", create_time=at))
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(found))
        archive.writestr("chat.html", "<html>")
    return tmp_path / "export.zip"


def test_an_export_of_chatgpt(cli: Cli, export: Path) -> None:
    command = ["import", "chatgpt", str(export), "--user", "alice"]
    shown = cli(*command, "--dry-run")
    assert "2 conversations with 2 turns, 2023-11-14 to 2024-03-01" in shown and "nothing was written" in shown
    assert not (cli.folder / "memory/alice").exists()

    shown = cli(*command)
    assert "2 new turns, 0 there already" in shown
    assert f"nothing was learned from these turns: `vault-memory import chatgpt {export} --user alice --learn`" in shown
    assert cli.git("log", "--format=%s") == "vault: lay out a new vault\n", "no commit, nothing in a log"
    assert not (cli.folder / "memory/alice/daily").exists() and not (cli.folder / USER).exists()
    assert "暗色主題" in cli("search", "--user", "alice", "暗色主题")
    assert "0 new turns, 2 there already" in cli(*command)

    assert "changes of preferences" in cli(*command, "--learn")
    assert "主題偏好：light" in (cli.folder / USER).read_text()
    assert not (cli.folder / "memory/alice/daily").exists()
    rows = cli.json("history", "--user", "alice", "theme")
    assert [(row["at"][:10], row["new"]) for row in rows] == [("2024-03-01", "light"), ("2023-11-14", "dark")]
    assert "learned: 0 changes" in cli(*command, "--learn")
    assert cli("pref", "restore", "--user", "alice", "theme", "--date", "2023-12-31") == "theme = dark (restored)\n"
    cli("restore", USER, "--date", "2024-03-01")
    assert "主題偏好：light" in (cli.folder / USER).read_text()
    assert cli.json("status")["healthy"]


def test_an_export_of_claude_and_what_cannot_be_read(cli: Cli, export: Path, tmp_path: Path) -> None:
    whole = [claude.conversation(claude.message(str(n), "human", f"Hi {n}", n), uuid=f"u-{n}") for n in range(3)]
    text = json.dumps(whole)
    (tmp_path / "whole.json").write_text(text)
    (tmp_path / "cut.json").write_text(text[: len(text) * 2 // 3 + 40])
    (tmp_path / "note.md").write_text("# a note\n")
    done = cli.run("import", "claude", str(tmp_path / "cut.json"), "--user", "alice")
    assert done.returncode == 1 and "2 new turns" in done.stdout
    assert "cut.json: it is cut or damaged in conversation 3; what comes before is imported" in done.stderr
    assert "1 new turn, 2 there already" in cli("import", "claude", str(tmp_path / "whole.json"), "--user", "alice")
    for words, code, complaint in (
        (["claude", str(export)], 2, "is an export of ChatGPT: `vault-memory import chatgpt`"),
        (["claude", str(tmp_path / "note.md")], 1, "cut or damaged in conversation 1"),
        (["claude", str(tmp_path / "none.json")], 2, "cannot read"),
        (["claude", str(tmp_path)], 2, "is a folder"),
    ):
        assert complaint in cli("import", *words, "--user", "alice", code=code)
    assert "not valid" in cli("import", "claude", str(tmp_path / "whole.json"), "--user", "a b", code=2)


def test_a_tree_of_super_happy_coder(cli: Cli, tree: Path) -> None:
    (tree / "王小明").mkdir()
    shown = cli("import", "super-happy-coder", str(tree), "--dry-run")
    assert "USER.md: adopted as it is written" in shown and "3 new turns" in shown
    assert not (cli.folder / "memory/alice").exists()
    done = cli.run("import", "super-happy-coder", str(tree))
    assert done.returncode == 0 and "alice → memory/alice" in done.stdout and "left where it is: todo.md" in done.stdout
    assert "alice/conversations/2026-01-30.jsonl:3: it is no JSON object: skipped" in done.stderr
    assert "王小明: skipped: user id '王小明' is not valid" in done.stderr
    assert cli.git("status", "--porcelain") == ""
    again = cli("import", "super-happy-coder", str(tree), "--user", "alice", "--learn")
    assert "0 new turns, 3 there already" in again and "USER.md: here already" in again and "learned: " in again
    assert "王小明 → memory/ming" in cli("import", "super-happy-coder", str(tree), "--user", "王小明=ming")
    assert "holds the tree" in cli("import", "super-happy-coder", str(tree.parent), code=2)
    assert cli.json("status")["healthy"]
