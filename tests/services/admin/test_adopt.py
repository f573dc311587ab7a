"""Adopting a folder of notes: what it gets is shown first, and git tracks notes, not a person's attachments."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

import pytest

from tests.conftest import Cli
from vault_memory.services.admin import create_vault, doctor, plan_adoption
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.turns import record_turn
from vault_memory.services.vault import open_vault

pytestmark = pytest.mark.slow

MARKDOWN = {"a.md", "ideas/b c!.md", "conversations/c.md", "daily/d.md"}
OURS = {".gitignore", ".gitattributes", "vault-memory.toml", "context/SOUL.md", "context/AGENTS.md"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """An Obsidian vault of years, small."""
    root = tmp_path / "notes"
    others = {
        "video.mp4": bytes(3000), "data.csv": b"1\n", ".obsidian/app.json": b"{}", "large [1].md": b"x" * 1_100_000,
        ".obsidian/plugins/p/main.js": b"evil()", ".obsidian/plugins/p/README.md": b"# P\n",
        "own/conversations/x.txt": b"x",
    }  # fmt: skip
    for name, content in {**dict.fromkeys(MARKDOWN, b"# A note\n"), **others}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def tracked(root: Path) -> set[str]:
    """What git holds after the person's edits were committed."""
    commit_person_edits(open_vault(root), None)
    out = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    return set(filter(None, out.split("\0")))


def test_a_vault_is_created_at_a_path_that_is_a_text(tmp_path: Path) -> None:
    """As `open_vault` takes it: that was an AttributeError."""
    assert create_vault(str(tmp_path / "new")).root == (tmp_path / "new").resolve()


def test_a_folder_without_git_is_shown_what_it_gets_and_nothing_is_written(notes: Path) -> None:
    before = sorted(notes.rglob("*"))
    planned = plan_adoption(notes)
    assert sorted(notes.rglob("*")) == before
    assert not planned.has_git and planned.tracked == len(MARKDOWN)
    assert [str(path) for path, _ in planned.left[:2]] == ["large [1].md", "video.mp4"], "the largest first"
    assert {str(path) for path in planned.files} | {str(path) for path in planned.rules} == OURS
    ours = [line for lines in planned.rules.values() for line in lines if not line.startswith("#")]
    assert "/memory/*/conversations/" in ours and "conversations/" not in ours


def test_only_markdown_is_tracked_and_what_the_assistant_writes(notes: Path) -> None:
    create_vault(notes, adopt=True)
    assert tracked(notes) == MARKDOWN | OURS
    vault = open_vault(notes)
    record_turn(vault, "alice", "我喜歡暗色主題")
    assert {"memory/alice/USER.md", "memory/alice/feedback.jsonl"} <= tracked(notes)
    assert not [name for name in tracked(notes) if "conversations/20" in name or "index.db" in name]
    assert [finding for finding in doctor(vault) if finding.name == "vault"][0].ok
    again = create_vault(notes)
    assert again.written == () and again.commit is None


def test_everything_is_tracked_if_the_person_says_so(notes: Path) -> None:
    create_vault(notes, adopt=True, track_all=True)
    assert tracked(notes) >= {"video.mp4", "own/conversations/x.txt", ".obsidian/app.json", *MARKDOWN}


def test_a_folder_with_git_keeps_its_own_rules(notes: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=notes, check=True)
    (notes / ".gitignore").write_text("*.mp4\n")
    (notes / "own/x.jsonl").write_text("{}\n")
    planned = plan_adoption(notes)
    assert planned.has_git and planned.left == () and planned.ignored == ()
    create_vault(notes, adopt=True)
    held = tracked(notes)
    assert held >= {"data.csv", "own/conversations/x.txt", "conversations/c.md"} and "video.mp4" not in held
    attributes = subprocess.run(
        ["git", "check-attr", "merge", "text", "--", "own/x.jsonl", "daily/d.md"],
        cwd=notes, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert all(line.endswith("unspecified") for line in attributes.splitlines())
    record = PurePosixPath("memory/alice/conversations/2026-01-30.jsonl")
    assert open_vault(notes).history.working_tree.is_ignored(record)


@pytest.mark.slow
def test_without_a_terminal_the_safe_default_is_said_and_taken(notes: Path) -> None:
    (notes / ".gitignore").write_text("mine\n")
    said = Cli(notes.parent)("init", "--adopt", "notes", stdin="")
    assert "merge.vault-memory-profile" in said and ".vault-memory/, which" in said and "left: .gitignore" not in said
    assert "No terminal to ask at: Markdown only" in said and "left: video.mp4 (3,000 bytes)" in said
    assert "/memory/*/conversations/" in said and tracked(notes) == MARKDOWN | OURS


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["nothing", "everything", ""])
def test_at_a_terminal_it_asks_before_anything_is_written(notes: Path, answer: str) -> None:
    before = sorted(notes.rglob("*"))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "vault_memory", "init", "--adopt", "notes"],
        cwd=notes.parent, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    deadline = time.monotonic() + 60
    try:
        while b"[markdown]" not in said and time.monotonic() < deadline:
            if select.select([ours], [], [], 1)[0]:
                said += os.read(ours, 65536)
        assert b"Track what?" in said and sorted(notes.rglob("*")) == before
        os.write(ours, answer.encode() + b"\n")
        while time.monotonic() < deadline and select.select([ours], [], [], 30)[0]:
            try:
                said += os.read(ours, 65536)
            except OSError:  # the process has ended
                break
        code = process.wait(30)
    finally:
        process.kill()
        os.close(ours)
    if answer == "nothing":
        assert code == 130 and sorted(notes.rglob("*")) == before and b"nothing was changed" in said
    else:
        assert code == 0 and ("video.mp4" in tracked(notes)) == (answer == "everything")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_a_line_end_in_a_name_makes_no_rule_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "z\nmemory\nb.md").write_bytes(b"x" * 2_000_000)
    assert "/z?memory?b.md" in plan_adoption(tmp_path).ignored
