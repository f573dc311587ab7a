"""Where a text stands in another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.forgetting import means_everything
from vault_memory.core.forgetting.words import Words, words_of


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("喜歡咖啡", "我喜欢咖啡。"),
        ("Coffee bean", "the ＣＯＦＦＥＥ, beans!"),
        ("喜歡咖啡", "我喜歡\n咖啡"),
        ("new york", "I live in New\n  York City"),
        ("coffee", "咖啡機"),
        ("咖啡", "two coffees"),
        ("mango", "芒果"),
    ],
)
def test_a_text_stands_there(text: str, other: str) -> None:
    assert words_of(text).stand_in(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("cat", "category"),
        ("喜歡咖啡", "喜歡\n\n咖啡"),
        ("tea cup", "- tea\n- cup"),
        ("tea", "# team\n"),
        ("芒果乾", "芒果"),
    ],
)
def test_a_text_does_not_stand_there(text: str, other: str) -> None:
    assert not words_of(text).stand_in(other)


PLAIN = st.text(st.sampled_from("ab 咖啡喜歡\n- #"), max_size=40)


@given(PLAIN, st.sampled_from(["咖啡", "喜歡咖啡", "ab", "ab ab"]), PLAIN)
def test_the_lines_that_are_named_are_all_that_hold_it(before: str, text: str, after: str) -> None:
    """What is left without these lines does not hold it, and a text between two blank lines is found on its line."""
    words = Words([text])
    whole = f"{before}\n\n{text}\n\n{after}"
    found = words.lines(whole)
    lines = whole.split("\n")
    assert before.count("\n") + 2 in found and found <= {*range(len(lines))}
    assert not words.stand_in("\n\n".join(line for number, line in enumerate(lines) if number not in found))
    assert words.may_stand_in(whole)


@pytest.mark.parametrize(
    "text",
    [
        "Forget everything you know about me",
        "Please delete all the data you have about me.",
        "把你知道的關於我的一切都忘掉",
        "请删除关于我的所有资料",
        "忘掉所有關於我的事",
        "刪除關於我的所有東西",
        "Delete all the things you know about me",
    ],
)
def test_everything_is_meant(text: str) -> None:
    assert means_everything(text)


@pytest.mark.parametrize(
    "text",
    [
        "forget everything about my dog",
        "don't forget everything you know about me",
        "別忘記所有關於我的事",
        "Forget all about Berlin",
        "delete that file",
        "everything about me is fine",
    ],
)
def test_something_else_is_meant(text: str) -> None:
    assert not means_everything(text)


def test_marks_as_characters_of_their_own_make_no_other_word() -> None:
    for named, said in (("Señora Pérez", "Sen\u0303ora Pe\u0301rez"), ("Sen\u0303ora Pe\u0301rez", "Señora Pérez")):
        assert words_of(named).stand_in(f"the code of {said} is 7")
        assert not words_of(named).stand_in("the code of Senora Perez is 7")
