"""Importing the exports of chat services, as a program calls it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.core.exports import test_chatgpt as chatgpt
from tests.core.exports import test_claude as claude
from vault_memory.errors import UsageError
from vault_memory.services.importing import Imported, import_conversations
from vault_memory.services.notes import newest_turns
from vault_memory.services.vault import Vault, open_vault


def export(path: Path, conversations: list[Any], cut: int | None = None) -> Path:
    path.write_bytes(json.dumps(conversations, ensure_ascii=False).encode()[:cut])
    return path


def conversations(count: int, turns: int = 3) -> list[dict[str, Any]]:
    """Conversations of ChatGPT, the newest first, as an export has them."""
    found = []
    for number in reversed(range(count)):
        begun = chatgpt.AT + 3_600 * number
        messages = [
            chatgpt.message(role, f"{role} {number} {turn}", at=begun + 60 * turn + (role == "assistant"))
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
        found.append(chatgpt.conversation(*messages, conversation_id=f"c-{number}", create_time=begun))
    return found


def run(vault: Vault, *paths: Path, kind: str = "chatgpt", **more: Any) -> Imported:
    return import_conversations(vault, "alice", kind, paths, **more)


def messages(vault: Vault) -> list[str]:
    return sorted(str(row["user_message"]) for _, row in newest_turns(vault, "alice", 100_000))


def test_every_turn_is_there_once_however_often_it_comes(vault: Vault, tmp_path: Path) -> None:
    all_of_it = conversations(30)
    first = run(vault, export(tmp_path / "a.json", all_of_it[10:]))
    assert (first.conversations, first.turns, first.kept.added, first.damaged) == (20, 60, 60, None)
    assert first.first and first.last and first.first < first.last and first.learned is None
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x/conversations-000.json", json.dumps(all_of_it[:20]))
        archive.writestr("x/conversations-001.json", json.dumps(all_of_it[20:]))
    second = run(vault, tmp_path / "b.zip", tmp_path / "a.json")
    assert (second.conversations, second.kept.added, second.kept.known) == (30, 30, 120)
    assert len(messages(vault)) == 90 == len(set(messages(vault)))


def test_what_is_whole_before_a_cut_is_imported(vault: Vault, tmp_path: Path) -> None:
    wanted = conversations(10)
    size = len(json.dumps(wanted))
    found = run(vault, export(tmp_path / "a.json", wanted, size // 2))
    assert found.damaged and "a.json" in found.damaged and "export it again" in found.damaged
    assert 3 <= found.conversations <= 5 and len(messages(vault)) == found.turns
    assert run(vault, export(tmp_path / "a.json", wanted)).kept.added == 30 - found.turns


def test_a_message_of_five_megabytes(vault: Vault, tmp_path: Path) -> None:
    long = "這是一段很長的文字 with words in it. " * 150_000
    value = chatgpt.conversation(chatgpt.message("user", long), chatgpt.message("assistant", "ok"))
    found = run(vault, export(tmp_path / "a.json", [value, *conversations(1)]), learn=True)
    assert found.kept.added == 4 and found.index_problem is None
    assert any(len(text) == len(long.strip()) for text in messages(vault))


def test_the_export_of_another_program_is_told(vault: Vault, tmp_path: Path) -> None:
    theirs = export(tmp_path / "a.json", [claude.conversation(claude.message("1", "human", "Hi"))])
    with pytest.raises(UsageError, match="an export of Claude: `vault-memory import claude`"):
        run(vault, theirs)
    with pytest.raises(UsageError, match="holds no conversation of ChatGPT"):
        run(vault, export(tmp_path / "user.json", [{"email": "x"}]))
    assert run(vault, theirs, kind="claude").kept.added == 1
    assert run(vault, export(tmp_path / "none.json", [])).turns == 0
    mixed = run(vault, export(tmp_path / "b.json", [None, *conversations(1), 5, {"x": 1}]))
    assert mixed.kept.added == 3 and sum(mixed.left_out.values()) == 3


def test_nothing_is_kept_of_somebody_off_the_record(vault: Vault, tmp_path: Path) -> None:
    settings = vault.root / "vault-memory.toml"
    settings.write_text('off_record = ["alice"]\n' + settings.read_text())
    with pytest.raises(UsageError, match="off the record"):
        run(open_vault(vault.root), export(tmp_path / "a.json", conversations(1)))


def test_progress_is_told(vault: Vault, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    run(
        vault,
        export(tmp_path / "a.json", conversations(100)),
        learn=True,
        on_progress=lambda what, done, total: told.append((what, done, total)),
    )
    assert [*dict.fromkeys(what for what, _, _ in told)] == ["reading a.json", "indexing", "learning"]
    assert all(0 <= done <= total for _, done, total in told) and told[-1] == ("learning", 300, 300)


@pytest.mark.slow
@pytest.mark.parametrize("learn", [False, True])
def test_killed_at_any_moment_and_run_again(vault: Vault, tmp_path: Path, learn: bool) -> None:
    wanted = conversations(120)
    wanted[60]["mapping"]["0"]["message"]["content"]["parts"] = ["I prefer dark mode"]
    wanted[30]["mapping"]["0"]["message"]["content"]["parts"] = ["I use Docker every day"]
    path, seeded = export(tmp_path / "a.json", wanted), random.Random(1)
    command = [sys.executable, "-m", "vault_memory", "import", "chatgpt", "--user", "alice", str(path)]
    command += ["--learn"] if learn else []
    for _ in range(8):
        process = subprocess.Popen(command, cwd=vault.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seeded.uniform(0.3, 2.5))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    found = run(vault, path, learn=learn)
    assert found.turns == 360 and len(messages(vault)) == 360 == len(set(messages(vault)))
    log = [entry.subject for entry in vault.history.log(limit=100)]
    learned = [line for line in log if line.startswith("memory(alice): ")]
    assert len(learned) == len(set(learned)) and len(learned) == (3 if learn else 0)
    assert vault.history.state().waiting == 0
