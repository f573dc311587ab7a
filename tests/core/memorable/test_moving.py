"""Who moves takes the time of the new place (rows B5, E4)."""

from __future__ import annotations

import pytest

from vault_memory.core.extraction import extract, load_lexicon
from vault_memory.core.memorable import with_zone_of_move


def zones(said: str, stored: str = "Asia/Taipei") -> list[str]:
    """The time zones that are surely learned from a message."""
    existing = {"timezone": stored} if stored else {}
    signals = with_zone_of_move(extract(said, "", existing), said, existing, load_lexicon())
    return [each.value for each in signals if each.key == "timezone" and not each.is_suggestion]


@pytest.mark.parametrize(
    "said",
    [
        "我搬去伦敦了",
        "我上個月搬去倫敦了",
        "I moved to London",
        "I've moved to London",
        "We moved to London last month",
        "I moved to London from Taipei",
    ],
)
def test_the_zone_of_the_new_place_takes_the_place_of_the_old(said: str) -> None:
    assert zones(said) == ["Europe/London"]


@pytest.mark.parametrize(
    "said",
    [
        "我姐姐搬去倫敦了",
        "我想搬去倫敦",
        "I might move to London",
        "I used to live in London",
        "We moved the office to London",
        "我搬去高雄了",
        "I'm in London this week",
    ],
)
def test_no_zone_of_where_nobody_moved(said: str) -> None:
    assert zones(said) == []


def test_without_a_stored_zone_the_words_decide_as_before() -> None:
    assert zones("我搬去倫敦了", "") == []
