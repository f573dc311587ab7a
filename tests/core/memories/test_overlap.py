"""B5: how much of their words two memories share, and which of them are two cases of one kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import pace
from vault_memory.core.memories import SAMPLED, SIMILAR, is_another_case, is_same, likeness, overlap, sketch
from vault_memory.core.memories.overlap import MAX_UNITS, units

_WORDS = "use jwt for auth 我 喜歡 喜欢 咖啡 web1 web2 Bob 5 , 。 the login server".split()  # noqa: SIM905
WORDS = st.lists(st.sampled_from(_WORDS), max_size=12)
TEXTS = st.one_of(st.text(max_size=60), WORDS.map(" ".join), WORDS.map("".join))


@given(TEXTS, TEXTS)
def test_it_is_symmetric_from_0_to_1_and_1_for_the_same(one: str, other: str) -> None:
    score = overlap(one, other)
    assert score == overlap(other, one) and 0 <= score <= 1
    assert overlap(one, one) == 1 and is_same(one, one) and not is_another_case(one, one)
    assert is_another_case(one, other) == is_another_case(other, one)


@given(TEXTS, TEXTS)
def test_a_sketch_tells_it_where_it_is_whole(one: str, other: str) -> None:
    assert len(units(one)) < MAX_UNITS and len(units(other)) < MAX_UNITS
    assert likeness(sketch(one), sketch(other)) == overlap(one, other)
    assert all(0 <= number < 1 << 63 for number in sketch(one))


def test_the_sketches_of_long_texts_are_alike_like_the_texts() -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(400)]
    one = " ".join(words[:200])
    assert likeness(sketch(one), sketch(" ".join(words[20:220]))) > SAMPLED
    assert likeness(sketch(one), sketch(" ".join(words[200:]))) == 0


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Use JWT for login", "use the JWT at login!", 3 / 5),
        ("我喜歡咖啡", "我喜欢喝咖啡", 3 / 6),
        ("部署", "部署", 1.0),
        ("to be", "or is", 0.0),
        ("", "x", 0.0),
        ("I use ＪＷＴ", "i USE jwt", 1.0),
    ],
)
def test_words_and_pairs_of_characters(one: str, other: str, expected: float) -> None:
    assert overlap(one, other) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Build 41 of the server failed", "Build 42 of the server failed"),
        ("Server web1 was restarted", "Server web2 was restarted"),
        ("Server web was restarted", "Server web2 was restarted"),
        ("Upgraded nginx to 1.2.3", "Upgraded nginx to 1.2.4"),
        ("v1.5 of the tool is out", "v15 of the tool is out"),
        ("The backup of 2026-01-05 is fine", "The backup of 2026-01-06 is fine"),
        ("host eu-west is slow today", "host eu-east is slow today"),
        ("the owner is Bob", "the owner is Carol"),
        ("Bob 有正式環境的權限", "Carol 有正式環境的權限"),
        ("Meeting on Monday with the team", "Meeting on Friday with the team"),
        ("第三個會議改到星期五下午", "第四個會議改到星期五下午"),
        ("會議改到星期五下午", "會議改到星期六下午"),
        ("The key rotates every 90 days", "The key rotates every 30 days"),
        ("我喜歡茶", "我喜歡狗"),
        ("I like tea", "I like coffee"),
        ("I like C", "I like C++"),
        ("budget is 5 %", "budget is 50 %"),
        ("it is -5 degrees outside", "it is 5 degrees outside"),
    ],
)
def test_one_template_in_which_something_differs_is_two_cases(one: str, other: str) -> None:
    """B5: templated notes that differ in one number are never merged away, nor held back."""
    assert is_another_case(one, other) and not is_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("部署前要跑完整測試", "部署前必須跑完整測試"),
        ("Use JWT for auth, mobile has no cookies", "Use JWT tokens for auth since mobile has no cookies"),
        ("Always run tests before a deploy", "Must run tests before a deploy"),
        ("用 JWT 登入，因為手機版沒有 cookie", "用 JWT 登入，手機版沒有 cookie"),
        ("Deploy takes 5 minutes", "deploy takes about 5 minutes"),
        ("I have a dog, a corgi", "my dog is a corgi"),
    ],
)
def test_the_same_in_other_words_is_no_other_case(one: str, other: str) -> None:
    assert overlap(one, other) >= SIMILAR and not is_another_case(one, other)


def test_a_long_text_takes_its_length() -> None:
    def seconds(size: int) -> float:
        text = "word Corgi 星期五 web1. " * size
        return pace.seconds(lambda: (overlap(text, f"{text}x"), is_another_case(text, f"{text}x")))

    seconds(10)
    assert seconds(800) <= 30 * seconds(80) + pace.usual_fixed_work()
