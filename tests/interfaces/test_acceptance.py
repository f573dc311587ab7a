"""The design's acceptance rows, by the real command line, real git and a real watcher."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.conftest import Cli, wait_until
from tests.redis_server import RedisServer

ALICE = "memory/alice"


def test_row_1_the_first_conversation_creates_the_profile(cli: Cli) -> None:
    """A18 row 1, A1: USER.md is there after the first turn, with language, time zone and day."""
    assert not (cli.folder / ALICE).exists()
    cli("turn", "--user", "alice", "--message", "你好")
    text = (cli.folder / ALICE / "USER.md").read_text()
    assert text.startswith("# 使用者資料\n")
    assert re.search(r"- 加入日期：\d{4}-\d\d-\d\d\n", text)
    assert "memory(alice): create USER.md" in cli.git("log", "--format=%s")


def test_row_2_a_preference_enters_the_profile_and_git_knows_why(cli: Cli) -> None:
    """A18 row 2, A2: 「我喜歡暗色主題」 sets theme = dark in one commit that says who, when and why."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    assert "- 主題偏好：dark\n" in (cli.folder / ALICE / "USER.md").read_text()
    message = cli.git("log", "--format=%an <%ae>%n%B", "--grep", "Vault-Key: theme")
    day = re.search(r"conversations/(\d{4}-\d\d-\d\d)\.jsonl", message)
    assert day
    line = (cli.folder / ALICE / f"conversations/{day[1]}.jsonl").read_bytes().strip()
    digest = hashlib.sha256(line).hexdigest()[:8]
    assert message.strip() == (
        "vault-memory <vault-memory@localhost>\n"
        "memory(alice): theme = dark\n\n"
        "Reason: 「我喜歡暗色主題」\n"
        "Vault-User: alice\n"
        "Vault-Key: theme\n"
        "Vault-Op: set\n"
        "Vault-Old:\n"
        "Vault-New: dark\n"
        "Vault-Strength: explicit\n"
        f"Vault-Source: conversations/{day[1]}.jsonl:1\n"
        f"Vault-Turn: {digest}"
    )
    assert cli.git("status", "--porcelain") == ""
    hits = subprocess.run(["grep", "-r", "暗色", ALICE], cwd=cli.folder, capture_output=True, text=True).stdout
    assert "daily/" in hits


def test_each_preference_has_its_own_commit(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題，也請以後都用英文回答")
    subjects = cli.git("log", "--format=%s").splitlines()
    assert sum(s.startswith("memory(alice): theme") for s in subjects) == 1
    assert sum(s.startswith("memory(alice): language") for s in subjects) == 1
    assert not any(s.startswith("log(alice): ") for s in subjects)


def test_row_3_what_was_said_long_ago_is_found(cli: Cli) -> None:
    """A18 row 3: content older than 30 days, from the turn to the hit; A4; the record's JSONL line numbers."""
    tuning = "Begin with the A in the middle; " + "slowly. " * 20
    said = [
        ("2025-03-02T09:00:00+08:00", "我的貓叫做麻糬，最愛睡在鋼琴上", "好可愛"),
        ("2025-03-02T10:00:00+08:00", "how do I tune a harpsichord", tuning),
        ("2026-01-30T09:00:00+08:00", "今天天氣如何", "晴"),
    ]
    turns = [{"created_at": at, "user_message": user, "assistant_message": reply} for at, user, reply in said]
    cli("turn", "--user", "alice", "--jsonl", "-", stdin="".join(json.dumps(turn) + "\n" for turn in turns))
    for query in ("麻糬睡在哪裡", "麻糬", "貓 鋼琴"):
        hit = cli.json("search", "--user", "alice", query)["hits"][0]
        assert "麻糬" in hit["content"] and "2025-03-02" in hit["source"]
        assert hit["path"] == str((cli.folder / ALICE / hit["source"]).resolve())
    asked = ["search", "--user", "alice", "--kind", "conversation", "harpsichord middle"]
    (hit,) = [hit for hit in cli.json(*asked)["hits"] if "middle" in hit["content"]][:1]
    assert hit["source"] == "conversations/2025-03-02.jsonl" and hit["line_range"] == [2, 2]
    assert hit["obsidian"] is None, "Obsidian opens no JSONL"


def test_a_search_is_narrowed_by_kind_day_and_tag(cli: Cli) -> None:
    """G3"""
    notes = cli.folder / ALICE / "notes"
    notes.mkdir(parents=True)
    (notes / "tea.md").write_text("---\ntags: [drink]\ndate: 2026-01-05\n---\n\nGreen tea at 80 degrees.\n")
    (notes / "black.md").write_text("---\ndate: 2025-06-01\n---\n\nBlack tea takes boiling water.\n")
    for words, found in {
        (): {"notes/tea.md", "notes/black.md"},
        ("--tag", "drink"): {"notes/tea.md"},
        ("--tag", "#drink", "--since", "2026-01-06"): set(),
        ("--since", "2026-01-01"): {"notes/tea.md"},
        ("--until", "2025-06-01"): {"notes/black.md"},
        ("--kind", "daily"): set(),
        ("--kind", "daily", "--kind", "note"): {"notes/tea.md", "notes/black.md"},
    }.items():
        hits = cli.json("search", "--user", "alice", *words, "tea")["hits"]
        assert {hit["source"] for hit in hits} == found, words
        assert all(hit["obsidian"] == f"obsidian://open?path={quote(hit['path'], safe='')}" for hit in hits)
    assert "soon" in cli("search", "--user", "alice", "--since", "soon", "tea", code=2)


def test_a_text_in_three_files_is_one_hit_that_names_the_others(cli: Cli) -> None:
    """The record, the daily log and MEMORY.md hold the same turn."""
    turn = ["--message", "比較 PostgreSQL 和 MySQL 的索引", "--reply", "好" * 120, "--skill", "coder"]
    cli("turn", "--user", "alice", *turn)
    found = cli.json("search", "--user", "alice", "--explain", "PostgreSQL 索引")
    best = found["hits"][0]
    assert best["kind"] == "conversation" and "好好" in best["content"], "the answer is in the record"
    assert {place.partition("/")[0] for place in best["explain"]["collapsed"]} >= {"daily"}
    assert found["collapsed"] == sum(len(hit["explain"]["collapsed"]) for hit in found["hits"]) >= 1
    said = cli("search", "--user", "alice", "--explain", "PostgreSQL 索引")
    assert re.search(r"the same text is also at .*daily/.*\.md:\d", said)


def test_row_4_redis_dies_and_the_records_keep_every_word(cli: Cli, tmp_path: Path) -> None:
    """A18 row 4, A8: Redis 重啟後 JSONL 備份檔仍保留對話紀錄: it is killed between two turns, and comes back empty."""
    server = RedisServer(tmp_path)
    try:
        cli("turn", "--user", "alice", "--message", "我的貓叫做麻糬", "--reply", "好可愛", REDIS_URL=server.url)
        assert "麻糬" in server.client.lrange("conversation:alice", 0, -1)[0]
        server.kill()
        while_away = cli.run(
            "turn", "--user", "alice", "--message", "牠愛睡在鋼琴上", "--reply", "好", REDIS_URL=server.url
        )
        assert while_away.returncode == 0 and "cannot be reached" in while_away.stdout + while_away.stderr
        assert "cannot be reached" in cli("status", REDIS_URL=server.url)
        assert "WRONG stores: short-term store: Redis at 127.0.0.1" in cli.run("doctor", REDIS_URL=server.url).stdout
        server.start()
        said = [
            json.loads(line)["user_message"]
            for record in sorted((cli.folder / ALICE / "conversations").glob("*.jsonl"))
            for line in record.read_text().splitlines()
        ]
        assert said == ["我的貓叫做麻糬", "牠愛睡在鋼琴上"]
        assert "麻糬" in cli("search", "--user", "alice", "麻糬", REDIS_URL=server.url)
        assert "degraded short-term" not in cli("status", REDIS_URL=server.url)
        (missed,) = map(json.loads, server.client.lrange("conversation:alice", 0, -1))
        assert missed["user"] == "牠愛睡在鋼琴上", "what it missed it has got"
        assert "0 new turns, 1 there already" in cli("import", "redis", REDIS_URL=server.url)
    finally:
        server.kill()


def test_row_5_the_prompt_holds_profile_and_memories(cli: Cli) -> None:
    """A18 row 5, A10: `<user-profile>` and `<relevant-memories>`, each passage with its file and line."""
    cli("turn", "--user", "alice", "--message", "以後請叫我小安")
    note = cli.folder / ALICE / "notes" / "tea.md"
    note.parent.mkdir()
    note.write_text("# 茶\n\n綠茶要用八十度的水泡三分鐘。\n", "utf-8")
    said = cli("prompt", "--user", "alice", "綠茶要怎麼泡？")
    assert "<user-profile>" in said and "- 稱呼：小安" in said
    assert re.search(r"<relevant-memories>.*\[notes/tea\.md:\d.*八十度", said, re.DOTALL)
    found = json.loads(cli("prompt", "--user", "alice", "--json", "--budget", "300", "綠茶要怎麼泡？"))
    assert found["messages"][-1]["content"].endswith("綠茶要怎麼泡？") and found["cut"]
    assert "小安" not in cli("prompt", "--user", "alice", "--group", "--skill", "coding-agent", "綠茶要怎麼泡？")


def test_row_6_search_returns_the_passages_that_answer(cli: Cli) -> None:
    """A18 row 6, A4: content, source, score and line range, best first."""
    cli("turn", "--user", "alice", "--message", "幫我比較 PostgreSQL 和 MySQL 的索引", "--skill", "coding-agent")
    cli("turn", "--user", "alice", "--message", "今天天氣如何")
    found = cli.json("search", "--user", "alice", "索引的比較")
    assert found["degraded"] == []
    best = found["hits"][0]
    assert "PostgreSQL" in best["content"]
    first, last = best["line_range"]
    lines = (cli.folder / ALICE / best["source"]).read_text().splitlines()
    assert any("PostgreSQL" in line for line in lines[first - 1 : last])
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)


def test_row_7_the_daily_log_has_a_line_for_every_interaction(cli: Cli) -> None:
    """A18 row 7, A3: `daily/YYYY-MM-DD.md`, an entry for each conversation, a line for each turn: when, what was asked,
    what came of it, what was learned, and where the turn is; A9: MEMORY.md for the long answer."""
    turn = ["--message", "寫一個排序函式", "--reply", "好" * 101, "--skill", "coding-agent", "--exit-code", "1"]
    cli("turn", "--user", "alice", *turn)
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好")
    (daily,) = (cli.folder / ALICE / "daily").iterdir()
    place = f"conversations/{daily.stem}.jsonl"
    assert re.fullmatch(
        rf"# {daily.stem}\n\n## (\d\d:\d\d)\n- \1 寫一個排序函式（coding-agent） → 失敗 · {place}:1\n"
        rf"- \d\d:\d\d 我喜歡暗色主題 → 完成 · 萃取偏好：theme = dark · {place}:2\n",
        daily.read_text(),
    )
    memory = (cli.folder / ALICE / "MEMORY.md").read_text()
    assert re.search(
        r"## \d{4}-\d\d-\d\d \d\d:\d\d\n- 任務：寫一個排序函式\n- 模組：coding-agent\n- 結果：失敗\n", memory
    )
    assert "暗色" not in memory


def test_each_conversation_of_a_day_has_its_entry(cli: Cli) -> None:
    """A3, A10: two conversations that take turns; the prompt gets a digest of them, and a search all of an entry."""
    rows = [
        {"conversation_id": "web", "user_message": "幫我部署登入頁", "assistant_message": "好", "exit_code": 0},
        {"conversation_id": "tea", "user_message": "How hot is green tea?", "assistant_message": "80 degrees."},
        {
            "conversation_id": "web",
            "user_message": "為什麼是 404？",
            "assistant_message": "路由器裡沒有。",
            "exit_code": 1,
        },
    ]
    (cli.folder / "turns.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    cli("turn", "--user", "alice", "--jsonl", "turns.jsonl")
    (daily,) = (cli.folder / ALICE / "daily").iterdir()
    web, tea = daily.read_text().split("\n\n## ")[1:]
    assert re.match(r"\d\d:\d\d %%[0-9a-f]{8}%%\n", web) and web.count("\n- ") == 2 and "→ failure" not in web
    assert "green tea? → done · " in tea
    hit = cli.json("search", "--user", "alice", "--kind", "daily", "404")["hits"][0]
    assert hit["content"] == f"## {web}".rstrip() and hit["line_range"] == [3, 5]
    said = cli("prompt", "--user", "alice", "早安")
    activity = said[said.index("<recent-activity>") : said.index("</recent-activity>")]
    assert "- 幫我部署登入頁 → 成功\n- 為什麼是 404？ → 失敗\n" in activity and "jsonl" not in activity
    assert "- How hot is green tea? → done\n" in activity


def test_a_long_answer_is_a_task_also_without_a_skill(cli: Cli) -> None:
    """A9: 任務 is 150 characters of the request, and a search returns the entry."""
    cli("turn", "--user", "alice", "--message", "把資料庫搬到 PostgreSQL " * 20, "--reply", "好" * 101)
    memory = (cli.folder / ALICE / "MEMORY.md").read_text()
    found = re.fullmatch(r"# 長期記憶\n\n(## [-\d]{10} \d\d:\d\d\n- 任務：(.*)…\n- 結果：完成)\n", memory)
    assert found and len(found[2]) == 150
    (hit,) = [h for h in cli.json("search", "--user", "alice", "PostgreSQL")["hits"] if h["source"] == "MEMORY.md"]
    assert (hit["content"], hit["line_range"]) == (found[1], [3, 5])


@pytest.mark.slow
def test_a_hand_edit_becomes_searchable_and_is_committed_as_the_persons(
    cli: Cli, daemon: subprocess.Popen[str]
) -> None:
    """F: editing USER.md in Obsidian beside a running daemon; the person's edit is the person's commit."""
    cli.git("config", "user.name", "Alice")
    cli.git("config", "user.email", "alice@example.org")
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    profile = cli.folder / ALICE / "USER.md"
    # Obsidian writes in place.
    profile.write_text(profile.read_text().replace("主題偏好：dark", "主題偏好：light") + "\n我住的城市很安靜。\n")
    wait_until(lambda: cli.json("search", "--user", "alice", "安靜的城市")["hits"], "the edit is found")
    wait_until(lambda: "Alice" in cli.git("log", "-3", "--format=%an"), "the edit is committed", 30)
    shown = cli.json("history", "--user", "alice", "theme")
    assert [(e["author"], e["old"], e["new"], e["strength"]) for e in shown[:2]] == [
        ("Alice", "dark", "light", "manual"),
        ("vault-memory", "", "dark", "explicit"),
    ]


@pytest.mark.slow
def test_the_daemon_sees_every_way_a_file_is_saved(cli: Cli, daemon: subprocess.Popen[str], tmp_path: Path) -> None:
    """In place, atomic replacement, rename and deletion."""
    notes = cli.folder / ALICE / "ideas"
    notes.mkdir(parents=True)

    def found(words: str) -> list[str]:
        hits = cli.json("search", "--user", "alice", words)["hits"]
        return [hit["source"] for hit in hits if words in hit["content"]]

    (notes / "a.md").write_text("# 想法\n\n紫色的大象會飛\n")
    wait_until(lambda: found("紫色的大象") == ["ideas/a.md"], "a new file is found")
    temporary = tmp_path / "new.md"
    temporary.write_text("# 想法\n\n綠色的鯨魚唱歌\n")
    temporary.rename(notes / "a.md")
    wait_until(lambda: found("綠色的鯨魚") == ["ideas/a.md"] and not found("紫色的大象"), "an atomic save is found")
    (notes / "a.md").rename(notes / "b.md")
    wait_until(lambda: found("綠色的鯨魚") == ["ideas/b.md"], "a rename is found")
    (notes / "b.md").unlink()
    wait_until(lambda: not found("綠色的鯨魚"), "a deletion is found")


@pytest.mark.slow
def test_the_daemon_catches_up_with_what_happened_while_it_was_off(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    (cli.folder / ALICE / "later.md").write_text("The heron waits by the river.\n")
    process = cli.start("watch")
    try:
        wait_until(lambda: cli.json("search", "--user", "alice", "heron")["hits"], "the file is found")
        wait_until(lambda: "later.md" in cli.git("log", "--name-only", "--format="), "the file is committed", 30)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


@pytest.mark.slow
def test_a_second_daemon_is_refused(cli: Cli, daemon: subprocess.Popen[str]) -> None:
    second = cli.run("watch")
    assert second.returncode == 1
    assert str(daemon.pid) in second.stderr
    daemon.terminate()
    assert daemon.wait(30) == 0


def test_four_kinds_of_query_find_their_line(cli: Cli) -> None:
    """G2: two characters, Simplified on Traditional, mixed, English."""
    turns = ["我喜歡暗色主題", "React 元件與組件的差別在哪裡", "I deployed my site on Friday", "今天想學排序演算法"]
    for message in turns:
        cli("turn", "--user", "alice", "--message", message)
    for query, line in {
        "主題": "我喜歡暗色主題",
        "暗色主题": "我喜歡暗色主題",
        "React組件": "React 元件與組件的差別在哪裡",
        "deploying the website": "I deployed my site on Friday",
    }.items():
        assert line in cli.json("search", "--user", "alice", query)["hits"][0]["content"], query


def test_deleting_the_index_loses_nothing(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    before = cli.json("search", "--user", "alice", "暗色")["hits"]
    for path in (cli.folder / ALICE).glob("index.db*"):
        path.unlink()
    cli("reindex", "--user", "alice")
    assert cli.json("search", "--user", "alice", "暗色")["hits"] == before


def test_a_backup_brings_everything_back(cli: Cli, tmp_path: Path) -> None:
    """The restore drill: notes, conversations, history and search of the restored vault are those of the first."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好的" * 60)
    cli("backup", str(tmp_path / "all.tar.gz"))
    assert (tmp_path / "all.tar.gz").stat().st_mode & 0o777 == 0o600
    cli("restore", str(tmp_path / "all.tar.gz"), str(tmp_path / "again"))
    again = Cli(tmp_path / "again")
    assert again.json("history", "--user", "alice") == cli.json("history", "--user", "alice")
    found, before = (each.json("search", "--user", "alice", "暗色")["hits"] for each in (again, cli))
    assert [(hit["source"], hit["content"]) for hit in found] == [(hit["source"], hit["content"]) for hit in before]
    assert again.git("status", "--porcelain") == ""
    assert again.git("rev-parse", "HEAD") == cli.git("rev-parse", "HEAD")
    (day,) = (cli.folder / ALICE / "conversations").glob("*.jsonl")
    assert (again.folder / ALICE / "conversations" / day.name).read_bytes() == day.read_bytes()
    again("turn", "--user", "alice", "--message", "我改用亮色主題，以後都用亮色")
    assert again.json("history", "--user", "alice", "theme")[0]["old"] == "dark"
    assert "is not empty" in cli("restore", str(tmp_path / "all.tar.gz"), str(tmp_path / "again"), code=2)


def test_export_is_one_folder_of_plain_files(cli: Cli, tmp_path: Path) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    cli("export", "--user", "alice", str(tmp_path / "alice"))
    names = {path.name for path in (tmp_path / "alice").rglob("*") if path.is_file()}
    assert {"USER.md", "feedback.jsonl"} <= names
    assert not any(name.startswith("index.db") for name in names)


def test_a_renamed_user_keeps_notes_and_history(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    cli("user", "rename", "alice", "an")
    assert cli("user", "list").strip() == "an"
    assert cli.json("history", "--user", "an", "theme")[0]["new"] == "dark"
    assert cli.json("search", "--user", "an", "暗色")["hits"]
    assert cli.git("status", "--porcelain") == ""
    assert "not in this vault" in cli("search", "--user", "alice", "暗色", code=1)


def test_row_8_the_third_request_makes_a_strong_preference(cli: Cli) -> None:
    """A18 row 8, A13, Phase D: after 暗色 three times USER.md, its JSON and a commit of its own say strong."""
    profile = cli.folder / ALICE / "USER.md"
    for message in ("改暗色主題", "換成暗色主題吧"):
        cli("turn", "--user", "alice", "--message", message)
        assert "- 主題偏好：dark\n" in profile.read_text()
    assert "theme = dark (strong)" in cli("turn", "--user", "alice", "--message", "請改成暗色主題")
    assert "- 主題偏好：dark（強偏好）\n" in profile.read_text()
    assert {"key": "theme", "value": "dark", "suggested_default": True} in cli.json("pref", "list", "--user", "alice")
    assert cli.json("history", "--user", "alice", "theme")[0]["op"] == "strengthen"
    rows = [json.loads(line) for line in (cli.folder / ALICE / "feedback.jsonl").read_text().splitlines()]
    assert [row["suggested_default"] for row in rows if row["key"] == "theme"] == [False, False, True]


def test_without_an_embedding_endpoint_a_search_answers_and_reports_it(cli: Cli) -> None:
    """Law 6, from the command line: words are indexed at once, vectors wait, `status` reports it."""
    settings = cli.folder / "vault-memory.toml"
    endpoint = '[embedding]\nkind = "http"\nmodel = "m"\nendpoints = [{ url = "http://127.0.0.1:9/v1/embeddings" }]\n'
    settings.write_text(settings.read_text().replace("[embedding]\n", endpoint))
    cli("trust", "--yes")
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    found = cli.json("search", "--user", "alice", "暗色")
    assert "暗色" in found["hits"][0]["content"]
    assert found["degraded"][0].startswith("embedding: 0 of ")
    beat = cli.run("heartbeat", "--now", "vectors")
    assert beat.returncode == 1 and "no embedding endpoint answered: 127.0.0.1:9 cannot be reached" in beat.stdout
    assert any(
        "in space http:m; offline vectors answer" in line
        for line in json.loads(cli.run("status", "--json").stdout)["degraded"]
    )
