"""A person's git commands, edits and turns in any order, against a model of what each branch and stash must hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.persons_git import Person

pytestmark = pytest.mark.slow

STEPS = st.lists(st.sampled_from(sorted(set(Person.STEPS))), min_size=6, max_size=16)


def check(seed: int, steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environ:
        environ.setenv("GIT_CONFIG_GLOBAL", str(Path(folder, "gitconfig")))
        person = Person(Path(folder), seed)
        for step in steps:
            person.step(step)
        person.finish()
        assert not person.told, person.told


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1_000_000), STEPS)
@example(1, ["edit", "switch", "edit", "merge", "merge"])
@example(2, ["edit", "stage", "stash", "switch", "stash_drop", "switch"])
@example(3, ["edit", "stage", "reset_hard", "edit", "stage", "unstage", "checkout_file"])
@example(4, ["edit", "slow_switch", "edit", "slow_switch", "pull", "pull"])
@example(5, ["switch", "edit", "commit", "switch", "edit", "rebase", "cherry_pick", "detach"])
def test_nothing_goes_where_nobody_brought_it(seed: int, steps: list[str]) -> None:
    check(seed, steps)


@pytest.mark.soak
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1_000_000), STEPS)
def test_nothing_goes_where_nobody_brought_it_in_a_long_time(seed: int, steps: list[str]) -> None:
    check(seed, steps)
