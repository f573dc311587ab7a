"""C3: the summary for an intent router."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from vault_memory.core.learning import (
    SESSION_TTL_S,
    LearningProfile,
    SessionContext,
    Topic,
    context_in,
    summarized,
    went_on,
    with_context,
)

AT = datetime(2026, 1, 30, 14, 5, tzinfo=UTC)
LEARNER = LearningProfile(topics={"微积分-极限": Topic("weak", 0.2)}, topics_visited=("微积分-极限",))


def test_the_summary_of_the_design() -> None:
    """C3: as the design prints it."""
    context = SessionContext(session_id="s", current_topic="微积分-极限", last_artifact="quiz_set")
    assert summarized(LEARNER, context, "zh-TW").as_dict() == {
        "topic_hint": "微积分-极限",
        "user_mastery_hint": "weak",
        "recent_behavior": "用户刚做过极限练习题",
    }


@pytest.mark.parametrize(
    ("topic", "artifact", "intents", "said"),
    [
        ("三角-餘弦", "notes_document", (), "使用者剛看過餘弦筆記"),
        ("calculus-limits", "flashcards", (), "The user has just used flashcards on limits"),
        ("calculus", None, ("quiz", "homework_help"), "The user has just asked for help with homework on calculus"),
        ("calculus", "mind_map", (), "The user has just used mind_map on calculus"),
        ("calculus", None, (), "The user is at work on calculus"),
        (None, "quiz_set", (), "使用者剛做過練習題"),
    ],
)
def test_what_was_just_done(topic: str | None, artifact: str | None, intents: tuple[str, ...], said: str) -> None:
    context = SessionContext(session_id="s", current_topic=topic, last_artifact=artifact, recent_intents=intents)
    found = summarized(LearningProfile(), context, "zh-TW")
    assert (found.topic_hint, found.user_mastery_hint, found.recent_behavior) == (topic, None, said)


def test_without_a_session_the_profile_speaks() -> None:
    assert summarized(LEARNER, None, "zh-TW").recent_behavior == "用户之前学过极限"
    assert summarized(LearningProfile(), None, "en").as_dict() == {
        "topic_hint": None,
        "user_mastery_hint": None,
        "recent_behavior": "",
    }


def test_topics_flow_and_lists_stay_short() -> None:
    """C5: topic flow and session growth."""
    context = went_on(SessionContext(session_id="s"), AT, "quiz", "a", "quiz_set", "x" * 5_000)
    assert len(context.last_user_message) == 1_000
    context = went_on(context, AT, "explain", "b")
    assert (context.current_topic, context.last_artifact, context.recent_intents) == (
        "b",
        "quiz_set",
        ("quiz", "explain"),
    )
    for number in range(100):
        context = went_on(context, AT, f"i{number}")
    assert len(context.recent_intents) == 20 and context.recent_intents[-1] == "i99" and context.current_topic == "b"
    kept = with_context(None, context, AT)
    assert context_in(kept, "s", AT) == context and context_in(kept, "other", AT) is None
    assert context_in(kept, "s", AT + timedelta(seconds=SESSION_TTL_S)) is None
    odd = json.dumps({"s": {"recent_intents": 3, "updated_at": AT.isoformat(), "current_topic": []}, "t": 7})
    assert context_in(odd, "s", AT) == SessionContext(session_id="s", updated_at=AT)
    assert context_in(odd, "t", AT) is None and context_in("[]", "s", AT) is None
