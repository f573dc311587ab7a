"""How a person talks with the assistant, computed from the last turns."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from vault_memory.core.profile.computed import (
    PastTurn,
    TopicMention,
    common_issues,
    feedback_frequency,
    modules,
    question_style,
)

SHORT, LONG = "這是什麼", "我想知道的是這個函式在輸入很大的時候為什麼會變得這麼慢，" * 4
CODE = "```python\nfor x in y:\n    print(x)\n```"


def turns(*messages: str, module: str | None = None, adjusted: int = 0) -> list[PastTurn]:
    return [PastTurn(message, module, number < adjusted) for number, message in enumerate(messages)]


def test_the_most_used_modules_come_first_and_a_rare_one_not_at_all() -> None:
    used = turns(*"123", module="rag-kb") + turns(*"12345", module="coding-agent") + turns(*"12", module="github")
    assert modules(used) == ["coding-agent", "rag-kb"]
    assert len(modules([turn for name in "abcdefg" for turn in turns(*"123", module=name)])) == 5
    assert modules(turns(*"12345")) == []


@pytest.mark.parametrize(
    ("adjusted", "of", "value"),
    [
        (0, 20, "rarely_adjusts"),
        (1, 20, "rarely_adjusts"),
        (2, 20, None),
        (3, 20, None),
        (4, 20, "frequent_adjustments"),
        (3, 9, None),
    ],
)
def test_between_often_and_rarely_the_present_value_stays(adjusted: int, of: int, value: str | None) -> None:
    assert feedback_frequency(turns(*[SHORT] * of, adjusted=adjusted)) == value


@pytest.mark.parametrize(
    ("messages", "value"),
    [
        ([SHORT] * 6 + [LONG] * 4, "brief"),
        ([SHORT] * 5 + [LONG] * 5, "detailed"),
        ([CODE] * 4 + [SHORT] * 6, "code-first"),
        ([SHORT] * 5 + [LONG] * 3 + ["how does this function work when the input is large"] * 2, "brief"),
        (["請問這個函式在輸入很大的時候為什麼會變得這麼慢，是不是演算法的問題"] * 10, None),
        ([SHORT] * 9, None),
    ],
)
def test_question_style(messages: list[str], value: str | None) -> None:
    assert question_style(turns(*messages)) == value


def test_an_issue_is_a_topic_that_returns_on_another_day() -> None:
    """Issue "learning topics": common issues only by repetition."""
    day = date(2026, 1, 30)
    same_day = [TopicMention("遞迴", day)] * 5
    assert common_issues(same_day) == []
    assert common_issues([*same_day, TopicMention("递归", day + timedelta(1))]) == []
    assert common_issues([*same_day, TopicMention("递迴", day + timedelta(1))]) == ["递迴"]
    assert common_issues([TopicMention("指標", day), TopicMention("指標", day + timedelta(1))]) == []
