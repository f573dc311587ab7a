"""What an intent router is told before it judges a message: by templates, no model is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vault_memory.core.learning.profile import LearningProfile
from vault_memory.core.learning.session import SessionContext
from vault_memory.core.profile import LOCALES
from vault_memory.core.text import chinese_of, script_of

_SAID = {
    "quiz": (
        "使用者剛做過{topic}練習題",
        "用户刚做过{topic}练习题",
        "The user has just done a quiz{topic}",
    ),
    "explanation": (
        "使用者剛看過{topic}講解",
        "用户刚看过{topic}讲解",
        "The user has just read an explanation{topic}",
    ),
    "notes": ("使用者剛看過{topic}筆記", "用户刚看过{topic}笔记", "The user has just got notes{topic}"),
    "flashcards": ("使用者剛用過{topic}字卡", "用户刚用过{topic}闪卡", "The user has just used flashcards{topic}"),
    "homework": (
        "使用者剛問過{topic}作業",
        "用户刚问过{topic}作业",
        "The user has just asked for help with homework{topic}",
    ),
}
"""By what the name of an artifact, or of an intent, has in it."""
_OTHER = ("使用者剛用過{topic}{name}", "用户刚用过{topic}{name}", "The user has just used {name}{topic}")
_TOPIC_ALONE = ("使用者剛學過{topic}", "用户刚学过{topic}", "The user is at work{topic}")
_EARLIER = ("使用者之前學過{topic}", "用户之前学过{topic}", "The user has worked{topic} before")


@dataclass(frozen=True)
class MemorySummary:
    """The topic of the session, the mastery of it (None: unknown), and what the learner has just done, in words; empty
    where nothing is known."""

    topic_hint: str | None = None
    user_mastery_hint: str | None = None
    recent_behavior: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "topic_hint": self.topic_hint,
            "user_mastery_hint": self.user_mastery_hint,
            "recent_behavior": self.recent_behavior,
        }


def summarized(profile: LearningProfile, context: SessionContext | None, locale: str) -> MemorySummary:
    """The summary of a learner in a session; `locale` is the language of what holds no Chinese of one script, one of
    `LOCALES`."""
    topic = context.current_topic if context else None
    topics = profile.topics_visited
    column = LOCALES.index(_locale_of(topic or (topics[-1] if topics else ""), locale))
    if context and (name := context.last_artifact or next(reversed(context.recent_intents), None)):
        kind = next((kind for kind in _SAID if kind in name.casefold()), "")
        said = _SAID.get(kind, _OTHER)[column].format(topic=_short(topic, column), name=name)
    elif topic:
        said = _TOPIC_ALONE[column].format(topic=_short(topic, column))
    else:
        said = _EARLIER[column].format(topic=_short(topics[-1], column)) if topics else ""
    found = profile.topics.get(topic) if topic else None
    return MemorySummary(topic, found.mastery if found else None, said)


def _locale_of(topic: str, locale: str) -> str:
    chinese = chinese_of(topic)
    if chinese in LOCALES:
        return chinese
    return "en" if topic and script_of(topic) == "und" else locale


def _short(topic: str | None, column: int) -> str:
    """The last part of a topic, 极限 of 微积分-极限, as a sentence has it."""
    if topic is None:
        return ""
    last = topic.rpartition("-")[2].strip() or topic
    return f" on {last}" if LOCALES[column] == "en" else last
