"""C1: LEARNING.md and its profile, whoever has written it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.learning import (
    MAX_TOPICS,
    Event,
    LearningProfile,
    Topic,
    checked,
    decode,
    learned,
    read_event,
    with_learning,
)
from vault_memory.core.profile import LOCALES
from vault_memory.errors import UsageError

AT = datetime(2026, 1, 30, 14, 5, tzinfo=UTC)
names = (
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["微积分-极限", "a|b", "a\\", "\\|", "---", "| x |", "# x", "- x: 3", "<<<<<<< x", "```"]),
    )
    .map(lambda text: checked("topic", text))
    .filter(bool)
)
events = st.builds(
    Event,
    intent=st.sampled_from(["quiz", "homework_help", "notes"]),
    topic=st.none() | names,
    difficulty=st.sampled_from(["easy", "hard", None]),
    correct_rate=st.none() | st.floats(0, 1),
)


@given(st.lists(events, max_size=8), st.sampled_from(LOCALES), st.sampled_from(["", "\r\n我的筆記\r\n", "# x\n\ntext"]))
def test_any_events_come_back_from_the_note(steps: list[Event], locale: str, begin: str) -> None:
    text, profile = begin, decode(begin.encode())
    for step in steps:
        after = learned(profile, step, AT)
        text = with_learning(text, profile, after, locale)
        profile = decode(text.encode())
        assert profile == after and profile.problems == ()
    assert begin.strip() in text


@given(st.text(), st.binary())
def test_any_text_is_read_and_written(text: str, data: bytes) -> None:
    for each in (text, f"---\n{text}\n---\n## Mastery\n\n| a | b |\n|---|---|\n{text}\n\n## History\n{text}"):
        before = decode(each.encode("utf-8", "replace"))
        after = learned(before, Event(intent="quiz", topic="x", correct_rate=0.5), AT)
        again = decode(with_learning(each, before, after, "en").encode("utf-8", "replace"))
        assert again.topics["x"] == after.topics["x"]
    decode(data)


HAND = """---
preferred_artifact: Notes
difficulty_preference: hard
mine: stays
---
# 我的學習

## 掌握程度

說明

| 主題 | 程度 | 分數 | 上次 | 備註 |
|:--|---|---|---|---|
| 代數 | 強 | 0.2 | 2026-01-01 | 再看一次 |
| 幾何 | ? | x | | |

後面的字

## 學習經歷

- 測驗次數：3
- 心得：不錯
- 學過的主題：
  - 代數
- 作業協助次數：many
"""


def test_a_persons_lines_stay() -> None:
    before = decode(HAND.encode())
    assert (before.preferred_artifact, before.difficulty_preference) == ("notes", "hard")
    assert before.mastery == {"代數": "strong"} and before.quiz_sessions == 3 and before.topics_visited == ("代數",)
    assert [problem.partition(":")[0] for problem in before.problems] == [
        "mastery of '幾何'",
        "score of '幾何'",
        "作業協助次數",
    ]
    quiz = Event(intent="quiz", topic="代數", difficulty="easy", correct_rate=0.8)
    after = learned(before, quiz, AT)
    assert after.topics["代數"] == Topic("strong", 0.84, "2026-01-30")
    after = learned(after, Event(intent="quiz", topic="新|題", correct_rate=1), AT)
    text = with_learning(HAND, before, after, "zh-TW")
    assert (
        "| 代數 | strong | 0.84 | 2026-01-30 | 再看一次 |" in text
        and "| 新\\|題 | medium | 0.66 | 2026-01-30 |\n\n後面" in text
    )
    kept = ["mine: stays", "# 我的學習", "說明", "後面的字", "- 心得：不錯", "| 幾何 | ? | x | | |"]
    assert [line for line in kept if line not in text] == []
    assert (
        "- 測驗次數：5\n" in text
        and "  - 代數\n  - 新|題\n" in text
        and "updated_at: '2026-01-30T14:05:00+00:00'" in text
    )


def test_the_table_is_bounded() -> None:
    topics = {f"t{number}": Topic("weak", 0.1, f"2025-{number % 12 + 1:02}-01") for number in range(MAX_TOPICS)}
    full = with_learning("", LearningProfile(), LearningProfile(topics=topics, updated_at=AT), "en")
    before = decode(full.encode())
    assert len(before.topics) == MAX_TOPICS
    after = learned(before, Event(intent="quiz", topic="new", correct_rate=1), AT)
    kept = decode(with_learning(full, before, after, "en").encode())
    assert len(kept.topics) == MAX_TOPICS and "new" in kept.topics and "t0" not in kept.topics


def test_broken_front_matter_stays() -> None:
    text = "---\na: [\n---\nx\n"
    before = decode(text.encode())
    after = learned(before, Event(intent="quiz"), AT)
    assert with_learning(text, before, after, "en").startswith(text) and before.problems
    assert replace(after, problems=()).quiz_sessions == 1


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (None, "event"),
        ({}, "event.intent"),
        ({"intent": " "}, "event.intent"),
        ({"intent": 3}, "event.intent"),
        ({"intent": "quiz", "topic": ["x"]}, "event.topic"),
        ({"intent": "quiz", "topic": "x" * 201}, "event.topic"),
        ({"intent": "quiz", "metadata": 3}, "event.metadata"),
        ({"intent": "quiz", "metadata": {"difficulty": "brutal"}}, "event.metadata.difficulty"),
        ({"intent": "quiz", "metadata": {"correct_rate": 40}}, "event.metadata.correct_rate"),
        ({"intent": "quiz", "metadata": {"correct_rate": float("nan")}}, "event.metadata.correct_rate"),
        ({"intent": "quiz", "metadata": {"correct_rate": True}}, "event.metadata.correct_rate"),
        ({"intent": "quiz", "metadata": {"correct_rate": "0.4"}}, "event.metadata.correct_rate"),
    ],
)
def test_what_is_wrong_is_named(event: object, field: str) -> None:
    with pytest.raises(UsageError, match=rf"^{field}\b"):
        read_event(event)
