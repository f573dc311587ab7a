"""Importing the exports of chat services, as a program calls it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import zipfile
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.conftest import Clock
from tests.core.exports import test_chatgpt as chatgpt
from tests.core.exports import test_claude as claude
from vault_memory.core.memories import Memory
from vault_memory.errors import UsageError
from vault_memory.services.archiving import archive_user
from vault_memory.services.importing import Imported, import_conversations
from vault_memory.services.memories import (
    delete_memories,
    expire_memories,
    list_memories,
    prepare_deletion,
    store_memory,
)
from vault_memory.services.notes import newest_turns
from vault_memory.services.turns import Learned
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


def said(*turns: tuple[str, str], name: str = "c") -> dict[str, Any]:
    """A conversation of (day, what the person says)."""
    messages = []
    for day, text in turns:
        at = datetime.fromisoformat(f"{day}T09:00:00+08:00").timestamp()
        messages += [chatgpt.message("user", text, at=at), chatgpt.message("assistant", "OK", at=at + 5)]
    return chatgpt.conversation(*messages, conversation_id=name, create_time=messages[0]["create_time"])


def kept(vault: Vault) -> dict[str, Memory]:
    return {file.memory.content: file.memory for file in list_memories(vault, "alice")}


def test_what_was_said_worth_a_memory_is_kept(vault: Vault, tmp_path: Path) -> None:
    """E4, E2: as turns leave it behind, with the turn's own time; it lives seven days from the import."""
    wanted = [
        said(("2024-03-01", "I play the cello on weekends"), ("2024-03-02", "Which strings are the best?")),
        said(("2023-11-14", "我喜歡咖啡，尤其是手沖"), ("2024-05-01", "我喜歡咖啡，尤其是手沖！"), name="d"),
        said(("2024-06-01", "這段不要記：我喜歡爵士樂"), ("2024-06-02", "我有糖尿病，我喜歡甜食"), name="e"),
    ]
    path = export(tmp_path / "a.json", wanted)
    assert run(vault, path).learned is None and kept(vault) == {}
    learned = run(vault, path, learn=True).learned
    assert learned and [each.became for each in learned.memories] == ["remembered", "remembered", "reinforced"]
    found = kept(vault)
    assert {*found} == {"I play the cello on weekends", "我喜歡咖啡，尤其是手沖"}
    coffee = found["我喜歡咖啡，尤其是手沖"]
    assert coffee.source == "conversations/2023-11-14.jsonl:1" and coffee.said_on == ("2023-11-14", "2024-05-01")
    assert coffee.created_at and coffee.created_at.date().isoformat() == "2023-11-14"
    assert coffee.expires_at and 6.9 < (coffee.expires_at - vault.now()) / timedelta(days=1) <= 7
    vault.history.flush()
    entries = vault.history.log([PurePosixPath("memory/alice/memories")], limit=9)
    added = {entry.subject: entry for entry in entries}[f"memories(alice): add preference {coffee.content}"]
    assert added.time.date().isoformat() == "2023-11-14" and added.trailers["Vault-Source"] == coffee.source

    again = run(vault, path, learn=True).learned
    assert again and again.memories == [] and kept(vault) == found, "each turn counts once"


def test_what_is_gone_does_not_come_back(vault: Vault, clock: Clock, tmp_path: Path) -> None:
    """E4: a memory that has expired, or was deleted, is not learned again from the same turn."""
    wanted = said(("2024-03-01", "I play the cello on weekends"), ("2024-03-02", "I love dark chocolate"))
    path = export(tmp_path / "a.json", [wanted])
    run(vault, path, learn=True)
    (first, *_) = kept(vault).values()
    delete_memories(vault, "alice", prepare_deletion(vault, "alice", ids=[first.id]).code)
    assert len(kept(vault)) == 1
    clock.time += timedelta(days=8)
    expire_memories(vault, "alice")
    assert run(vault, path, learn=True).learned == Learned() and kept(vault) == {}
    more = said(("2024-03-01", "I play the cello on weekends"), ("2024-04-01", "I love dark chocolate"))
    assert run(vault, export(tmp_path / "b.json", [more]), learn=True).learned
    assert {*kept(vault)} == {"I love dark chocolate"}, "said at another time, it is another turn"


def test_what_was_taken_back_later_is_forgotten(vault: Vault, tmp_path: Path) -> None:
    """E4: in the order in which it was said; what was said since stays."""
    run(vault, export(tmp_path / "new.json", [said(("2025-06-01", "I love jazz"), name="n")]), learn=True)
    old = said(
        ("2024-03-01", "I love dark chocolate"),
        ("2024-03-02", "I play the cello on weekends"),
        ("2024-03-03", "Forget that I love dark chocolate"),
        ("2024-03-04", "Forget that I love jazz"),
    )
    path = export(tmp_path / "old.json", [old])
    for _ in range(2):
        run(vault, path, learn=True)
        assert {*kept(vault)} == {"I love jazz", "I play the cello on weekends"}


def test_no_memory_goes_for_an_old_one(vault: Vault, tmp_path: Path) -> None:
    """E8: where there is no room, the turn's words stay in the record alone, and that is told."""
    small = open_vault(vault.root, now=vault.now, memories_capacity=2)
    for text in ("Bob deploys", "Use JWT"):
        store_memory(small, "alice", text, importance=0.1)
    found = run(small, export(tmp_path / "a.json", [said(("2024-03-01", "I play the cello on weekends"))]), learn=True)
    assert found.learned and found.learned.not_remembered == 1 and found.learned.memories == []
    assert {*kept(small)} == {"Bob deploys", "Use JWT"}


def test_nothing_is_kept_where_turns_leave_no_memories(vault: Vault, tmp_path: Path) -> None:
    quiet = open_vault(vault.root, now=vault.now, memories_from_turns=False)
    run(quiet, export(tmp_path / "a.json", [said(("2024-03-01", "I play the cello on weekends"))]), learn=True)
    assert kept(quiet) == {}


def test_turns_that_are_packed_are_not_added_again(vault: Vault, tmp_path: Path) -> None:
    """A2: an import after the archive's job finds its turns there, and learns from them."""
    wanted = [said(("2024-03-01", "I play the cello on weekends"), ("2024-03-02", "Which strings?"))]
    path = export(tmp_path / "a.json", wanted)
    assert run(vault, path).kept.added == 2
    assert len([*archive_user(vault, "alice")]) == 1
    assert not [*(vault.root / "memory/alice/conversations").glob("*.jsonl")]
    assert run(vault, path).kept.known == 2 and len(messages(vault)) == 2
    assert run(vault, path, learn=True).learned and {*kept(vault)} == {"I play the cello on weekends"}
    wanted = [said(("2024-03-01", "I play the cello on weekends"), ("2024-03-01", "Which bow?"), name="c2"), *wanted]
    assert run(vault, export(tmp_path / "a.json", wanted)).kept.added == 2 and len(messages(vault)) == 4
    assert [source for source, _ in newest_turns(vault, "alice", 9)][1:] == [
        f"conversations/2024-03-01.jsonl:{number}" for number in (3, 2, 1)
    ]
