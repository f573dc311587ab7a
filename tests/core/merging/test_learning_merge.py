"""LEARNING.md of two machines is merged by topic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.core import learning
from vault_memory.core.learning import Event, LearningProfile, Topic, learned
from vault_memory.core.merging.learning_merge import merge_learning
from vault_memory.core.merging.merge import merge_file

PATH = PurePosixPath("memory/alice/LEARNING.md")
AT = datetime(2026, 1, 30, 14, 5, tzinfo=UTC)


def quizzed(text: str, topic: str, rate: float = 0.0, *, after_h: float = 0, times: int = 1) -> str:
    """The note after quizzes, so many hours after `AT`."""
    for _ in range(times):
        before = learning.decode(text.encode())
        event = Event(intent="quiz", topic=topic, difficulty="hard", correct_rate=rate)
        text = learning.with_learning(text, before, learned(before, event, AT + timedelta(hours=after_h)), "zh-CN")
    return text


BASE = quizzed("", "极限")


def read(text: str) -> LearningProfile:
    assert "<<<" not in text
    return learning.decode(text.encode())


def test_both_machines_have_quizzed_the_learner() -> None:
    """Of one topic the later quiz counts, all topics stay, counts are added up; ours and theirs are the same."""
    ours = quizzed(quizzed(BASE, "极限", 1.0, after_h=1), "代数", after_h=1)
    theirs = quizzed(quizzed(BASE, "几何", after_h=2), "极限", 1.0, after_h=2, times=2)
    for one, other in ((ours, theirs), (theirs, ours)):
        outcome = merge_learning(BASE, one, other)
        assert outcome.conflicts == 0 and outcome.clashes == ()
        found = read(outcome.text)
        assert found.quiz_sessions == 6 and set(found.topics_visited) == {"极限", "代数", "几何"}
        assert found.topics["极限"] == read(theirs).topics["极限"] and found.topics["代数"] == read(ours).topics["代数"]
        assert found.updated_at == AT + timedelta(hours=2) and outcome.text.count("| 极限 |") == 1


def test_what_a_person_has_written_stays() -> None:
    ours = BASE.replace("| 极限 |", "| 极限 |").replace("---\n##", "preferred_artifact: quiz\n---\nMy words.\n\n##")
    theirs = quizzed(BASE, "极限", 1.0, after_h=1) + "\nTheirs.\n"
    text = merge_learning(BASE, ours, theirs).text
    assert "My words.\n" in text and "Theirs.\n" in text and read(text).preferred_artifact == "quiz"
    set_by_hand = BASE.replace("| weak |", "| strong |").replace("| medium |", "| strong |")
    assert set_by_hand != BASE
    merged = merge_learning(BASE, set_by_hand, quizzed(BASE, "代数", after_h=1)).text
    assert read(merged).mastery["极限"] == "strong" and "代数" in read(merged).mastery
    one, other = (BASE.replace("\n---\n", f"\npreferred_artifact: {name}\n---\n", 1) for name in ("quiz", "notes"))
    assert [clash.key for clash in merge_learning(BASE, one, other, lambda key: "theirs").clashes] == [
        "preferred_artifact"
    ]


def test_a_removed_topic_is_gone_unless_it_was_quizzed_since() -> None:
    base = quizzed(BASE, "代数")
    without = "".join(line for line in base.splitlines(keepends=True) if not line.startswith("| 代数 |"))
    assert "代数" not in read(merge_learning(base, without, quizzed(base, "极限", after_h=1)).text).topics
    assert "代数" in read(merge_learning(base, without, quizzed(base, "代数", after_h=1)).text).topics


def test_both_machines_have_begun_the_note() -> None:
    ours, theirs = quizzed(quizzed("", "a"), "b"), quizzed(quizzed("", "b", 1.0, after_h=1), "c", after_h=1)
    merged = merge_file(PATH, None, ours.encode(), theirs.encode())
    assert merged is not None and merged.conflicts == 0
    found = read(merged.text)
    assert set(found.topics) == {"a", "b", "c"} and found.quiz_sessions == 4
    assert found.topics["b"] == read(theirs).topics["b"] and merged.text.count("| b |") == 1


quizzes = st.lists(
    st.tuples(st.sampled_from(["极限", "代数", "a|b", "c"]), st.floats(0, 1), st.integers(0, 40)), max_size=6
)


def _all(text: str, events: list[tuple[str, float, int]], later_h: float = 0) -> str:
    for topic, rate, hours in sorted(events, key=lambda each: each[2]):
        text = quizzed(text, topic, rate, after_h=hours + later_h)
    return text


@settings(max_examples=60, deadline=None)
@given(quizzes, quizzes, quizzes)
def test_no_quiz_is_lost(
    before: list[tuple[str, float, int]], mine: list[tuple[str, float, int]], yours: list[tuple[str, float, int]]
) -> None:
    base = _all("", before)
    ours, theirs = _all(base, mine), _all(base, yours, 0.5)  # no two events at one instant: equal notes are one
    there, back = (read(merge_learning(base, *sides).text) for sides in ((ours, theirs), (theirs, ours)))
    assert there.quiz_sessions == back.quiz_sessions == len(before) + len(mine) + len(yours)
    assert set(there.topics) == set(back.topics) == {topic for topic, *_ in (*before, *mine, *yours)}
    for name in there.topics:
        assert there.topics[name] in (read(ours).topics.get(name), read(theirs).topics.get(name))
    assert Topic() not in there.topics.values()
