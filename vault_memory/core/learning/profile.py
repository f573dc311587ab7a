"""A user's learning profile, and what an event changes in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vault_memory.core.learning.event import Event
from vault_memory.core.learning.mastery import updated

MAX_VISITED = 50
QUIZ, HOMEWORK_HELP = "quiz", "homework_help"
"""The intents that are counted."""


@dataclass(frozen=True)
class Topic:
    """A topic's mastery (weak, medium, strong; None where the note has none that can be read), its score from 0 to 1,
    and the day of its last quiz, `2026-01-30`."""

    mastery: str | None = None
    score: float | None = None
    last_seen: str = ""


@dataclass(frozen=True, kw_only=True)
class LearningProfile:
    """What a learner masters, prefers and has done. `topics_visited` are the last 50, the newest last; `problems` says
    in words what of the note could not be understood."""

    topics: Mapping[str, Topic] = field(default_factory=dict)
    preferred_artifact: str | None = None
    difficulty_preference: str | None = None
    quiz_sessions: int = 0
    homework_help_count: int = 0
    topics_visited: tuple[str, ...] = ()
    updated_at: datetime | None = None
    problems: tuple[str, ...] = ()

    @property
    def mastery(self) -> dict[str, str]:
        """Topic → mastery, of those that have one."""
        return {name: topic.mastery for name, topic in self.topics.items() if topic.mastery}

    def as_dict(self, user_id: str) -> dict[str, Any]:
        """The profile as JSON shows it; the time is ISO 8601 with its offset."""
        return {
            "user_id": user_id,
            "mastery": self.mastery,
            "preferences": {
                "preferred_artifact": self.preferred_artifact,
                "difficulty_preference": self.difficulty_preference,
            },
            "history": {
                "quiz_sessions": self.quiz_sessions,
                "homework_help_count": self.homework_help_count,
                "topics_visited": list(self.topics_visited),
            },
            "updated_at": self.updated_at.isoformat(timespec="seconds") if self.updated_at else None,
        }


def learned(profile: LearningProfile, event: Event, at: datetime) -> LearningProfile:
    """The profile after an event: the mastery of its topic, if it says how a quiz went; the count of its intent; the
    topics visited."""
    topics = dict(profile.topics)
    visited = profile.topics_visited
    if event.topic is not None:
        visited = (*(each for each in visited if each != event.topic), event.topic)[-MAX_VISITED:]
        if event.correct_rate is not None:
            before = topics.get(event.topic, Topic())
            mastery, score = updated(before.mastery, before.score, event.correct_rate, event.difficulty)
            topics[event.topic] = Topic(mastery, score, f"{at:%Y-%m-%d}")
    intent = event.intent.casefold().replace("-", "_")
    return replace(
        profile,
        topics=topics,
        quiz_sessions=profile.quiz_sessions + (intent == QUIZ),
        homework_help_count=profile.homework_help_count + (intent == HOMEWORK_HELP),
        topics_visited=visited,
        updated_at=at,
    )
