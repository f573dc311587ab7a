"""What a message asks to be forgotten, and of which memories that is meant (rows E8, R2)."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pace import assert_at_most
from vault_memory.core.memorable import memorable, to_forget

LABELLED = Path(__file__).parents[2] / "data/memorable/forgetting.jsonl"


def goes(memory: str, said: str) -> bool:
    return any(asked.means(memory) for asked in to_forget(said))


def test_labelled_requests() -> None:
    """Nothing goes that nobody asks for; nineteen in twenty of the others do."""
    rows = [json.loads(line) for line in LABELLED.read_text("utf-8").splitlines()]
    assert not [row for row in rows if not row["goes"] and goes(row["memory"], row["said"])]
    asked = [row for row in rows if row["goes"]]
    missed = [row for row in asked if not goes(row["memory"], row["said"])]
    assert len(missed) <= 0.05 * len(asked), missed


@pytest.mark.parametrize(
    ("said", "words", "is_sure"),
    [
        ("forget about my guitar lessons", "guitar lessons", True),
        ("把我喜歡爵士樂的事忘了", "我喜歡爵士樂", True),
        ("刪掉關於長笛的記憶", "長笛", True),
        ("You can forget what I told you about my dog, thanks", "dog", True),
        ("Forget about coffee.", "coffee", False),
    ],
)
def test_what_is_named_is_told_in_the_persons_words(said: str, words: str, is_sure: bool) -> None:
    (asked,) = to_forget(said)
    assert (asked.words, asked.is_sure) == (words, is_sure)


@pytest.mark.parametrize(
    "said",
    [
        "forget about coffee, let's talk about trains",
        "Forget coffee for a moment",
        "忘了它吧",
        "別忘了我喜歡咖啡",
        "刪除我們的 Kafka topic",
        "Delete the coffee branch",
        "Forget I asked",
    ],
)
def test_a_change_of_subject_and_a_task_are_no_requests(said: str) -> None:
    assert to_forget(said) == []


def test_what_says_just_that_fits_better_than_what_says_more() -> None:
    (asked,) = to_forget("please forget that I like coffee")
    assert (
        asked.fits("I love coffee") > asked.fits("I love black coffee in the morning") > asked.fits("I love tea") == 0
    )


def test_a_dropped_subject_is_all_that_a_memory_is_about() -> None:
    (asked,) = to_forget("Forget about tests.")
    assert asked.means("I love tests") and not asked.means("We run the tests before each deploy")


def test_a_request_is_no_memory_and_a_task_leaves_the_rest_of_its_sentence() -> None:
    assert memorable("我不想讓你記得我彈鋼琴") == []
    assert [each.kind for each in memorable("Delete it, I love oolong tea")] == ["preference"]


@given(
    st.text(alphabet="我你忘記掉刪把喜歡茶的事這件,，。 forget delete that I like tea about my memory of", max_size=80)
)
def test_any_text_is_read(text: str) -> None:
    for asked in to_forget(text):
        assert asked.what and asked.words and asked.fits(text) in (0, 1, 2)


def test_reading_takes_its_time() -> None:
    for text in ("forget that " * 200, "請把" * 600, "我說過" * 400, "about the memory of " * 100, "忘了" * 700):
        assert_at_most(2, partial(to_forget, text))


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("我喜歡貓頭鷹", "忘了我喜歡貓"),
        ("我喜歡茶葉蛋", "忘了我喜歡茶"),
        ("我喜歡花椰菜", "忘了我喜歡花"),
        ("I like hot dogs", "forget that I like dogs"),
        ("I like coffee cake", "forget that I like coffee"),
        ("I work at the Ford Foundation", "forget that I work at Ford"),
        ("I play ice hockey", "forget that I play ice"),
    ],
)
def test_a_thing_whose_name_begins_with_another_is_not_that(memory: str, said: str) -> None:
    assert [asked.means(memory) for asked in to_forget(said)] == [False]


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("我超愛黑咖啡", "忘了我喜歡咖啡"),
        ("I love black coffee in the morning", "forget that I like coffee"),
        ("We decided to use Redis for caching", "forget that we decided to use Redis"),
    ],
)
def test_a_sort_of_a_thing_is_that(memory: str, said: str) -> None:
    assert [asked.means(memory) for asked in to_forget(said)] == [True]


@pytest.mark.parametrize(
    "said",
    [
        "忘掉我喝酒",
        "忘掉我吃辣",
        "關於我游泳的記憶請刪除",
        "取消記住我每天喝咖啡",
        "請刪掉我養狗的紀錄",
        "我不想再讓你記著我養貓",
    ],
)
def test_what_is_to_be_forgotten_is_not_kept(said: str) -> None:
    assert to_forget(said) and not memorable(said, "")


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ("My cat is called Nimbus", "Forget everything about my cat."),
        ("我家有隻柴犬", "關於我柴犬的事請忘記"),
        ("我每週練瑜伽", "有關我瑜伽的記錄請清除"),
        ("We decided to use RabbitMQ for the queue", "Forget our decision to use RabbitMQ"),
    ],
)
def test_a_thing_of_the_person_is_enough(memory: str, said: str) -> None:
    assert goes(memory, said)
    assert not goes("I like the old plan", "Forget everything about the old plan, we start again")
