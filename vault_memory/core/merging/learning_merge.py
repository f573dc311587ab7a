"""Merge three states of LEARNING.md: topics by name, counts by adding up, and the rest as in any note.

What is merged is written into all three states, so that they no longer differ in it when they are merged by property
and line (`property_merge`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from vault_memory.core import learning
from vault_memory.core.learning import LearningProfile, Topic
from vault_memory.core.merging.line_merge import Merged, Newer
from vault_memory.core.merging.property_merge import merge_note
from vault_memory.core.profile import LOCALES, labels_for
from vault_memory.core.text import script_of

_NEVER = datetime.min.replace(tzinfo=UTC)


def merge_learning(base: str | None, ours: str, theirs: str, newer: Newer | None = None) -> Merged:
    """Merge two LEARNING.md. Of a topic that both sides have quizzed the later quiz counts, and of two of one day that
    of the side whose last event is later. A topic that one side has removed is gone, unless the other has quizzed it
    since. Quizzes and helps of both sides are added up."""
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    texts = (base or "", ours, theirs)
    old, one, other = (learning.decode(text.encode("utf-8", "surrogateescape")) for text in texts)
    merged = _merged(old, one, other)
    locale = labels_for(script_of(next(iter(merged.topics), ""))) or LOCALES[0]
    settled = [
        learning.with_learning(text, state, merged, locale)
        for text, state in zip(texts, (old, one, other), strict=True)
    ]
    return merge_note(settled[0], settled[1], settled[2], newer)


def _merged(base: LearningProfile, ours: LearningProfile, theirs: LearningProfile) -> LearningProfile:
    was, mine, yours = base.topics_visited, ours.topics_visited, theirs.topics_visited
    kept = [name for name in mine if name in yours or name not in was]
    new = [name for name in yours if name not in mine and name not in was]
    times = [side.updated_at for side in (ours, theirs) if side.updated_at]
    return LearningProfile(
        topics=_topics(base.topics, ours, theirs),
        quiz_sessions=_added(base.quiz_sessions, ours.quiz_sessions, theirs.quiz_sessions),
        homework_help_count=_added(base.homework_help_count, ours.homework_help_count, theirs.homework_help_count),
        topics_visited=(*kept, *new)[-learning.MAX_VISITED :],
        updated_at=max(times, default=None),
    )


def _topics(base: Mapping[str, Topic], ours: LearningProfile, theirs: LearningProfile) -> dict[str, Topic]:
    merged = {}
    for name in {**ours.topics, **theirs.topics}:
        was, mine, yours = base.get(name), ours.topics.get(name), theirs.topics.get(name)
        if yours == was:
            topic = mine
        elif mine == was:
            topic = yours
        else:
            topic = max((mine, ours), (yours, theirs), key=lambda side: _age(*side))[0]
        if topic is not None:
            merged[name] = topic
    return merged


def _age(topic: Topic | None, side: LearningProfile) -> tuple[bool, str, datetime]:
    """The later, the greater; a topic that is gone comes before all."""
    return topic is not None, topic.last_seen if topic else "", side.updated_at or _NEVER


def _added(base: int, ours: int, theirs: int) -> int:
    return max(0, ours + theirs - base)
