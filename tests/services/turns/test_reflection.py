"""What an assistant thought of a turn afterwards: kept with the turn, in the daily log, and found again."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.services.test_person_edits import git
from vault_memory.core.payload import MAX_TEXT_CHARS
from vault_memory.errors import TooLarge, UsageError
from vault_memory.services.notes import newest_turns
from vault_memory.services.retrieval import SearchQuery, search
from vault_memory.services.turns import learn_waiting, record_turn, turns_waiting
from vault_memory.services.vault import Vault, open_vault

DAY = "2026-01-30"
FAILED = {"summary": "第一次部署失敗", "causes": ["沒有設定環境變數", "設定檔放錯了地方"]}


def daily(vault: Vault, day: str = DAY) -> str:
    return vault.path("alice", f"daily/{day}.md").read_text()


def rows(vault: Vault) -> list[dict[str, Any]]:
    return [json.loads(line) for line in vault.path("alice", f"conversations/{DAY}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("given", [FAILED, json.dumps(FAILED)])
def test_a_reflection_is_in_the_record_and_in_the_daily_log(vault: Vault, given: dict[str, Any] | str) -> None:
    """D1, D8."""
    recorded = record_turn(vault, "alice", "幫我部署登入頁", "失敗了。", reflection=given, cid="bafybeigdyrzt")
    (row,) = rows(vault)
    assert (row["reflection"], row["cid"]) == (FAILED, "bafybeigdyrzt")
    bullets = daily(vault).split("## ")[1].splitlines()[1:]
    (line,) = bullets
    assert "幫我部署登入頁" in line and " · 反思：第一次部署失敗；沒有設定環境變數；設定檔放錯了地方 · " in line
    assert recorded.commits and "反思" in git(vault, "show", "HEAD", "--", f"memory/alice/daily/{DAY}.md")


def test_the_log_s_line_is_short_and_in_the_person_s_language(vault: Vault) -> None:
    record_turn(vault, "alice", "Deploy the page, please.", "Done.", reflection="It went well. " * 50)
    (line,) = [line for line in daily(vault).splitlines() if "Reflection" in line]
    reflection = line.partition(" · Reflection: ")[2].partition(" · ")[0]
    assert reflection.startswith("It went well. It") and reflection.endswith("…") and len(reflection) < 155


def test_a_word_that_only_a_reflection_holds_finds_the_turn(vault: Vault) -> None:
    """D8: the record, which says that it is a reflection."""
    causes = ["沒有設定環境變數", "背景" * 80, "憑證過期"]
    recorded = record_turn(vault, "alice", "幫我部署登入頁", "好。", reflection={"summary": "失敗", "causes": causes})
    record_turn(vault, "alice", "今天天氣如何", "晴天。")
    (best, *_) = search(vault, "alice", SearchQuery("環境變數")).hits
    assert "反思：失敗；沒有設定環境變數" in best.content and best.kind == "conversation"
    only_in_record = search(vault, "alice", SearchQuery("憑證過期")).hits[0]
    assert (f"{only_in_record.source}:{only_in_record.line_range[0]}", only_in_record.kind) == (
        recorded.source,
        "conversation",
    )
    found = search(vault, "alice", SearchQuery("環境變數", kinds=("conversation",))).hits[0]
    assert "反思：失敗；沒有設定環境變數" in found.content and found.source == f"conversations/{DAY}.jsonl"


def test_secrets_are_in_no_reflection_and_private_facts_in_no_log(vault: Vault) -> None:
    """G7, D8: the person's own record keeps private facts, also where only the message says that it is one."""
    key = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xZ7cF0hJ3lM6"
    told = {"summary": f"He pasted {key}", "causes": ["The user has diabetes", "the menu was too sweet"]}
    recorded = record_turn(vault, "alice", "plan a menu", "Done.", reflection=told)
    record_turn(vault, "alice", "我月薪八萬元，幫我做預算", "好。", reflection="他的薪水是 8 萬")
    text = json.dumps(rows(vault), ensure_ascii=False)
    assert key not in text and "[redacted: token]" in text and "diabetes" in text and "8 萬" in text
    log = daily(vault)
    assert key not in log and "diabetes" not in log and "too sweet" in log and "8 萬" not in log
    assert "8 萬" not in git(vault, "log", "-p") and recorded.redactions == {"token": 1, "health": 1}


def test_what_is_not_to_be_remembered_is_in_no_log(vault: Vault) -> None:
    """The person's own record keeps it, and nothing that git has."""
    recorded = record_turn(vault, "alice", "不要記住這件事：我在找新工作", "好。" * 200, reflection="他想換工作")
    assert "新工作" in rows(vault)[0]["user_message"] and recorded.changes == ()
    assert recorded.reason.startswith("it asks not to be remembered")
    vault.history.flush()
    for word in ("新工作", "換工作"):
        assert word not in daily(vault) and word not in git(vault, "log", "-p")


def test_a_turn_that_waits_has_its_reflection_in_the_log_too(vault: Vault) -> None:
    record_turn(vault, "alice", "hello", "hi", reflection="first", learn=False)
    assert turns_waiting(vault, "alice") == 1 and learn_waiting(vault, "alice") == 0
    assert " · Reflection: first · " in daily(vault)


def test_the_same_turn_delivered_twice_is_one_and_what_it_has_more_is_told(vault: Vault) -> None:
    """D1: lines are only added; nothing is dropped without a word."""
    name: dict[str, Any] = {"conversation_id": "c", "created_at": "2026-01-30T09:00:00+08:00"}
    first = record_turn(vault, "alice", "deploy it", "Done.", reflection=FAILED, **name)
    again = record_turn(vault, "alice", "deploy it", "Done.", reflection=json.dumps(FAILED), **name)
    assert (again.source, again.is_new, again.degraded) == (first.source, False, ())
    other = record_turn(vault, "alice", "deploy it", "Done, twice.", reflection="well", **name)
    assert not other.is_new and "without this reply and this reflection" in other.degraded[0]
    assert record_turn(vault, "alice", "deploy that", "Done.", **name).is_new
    assert [row["user_message"] for row in rows(vault)] == ["deploy it", "deploy that"]


def test_a_time_without_an_offset_is_of_the_vaults_zone(vault: Vault) -> None:
    (vault.root / "vault-memory.toml").write_text('timezone = "Pacific/Auckland"\n')
    record_turn(open_vault(vault.root), "alice", "hello", "hi", created_at="2026-01-30T01:00:00")
    assert rows(vault)[0]["created_at"] == "2026-01-30T01:00:00+13:00"


def test_a_turn_of_the_far_future_is_kept_among_those_of_today(vault: Vault) -> None:
    """It would be the newest one of the history for decades, and its day the newest of the logs."""
    future: dict[str, Any] = {"conversation_id": "c", "created_at": "2099-01-30T09:00:00+08:00"}
    recorded = record_turn(vault, "alice", "from the future", "hi", **future)
    assert recorded.source == f"conversations/{DAY}.jsonl:1" and "2099" in recorded.degraded[0]
    assert rows(vault)[0]["created_at"] == "2099-01-30T09:00:00+08:00" and "from the future" in daily(vault)
    assert not record_turn(vault, "alice", "from the future", "hi", **future).is_new
    record_turn(vault, "alice", "today", "hi")
    assert [turn["user_message"] for _, turn in newest_turns(vault, "alice", 9)] == ["today", "from the future"]
    soon = vault.now() + timedelta(hours=2)
    assert record_turn(vault, "alice", "a clock that is ahead", "hi", created_at=soon).degraded == ()


def test_after_the_clock_has_jumped_back_turns_are_kept_and_learned_from(vault: Vault, clock: Clock) -> None:
    """What was said now changed nothing until the clock had caught up."""
    record_turn(vault, "alice", "I prefer dark mode", "Noted.")
    clock.time -= timedelta(days=400)
    recorded = record_turn(vault, "alice", "I prefer light mode", "Noted.")
    assert recorded.source == "conversations/2024-12-26.jsonl:1" and [each.new for each in recorded.changes] == [
        "light"
    ]
    assert "light" in vault.path("alice", "USER.md").read_text() and "light" in daily(vault, "2024-12-26")
    assert {turn["user_message"] for _, turn in newest_turns(vault, "alice", 9)} == {
        "I prefer dark mode",
        "I prefer light mode",
    }


def test_a_message_of_five_megabytes_is_refused_before_anything_is_written(vault: Vault) -> None:
    with pytest.raises(TooLarge, match="user_message has 5,000,000 characters"):
        record_turn(vault, "alice", "x" * 5_000_000, "hi")
    assert not vault.is_user("alice")


@pytest.mark.slow
def test_long_messages_hide_no_later_turn_of_the_day(vault: Vault) -> None:
    """Of a record of more than 4 MB the rest was not indexed."""
    for _ in range(3):
        record_turn(vault, "alice", "some words. " * (MAX_TEXT_CHARS // 12), "hi", index=False)
    assert record_turn(vault, "alice", "hello", "A heron waits.").degraded == ()
    assert search(vault, "alice", SearchQuery("heron")).hits[0].line_range == (4, 4)


@pytest.mark.parametrize("wrong", [{"reflection": 5}, {"user_message": 5}, {"created_at": "soon"}, {"cid": []}])
def test_what_no_turn_is_is_refused_before_anything_is_written(vault: Vault, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        record_turn(vault, **{"user_id": "alice", "user_message": "hello"} | wrong)
    assert not vault.is_user("alice")
