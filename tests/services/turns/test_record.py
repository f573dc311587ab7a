"""Recording a turn: durable first, one commit per preference, no text of a person lost."""

from __future__ import annotations

import json
import os
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import Clock, wait_until
from vault_memory.api import extract_and_update
from vault_memory.errors import InvalidId, UsageError
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns.record import record_turn, record_turns
from vault_memory.services.vault import Vault, open_vault


def alice(vault: Vault) -> Path:
    return vault.root / "memory/alice"


def test_the_turn_record_has_the_promised_fields(vault: Vault) -> None:
    """A2, A8: one JSON line, real characters, ids and an ISO time with offset."""
    recorded = record_turn(
        vault, "alice", "你好", "哈囉", skill="chat", exit_code=0, reflection={"summary": "hi", "causes": []}
    )
    name, _, line = recorded.source.rpartition(":")
    text = (alice(vault) / name).read_text()
    assert line == "1"
    assert "你好" in text
    row = json.loads(text)
    assert list(row) == [
        *("conversation_id", "user_id", "user_message", "assistant_message", "reflection", "cid", "created_at"),
        *("skill", "exit_code"),
    ]
    assert datetime.fromisoformat(row["created_at"]).utcoffset() is not None


def test_the_day_is_the_persons_own(vault: Vault) -> None:
    """A file is named by the day in the person's time zone, where the profile names one."""
    at = datetime(2026, 1, 30, 23, 30, tzinfo=ZoneInfo("UTC"))
    assert record_turn(vault, "alice", "hi", created_at=at).source == "conversations/2026-01-31.jsonl:1"
    profile = alice(vault) / "USER.md"
    profile.write_text(profile.read_text().replace("Asia/Taipei", "America/New_York"))
    assert record_turn(vault, "alice", "hi", created_at=at).source == "conversations/2026-01-30.jsonl:1"
    assert (alice(vault) / "daily/2026-01-30.md").read_text() == "# 2026-01-30\n\n## 18:30\n- 請求：hi\n"


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59", "0001-01-01T00:00:00"])
@pytest.mark.parametrize("hours", [None, 0, 14, -12])
def test_a_time_at_the_end_of_the_calendar_is_named(vault: Vault, text: str, hours: int | None) -> None:
    at = datetime.fromisoformat(text)
    at = at if hours is None else at.replace(tzinfo=timezone(timedelta(hours=hours)))
    with pytest.raises(UsageError, match=f"created_at {text}"):
        record_turn(vault, "alice", "hi", created_at=at)
    assert not (alice(vault) / "conversations").exists()


def test_extract_and_update_is_record_turn_by_the_designs_name(vault: Vault) -> None:
    """A2."""
    recorded = extract_and_update(vault, "alice", "我喜歡暗色主題", "好的", "coding-agent")
    assert [change.summary() for change in recorded.changes] == ["theme = dark"]


def test_a_pending_hand_edit_is_the_persons_commit_and_ours_stands_on_it(vault: Vault) -> None:
    record_turn(vault, "alice", "hi")
    profile = alice(vault) / "USER.md"
    profile.write_text(profile.read_text().replace("稱呼：", "稱呼：小安") + "\n手寫的一行\n")
    record_turn(vault, "alice", "我喜歡暗色主題")
    log = vault.history.log([Path("memory/alice/USER.md")], limit=3)  # type: ignore[list-item]
    assert [(entry.author, entry.subject) for entry in log[:2]] == [
        ("vault-memory", "memory(alice): theme = dark"),
        ("vault owner", "USER.md: display_name = 小安"),
    ]
    assert profile.read_text().endswith("\n手寫的一行\n")
    assert "主題偏好：dark" in profile.read_text()


@pytest.mark.slow
def test_an_editor_that_saves_all_the_time_loses_nothing(vault: Vault) -> None:
    """Law 3: a person saves USER.md again and again while turns change it."""
    record_turn(vault, "alice", "hi")
    profile, stop = alice(vault) / "USER.md", threading.Event()
    lines: list[str] = []

    def edit() -> None:
        while not stop.wait(0.03):
            line = f"手寫 {len(lines)}\n"
            # One thing at once: an editor thread that pauses between opening and writing writes into a replaced file.
            file = os.open(profile, os.O_WRONLY | os.O_APPEND)
            os.write(file, line.encode())
            os.close(file)
            lines.append(line)

    editor = threading.Thread(target=edit)
    editor.start()
    try:
        for number in range(10):
            record_turn(vault, "alice", ("我喜歡暗色主題", "我改用亮色主題，以後都用亮色")[number % 2])
    finally:
        stop.set()
        editor.join()
    text = profile.read_text()
    assert [line for line in lines if line not in text] == []
    record_turn(vault, "alice", "hi")
    assert vault.history.uncommitted() == []


@pytest.mark.slow
def test_turns_of_many_threads_are_each_kept_once(vault: Vault) -> None:
    def talk(number: int) -> None:
        for turn in range(5):
            record_turn(vault, "alice", f"turn {number}-{turn}")

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (day,) = (alice(vault) / "conversations").glob("*.jsonl")
    said = sorted(json.loads(line)["user_message"] for line in day.read_text().splitlines())
    assert said == sorted(f"turn {number}-{turn}" for number in range(4) for turn in range(5))
    (daily,) = (alice(vault) / "daily").iterdir()
    assert daily.read_text().count("- 請求：turn ") == 20
    assert vault.history.uncommitted() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "message", ["\ud83d lone", "a\x00b\x1b[31m", "\u202eabc", "", "長" * 1_000_000, "## 12:00\n- x"]
)
def test_any_message_is_kept_and_spoils_no_file(vault: Vault, message: str) -> None:
    recorded = record_turn(vault, "alice", message)
    name, _, _ = recorded.source.rpartition(":")
    kept = json.loads((alice(vault) / name).read_text())["user_message"]
    assert kept == message.replace("\ud83d", "\ufffd")
    (daily,) = (alice(vault) / "daily").iterdir()
    text = daily.read_text()
    assert text.count("\n## ") == 1
    assert not set(text) & set("\x00\x1b\u202e")
    assert len(text) < 300


def test_invalid_ids_touch_nothing(vault: Vault) -> None:
    with pytest.raises(InvalidId):
        record_turn(vault, "../evil", "hi")
    assert not (vault.root / "memory").exists()


def test_a_linked_user_folder_is_not_written_through(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "memory").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (vault.root / "memory/alice").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="path inside|symbolic link|link"):
        record_turn(vault, "alice", "hi")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_english_and_simplified_vaults_keep_their_language(vault: Vault, clock: Clock) -> None:
    english = open_vault(vault.root, now=clock, locale="en")
    record_turn(english, "bob", "hello", "x" * 101, skill="chat", exit_code=0)
    home = vault.root / "memory/bob"
    assert (home / "USER.md").read_text().startswith("# User profile\n")
    assert "- Request: hello\n- Module: chat\n" in next((home / "daily").iterdir()).read_text()
    assert "- Task: hello\n- Module: chat\n- Result: success\n" in (home / "MEMORY.md").read_text()


@pytest.mark.parametrize("reply", ["ok", "ok " * 400])
def test_a_log_never_holds_what_history_refuses(vault: Vault, reply: str) -> None:
    """On one line, as in a log, the words of several lines may be a secret that the message did not show."""
    record_turn(vault, "alice", "Password\n\n\n\n\n\n\nP@ssw0rd2024!", reply)
    assert record_turn(vault, "alice", "what is recursion?").commits
    assert vault.history.state().waiting == 0
    log = next((vault.root / "memory/alice/daily").glob("*.md")).read_text()
    assert "P@ssw0rd2024!" not in log and "[redacted: password]" in log


def test_of_one_user_a_single_turn_is_indexed_at_a_time(vault: Vault) -> None:
    """Sixteen at once read the log of a long day sixteen times, and another user's turn took ten seconds."""
    with vault.indexing("alice"):
        waiting = threading.Thread(target=record_turn, args=(vault, "alice", "綠茶"))
        waiting.start()
        wait_until(lambda: "綠茶" in _daily(vault), "it is kept")
        record_turn(vault, "bob", "hi")
        assert waiting.is_alive(), "hers waits, his does not"
    waiting.join(60)
    assert search(vault, "alice", SearchQuery("綠茶")).hits


def _daily(vault: Vault) -> str:
    return "".join(file.read_text() for file in alice(vault).glob("daily/*.md"))


def test_a_kept_turn_is_told_as_kept_when_the_index_is_not_to_be_had(vault: Vault) -> None:
    """It ended as an error («try again»), and whoever did so had the turn twice."""
    index = vault.index_path("alice")
    index.parent.mkdir(parents=True)
    index.mkdir()
    recorded = record_turn(vault, "alice", "我喜歡暗色主題")
    assert [change.key for change in recorded.changes] == ["theme"] and recorded.commits
    assert len(recorded.degraded) == 1 and "index.db" in recorded.degraded[0]
    several = list(record_turns(vault, [{"user_id": "alice", "user_message": text} for text in ("甲", "乙")]))
    assert [len(each.degraded) for each in several] == [0, 1]
    index.rmdir()
    assert search(vault, "alice", SearchQuery("暗色")).hits, "the next search makes the index"
