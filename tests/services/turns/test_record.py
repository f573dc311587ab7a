"""Recording a turn: durable first, one commit per preference, no text of a person lost."""

from __future__ import annotations

import json
import os
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import Clock, system_zone, wait_until
from vault_memory.api import extract_and_update
from vault_memory.core.profile import Profile
from vault_memory.errors import InvalidId, UsageError
from vault_memory.services.profiles import set_preference
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import learn_waiting, record_turn, record_turns
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


@pytest.mark.parametrize(("system", "hour"), [("Asia/Taipei", "07:30"), ("America/New_York", "18:30")])
def test_the_day_is_the_persons_own(vault: Vault, system: str, hour: str) -> None:
    """A file is named by the day in the person's time zone, where the profile names one, else in the vault's, else in
    the system's."""
    at, days = datetime(2026, 1, 30, 23, 30, tzinfo=ZoneInfo("UTC")), {"07:30": "2026-01-31", "18:30": "2026-01-30"}
    with system_zone(system):
        recorded = record_turn(vault, "alice", "嗨", created_at=at)
        assert recorded.source == f"conversations/{days[hour]}.jsonl:1"
        assert (
            (alice(vault) / f"daily/{days[hour]}.md")
            .read_text()
            .endswith(f"## {hour}\n- {hour} 嗨 · {recorded.source}\n")
        )
        assert "- 時區：\n- 加入日期：2026-01-30\n" in (alice(vault) / "USER.md").read_text()
        (vault.root / "vault-memory.toml").write_text('timezone = "Pacific/Auckland"\n')
        vault = open_vault(vault.root)
        assert record_turn(vault, "bob", "嗨", created_at=at).source == "conversations/2026-01-31.jsonl:1"
        assert "- 時區：Pacific/Auckland\n- 加入日期：2026-01-31" in (vault.root / "memory/bob/USER.md").read_text()
        profile = alice(vault) / "USER.md"
        profile.write_text(profile.read_text().replace("時區：", "時區：Pacific/Honolulu"))
        at += timedelta(minutes=40)
        source = record_turn(vault, "alice", "嗨", created_at=at).source
        assert source.startswith("conversations/2026-01-30.jsonl:")
        assert (alice(vault) / "daily/2026-01-30.md").read_text().endswith(f"## 14:10\n- 14:10 嗨 · {source}\n")


FIRST_TURNS = {
    "我喜歡暗色主題": ("# 使用者資料", "- 主題偏好：dark", "→ 失敗 · 萃取偏好：", "# 長期記憶"),
    "我喜欢暗色主题": ("# 用户资料", "- 主题偏好：dark", "→ 失败 · 提取偏好：", "# 长期记忆"),
    "I prefer dark mode.": ("# User profile", "- Theme: dark", "→ failure · Preferences: ", "# Long-term memory"),
    "Je préfère le thème dark.": ("# User profile", "- Theme:", "→ failure · ", "# Long-term memory"),
    "123": ("# 使用者資料", "- 主題偏好：", "→ 失敗 · ", "# 長期記憶"),
}


@pytest.mark.parametrize("said", FIRST_TURNS)
def test_the_labels_follow_the_first_turn_and_nothing_is_made_up(vault: Vault, said: str) -> None:
    """A1."""
    title, theme, request, memory = FIRST_TURNS[said]
    record_turn(vault, "alice", said, "Done. " * 30, exit_code=1)
    text = (alice(vault) / "USER.md").read_text()
    values = Profile.parse(text).values()
    assert text.startswith(title) and theme in text
    assert values.pop("theme", "dark") == "dark" and values == {"joined": "2026-01-30"}
    assert request in (alice(vault) / "daily/2026-01-30.md").read_text()
    assert (alice(vault) / "MEMORY.md").read_text().startswith(memory)


def test_labels_of_a_log_are_in_the_language_of_the_person_else_in_that_of_the_turn(vault: Vault) -> None:
    def label(said: str) -> str:
        record_turn(vault, "alice", said, exit_code=1)
        return (alice(vault) / "daily/2026-01-30.md").read_text().rpartition(" → ")[2].partition(" · ")[0]

    assert label("我喜歡暗色主題") == "失敗"
    assert label("What is a closure in JavaScript?") == "failure"
    assert label("解释一下闭包") == "失败"
    assert label("npm install") == "失敗", "a command leaves it to the profile"
    assert label("always reply in English") == "failure"
    assert label("我喜歡暗色主題") == "failure", "English is the language that was asked for"
    set_preference(vault, "alice", "language", "繁體中文")
    assert label("What is a closure in JavaScript?") == "失敗"
    assert (alice(vault) / "USER.md").read_text().startswith("# 使用者資料")
    set_preference(vault, "alice", "language", "中文")
    assert label("解释一下闭包") == "失败" and label("What is a closure in JavaScript?") == "失敗"


def test_the_vaults_locale_and_zone_fill_a_new_profile(vault: Vault) -> None:
    (vault.root / "vault-memory.toml").write_text('locale = "zh-CN"\ntimezone = "Europe/Berlin"\n')
    vault = open_vault(vault.root)
    record_turn(vault, "alice", "I prefer dark mode.", "Done. " * 30)
    text = (alice(vault) / "USER.md").read_text()
    assert "- 语言偏好：zh-CN\n- 时区：Europe/Berlin\n" in text and "- 主题偏好：dark\n" in text
    (daily,) = (alice(vault) / "daily").iterdir()
    assert (
        "I prefer dark mode. → 完成 · 提取偏好：" in daily.read_text()
        and "# 长期记忆" in (alice(vault) / "MEMORY.md").read_text()
    )


def test_the_labels_follow_the_turn_that_is_learned_from_first(vault: Vault) -> None:
    for said in ("I prefer dark mode.", "我喜歡暗色主題"):
        record_turn(vault, "alice", said, learn=False)
    learn_waiting(vault, "alice")
    assert (alice(vault) / "USER.md").read_text().startswith("# User profile")


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59", "0001-01-01T00:00:00"])
@pytest.mark.parametrize("hours", [None, 0, 14, -12])
def test_a_time_at_the_end_of_the_calendar_is_named(vault: Vault, text: str, hours: int | None) -> None:
    at = datetime.fromisoformat(text)
    at = at if hours is None else at.replace(tzinfo=timezone(timedelta(hours=hours)))
    with pytest.raises(UsageError, match=f"created_at {text}"):
        record_turn(vault, "alice", "hi", created_at=at)
    assert not (alice(vault) / "conversations").exists()


def test_a_wish_replaces_the_note_that_it_contradicts(vault: Vault) -> None:
    record_turn(vault, "alice", "記住：以後都用條列式回答我")
    record_turn(vault, "alice", "記住：Redis 的埠是 6380")
    changes = record_turn(vault, "alice", "記住：不要再用條列式回答我").changes
    assert [change.summary() for change in changes] == [
        "note -= 以後都用條列式回答我",
        "note += 不要再用條列式回答我",
    ]
    record_turn(vault, "alice", "記住，以後不要用條列式回答")
    notes = Profile.decode((alice(vault) / "USER.md").read_bytes()).values()["note"]
    assert notes == ["Redis 的埠是 6380", "不要再用條列式回答我"]


def test_extract_and_update_is_record_turn_by_the_designs_name(vault: Vault) -> None:
    """A2."""
    recorded = extract_and_update(vault, "alice", "我喜歡暗色主題", "好的", "coding-agent")
    assert [change.summary() for change in recorded.changes] == ["theme = dark"]


def test_a_pending_hand_edit_is_the_persons_commit_and_ours_stands_on_it(vault: Vault) -> None:
    record_turn(vault, "alice", "嗨")
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
    assert daily.read_text().count(" turn ") == 20
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
    assert " hello (chat) → success · conversations/" in next((home / "daily").iterdir()).read_text()
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


def test_the_labels_of_a_turn_without_words_follow_what_came_with_it(vault: Vault) -> None:
    record_turn(vault, "alice", "", context="def main():\n    return 1", conversation_id="c")
    assert "# User profile" in (alice(vault) / "USER.md").read_text()


def test_a_secret_that_is_said_again_is_known(vault: Vault) -> None:
    """A reply repeats a password without the word for it, and so does the rest of the message."""
    secret = "Zebra777!xQ"
    said = f"My wifi password is {secret} - how do I join? Write a script that joins with {secret}, please."
    reply = f"Open the settings, then type {secret} and press enter."
    record_turn(vault, "alice", said, reply, reflection={"summary": f"told to type {secret}", "causes": []})
    kept = "".join(path.read_text() for path in alice(vault).rglob("*") if path.suffix in (".md", ".jsonl"))
    assert secret not in kept and "then type [redacted: password] and press enter" in kept


@pytest.mark.parametrize(
    ("home", "move"), [("我住在台北", "我搬去倫敦了"), ("I live in Taipei", "I've moved to London")]
)
def test_who_moves_takes_the_time_of_the_new_place(vault: Vault, home: str, move: str) -> None:
    for said in (home, move):
        record_turn(vault, "alice", said)
    assert Profile.decode((alice(vault) / "USER.md").read_bytes()).get("timezone") == "Europe/London"
