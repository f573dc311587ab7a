"""`pref` and `undo` as a person types them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.conftest import Cli
from tests.scripted_http import Reply, ScriptedServer, change

pytestmark = pytest.mark.slow

TODAY = datetime.now(ZoneInfo("Asia/Taipei")).date().isoformat()
PROFILE = "memory/alice/USER.md"


def test_set_list_unset(cli: Cli) -> None:
    """Item 5: `pref set` by CLI is the person's commit, found again by search and by git."""
    cli.git("config", "user.name", "Alice")
    cli.git("config", "user.email", "alice@example.org")
    assert cli("pref", "set", "--user", "alice", "theme", "dark") == "theme = dark\n"
    assert cli("pref", "set", "--user", "alice", "tools", "Docker") == "tools += Docker\n"
    assert cli.git("log", "-1", "--format=%an <%ae>") == "Alice <alice@example.org>\n"
    listed = cli.json("pref", "list", "--user", "alice")
    assert {"key": "theme", "value": "dark", "suggested_default": False} in listed
    assert "theme = dark\n" in cli("pref", "list", "--user", "alice")
    assert cli.json("search", "--user", "alice", "Docker")["hits"][0]["source"] == "USER.md"
    cli("pref", "set", "--user", "alice", "tools", "Vim")
    assert "tools = Docker, Vim\n" in cli("pref", "list", "--user", "alice"), "a line for each key"
    cli("pref", "unset", "--user", "alice", "tools", "Vim")
    assert cli("pref", "unset", "--user", "alice", "tools") == "tools -= Docker\n"
    assert "nothing to unset" in cli("pref", "unset", "--user", "alice", "tools", code=1)
    assert "nothing to change" in cli("pref", "set", "--user", "alice", "theme", "dark")
    assert cli.git("status", "--porcelain") == ""


def in_doubt(cli: Cli, *values: str) -> None:
    """Keep suggestions as a turn of today keeps them."""
    folder = cli.folder / "memory" / "alice"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "feedback.jsonl").open("a") as file:
        for value in values:
            row = {"key": "tools", "op": "add", "value": value, "strength": "observed", "suggestion": "open",
                   "conversation": "", "quote": f"{value} \x1b]52;c;x\a perhaps", "applied": False,
                   "source": f"conversations/{TODAY}.jsonl:1", "created_at": f"{TODAY}T09:00:00+08:00"}  # fmt: skip
            file.write(json.dumps(row) + "\n")


def test_suggestions_are_shown_accepted_and_dismissed(cli: Cli) -> None:
    """Issue 13, a waiting room: by id, or by key if it is the only one."""
    assert cli("pref", "suggestions", "--user", "alice", code=1).startswith("vault-memory: user 'alice'")
    in_doubt(cli, "Docker", "Vim")
    shown = cli("pref", "suggestions", "--user", "alice")
    assert "tools += Vim" in shown and "tools += Docker" in shown and "\x1b" not in shown
    rows = cli.json("pref", "suggestions", "--user", "alice")
    ids = {row["value"]: row["id"] for row in rows}
    assert "name one by its id" in cli("pref", "accept", "--user", "alice", "tools", code=2)
    assert cli("pref", "accept", "--user", "alice", ids["Docker"]) == "tools += Docker\n"
    assert cli("pref", "dismiss", "--user", "alice", "tools") == "not tools += Vim\n"
    assert cli("pref", "suggestions", "--user", "alice") == "nothing waits for a decision\n"
    assert "no suggestion" in cli("pref", "accept", "--user", "alice", ids["Vim"], code=1)
    assert "tools = Docker\n" in cli("pref", "list", "--user", "alice")
    assert cli.git("log", "-3", "--format=%an %s").splitlines()[0] == "vault owner log(alice): tools dismissed"
    assert cli.git("status", "--porcelain") == ""


def test_a_wish_of_an_old_file_undoes_neither_a_setting_nor_an_edit(cli: Cli) -> None:
    """Learning in time: a signal older than the last change of its key replaces nothing, whoever made that change."""
    cli("turn", "--user", "alice", "--message", "請用中文回答")
    cli("pref", "set", "--user", "alice", "theme", "light")
    profile = cli.folder / PROFILE
    profile.write_text(profile.read_text("utf-8").replace("zh-TW", "en"), "utf-8")
    old = {
        "user_id": "alice",
        "user_message": "我喜歡暗色主題，以後請用繁體中文回答",
        "created_at": "2026-01-05T09:00:00+08:00",
    }
    for stdin in (json.dumps(old), json.dumps(old | {"user_message": "以後都用暗色主題，用日文回答我"})):
        assert "1 turn replayed" in cli("turn", "--jsonl", "-", stdin=stdin)
    values = {row["key"]: row["value"] for row in cli.json("pref", "list", "--user", "alice")}
    assert (values["theme"], values["language"]) == ("light", "en")
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    assert {"key": "theme", "value": "dark", "suggested_default": False} in cli.json("pref", "list", "--user", "alice")


def test_wrong_calls_name_the_next_step(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    for words, code, complaint in (
        (["set", "--user", "alice", "theme", "purple"], 2, "theme must be dark, light or auto, not 'purple'"),
        (["set", "--user", "alice", "timezone", "Mars/Base"], 2, "timezone must be an IANA time zone such as"),
        (["set", "--user", "alice", "timezone", "../../etc/passwd"], 2, "timezone must be an IANA time zone such as"),
        (["set", "--user", "alice", "language", "Klingonese"], 2, "language must be a tag of BCP-47 such as zh-TW"),
        (["set", "--user", "alice", "joined", "zzz"], 2, "joined must be a day such as 2026-01-30, not 'zzz'"),
        (["set", "--user", "alice", "colour", "dark"], 2, "is not a key"),
        (["set", "--user", "../x", "theme", "dark"], 2, "not valid"),
        (["list", "--user", "nobody"], 1, "not in this vault"),
        (["blame", "--user", "alice", "colour"], 2, "is not a key"),
        (["restore", "--user", "alice", "theme"], 2, "give either --to"),
        (["restore", "--user", "alice", "theme", "--date", "yesterday"], 2, "--date must be like"),
        (["restore", "--user", "alice", "theme", "--date", "2001-01-01"], 1, "no profile yet"),
        (["restore", "--user", "alice", "theme", "--to", "nothing"], 1, "no commit"),
    ):
        assert complaint in cli("pref", *words, code=code), words


def test_blame_shows_who_set_it_when_and_the_sentence(cli: Cli) -> None:
    """Item 5: `blame theme` with the turn's line, the time in the vault's zone."""
    cli("turn", "--user", "alice", "--message", "今天好累。我喜歡暗色主題！")
    printed = cli("pref", "blame", "--user", "alice", "theme")
    assert "theme = dark\n  vault-memory, " in printed
    assert f"conversations/{TODAY}.jsonl:1: 「今天好累。我喜歡暗色主題！」" in printed
    (found,) = cli.json("pref", "blame", "--user", "alice", "theme")
    assert found["said"] == "今天好累。我喜歡暗色主題！" and found["at"].endswith("+08:00")
    hour = datetime.fromisoformat(found["at"]).strftime("%Y-%m-%d %H:%M")
    assert hour in printed
    assert cli.json("pref", "history", "--user", "alice", "theme")[0]["at"].endswith("+08:00")
    assert "no commit set" in cli("pref", "blame", "--user", "alice", "level")


def test_restore_by_commit_and_by_date(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    commit = cli.json("history", "--user", "alice", "theme")[0]["commit"]
    cli("turn", "--user", "alice", "--message", "我改變主意了，以後都用亮色主題")
    assert "- 主題偏好：light\n" in (cli.folder / PROFILE).read_text()
    assert cli("pref", "restore", "--user", "alice", "theme", "--to", commit) == "theme = dark (restored)\n"
    assert "- 主題偏好：dark\n" in (cli.folder / PROFILE).read_text()
    assert "nothing to change" in cli("pref", "restore", "--user", "alice", "theme", "--date", TODAY)


def test_undo_restores_the_value_before_the_last_one_learned(cli: Cli) -> None:
    """Item 5: `vault-memory undo --user`."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")
    assert cli("undo", "--user", "alice") == "theme = (nothing) (restored)\n"
    assert "- 主題偏好：\n" in (cli.folder / PROFILE).read_text()
    assert "left to undo" in cli("undo", "--user", "alice", code=1)


def test_a_hand_edit_between_two_commands_is_the_persons(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    profile = cli.folder / PROFILE
    profile.write_text(profile.read_text().replace("- 工具：\n", "- 工具：Vim\n"))
    cli("pref", "set", "--user", "alice", "theme", "dark")
    keys = [(entry["key"], entry["new"], entry["strength"]) for entry in cli.json("history", "--user", "alice")]
    assert keys == [("theme", "dark", "manual"), ("tools", "Vim", "manual")]


def test_doctor_reports_a_value_that_the_field_does_not_allow(cli: Cli) -> None:
    cli("turn", "--user", "alice", "--message", "你好")
    profile = cli.folder / PROFILE
    profile.write_text(profile.read_text().replace("- 主題偏好：\n", "- 主題偏好：紫色\n"))
    found = {finding["name"]: finding for finding in json_of(cli, "doctor")}
    assert not found["profiles"]["ok"] and "紫色" in found["profiles"]["message"]
    assert "- 主題偏好：紫色\n" in profile.read_text()


def json_of(cli: Cli, *words: str) -> Any:
    return json.loads(cli.run(*words, "--json").stdout)


def test_the_second_look_comes_after_the_turn_is_told(cli: Cli, chat: ScriptedServer) -> None:
    """A2 phase 2 by the command line: what the model found is committed; what fails is said and fails nothing."""
    bright = "畫面亮到眼睛好痛"
    chat.will_say([change("theme", "dark", bright, strength="adjustment")])
    settings = chat.chat_settings(MY_KEY="sk-secret", VAULT_MEMORY_LLM_KEY_ENV="MY_KEY")
    printed = cli("turn", "--user", "alice", "--message", bright, **settings)
    assert printed.startswith("kept in ") and "theme = dark  「畫面亮到眼睛好痛」 (second look)" in printed
    assert chat.received[0].header("Authorization") == "Bearer sk-secret"
    assert cli.json("history", "--user", "alice", "theme")[0]["source"] == f"conversations/{TODAY}.jsonl:1"
    chat.will_say(Reply(status=400))
    done = cli.run("turn", "--user", "alice", "--message", "我喜歡亮色主題", **chat.chat_settings())
    assert done.returncode == 0 and "theme = light" in done.stdout
    assert "degraded: no second look" in done.stderr and "400" in done.stderr
    assert any("second looks failed" in line for line in cli.json("status")["degraded"])


def test_undo_walks_back_one_by_one_and_lists_what_is_left(cli: Cli) -> None:
    """E8, item 5: theme, Docker, `pref unset tools Docker`: no undo is stuck; `--list` says what became of each."""
    cli("turn", "--user", "alice", "--message", "我喜歡暗色主題", "--reply", "好")
    cli("turn", "--user", "alice", "--message", "I use Docker", "--reply", "ok")
    cli("pref", "unset", "tools", "Docker", "--user", "alice")
    states = [row["state"] for row in cli.json("undo", "--user", "alice", "--list")]
    assert states == ["learned", "changed", "learned"]
    assert cli("undo", "--user", "alice") == "undone: add fact I use Docker\n"
    assert cli("undo", "--user", "alice") == "theme = (nothing) (restored)\n"
    assert "left to undo" in cli("undo", "--user", "alice", code=1)
    assert cli("undo", "--user", "alice", "--list").count("undone") == 2
    assert "undo add fact" in cli.git("log", "--format=%s", "-3") and "Vault-Undoes" in cli.git(
        "log", "-1", "--format=%B"
    )
