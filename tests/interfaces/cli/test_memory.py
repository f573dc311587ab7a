"""Typed memories by the command line, as a person uses them."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.scripted_http import ScriptedServer
from tests.vaults import copied
from vault_memory.services.memories import store_memory
from vault_memory.services.vault import open_vault

CROWD = [*(f"我喜歡第 {n} 種顏色的襪子" for n in range(10)), *(f"第 {n} 個會議改到星期五下午" for n in range(40))]


def test_a_memory_from_adding_to_deleting(cli: Cli) -> None:
    """B1, B6, B9, E1, E3, E8: add, recall, list, show, edit, delete, stats."""
    memory_id = cli(
        "memory", "add", "--user", "alice", "用 JWT 登入，因為手機版沒有 cookie", "--type", "decision"
    ).strip()
    assert memory_id.startswith("mem_")
    assert "Vault-Memory: " + memory_id in cli.git("log", "-1", "--format=%B")
    for text in CROWD[:12]:
        cli("memory", "add", "--user", "alice", text)
    found = cli.json("recall", "--user", "alice", "登录为什么用 JWT")["memories"]
    assert found[0]["id"] == memory_id and found[0]["type"] == "decision"
    parts = [value for key, value in found[0]["explain"].items() if key != "search"]
    assert sum(parts) == pytest.approx(found[0]["score"], abs=1e-3)
    assert "reinforcement=" in cli("recall", "--user", "alice", "JWT", "--explain")

    assert len(cli.json("memory", "list", "--user", "alice")) == 13
    assert [row["id"] for row in cli.json("memory", "list", "--user", "alice", "--type", "decision")] == [memory_id]
    assert "手機版沒有 cookie" in cli("memory", "show", "--user", "alice", memory_id)

    cli("memory", "edit", "--user", "alice", memory_id, "--importance", "0.9", "--tag", "auth")
    new = cli("memory", "edit", "--user", "alice", memory_id, "--content", "改用 session 登入，JWT 太難撤銷").strip()
    assert new != memory_id
    (shown,) = cli.json("memory", "show", "--user", "alice", new)
    assert (shown["supersedes"], shown["importance"], shown["tags"]) == (memory_id, 0.9, ["auth"])
    assert [row["id"] for row in cli.json("recall", "--user", "alice", "JWT")["memories"]] == [new]
    both = {row["id"] for row in cli.json("recall", "--user", "alice", "JWT", "--history")["memories"]}
    assert both == {memory_id, new}
    marked = [
        line for line in cli("recall", "--user", "alice", "JWT", "--history").splitlines() if "replaced by" in line
    ]
    assert len(marked) == 1 and memory_id in marked[0] and marked[0].endswith(f"replaced by {new}")
    assert memory_id not in cli("search", "--user", "alice", "JWT")
    assert memory_id in cli("search", "--user", "alice", "JWT", "--history")

    chosen = cli.json("memory", "delete", "--user", "alice", "--query", "JWT")
    assert set(chosen["ids"]) == both and len(chosen["preview"]) == 2
    assert len(cli.json("memory", "list", "--user", "alice", "--type", "decision")) == 1
    assert "no deletion waits" in cli("memory", "delete", "--user", "alice", "--code", "AAAAAA", code=2)
    receipt = cli("memory", "delete", "--user", "alice", "--code", chosen["confirmCode"])
    assert f"deleted {new}" in receipt and receipt.count("  gone  ") == 7 and "NOT verified" not in receipt
    assert receipt.count("  back  vault-memory restore ") == 2
    assert cli.json("memory", "list", "--user", "alice", "--type", "decision", "--history") == []

    stats = cli.json("memory", "stats", "--user", "alice")
    assert (stats["memories"], stats["past"], stats["memoriesCreated"]) == (12, 0, 0)
    assert "12 active of 5,000" in cli("memory", "stats", "--user", "alice")
    assert cli.git("status", "--porcelain") == ""

    back = next(line for line in receipt.splitlines() if new in line and "  back  " in line)
    cli(*shlex.split(back.partition("vault-memory ")[2]))
    assert [row["id"] for row in cli.json("recall", "--user", "alice", "JWT")["memories"]] == [new]


def test_what_is_kept_already_is_shown(cli: Cli) -> None:
    """B5: similar ones are listed and nothing is stored; --force stores it; a model that is sure merges."""
    add = ("memory", "add", "--user", "alice")
    old = cli(*add, "用 JWT 登入，因為手機版沒有 cookie", "--type", "decision").strip()
    done = cli.run(*add, "用 JWT 登入，手機版沒有 cookie")
    assert done.returncode == 1 and old in done.stdout and "--force" in done.stdout and "cookie" in done.stdout
    done = cli.run(*add, "用 JWT 登入，手機版沒有 cookie", "--json")
    said = json.loads(done.stdout)
    assert done.returncode == 1 and said["id"] == ""
    assert [(each["id"], each["score"] >= 0.35) for each in said["similar"]] == [(old, True)]
    again = cli.run(*add, "用 jwt 登入,因为手机版没有 cookie!")
    assert again.returncode == 0 and again.stdout.strip() == old and "lives on" in again.stderr
    assert len(cli.json("memory", "list", "--user", "alice")) == 1
    forced = cli(*add, "用 JWT 登入，手機版沒有 cookie", "--force").strip()
    assert {row["id"] for row in cli.json("memory", "list", "--user", "alice")} == {old, forced}
    assert all(cli(*add, f"Server web{n} was restarted") for n in range(3))


def test_what_is_asked_to_be_remembered_stays(cli: Cli) -> None:
    """E2, E6: `remember`: a fact of importance .7, for good; `add` for all else."""
    memory_id = cli("remember", "--user", "alice", "Bob 有正式環境的部署權限").strip()
    (shown,) = cli.json("memory", "show", "--user", "alice", memory_id)
    assert (shown["type"], shown["importance"], shown["expires_at"]) == ("fact", 0.7, None)
    assert cli.json("recall", "--user", "alice", "谁可以部署", "-k", "3")["memories"][0]["id"] == memory_id
    again = cli.run("remember", "--user", "alice", "Bob 也有正式環境的部署權限", "--importance", "0.9")
    assert again.returncode == 1 and memory_id in again.stdout and "--force" in again.stdout
    other = cli("remember", "--user", "alice", "Bob 也有正式環境的部署權限", "--importance", "0.9", "--force").strip()
    assert cli.json("memory", "show", "--user", "alice", other)[0]["importance"] == 0.9
    assert "importance" in cli("remember", "--user", "alice", "x", "--importance", "7", code=2)


def test_a_note_without_a_title_is_shown_by_its_words(cli: Cli) -> None:
    """Written by hand: a list and a deletion show how it begins; nothing is written into it."""
    notes = cli.folder / "memory/alice/memories"
    notes.mkdir(parents=True)
    (notes / "早上.md").write_text("# 早上的習慣\n\n先喝一杯手沖再看信\n", encoding="utf-8")
    (notes / "long.md").write_text("- I write " + "very " * 40 + "long notes\n", encoding="utf-8")
    listed = cli("memory", "list", "--user", "alice")
    assert "早上  note  0.5  permanent  早上的習慣\n" in listed and "permanent  I write very very" in listed
    assert all(len(line) < 130 for line in listed.splitlines())
    assert (notes / "早上.md").read_text("utf-8").startswith("# 早上的習慣")


def test_what_would_be_deleted_is_shown_once(cli: Cli) -> None:
    """B6: the first three with their contents, the others on a line of their own; nothing twice."""
    for text in ("茶要用八十度的水", "茶葉放在陰涼處", "茶杯先溫過", "茶會在星期六", "茶錢還沒付"):
        cli("memory", "add", "--user", "alice", text, "--force")
    cli("memory", "add", "--user", "alice", "茶壺要養", "--title", "紫砂壺", "--force")
    shown = cli("memory", "delete", "--user", "alice", "--query", "茶")
    assert shown.startswith("6 would be deleted:\n")
    for text in (
        "茶要用八十度的水",
        "茶葉放在陰涼處",
        "茶杯先溫過",
        "茶會在星期六",
        "茶錢還沒付",
        "茶壺要養",
        "紫砂壺",
    ):
        assert shown.count(text) == 1, text
    assert shown.count("\n    ") == 3


def test_a_model_that_is_sure_merges(cli: Cli, chat: ScriptedServer) -> None:
    """B5: one similar, confirmed by the model: one memory of both, the old notes linked."""
    add = ("memory", "add", "--user", "alice")
    old = cli(*add, "Use JWT for auth because mobile has no cookies").strip()
    both = "Use JWT tokens for auth because mobile has no cookies"
    chat.will_say(json.dumps({"score": 0.9, "reason": "the same", "merged": both}))
    done = cli.run(*add, "Use JWT tokens for auth since mobile has no cookies", **chat.chat_settings())
    assert done.returncode == 0 and f"merged with {old}" in done.stderr
    (row,) = cli.json("memory", "list", "--user", "alice")
    assert row["content"] == both and row["id"] == done.stdout.strip()
    assert "Vault-Memory: " + row["id"] in cli.git("log", "-1", "--format=%B")
    assert len(cli.json("memory", "list", "--user", "alice", "--history")) == 3
    chat.will_say("no JSON")
    done = cli.run(*add, "Use JWT tokens for auth because mobile has no cookies, ever", **chat.chat_settings())
    assert done.returncode == 1 and "nothing is merged: the answer of m cannot be used" in done.stderr


def added_at_once(cli: Cli, texts: Sequence[str]) -> None:
    running = [cli.start("memory", "add", "--user", "alice", text) for text in texts]
    for process in running:
        said, _ = process.communicate(timeout=60)
        assert process.returncode == 0, said


def test_ten_commands_at_once_leave_nothing_behind(cli: Cli) -> None:
    """B5: the same memory ten times and ten others, at once: nothing is left uncommitted, and only what the person
    added is the person's."""
    cli.git("config", "user.name", "Pat")
    cli.git("config", "user.email", "pat@example.org")
    added_at_once(cli, ["Bob has the keys of the production server"] * 10)
    assert cli.git("status", "--porcelain") == ""
    added_at_once(cli, [f"會議 {n} 在第 {n} 間會議室" for n in range(10)])
    assert cli.git("status", "--porcelain") == ""
    commits = [line.split("|", 1) for line in cli.git("log", "--format=%an|%s").splitlines()]
    of_pat = [subject for author, subject in commits if author == "Pat"]
    assert len(of_pat) == 11 and all(subject.startswith("memories(alice): add note ") for subject in of_pat)
    reinforced = "memories(alice): reinforce Bob has the keys of the production server"
    assert commits.count(["vault-memory", reinforced]) == 9
    counted = [row["access_count"] for row in cli.json("memory", "list", "--user", "alice")]
    assert sorted(counted) == [0] * 10 + [9]


def test_the_job_and_the_limit_are_told(cli: Cli) -> None:
    """E8: never silently: the command, the log and `status` say what had to go."""
    first = cli("memory", "add", "--user", "alice", "tea one", "--importance", "0.1").strip()
    environ = {"VAULT_MEMORY_MEMORIES_CAPACITY": "1"}
    done = cli.run("memory", "add", "--user", "alice", "tea two", **environ)
    assert f"expired, as 1 are kept: {first}" in done.stderr
    least = cli.run("memory", "add", "--user", "alice", "the sun is hot", "--importance", "0.1", **environ)
    assert "it expired at once, as 1 are kept, and each of them matters more" in least.stderr
    assert "archive 1 memory, over the 1 that are kept" in cli("log", "-n", "3")
    assert "1 memories, and memories.capacity is 1" in cli.run("status", **environ).stdout
    assert "nothing has expired" in cli("heartbeat", "--now", "memories")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "--user", "alice", "--type", "secret", "x"], "secret"),
        (["add", "--user", "alice", " "], "empty"),
        (["add", "--user", "alice", "--importance", "7", "x"], "7"),
        (["add", "--user", "alice", "--ttl-days", "-1", "x"], "-1"),
        (["add", "--user", "alice", "--importance", "nan", "x"], "nan"),
        (["add", "--user", "alice", "--ttl-days", "0", "x"], "0.0"),
        (["add", "--user", "alice", "--ttl-days", "inf", "x"], "inf"),
        (["add", "--user", "alice", "--skill", "a\nb", "x"], "skill_id"),
        (["add", "--user", "alice", "x" * 20_001], "20,001"),
        (["add", "--user", "../bob", "x"], "../bob"),
        (["add", "--user", "alice", "我有糖尿病"], "health"),
        (["edit", "--user", "alice", "mem_1_x"], "name what to change"),
        (["edit", "--user", "alice", "mem_1_x", "--permanent", "--ttl-days", "3"], "either"),
        (["delete", "--user", "alice"], "in one way"),
        (["delete", "--user", "alice", "--code", "ABCDEF", "mem_1_x"], "alone"),
    ],
)
def test_a_wrong_call_is_told(cli: Cli, words: list[str], said: str) -> None:
    """Bad input of the memories' issue."""
    assert said in cli("memory", *words, code=2)


def test_the_tables_for_obsidian(cli: Cli) -> None:
    """Issue 15: `.base` tables for a vault that lacks one; what a person changed stays."""
    (cli.folder / "Mistakes.base").unlink()
    (cli.folder / "Memories.base").write_text("views: []\n", encoding="utf-8")
    said = cli("memory", "tables")
    assert "written Mistakes.base" in said and "left as you have it: Memories.base" in said
    assert (cli.folder / "Memories.base").read_text("utf-8") == "views: []\n"
    (cli.folder / "Memories.base").unlink()
    assert cli.json("memory", "tables") == {"written": ["Memories.base"], "left": [], "paused": None}
    assert "all tables are there" in cli("memory", "tables")
    assert cli.git("status", "--porcelain") == ""


def test_nobody_and_nothing(cli: Cli) -> None:
    assert "'carol'" in cli("recall", "--user", "carol", "tea", code=1)
    assert "'carol'" in cli("memory", "list", "--user", "carol", code=1)
    cli("memory", "add", "--user", "alice", "tea is nice")
    assert "nothing is remembered of that" in cli("recall", "--user", "alice", "zeppelin")
    assert "no memory 'mem_1_x'" in cli("memory", "show", "--user", "alice", "mem_1_x", "--json", code=1)
    (cli.folder / "vault-memory.toml").write_text('format = 1\noff_record = ["alice"]\n', encoding="utf-8")
    assert "off the record" in cli("memory", "add", "--user", "alice", "coffee is nice")


def test_a_note_edited_into_nonsense_is_kept_and_reported(cli: Cli) -> None:
    """Bad input of the memories' issue: kept, reported, and nothing fails of it."""
    memory_id = cli("memory", "add", "--user", "alice", "tea is nice").strip()
    (note,) = (cli.folder / "memory/alice/memories").rglob("*.md")
    note.write_text("---\ntype: seldom\nimportance: very\nexpires_at: soon\n---\ntea is hot\n", encoding="utf-8")
    assert "tea is hot" in cli("recall", "--user", "alice", "tea")
    assert "importance: 'very' is not a number from 0 to 1" in cli.run("status").stdout
    cli("memory", "edit", "--user", "alice", memory_id, "--title", "Tea")
    assert note.read_text("utf-8") == (
        "---\ntype: seldom\nimportance: very\nexpires_at: soon\ntitle: Tea\n---\ntea is hot\n"
    )


def test_memories_travel_with_an_export(cli: Cli, tmp_path: Path) -> None:
    """A4, E1: export, and copied into another vault: every property, what is past, and how often each was recalled."""
    add = ("memory", "add", "--user", "alice")
    old = cli(
        *add, "用 JWT 登入", "--type", "decision", "--tag", "auth", "--skill", "web", "--importance", "0.8"
    ).strip()
    cli("memory", "edit", "--user", "alice", old, "--content", "改用 session 登入")
    week = cli(*add, "Bob deploys on Thursdays", "--ttl-days", "7", "--title", "Deploys").strip()
    store_memory(open_vault(cli.folder), "alice", "部署前要跑完整測試", metadata={"project": "shop", "times": [1, 2.5]})
    cli("turn", "--user", "alice", "--message", "我喜歡手沖咖啡", "--reply", "好的")
    cli("recall", "--user", "alice", "Who deploys")
    cli("export", "--user", "alice", str(tmp_path / "export"))
    there = Cli(copied(cli.folder, tmp_path / "other-vault"))
    shutil.rmtree(there.folder / "memory/alice")
    shutil.rmtree(there.folder / ".vault-memory")
    shutil.copytree(tmp_path / "export", there.folder / "memory/alice")
    mine, theirs = (each.json("memory", "list", "--user", "alice", "--history") for each in (cli, there))
    assert mine == theirs and len(theirs) == 5
    by_id = {row["id"]: row for row in theirs}
    assert by_id[week]["access_count"] == 1 and by_id[old]["superseded_by"] in by_id
    assert any(row["metadata"] == {"project": "shop", "times": [1, 2.5]} for row in theirs)
    assert any(row["said_on"] and row["source"].startswith("conversations/") for row in theirs)
    assert [row["id"] for row in there.json("recall", "--user", "alice", "Who deploys")["memories"]][0] == week
