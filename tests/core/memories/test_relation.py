"""B5: what differs in a name, a direction or an order is another case, however much else is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import pace
from tests.core.memories.relations import SAME, TWO
from vault_memory.core.memories import is_another_case, relation

_WORDS = "anna ben manages 小 明 喜欢 before after from to by is , and tea".split()  # noqa: SIM905
WORDS = st.lists(st.sampled_from(_WORDS), max_size=10)


@pytest.mark.parametrize(("one", "other"), TWO)
def test_a_relation_that_is_turned_or_of_others_is_another_case(one: str, other: str) -> None:
    assert is_another_case(one, other) and is_another_case(other, one)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_in_another_order_is_none(one: str, other: str) -> None:
    assert not is_another_case(one, other) and not is_another_case(other, one)


@pytest.mark.parametrize(
    ("one", "other", "is_turned"),
    [
        ("Anna manages Ben", "Ben is managed by Anna", False),
        ("Anna manages Ben", "Anna is managed by Ben", True),
        ("the cat before the dog", "the dog after the cat", False),
        ("the cat before the dog", "the dog before the cat", True),
        ("tea before coffee, then milk", "milk, then tea before coffee", False),
        ("tea, milk and rice", "rice, milk and tea", False),
        ("", "Anna", False),
    ],
)
def test_an_opposite_and_a_passive_turn_it_once_more(one: str, other: str, is_turned: bool) -> None:
    assert relation.is_turned(one, other) == relation.is_turned(other, one) == is_turned


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_it_is_symmetric_and_no_text_is_turned_to_itself(one: str, other: str) -> None:
    assert relation.is_turned(one, other) == relation.is_turned(other, one)
    assert not relation.is_turned(one, one) and not relation.is_turned(f"{one}, {other}", f"{one}, {other}")


def test_the_worst_text_takes_little_and_longer_ones_are_not_compared() -> None:
    words = [f"w{chr(97 + n)}{chr(97 + m)}" for n in range(8) for m in range(8)][: relation.MAX_WORDS]
    one, other = " ".join(words), " ".join(reversed(words))
    assert relation.is_turned(one, other) and not relation.is_turned(f"{one} x", f"{other} x")
    assert pace.seconds(lambda: relation.is_turned(one, other)) <= 10 * pace.usual_fixed_work()
