"""The merge policy: what signals change in USER.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.profile.evidence import Evidence, counts_in, newest_rows
from vault_memory.core.profile.policy import Change, Op, Signal, Strength, merge, versions
from vault_memory.core.profile.profile import Profile, new_profile


def after(profile: Profile, changes: Sequence[Change]) -> Profile:
    return Profile.decode(versions(profile, changes)[-1]) if changes else profile


def counts_of(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """The counts in a file with these rows, oldest first."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    return counts_in(newest_rows(data, b'"key"'))


class Person:
    """A profile and its evidence, through one signal after the other."""

    def __init__(self) -> None:
        self.profile = new_profile("zh-TW", language="zh-TW", timezone="Asia/Taipei", joined="2026-01-30")
        self.rows: list[Mapping[str, Any]] = []
        self.changes: list[Change] = []

    def hears(self, key: str, value: str, strength: Strength = "adjustment", op: Op | None = None) -> list[str]:
        kind: Op = op or ("set" if key in ("theme", "response_style") else "add")
        changes, evidence = merge(self.profile, [Signal(key, kind, value, strength)], counts_of(self.rows))
        self.profile = after(self.profile, changes)
        self.rows += [e.row() for e in evidence]
        self.changes += changes
        return [change.summary() for change in changes]


def test_phase_d_first_adjustment_is_recorded_at_once_and_the_third_is_strong() -> None:
    """A13, A18 row 8: 「改暗色主題」 three times."""
    alice = Person()
    assert alice.hears("theme", "dark") == ["theme = dark"]
    assert alice.hears("theme", "dark") == []
    assert alice.hears("theme", "dark") == ["theme = dark (strong)"]
    assert alice.profile.is_strong("theme", "dark")
    assert [row["count"] for row in alice.rows] == [1, 2, 3]
    assert [row["suggested_default"] for row in alice.rows] == [False, False, True]


def test_an_observation_never_replaces_a_value() -> None:
    alice = Person()
    alice.hears("theme", "dark", "adjustment")
    assert alice.hears("theme", "light", "observed") == []
    assert alice.hears("theme", "dark", "observed") == []
    assert alice.rows[-1]["count"] == 1, "an observation names nothing"


def test_an_adjustment_replaces_what_is_not_strong_and_weakens_what_is() -> None:
    alice = Person()
    for _ in range(3):
        alice.hears("theme", "dark")
    assert alice.hears("theme", "light") == ["theme = dark (no longer strong)"]
    assert alice.profile.get("theme") == "dark"
    assert alice.hears("theme", "light") == ["theme = light"]


def test_a_fourth_naming_takes_two_contradictions_to_weaken() -> None:
    alice = Person()
    for _ in range(4):
        alice.hears("theme", "dark")
    assert alice.hears("theme", "light") == []
    assert alice.hears("theme", "light") == ["theme = dark (no longer strong)"]


def test_an_explicit_contradiction_replaces_even_a_strong_value_and_resets_the_count() -> None:
    alice = Person()
    for _ in range(5):
        alice.hears("theme", "dark")
    assert alice.hears("theme", "light", "explicit") == ["theme = light"]
    assert alice.hears("theme", "dark") == ["theme = dark"]
    assert alice.rows[-1]["count"] == 1


def test_the_hand_that_deletes_the_mark_wins_over_the_evidence() -> None:
    alice = Person()
    for _ in range(3):
        alice.hears("theme", "dark")
    alice.profile = Profile.parse(alice.profile.text.replace("（強偏好）", ""))
    assert alice.hears("theme", "dark") == []
    assert alice.hears("theme", "light") == ["theme = light"]


def test_the_hand_that_writes_the_mark_is_believed() -> None:
    alice = Person()
    alice.profile = alice.profile.put("theme", "dark", strong=True)
    assert alice.hears("theme", "light") == ["theme = dark (no longer strong)"]


def test_lists_gather_and_strengthen_their_members() -> None:
    alice = Person()
    assert alice.hears("languages", "Python", "observed") == ["languages += Python"]
    assert alice.hears("languages", "python", "observed") == []
    alice.hears("languages", "Python", "explicit")
    alice.hears("languages", "Python", "explicit")
    assert alice.hears("languages", "Python", "explicit") == ["languages = Python (strong)"]
    assert alice.hears("languages", "Go", "explicit") == ["languages += Go"]
    assert alice.hears("languages", "PYTHON", "explicit", "remove") == ["languages -= Python"]
    assert alice.profile.get("languages") == ["Go"]


def test_removing_what_is_not_there_changes_nothing() -> None:
    alice = Person()
    alice.hears("theme", "dark")
    assert alice.hears("theme", "light", "explicit", "remove") == []
    assert alice.hears("theme", "dark", "explicit", "remove") == ["theme -= dark"]
    assert alice.profile.get("theme") is None


def test_what_is_no_key_or_no_value_is_dropped() -> None:
    alice = Person()
    assert alice.hears("theme", "purple", "explicit", "set") == []
    assert alice.hears("admin", "true", "explicit", "set") == []
    assert alice.hears("display_name", "\u200b", "explicit", "set") == []
    assert alice.rows == []


def test_broken_lines_of_evidence_do_not_count() -> None:
    assert counts_of([{"key": "theme", "current": "dark", "count": "3"}, {"key": "x"}, {}]) == {}


_signals = st.builds(
    Signal,
    st.sampled_from(["theme", "languages", "recent_topics", "note"]),
    st.sampled_from(["set", "add", "remove"]),
    st.sampled_from(["dark", "light", "Python", "Go", "python"]),
    st.sampled_from(["explicit", "adjustment", "observed", "manual"]),
)


@given(st.lists(_signals, max_size=25))
def test_one_batch_is_the_same_as_one_by_one(signals: list[Signal]) -> None:
    start = new_profile("en", language="en", timezone="UTC", joined="2026-01-30")
    changes, evidence = merge(start, signals, {})
    profile, rows = start, list[Mapping[str, Any]]()
    single: list[Evidence] = []
    for signal in signals:
        made, told = merge(profile, [signal], counts_of(rows))
        assert len(made) <= 1
        profile = after(profile, made)
        rows += [e.row() for e in told]
        single += told
    assert profile.text == after(start, changes).text
    assert single == evidence


def test_a_topic_named_again_comes_to_the_front_whatever_its_script() -> None:
    """Issue "learning topics": newest first, no duplicates, never more than the bound."""
    alice = Person()
    for number in range(12):
        alice.hears("recent_topics", f"主題 {number}", "observed")
    assert alice.profile.get("recent_topics") == [f"主題 {n}" for n in range(11, 1, -1)]
    assert alice.hears("recent_topics", "主题 5", "observed") == ["recent_topics += 主題 5"]
    assert alice.profile.get("recent_topics") == [f"主題 {n}" for n in (5, 11, 10, 9, 8, 7, 6, 4, 3, 2)]
    assert alice.hears("recent_topics", "主题5", "observed") == [], "it is the newest already"


def test_a_list_that_is_not_bounded_keeps_its_order() -> None:
    alice = Person()
    for name in ("Python", "Go", "Rust"):
        alice.hears("languages", name, "observed")
    assert alice.hears("languages", "Python", "explicit") == []
    assert alice.profile.get("languages") == ["Python", "Go", "Rust"]
