"""A language that is liked is no order to answer in it (rows A8, E4)."""

from __future__ import annotations

import pytest

from vault_memory.core.extraction import extract, extract_by_rules
from vault_memory.core.memorable import memorable

LIKED = """
    I like Portuguese
    我喜歡法文
    I love Italian
    I really like French
    我很喜歡日文
    I love Korean food
    我超愛日文
    I enjoy Spanish
    法文我很喜歡
    I like German wine
    Italian is my favourite
    I adore Italian
    我愛英文
    我也喜歡西班牙文
    I like English and French
"""
WISHED = {
    "Answer in Portuguese": "pt",
    "I prefer Portuguese": "pt",
    "speak Portuguese to me": "pt",
    "用法文回答": "fr",
    "我比較喜歡你用法文": "fr",
    "I like it when you answer in French": "fr",
    "我喜歡你用日文回答我": "ja",
    "I'd like Spanish please": "es",
    "以後都用英文": "en",
    "please reply in German": "de",
    "I like answers in Italian": "it",
    "我偏好英文回覆": "en",
    "I'd love replies in French": "fr",
    "我習慣用英文": "en",
    "我喜歡用日文溝通": "ja",
}


def languages(message: str) -> list[list[str]]:
    """As the rules hear it, and as the judge decides."""
    return [[each.value for each in heard(message) if each.key == "language"] for heard in (extract_by_rules, extract)]


@pytest.mark.parametrize("message", [line.strip() for line in LIKED.splitlines() if line.strip()])
def test_a_liking_is_a_memory_and_no_order(message: str) -> None:
    assert languages(message) == [[], []]
    assert [each.kind for each in memorable(message)] == ["preference"]


@pytest.mark.parametrize(("message", "tag"), WISHED.items())
def test_a_wish_for_the_replies_is_one(message: str, tag: str) -> None:
    assert languages(message)[1] == [tag]
