"""`forget` by the command line, as a person uses it."""

from __future__ import annotations

import json
import re

from tests.conftest import Cli, wait_until
from vault_memory.services.daemon import is_running

LONG = "這是一段很長的回覆。" * 12


def forget(cli: Cli, *wish: str, user: str = "alice") -> str:
    """Forget in two steps; what the second one printed."""
    shown = cli("forget", "--user", user, *wish)
    code = re.search(r"--code (\w+)", shown)
    assert code, shown
    return cli("forget", "--user", user, *wish, "--code", code[1])


def turn(cli: Cli, message: str, reply: str = "好", user: str = "alice") -> str:
    return cli("turn", "--user", user, "--message", message, "--reply", reply)


def everything_of(cli: Cli, user: str = "alice") -> str:
    """All text of a user's files on the disk but the index."""
    folder = cli.folder / "memory" / user
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("index.db")]
    return "\n".join(f"{path.name}\n{path.read_bytes().decode('utf-8', 'replace')}" for path in files)


def test_a_thing_is_forgotten_in_every_place(cli: Cli) -> None:
    """B6, E8: memory, profile, logs, MEMORY.md, records, mistakes, entities, notes; search and prompt know nothing."""
    turn(cli, "我喜歡芒果", LONG)
    turn(cli, "請記住：我每天吃芒果", "好的，芒果")
    turn(cli, "我喜歡暗色主題")
    turn(cli, "今天天氣如何？", "適合吃 mangoes")
    cli("remember", "--user", "alice", "芒果冰在巷口")
    cli("mistake", "add", "--user", "alice", "推薦了芒果蛋糕", "--type", "food")
    cli("graph", "add", "--user", "alice", "芒果", "--type", "component")
    note = cli.folder / "memory/alice/shop.md"
    note.write_text("# Shop\n\nI bought a ripe\nmango there.\n\nTea too.\n")
    cli("search", "--user", "alice", "mango")
    before = everything_of(cli)
    assert before.count("芒果") > 8

    done = forget(cli, "芒果")
    assert "NOT verified" not in done and "gone  records" in done
    left = everything_of(cli)
    assert "芒果" not in left and "mango" not in left
    assert "我喜歡暗色主題" in left and "Tea too." in note.read_text()
    assert cli("search", "--user", "alice", "芒果", "--json").count("芒果") == 0
    assert "nothing" in cli("search", "--user", "alice", "mango")
    prompt = cli("prompt", "--user", "alice", "我愛吃什麼水果？")
    assert "芒果" not in prompt and "Human: \n" not in prompt
    assert "theme = dark" in cli("pref", "list", "--user", "alice")
    assert cli.git("log", "-1", "--format=%s%n%b").splitlines()[0].startswith("forget(alice): ")
    assert "芒果" not in cli.git("log", "-1", "--format=%B")
    assert cli.git("status", "--short") == ""

    back = re.search(r"back  (vault-memory restore memory/alice/USER.md --to \w+)", done)
    assert back
    cli(*back[1].split()[1:])
    assert "我每天吃芒果" in cli("pref", "list", "--user", "alice")


def test_the_lines_of_a_record_keep_their_numbers(cli: Cli) -> None:
    """B6: `Vault-Source` names lines; a forgotten turn keeps its own, without words, and is not learned from again."""
    named = {"user_id": "alice", "conversation_id": "talk", "created_at": "2026-01-30T09:00:00+08:00"}
    rows = [named | {"user_message": "我喜歡芒果", "assistant_message": "好"}]
    rows.append(
        named | {"created_at": "2026-01-30T09:05:00+08:00", "user_message": "我用 Docker", "assistant_message": "好"}
    )
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    cli("turn", "--jsonl", "-", stdin=lines)
    forget(cli, "芒果")
    record = (cli.folder / "memory/alice/conversations/2026-01-30.jsonl").read_text().splitlines()
    assert len(record) == 2 and json.loads(record[0])["conversation_id"] == "talk" and "芒果" not in record[0]
    assert json.loads(record[1])["user_message"] == "我用 Docker"

    said = cli.run("turn", "--jsonl", "-", stdin=lines)
    assert "stays so" in said.stderr
    assert "芒果" not in everything_of(cli)
    cli("reindex", "--user", "alice")
    cli("doctor")
    assert "nothing" in cli("search", "--user", "alice", "芒果")


def test_a_key_a_turn_and_a_day(cli: Cli) -> None:
    """B6: the other ways to name what is forgotten."""
    turn(cli, "我喜歡暗色主題")
    turn(cli, "I use Docker")
    turn(cli, "我每天騎車上班")
    forget(cli, "--key", "theme")
    left = everything_of(cli)
    assert "暗色" not in left and '"theme"' not in left and "theme = dark" not in left
    assert "tools = Docker" in cli("pref", "list", "--user", "alice")

    record = next((cli.folder / "memory/alice/conversations").glob("*.jsonl"))
    source = f"conversations/{record.name}:2"
    forget(cli, "--turn", source)
    assert "Docker" not in everything_of(cli)
    assert "no turn" in cli("forget", "--user", "alice", "--turn", source, code=1)

    assert "騎車" in everything_of(cli)
    forget(cli, "--since", record.stem)
    assert "騎車" not in everything_of(cli)


def test_everything_is_forgotten_only_after_it_was_shown(cli: Cli) -> None:
    """E8: «forget everything you know about me», in three languages, shows all and asks."""
    turn(cli, "我喜歡芒果")
    turn(cli, "I use Docker")
    for sentence in ("Forget everything you know about me.", "把你知道的關於我的一切都忘掉", "请删除关于我的所有资料"):
        said = turn(cli, sentence)
        assert "vault-memory forget --user alice" in said and "asks" in said
    assert "芒果" in everything_of(cli)
    shown = cli("forget", "--user", "alice", "everything you know about me")
    assert shown.startswith("everything would be forgotten") and "芒果" in shown
    assert "each goes with all that it says; git brings back" in shown
    assert "芒果" in everything_of(cli)
    forget(cli, "everything you know about me")
    left = everything_of(cli)
    assert "芒果" not in left and "Docker" not in left
    assert cli("memory", "list", "--user", "alice") == "" or "no" in cli("memory", "list", "--user", "alice")
    turn(cli, "我喜歡暗色主題")
    assert "theme = dark" in cli("pref", "list", "--user", "alice")


def test_a_sentence_in_a_conversation_proposes(cli: Cli) -> None:
    """B6: «forget that I like mangos» names the command that shows where it stands besides."""
    turn(cli, "我喜歡芒果")
    said = turn(cli, "把我喜歡芒果的事忘了")
    command = re.search(r"`vault-memory (forget --user alice --asked \S+)`", said)
    assert command
    code = re.search(r"--code (\w+)", cli(*command[1].split()))
    assert code
    cli(*command[1].split(), "--code", code[1])
    assert "芒果" not in everything_of(cli)


def test_what_cannot_be_meant_is_refused(cli: Cli) -> None:
    """B6: one letter, no letter, nothing found, two ways at once, a wrong code, another wish with a code."""
    turn(cli, "我喜歡芒果")
    assert "one letter" in cli("forget", "--user", "alice", "芒", code=2)
    assert "no letter" in cli("forget", "--user", "alice", "!!", code=2)
    assert "nothing" in cli("forget", "--user", "alice", "火龍果", code=1)
    assert "one way" in cli("forget", "--user", "alice", code=2)
    assert "one way" in cli("forget", "--user", "alice", "芒果", "--key", "theme", code=2)
    assert "key of the profile" in cli("forget", "--user", "alice", "--key", "colour", code=2)
    assert "names no turn" in cli("forget", "--user", "alice", "--turn", "../bob/x.jsonl:1", code=2)
    assert "code" in cli("forget", "--user", "alice", "芒果", "--code", "AAAAAA", code=2)
    code = re.search(r"--code (\w+)", cli("forget", "--user", "alice", "芒果"))
    assert code
    assert "something else" in cli("forget", "--user", "alice", "喜歡", "--code", code[1], code=2)
    assert "芒果" in everything_of(cli)


def test_other_peoples_words_stay(cli: Cli) -> None:
    """B6: another user's files are not touched; a shared note is named."""
    turn(cli, "我喜歡芒果")
    turn(cli, "我也喜歡芒果", user="bob")
    (cli.folder / "menu.md").write_text("芒果冰 80 元\n")
    done = forget(cli, "芒果")
    assert "menu.md:1 says the same" in done and "what other users have is theirs" in done
    assert "芒果" in everything_of(cli, "bob") and "芒果" not in everything_of(cli)
    assert (cli.folder / "menu.md").read_text() == "芒果冰 80 元\n"


def test_a_staged_edit_is_the_persons(cli: Cli) -> None:
    """B6: a file that the person has staged stops it; nothing is changed."""
    note = cli.folder / "memory/alice/fruit.md"
    turn(cli, "我喜歡芒果")
    note.write_text("芒果很甜\n")
    cli.git("add", "memory/alice/fruit.md")
    code = re.search(r"--code (\w+)", cli("forget", "--user", "alice", "芒果"))
    assert code
    assert "fruit.md is staged" in cli("forget", "--user", "alice", "芒果", "--code", code[1], code=1)
    assert "我喜歡芒果" in everything_of(cli) and note.read_text() == "芒果很甜\n"
    cli.git("-c", "user.name=Al", "-c", "user.email=al@example.org", "commit", "--quiet", "-m", "mine")
    forget(cli, "芒果")
    assert "芒果" not in everything_of(cli)


def test_a_running_daemon_brings_nothing_back(cli: Cli, daemon: object) -> None:
    """B6: with `watch` at work."""
    turn(cli, "我喜歡芒果")
    forget(cli, "芒果")
    wait_until(lambda: "nothing" in cli("search", "--user", "alice", "芒果"), "it is found no more")
    assert is_running(cli.folder) and "芒果" not in everything_of(cli)
