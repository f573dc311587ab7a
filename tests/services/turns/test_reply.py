"""A question is in the record before its reply: a line of its own, which all readers join with it."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clock
from tests.services.turns.test_second_look import values
from vault_memory import build_enhanced_prompt, get_conversation_history
from vault_memory.errors import NotFound
from vault_memory.interfaces.cli.turn import _turns
from vault_memory.services.notes import newest_turns, turn_at
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import RETRY_S, add_reply, learn_waiting, record_turn, record_turns, turns_waiting
from vault_memory.services.vault import Vault, open_vault

KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN2pQ" * 2


def ask(vault: Vault, words: str, request: str = "r1", conversation: str = "c", **more: Any) -> Any:
    return record_turn(
        vault, "alice", words, None, conversation_id=conversation, request=request, learn=False, index=False, **more
    )


def lines(vault: Vault) -> list[dict[str, Any]]:
    records = sorted(Path(vault.path("alice", "conversations")).glob("*.jsonl"))
    return [json.loads(line) for record in records for line in record.read_text().split("\n")[:-1]]


def replies(vault: Vault) -> list[str]:
    return [str(turn["assistant_message"]) for _, turn in newest_turns(vault, "alice", 20)][::-1]


def daily(vault: Vault) -> list[str]:
    (log,) = vault.path("alice", "daily").iterdir()
    return [line for line in log.read_text().split("\n") if line.startswith("- ")]


def test_the_log_tells_what_came_of_a_request_when_it_is_known(vault: Vault) -> None:
    """A3, A9: through the proxy the question comes first; nothing is told of what is not known."""
    source, other = ask(vault, "部署登入頁").source, ask(vault, "And coffee?", "r2").source
    assert learn_waiting(vault, "alice") == 0
    asked = [f"- 14:05 部署登入頁 · {source}", f"- 14:05 And coffee? · {other}"]
    assert daily(vault) == asked
    add_reply(vault, "alice", source, "Let me look.")  # the model waits for a tool
    assert learn_waiting(vault, "alice") == 0 and daily(vault) == asked
    add_reply(vault, "alice", source, "先建置，" * 40, 1)
    assert learn_waiting(vault, "alice") == 0
    add_reply(vault, "alice", source, "先建置，再上傳。" * 20, 0)
    assert learn_waiting(vault, "alice") == 0
    assert daily(vault) == [f"- 14:05 部署登入頁 → 失敗 → 成功 · {source}", asked[1]]
    memory = vault.path("alice", "MEMORY.md").read_text()
    assert memory == "# 長期記憶\n\n## 2026-01-30 14:05\n- 任務：部署登入頁\n- 結果：成功\n", (
        "one task, without a skill"
    )
    assert vault.history.uncommitted() == []


def test_a_line_that_a_person_took_out_stays_out(vault: Vault) -> None:
    source = ask(vault, "部署登入頁").source
    learn_waiting(vault, "alice")
    (log,) = vault.path("alice", "daily").iterdir()
    log.write_text("# 2026-01-30\n\nmine\n")
    add_reply(vault, "alice", source, "ok", 0)
    assert learn_waiting(vault, "alice") == 0 and log.read_text() == "# 2026-01-30\n\nmine\n"


def test_every_reader_joins_a_turn_with_its_replies(vault: Vault, tmp_path: Path) -> None:
    first, second = ask(vault, "What is tea?").source, ask(vault, "And coffee?", "r2").source
    add_reply(vault, "alice", first, "Let me look.")
    add_reply(vault, "alice", second, "A drink of roasted beans.", 0)
    add_reply(vault, "alice", first, f"An infusion of leaves, {KEY}.", 0)
    told = ["Let me look.\n\nAn infusion of leaves, [redacted: api-key].", "A drink of roasted beans."]
    assert [first, second] == [source for source, _ in newest_turns(vault, "alice", 20)][::-1]
    assert replies(vault) == told == [turn["assistant"] for turn in get_conversation_history(vault, "alice")]
    assert [
        turn["assistant_message"] for turn in (turn_at(vault, "alice", first), turn_at(vault, "alice", second)) if turn
    ] == told
    assert [turn["assistant_message"] for _, turn in newest_turns(vault, "alice", 5, second)] == told[:1]
    assert turn_at(vault, "alice", first.replace(":1", ":3")) is None, "a reply is no turn"
    assert search(vault, "alice", SearchQuery("infusion of leaves")).hits[0].line_range == (5, 5)
    prompt = build_enhanced_prompt(vault, "alice", "What did you say of the infusion of leaves?").text
    assert prompt.count("infusion of leaves,") == 1, "in the history, and not once more among the memories"
    (record,) = Path(vault.path("alice", "conversations")).glob("*.jsonl")
    elsewhere = open_vault(vault.root, now=vault.now)
    for fields in _turns(vault, record, None):
        record_turn(elsewhere, **fields | {"user_id": "bob"})
    assert [turn["assistant_message"] for _, turn in newest_turns(vault, "bob", 20)][::-1] == told


def test_a_reply_that_broke_off_counts_while_no_other_follows(vault: Vault) -> None:
    source = ask(vault, "hi").source
    for text, code in (
        ("Let", None),
        ("me\n[partial: x]", 1),
        ("me see", None),
        ("me see", None),
        ("done", 0),
        ("more", 0),
    ):
        add_reply(vault, "alice", source, text, code)
        if code == 1:
            assert replies(vault) == ["Let\n\nme\n[partial: x]"]
    turn = turn_at(vault, "alice", source) or {}
    assert (turn["assistant_message"], turn["exit_code"]) == ("Let\n\nme see\n\ndone", 0) and len(lines(vault)) == 5


def test_the_words_are_learned_from_before_the_reply_and_the_reply_once(vault: Vault) -> None:
    source = ask(vault, "怎麼部署？我喜歡暗色主題").source
    assert turns_waiting(vault, "alice") == 1 and learn_waiting(open_vault(vault.root), "alice") == 0
    assert values(vault)["theme"] == "dark" and "暗色" in next(vault.path("alice", "daily").iterdir()).read_text()
    add_reply(vault, "alice", source, "用 Docker 部署最簡單。" * 20, 0)
    assert turns_waiting(vault, "alice") == 1, "a server that is killed now leaves it to the next"
    again = open_vault(vault.root)
    assert learn_waiting(again, "alice") == 0 == turns_waiting(again, "alice") and learn_waiting(again, "alice") == 0
    memory, feedback = (vault.path("alice", name).read_text() for name in ("MEMORY.md", "feedback.jsonl"))
    assert memory.count("任務") == 1 and "成功" in memory
    rows = [json.loads(line) for line in feedback.splitlines()]
    assert {row["source"] for row in rows} == {source} and [row["key"] for row in rows].count("theme") == 1
    (line,) = daily(vault)
    assert line.startswith("- 14:05 怎麼部署？我喜歡暗色主題 → 成功 · 萃取偏好：") and line.endswith(f" · {source}")


def test_the_same_request_is_one_turn_whichever_process_gets_it(vault: Vault, clock: Clock) -> None:
    asked: list[Any] = []
    threads = [threading.Thread(target=lambda: asked.append(ask(open_vault(vault.root), "hi"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [turn.is_new for turn in asked].count(True) == 1 and len({turn.source for turn in asked}) == 1
    for _ in range(2):
        add_reply(open_vault(vault.root), "alice", asked[0].source, "ok", 0)
    assert ask(open_vault(vault.root), "hi").is_complete and len(lines(vault)) == 2
    assert ask(vault, "hi", conversation="d").is_new and ask(vault, "hi", "another").is_new


def test_a_request_that_goes_on_is_its_turns_at_any_time(vault: Vault, clock: Clock) -> None:
    source = ask(vault, "hi").source
    clock.time += timedelta(hours=11)  # over midnight
    assert ask(vault, "hi", goes_on=True).source == source and ask(vault, "hi").source != source
    later = ask(vault, "hi", goes_on=True).source
    add_reply(vault, "alice", later, "ok", 0)
    clock.time += timedelta(seconds=RETRY_S + 10)
    known = ask(vault, "hi", goes_on=True)
    assert known.source == later and known.is_complete, "a client may ask about it when it had come to its end"


def test_a_name_is_one_turn(vault: Vault) -> None:
    """A replayed file adds nothing; other words of the same second in a conversation do."""
    at = vault.now()
    said = [
        {"user_id": "alice", "user_message": words, "conversation_id": "c", "created_at": at} for words in ("a", "b")
    ]
    first = [turn.source for turn in record_turns(vault, said)]
    assert [turn.source for turn in record_turns(vault, said[:1])] == first[:1]
    assert [line["user_message"] for line in lines(vault)] == ["a", "b"]
    assert len({line["created_at"] for line in lines(vault)}) == 2


def test_a_reply_to_a_line_that_is_gone_is_refused(vault: Vault) -> None:
    source = ask(vault, "hi").source
    next(Path(vault.path("alice", "conversations")).glob("*.jsonl")).write_text("")
    with pytest.raises(NotFound, match="holds no turn any more"):
        add_reply(vault, "alice", source, "ok", 0)
