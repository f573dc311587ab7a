"""A person's git commands, edits and turns in any order, against a model of what each branch and stash must hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.conftest import forget_the_machine
from tests.persons_git import Person

pytestmark = pytest.mark.slow

STEPS = st.lists(st.sampled_from(sorted(set(Person.STEPS))), min_size=6, max_size=16)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Person:
    """A person who has done nothing yet, to be copied."""
    with pytest.MonkeyPatch.context() as environ:
        forget_the_machine(environ, tmp_path_factory.mktemp("home"))
        return Person(tmp_path_factory.mktemp("template"), 0)


def check(template: Person, seed: int, steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as environ:
        environ.setenv("GIT_CONFIG_GLOBAL", str(Path(folder, "gitconfig")))
        person = Person(Path(folder), seed, template)
        for step in steps:
            person.step(step)
        person.finish()
        assert not person.told, person.told


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1_000_000), steps=STEPS)
@example(seed=1, steps=["edit", "switch", "edit", "merge", "merge"])
@example(seed=2, steps=["edit", "stage", "stash", "switch", "stash_drop", "switch"])
@example(seed=3, steps=["edit", "stage", "reset_hard", "edit", "stage", "unstage", "checkout_file"])
@example(seed=4, steps=["edit", "slow_switch", "edit", "slow_switch", "pull", "pull"])
@example(seed=5, steps=["switch", "edit", "commit", "switch", "edit", "rebase", "cherry_pick", "detach"])
def test_nothing_goes_where_nobody_brought_it(template: Person, seed: int, steps: list[str]) -> None:
    check(template, seed, steps)


@pytest.mark.soak
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 1_000_000), steps=STEPS)
def test_nothing_goes_where_nobody_brought_it_in_a_long_time(template: Person, seed: int, steps: list[str]) -> None:
    check(template, seed, steps)
