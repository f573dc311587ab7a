"""The archive by the real command line: old conversations are packed, found and counted as before, and deleted only if
a person wants that."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Cli, wait_until
from vault_memory import api
from vault_memory.services.vault import open_vault

ALICE = "memory/alice"
pytestmark = pytest.mark.slow


def say(cli: Cli, *said: tuple[int, str], reply: str = "好的。") -> None:
    """Each so many days ago."""
    now = datetime.now().astimezone().replace(microsecond=0)
    turns = [
        {"created_at": (now - timedelta(days=days)).isoformat(), "user_message": text, "assistant_message": reply}
        for days, text in said
    ]
    cli("turn", "--user", "alice", "--jsonl", "-", stdin="".join(json.dumps(turn) + "\n" for turn in turns))


def day(days: int) -> str:
    return (datetime.now().astimezone() - timedelta(days=days)).date().isoformat()


def months(cli: Cli) -> list[Path]:
    return sorted((cli.folder / ALICE / "archive/conversations").glob("*.jsonl.gz"))


def test_row_3_a_turn_of_100_days_ago_is_found_when_it_is_archived(cli: Cli) -> None:
    """A8, A17, A18 row 3: after the job of three o'clock search, zgrep, history and prompt find it, on its line."""
    say(cli, (100, "我的貓叫做麻糬，最愛睡在鋼琴上"), (100, "第二句話"), (1, "今天天氣如何"))
    source = f"conversations/{day(100)}.jsonl"
    asked = ["search", "--user", "alice", "--kind", "conversation", "麻糬睡在哪裡"]
    (before,) = cli.json(*asked)["hits"][:1]
    assert before["source"] == source and before["line_range"] == [1, 1]

    would = cli("archive", "--dry-run")
    assert re.search(rf"would be packed: 1 day, [\d,]+ bytes, to {ALICE}/archive/conversations/.*\.jsonl\.gz", would)
    assert (cli.folder / ALICE / source).exists()
    assert "ok    archive: 1 day of conversation packed" in cli("heartbeat", "--now", "archive")
    (path,) = months(cli)
    assert not (cli.folder / ALICE / source).exists() and path.stem == f"{day(100)[:7]}.jsonl"

    (after,) = cli.json(*asked)["hits"][:1]
    assert after == before | {"path": str(path.resolve())}
    assert f"{source}:1" in cli(*asked) and f"  in {path.relative_to(cli.folder)}" in cli(*asked)
    if shutil.which("zgrep"):
        found = subprocess.run(["zgrep", "-h", "麻糬", path], capture_output=True, text=True, check=True).stdout
        assert json.loads(found)["user_message"] == "我的貓叫做麻糬，最愛睡在鋼琴上"
    assert "我的貓叫做麻糬" in cli("prompt", "--user", "alice", "你好").partition("<conversation-history>")[2]
    assert "ok    archive: nothing is old enough" in cli("heartbeat", "--now", "archive")
    assert cli("archive") == cli("archive", "--dry-run") == "nothing is old enough\n"
    assert cli.json("status")["healthy"] and cli.git("status", "--porcelain") == ""
    assert "WRONG" not in cli("doctor")


def test_row_4_what_was_said_outlives_every_process(cli: Cli) -> None:
    """A8, A18 row 4: Redis 重啟後. The design's calls, `kill -9` right after them: the record holds the turn, and so do
    the history and the archive later."""
    script = (
        "import os, signal, sys\n"
        "from vault_memory import backup_conversations_to_file, open_vault, save_conversation\n"
        "vault = open_vault(sys.argv[1])\n"
        "save_conversation(vault, 'alice', '重啟前說的話', '聽到了')\n"
        "print(*backup_conversations_to_file(vault, 'alice'), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, cli.folder], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    (record,) = map(Path, done.stdout.split())
    assert json.loads(record.read_text())["user_message"] == "重啟前說的話"
    vault = open_vault(cli.folder)
    assert [turn["assistant"] for turn in api.get_conversation_history(vault, "alice")] == ["聽到了"]
    say(cli, (120, "很久以前說的話"))
    cli("archive")
    assert [turn["user"] for turn in api.get_conversation_history(vault, "alice")] == ["很久以前說的話", "重啟前說的話"]
    assert [path.name for path in api.backup_conversations_to_file(vault, "alice")] == [
        f"{day(120)[:7]}.jsonl.gz",
        record.name,
    ]


def test_retention_is_previewed_agreed_to_and_told(cli: Cli) -> None:
    """A8: deleting is opt-in. The preview names months, days and bytes; nothing goes before `trust`; the job says what
    it deleted, and so do `status` and the daemon's log."""
    say(cli, (400, "一年多以前"), (100, "一百天以前"))
    cli("archive", "--user", "alice")
    old, new = months(cli)
    stays = f"stays: {old.relative_to(cli.folder)} (1 day, {old.stat().st_size:,} bytes); with archive.retention"
    assert stays in cli("archive", "--dry-run")
    settings = cli.folder / "vault-memory.toml"
    text = settings.read_text().replace("# retention_days = 90", "retention_days = 365")
    settings.write_text(text.replace('# retention = "keep"', 'retention = "delete"'))
    done = cli.run("archive")
    assert "archive.retention" in done.stderr and "not in force" in done.stderr and len(months(cli)) == 2
    asked = cli.run("trust", "--yes").stdout
    assert "packed months of conversation that ended more than 365 days ago are deleted" in asked
    would = cli.json("archive", "--dry-run")
    name = f"{ALICE}/archive/conversations/{old.name}"
    deleted = {"kind": "delete", "path": name, "count": 1, "size": old.stat().st_size, "done": False}
    assert would == [deleted]
    assert "would be deleted: " + name in cli("archive", "--dry-run") and len(months(cli)) == 2

    process = cli.start("watch", VAULT_MEMORY_SCHEDULE='{archive = "1s"}')
    try:
        log = cli.folder / ".vault-memory/logs/daemon.jsonl"
        wait_until(lambda: log.exists() and f"deleted {name}" in log.read_text(), "the job has deleted it")
        wait_until(lambda: cli.json("status")["healthy"], "no deletion waits for a person")
    finally:
        process.terminate()
        process.wait(60)
    hits = cli.json("search", "--user", "alice", "--kind", "conversation", "一年多")["hits"]
    assert months(cli) == [new] and not any("一年多" in hit["content"] for hit in hits)


def test_logs_rotate_and_three_times_is_still_strong(cli: Cli) -> None:
    """A9, A13, A14, A17: entries of earlier years leave MEMORY.md and feedback.jsonl; the third request counts on."""
    year = datetime.now().year - 1
    turns = [
        {"created_at": f"{year}-06-0{n}T09:00:00+08:00", "user_message": "改暗色主題", "assistant_message": "好" * 120}
        for n in (1, 2)
    ]
    cli("turn", "--user", "alice", "--jsonl", "-", stdin="".join(json.dumps(turn) + "\n" for turn in turns))
    moved = cli("archive")
    assert "moved: 2 entries, " in moved and f"to {ALICE}/archive/MEMORY-{year}.md" in moved
    assert f"to {ALICE}/archive/feedback-{year}.jsonl" in moved
    assert cli.git("log", "-1", "--format=%s") == "archive(alice): logs of earlier years\n"
    assert "theme = dark (strong)" in cli("turn", "--user", "alice", "--message", "請改成暗色主題")
    assert (cli.folder / ALICE / "feedback.jsonl").read_text().count("\n") == 1
    (hit,) = cli.json("search", "--user", "alice", "--kind", "memory-log", "暗色主題")["hits"][:1]
    assert hit["source"] == f"archive/MEMORY-{year}.md"
    assert cli.git("status", "--porcelain") == "" and cli.json("status")["healthy"]


def test_one_message_names_a_user_whose_files_are_too_large(cli: Cli) -> None:
    """A14, A18 non-functional row 4: 單一學員 < 10MB; archive and conversations do not count."""
    say(cli, (100, "很久以前"))
    (cli.folder / ALICE / "archive").mkdir()
    (cli.folder / ALICE / "archive/old.md").write_text("x\n" * 4_500_000)
    cli("reindex")
    line = "memory/alice: 9.0 MB of files, without archive and conversations, are above 8 MB"
    assert line not in cli.run("status").stdout
    (cli.folder / ALICE / "archive/old.md").rename(cli.folder / ALICE / "new.md")
    cli("reindex")
    assert cli.run("status").stdout.count(line) == 1 and f"ok    sizes: {line}" in cli.run("doctor").stdout


def test_kill_9_at_any_moment_loses_and_doubles_nothing(cli: Cli) -> None:
    """A8: each turn is there once, whatever the killed runs left."""
    say(cli, *((days, f"{days} 天前說的話") for days in range(95, 215)))
    rng = random.Random(8)
    for _ in range(8):
        process = cli.start("archive")
        time.sleep(rng.uniform(0.25, 0.8))  # there is nothing to wait for: any moment will do
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        vault = open_vault(cli.folder)
        assert len(api.get_conversation_history(vault, "alice", limit=999)) == 120
    cli("archive")
    history = api.get_conversation_history(open_vault(cli.folder), "alice", limit=999)
    assert [turn["user"] for turn in history] == [f"{days} 天前說的話" for days in reversed(range(95, 215))]
    assert not [*(cli.folder / ALICE / "conversations").glob("*.jsonl")] and cli.git("status", "--porcelain") == ""
    assert cli.json("status")["healthy"]
