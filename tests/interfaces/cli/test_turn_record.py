"""The record of a turn as a person sees it: what gets in, what is refused with a reason, what is found again."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import Cli
from tests.interfaces.cli.test_forget import forget

RECORD = "memory/alice/conversations"
TIME = "2026-01-30T09:00:00+08:00"


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def kept(cli: Cli) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted((cli.folder / RECORD).glob("*.jsonl")) for line in path.open()]


def test_a_reflection_is_kept_shown_and_found(cli: Cli) -> None:
    """D1, D8: as an option, and in a file of turns; the log says it in a line, a search finds the turn by it."""
    told = {"summary": "第一次部署失敗", "causes": ["沒有設定環境變數"]}
    option = json.dumps(told, ensure_ascii=False)
    cli("turn", "--user", "alice", "--message", "幫我部署登入頁", "--reply", "失敗了。", "--reflection", option)
    plain = {
        "user_message": "again",
        "assistant_message": "done",
        "reflection": "The zymurgy key was wrong.",
        "cid": "Qm",
    }
    cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines(plain | {"created_at": TIME}))
    (late, first) = kept(cli)
    assert (first["reflection"], late["cid"], late["created_at"]) == (told, "Qm", TIME)
    assert late["reflection"] == {"summary": "The zymurgy key was wrong.", "causes": []}
    logs = [path.read_text() for path in sorted((cli.folder / "memory/alice/daily").iterdir())]
    assert "反思：The zymurgy key was wrong. · " in logs[0] and "反思：第一次部署失敗；沒有設定環境變數" in logs[1]
    hits = cli.json("search", "--user", "alice", "zymurgy", "--kind", "conversation")["hits"]
    assert hits[0]["source"].startswith("conversations/2026-01-30") and "Reflection: The zymurgy" in hits[0]["content"]
    assert "反思：第一次部署失敗" in cli("search", "--user", "alice", "環境變數")
    assert "--reflection" in cli("turn", "--jsonl", "-", "--reflection", "x", code=2, stdin="{}")


def test_a_wrong_line_is_named_and_nothing_is_recorded(cli: Cli) -> None:
    """D1: the field, the line, and no half of the file."""
    fine = {"user_message": "hello", "assistant_message": "hi"}
    for wrong, said in (
        ({"reflection": 5}, "standard input:2: reflection must be a text, or an object with summary and causes"),
        ({"created_at": 1769735520}, "standard input:2: created_at must be a time such as"),
        ({"user_message": "x" * 5_000_000}, "has 5,000,000 characters, and one text of a turn at most 2,000,000"),
        ({"user_message": "", "assistant_message": None}, "standard input:2 holds no message, reply or reflection"),
    ):
        told = cli("turn", "--user", "alice", "--jsonl", "-", code=2, stdin=lines(fine, fine | wrong))
        assert said in told and "nothing was recorded" in told
    assert not (cli.folder / "memory").exists()


def test_a_line_that_holds_what_was_erased_is_named_before_any_is_recorded(cli: Cli) -> None:
    """In the message or the reflection; what is not to be recorded is not asked about."""
    cli("turn", "--user", "alice", "--message", "my codeword is Zanzibar seven", "--reply", "ok")
    cli("erase", "--user", "alice", "--text", "Zanzibar seven", stdin="erase the text of alice\n")
    before, fine = kept(cli), {"user_message": "hello", "assistant_message": "hi"}
    for wrong in ({"user_message": "so it is Zanzibar seven"}, {"reflection": {"summary": "told: Zanzibar seven"}}):
        told = cli("turn", "--user", "alice", "--jsonl", "-", code=2, stdin=lines(fine, fine | wrong))
        assert "standard input:2: this turn holds a text that was erased" in told and "nothing was recorded" in told
    assert kept(cli) == before
    cli("turn", "--user", "alice", "--jsonl", "-", "--off-record", stdin=lines(fine | wrong))


def test_a_delivery_that_is_repeated_and_a_time_of_the_future(cli: Cli) -> None:
    """D1: one turn by its name; what is not as it was delivered is said."""
    turn = {"conversation_id": "c", "user_message": "hello", "assistant_message": "hi", "created_at": TIME}
    for _ in range(2):
        cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines(turn, turn))
    assert len(kept(cli)) == 1
    done = cli.run("turn", "--user", "alice", "--jsonl", "-", stdin=lines(turn | {"assistant_message": "hello there"}))
    assert "degraded: the turn is in the record without this reply" in done.stderr
    done = cli.run("turn", "--user", "alice", "--jsonl", "-", stdin=lines(turn | {"created_at": "2099-01-30T09:00:00"}))
    assert "degraded: created_at 2099-01-30T09:00:00+08:00 is in the future" in done.stderr
    assert len(kept(cli)) == 2 and not (cli.folder / RECORD / "2099-01-30.jsonl").exists()


def test_two_lines_with_the_same_words_are_two_turns(cli: Cli) -> None:
    """Without a time nothing says that they are one."""
    said = {"conversation_id": "c", "user_message": "go on"}
    cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines(said, said))
    assert [row["user_message"] for row in kept(cli)] == ["go on"] * 2


def test_a_broken_line_stays_and_is_told_and_the_others_are_found(cli: Cli) -> None:
    """A8: lines are only added: one that was cut off, or garbled by hand, is passed over."""
    cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines({"user_message": "one heron", "created_at": TIME}))
    (path,) = (cli.folder / RECORD).glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"conversation_id": "c", "user_\n\xff\xfe\nnull\n{"conversation_id": "c", "user_message": "torn')
    before = path.read_bytes()
    cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines({"user_message": "two egrets", "created_at": TIME}))
    assert path.read_bytes().startswith(before + b"\n")
    for words in (("status",), ("doctor",)):
        said = cli.run(*words).stdout
        assert "conversations/2026-01-30.jsonl: " in said and "line 2 is not a conversation record" in said
    found = cli.json("search", "--user", "alice", "egrets", "--kind", "conversation")["hits"]
    assert found[0]["line_range"][1] == 6 and "two egrets" in found[0]["content"]
    assert "two egrets" in cli("prompt", "--user", "alice", "egrets")


def test_a_private_fact_that_is_left_out_has_a_next_step(cli: Cli) -> None:
    shown = cli("turn", "--user", "alice", "--message", "我有糖尿病，我喜歡暗色主題")
    assert "redacted: health (1)\n" in shown and "belongs in a note, memory/alice/notes/" in shown
    assert "belongs in a note" not in cli("turn", "--user", "alice", "--message", "我喜歡暗色主題")


def test_a_line_with_a_time_alone_is_the_same_turn_when_it_is_replayed(cli: Cli) -> None:
    """What was undone stays so, what was forgotten too, and two lines of one time are two turns, in a part of the file
    as well. Their names hold nothing of their words."""
    rows = [
        {"user_message": "I like the dark theme", "created_at": TIME},
        {"user_message": "I always use Docker and Podman", "created_at": TIME},
        {"user_message": "I live in Leeds.", "created_at": TIME.replace("09:00", "10:00")},
    ]

    def replayed(*rows: dict[str, Any]) -> str:
        done = cli.run("turn", "--user", "alice", "--jsonl", "-", stdin=lines(*rows))
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert "3 turns replayed, 3 changes of preferences, 2 memories kept" in replayed(*rows)
    before = kept(cli)
    assert [row["user_message"] for row in before] == [row["user_message"] for row in rows]
    assert len({row["conversation_id"] for row in before}) == 2
    forget(cli, "--turn", "conversations/2026-01-30.jsonl:2")
    while cli.run("undo", "--user", "alice").returncode == 0:
        pass
    for again in (rows, rows[1:], rows[1:2], [*rows, *rows]):
        told = replayed(*again)
        assert f", {len(again)} of them in the record already, 0 changes of preferences\n" in told
        assert "the turn is forgotten, and stays so" in told
    assert [row["user_message"] for row in kept(cli)] == [rows[0]["user_message"], None, rows[2]["user_message"]]
    assert cli.json("memory", "list", "--user", "alice") == []
    assert "2 turns replayed, 1 of them" in replayed(rows[0], rows[2] | {"user_message": "hello"})
    other = {"user_message": "other words", "created_at": "2026-02-01T09:00:00+08:00"}
    replayed(other)
    replayed(other | {"user_message": "words of a second"})
    (first, second) = kept(cli)[-2:]
    assert first["conversation_id"] == second["conversation_id"] and first["created_at"] != second["created_at"]


def test_other_words_of_a_name_are_one_turn_when_they_come_again(cli: Cli) -> None:
    """With a conversation_id of their own, too; and beside one of that name that is forgotten."""
    rows = [{"user_message": words, "conversation_id": "c", "created_at": TIME} for words in ("one", "two", "three")]
    for _ in range(2):
        cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines(*rows))
    forget(cli, "--turn", "conversations/2026-01-30.jsonl:2")
    for _ in range(2):
        cli("turn", "--user", "alice", "--jsonl", "-", stdin=lines(*rows))
    assert [row["user_message"] for row in kept(cli)] == ["one", None, "three"]


def test_a_replayed_turn_is_the_same_when_the_zone_and_so_its_day_is_another(cli: Cli) -> None:
    rows = lines(
        {"user_id": "alice", "user_message": "I collect brass sundials.", "created_at": "2026-01-29T23:30:00Z"}
    )
    cli("pref", "set", "--user", "alice", "timezone", "UTC")
    cli("pref", "set", "--user", "alice", "timezone", "UTC")
    cli("turn", "--jsonl", "-", stdin=rows)
    forget(cli, "brass sundials")
    cli("pref", "set", "--user", "alice", "timezone", "Asia/Taipei")
    assert "1 of them in the record already" in cli("turn", "--jsonl", "-", stdin=rows)
    assert len(kept(cli)) == 1 and "sundials" not in cli("memory", "list", "--user", "alice")
