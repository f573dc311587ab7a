"""A model's wording against the words of a person."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.text.wording import is_carried, share


@pytest.mark.parametrize(
    ("wording", "quote", "elsewhere"),
    [
        ("The user works the night shift", "I work the night shift", ""),
        ("使用者喜歡咖啡", "我喜歡咖啡", ""),
        ("用户养了一只柯基", "我養了一隻柯基", ""),
        ("喜歡手沖咖啡", "我喜歡手沖咖啡，每天一杯", ""),
        ("The student doesn't eat peanuts", "I don't eat peanuts", ""),
        ("用 Postgres 存訂單", "我們決定用 Postgres", "訂單要存在哪裡？我想存訂單"),
    ],
)
def test_what_says_no_more_is_carried(wording: str, quote: str, elsewhere: str) -> None:
    assert is_carried(wording, quote, elsewhere) == (not elsewhere or share(wording, quote) >= 2 / 3)


@pytest.mark.parametrize(
    ("wording", "quote"),
    [
        ("The user hates the night shift", "I work the night shift"),
        ("使用者不喜歡咖啡", "我喜歡咖啡"),
        ("使用者喜歡咖啡", "我不喜歡咖啡"),
        ("The user likes oat milk", "I don't like oat milk"),
        ("The user likes tea", "I liked tea as a child"),
        ("使用者住在台中", "我以前住在台中"),
        ("使用者住在巴黎", "我喜歡咖啡"),
        ("使用者喜歡咖啡和紅茶", "我喜歡咖啡"),
        ("the user", "I like it"),
        ("", "I like it"),
        ("…", "我喜歡咖啡"),
    ],
)
def test_what_says_more_or_the_contrary_is_not(wording: str, quote: str) -> None:
    assert not is_carried(wording, quote)


def test_most_of_it_must_stand_in_the_quote() -> None:
    assert is_carried("likes strong black coffee", "I like strong coffee", "the coffee is black")
    assert not is_carried("likes black tea machines", "I like tea", "my boss bought black machines")


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_share_is_a_share(wording: str, said: str) -> None:
    assert 0 <= share(wording, said) <= 1


@given(st.text(alphabet="abcdefgh 我喜歡咖啡茶", min_size=3, max_size=40))
def test_words_carry_themselves(words: str) -> None:
    assert share(words, words) in (0, 1)
