"""What of other words is of an erased text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.erasing import Parts

TURN = "I live in Ripon and teach Latin at Masham Abbey."


@pytest.mark.parametrize(
    ("text", "left", "said", "parts"),
    [
        (TURN, "", "I teach Latin", ["I teach Latin"]),
        ("I live in Ripon and teach Latin", "at Masham Abbey.", "I teach Latin at Masham Abbey", ["I teach Latin"]),
        ("Ripon and teach", "I live in (erased) Latin", "I teach Latin", ["teach"]),
        ("I live in Ripon", "(erased) and keep geese", "I keep geese", []),
        ("Bob lives in Ripon", "(erased) and keeps geese", "Bob keeps geese", []),
        ("Percival lives in Ripon", "(erased) and keeps geese", "Percival keeps geese", ["Percival"]),
        (TURN, "", TURN, []),
        ("我住在台中，在逢甲賣章魚燒", "和冬瓜茶", "我在逢甲賣章魚燒和冬瓜茶", ["我在逢甲賣章魚燒"]),
        ("我住在台中", "，在逢甲賣章魚燒", "我在逢甲賣章魚燒", []),
        ("the code is 4711 then", "", "4711", []),
        ("I swim on Monday", "(erased). I read on Monday.", "I read on Monday", []),
        ("seven seas and eight wonders", "", "the seven seas [private] eight wond…", ["seven seas", "eight wond"]),
    ],
)
def test_words_that_only_the_text_says_are_parts(text: str, left: str, said: str, parts: list[str]) -> None:
    assert [*Parts([text]).of(said, [left])] == parts


def test_of_words_without_a_turn_only_a_whole_one_that_is_long_enough_is_a_part() -> None:
    parts = Parts([TURN])
    assert [*parts.as_a_whole("teach Latin at Masham")] == ["teach Latin at Masham"]
    assert [*parts.as_a_whole("I teach Latin at Masham")] == [*parts.as_a_whole("in Ripon")] == []
    assert [*parts.as_a_whole("teach Latin at Mash…")] == ["teach Latin at"]


@pytest.mark.parametrize(
    ("text", "said", "name", "part"),
    [
        ("Ann Oakroyd", "the lodger of Ann Oakroyd here", "the lodger of ann oak", ["ann oak"]),
        ("Ann Oakroyd", "the lodger of Ann Oakroyd here", "the lodger of", []),
        ("Ann Oakroyd", "the lodger of Ann Oakroyd here", "The lodger of Ann Oakroyd", []),
        ("Ann Oakroyd", "the lodger of Ann Oakroyd here", "another Ann Oak", []),
        ("Oakroyd", "the lodger of Ann Oakroyd here", "the lodger of ann o", []),
        ("王小美住在這裡", "我知道王小美住在這裡", "我知道王小美", ["王小美"]),
    ],
)
def test_a_name_that_is_cut_within_a_text_has_its_beginning(text: str, said: str, name: str, part: list[str]) -> None:
    assert [*Parts([text]).cut_off(name, said)] == part


_WORDS = st.lists(st.sampled_from(["I", "teach", "Latin", "geese", "in", "Ripon", "我", "養貓"]), max_size=8)


@given(_WORDS, _WORDS, _WORDS)
def test_a_part_stands_in_the_words_and_has_none_but_the_texts(
    text: list[str], left: list[str], said: list[str]
) -> None:
    parts = Parts([" ".join(["start", *text])])
    for part in parts.of(" ".join(said), [" ".join(left)]):
        assert part in " ".join(said) and {*part.split()} <= {*text}
    assert [*parts.of(" ".join(left), [" ".join(left)])] == []
