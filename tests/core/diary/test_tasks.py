"""A task's summary in MEMORY.md: an entry of its own, or the outcome of the one that its turn has made."""

from __future__ import annotations

from datetime import datetime

import pytest

from vault_memory.core.diary import outcome, tasks

AT = datetime(2026, 1, 30, 14, 5)


def entry(locale: str = "zh-TW", request: str = "泡茶", at: datetime = AT) -> str:
    return tasks.with_turn("", at, request, "rag-kb", outcome(None, locale), locale, is_reply=False)


def lines(summary: str) -> list[str]:
    return tasks.bullets(summary, lambda value: value)


@pytest.mark.parametrize(
    ("locale", "outcome", "line"),
    [
        ("zh-TW", "失敗", "- 結果：失敗"),
        ("zh-CN", "成功", "- 结果：成功"),
        ("en", "成功", "- Result: success"),
        ("en", "3 of 5", "- Result: 3 of 5"),
    ],
)
def test_the_entry_of_the_turn_gets_the_outcome(locale: str, outcome: str, line: str) -> None:
    """A9: in the language of the entry, whatever that of the summary is."""
    before = entry(locale)
    after = tasks.with_task(before, AT, lines(f"- 任務：泡茶\n- 模組：rag-kb\n- 結果：{outcome}\n"))
    assert line in after.splitlines() and len(after.splitlines()) == len(before.splitlines())
    assert tasks.with_task(after, AT, lines("- 任務：泡茶\n")) == after


def test_an_entry_that_has_its_outcome_is_another_tasks() -> None:
    done = tasks.with_task(entry(), AT, lines("- 任務：泡茶\n- 結果：成功"))
    twice = tasks.with_task(done, AT, lines("- 任務：泡茶\n- 結果：失敗"))
    assert twice.startswith(done) and twice.endswith("\n## 2026-01-30 14:05\n- 任務：泡茶\n- 結果：失敗\n")


@pytest.mark.parametrize("minutes", [-30, 30])
def test_an_entry_of_another_time_is_another_tasks(minutes: int) -> None:
    before = entry(at=AT.replace(minute=30) if minutes > 0 else AT.replace(hour=13))
    assert tasks.with_task(before, AT, lines("- 任務：泡茶\n- 結果：成功")).startswith(before)


def test_a_long_request_is_known_by_its_beginning() -> None:
    request = "泡茶的方法 " * 60
    after = tasks.with_task(entry(request=request), AT, lines(f"- 任務：{request[:150]}\n- 結果：成功"))
    assert after.count("## ") == 1 and "- 結果：成功\n" in after


def test_a_summary_is_bullets_of_one_line() -> None:
    found = lines("- 任務：一行\n## 不是標題\n- 模組：None\n- 使用 Skill：github\n")
    assert found == ["- 任務：一行 ## 不是標題", "- 使用 Skill：github"]
    assert lines("did the thing") == ["- did the thing"] and lines(" \n") == []
    assert tasks.with_task("## 2026-99-99 10:00\n- 任務：泡茶\n", AT, lines("- 任務：泡茶")).count("## ") == 2


def turn(text: str, code: int, request: str = "泡茶", *, is_reply: bool = True) -> str:
    return tasks.with_turn(text, AT, request, "", outcome(code, "zh-TW"), "zh-TW", is_reply=is_reply)


def test_a_task_is_150_characters_of_the_request_and_no_skill_makes_no_line() -> None:
    """A9."""
    assert turn("", 0, "茶" * 151) == f"# 長期記憶\n\n## 2026-01-30 14:05\n- 任務：{'茶' * 150}…\n- 結果：成功\n"
    assert f"- 任務：{'茶' * 150}\n" in turn("", 0, "茶" * 150)


def test_a_reply_that_follows_one_that_broke_off_is_of_the_same_task() -> None:
    broken = turn("", 1)
    assert turn(broken, 0) == broken.replace("失敗", "成功") and turn(turn(broken, 0), 0).count("## ") == 2
    assert turn(broken, 0, is_reply=False).count("## ") == 2, "asked again, it is another task"
    mine = broken.replace("任務：泡茶", "任務：泡茶（烏龍）")
    assert turn(mine, 0).startswith(mine) and turn(mine, 0).count("## ") == 2
