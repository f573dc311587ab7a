"""`git log` reads as a list of what was learned: entries in logs have no commits of their own."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.conftest import Cli


def turn(cli: Cli, message: str) -> None:
    cli("turn", "--user", "alice", "--message", message)


def subjects(cli: Cli) -> list[str]:
    return cli.git("log", "--reverse", "--format=%s", "--", "memory").splitlines()


def is_clean(cli: Cli) -> bool:
    return cli.git("status", "--porcelain") == ""


def test_turns_that_change_nothing_make_no_commits(cli: Cli) -> None:
    """A3: a vault without a daemon is left dirty for no longer than its next command that is no turn."""
    turn(cli, "我喜歡暗色主題")
    for message in ("今天天氣如何", "晚安", "謝謝"):
        turn(cli, message)
    assert len(subjects(cli)) == 2 and not is_clean(cli)
    turn(cli, "以後都用繁體中文回答")
    assert subjects(cli)[2:] == ["memory(alice): language = zh-TW"] and is_clean(cli)
    assert cli.git("log", "-1", "--format=%B").count("Vault-Turn: ") == 4
    turn(cli, "早安")
    assert not is_clean(cli)
    assert cli.json("status")["history"]["logs"] == 0 and is_clean(cli)
    assert subjects(cli)[-1].startswith("log(alice): 20")


def test_each_turn_gets_its_commit_where_the_person_wants_that(cli: Cli) -> None:
    settings = cli.folder / "vault-memory.toml"
    settings.write_text(settings.read_text().replace('# log_commits = "later"', 'log_commits = "turn"'))
    turn(cli, "我喜歡暗色主題")
    turn(cli, "今天天氣如何")
    assert [s.partition(":")[0] for s in subjects(cli)] == [*["memory(alice)"] * 2, *["log(alice)"] * 2]


def test_a_replay_leaves_nothing_behind(cli: Cli) -> None:
    rows = [{"created_at": f"2026-01-30T09:0{n}:00+08:00", "user_message": f"remark {n}"} for n in range(5)]
    cli("turn", "--user", "alice", "--jsonl", "-", stdin="".join(json.dumps(row) + "\n" for row in rows))
    assert is_clean(cli) and subjects(cli) == [
        "memory(alice): create USER.md",
        "log(alice): 4 turns, 2026-01-30 09:01 to 09:04",
    ]


@pytest.mark.slow
def test_with_a_daemon_they_wait_as_they_should_and_are_committed_when_it_stops(
    cli: Cli, daemon: subprocess.Popen[str]
) -> None:
    turn(cli, "我喜歡暗色主題")
    turn(cli, "今天天氣如何")
    status = cli.json("status")
    assert status["history"]["logs"] == 1 and not status["unhealthy"] and not is_clean(cli)
    assert "log entries of 1 turn wait, as they should" in cli("status")
    cli("heartbeat", "--now", "commits")
    assert is_clean(cli) and cli.json("status")["history"]["logs"] == 0
    turn(cli, "晚安")
    assert not is_clean(cli)
    daemon.terminate()
    assert daemon.wait(60) == 0
    assert is_clean(cli) and subjects(cli)[-1].startswith("log(alice): 20")


def test_a_backup_holds_no_half_commit(cli: Cli) -> None:
    turn(cli, "我喜歡暗色主題")
    turn(cli, "今天天氣如何")
    cli("backup", "../b.tar.gz")
    cli("restore", "../b.tar.gz", "../again")
    again = Cli(cli.folder.parent / "again")
    assert is_clean(again) and subjects(again) == subjects(cli)
