"""What is told of a life, and what is learned from it: where one moves, how long one rows (rows B5, E4)."""

from __future__ import annotations

import pytest

from vault_memory.core.extraction import extract, load_lexicon
from vault_memory.services.turns.lived import as_lived


def zones(said: str, stored: str = "Asia/Taipei") -> list[str]:
    """The time zones that are surely learned from a message."""
    existing = {"timezone": stored} if stored else {}
    signals = as_lived(extract(said, "", existing), said, existing, load_lexicon())
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


def levels(said: str) -> list[str]:
    signals = as_lived(extract(said), said, {}, load_lexicon())
    return [each.value for each in signals if each.key == "level"]


@pytest.mark.parametrize(
    "said", ["I've been rowing for six years now", "I've been playing the cello for ten years", "我划船划了六年"]
)
def test_how_long_one_goes_in_for_a_pastime_is_no_level(said: str) -> None:
    assert levels(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I've been coding for six years",
        "I've been a DBA for nineteen years, so skip the basics",
        "I've been restoring pianos thirty years, skip the primer on what a hammer is",
        "我是新手",
    ],
)
def test_a_level_of_the_trade_or_of_the_answers_stays(said: str) -> None:
    assert levels(said) != []
