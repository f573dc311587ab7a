"""What is not to be remembered: an order not to keep what the person says, told from a task about something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from vault_memory.core.extraction import asks_to_be_left_out, extract, why_nothing
from vault_memory.core.extraction.lexicon import default_lexicon
from vault_memory.core.memorable import memorable, to_forget

_FOLDER = Path(__file__).parents[2] / "data/refusals"
_REFUSED, _HEARD = ((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("refused", "heard"))


def test_most_of_what_is_not_to_be_remembered_is_known() -> None:
    """What was found at first sight is in the README of the lists."""
    missed = [message for message in _REFUSED if not asks_to_be_left_out(message, default_lexicon())]
    assert len(missed) <= 0.03 * len(_REFUSED), missed


def test_what_only_uses_its_words_is_heard() -> None:
    assert [message for message in _HEARD if asks_to_be_left_out(message, default_lexicon())] == []


@pytest.mark.parametrize(
    "message",
    [
        "請不要記住我喜歡重金屬音樂",
        "我不想讓你記住我要去柏林工作",
        "别把我想离职的事记下来",
        "別記我要去柏林",
        "请不要保存：我用 Vim",
        "這個請不要留存，我用 Vim",
        "我用 Vim，這不要存",
        "我用 Vim，當我沒說",
        "Please don't remember that I like heavy metal",
        "please don't keep in mind that I use Vim",
        "Please don't save that I prefer light mode",
        "Please don't record that I use Tinder",
        "Do not store the fact that I use Vim",
        "I'm looking for a new job, keep that between us",
        "I prefer light mode. Please forget that.",
        "I don't want this saved: I use Vim",
    ],
)
def test_what_a_refusal_is_about_teaches_nothing(message: str) -> None:
    """«請不要記住我喜歡重金屬音樂» became the note 我喜歡重金屬音樂."""
    assert extract(message) == []
    assert why_nothing(message).startswith("it asks not to be remembered")


def test_a_task_beside_the_persons_words_is_learned_from() -> None:
    assert [each.key for each in extract("Don't save the file to disk. I prefer dark mode.")] == ["theme"]


@pytest.mark.parametrize(
    "order",
    ["別記住這句", "這句不要記", "这句不要记住", "這句話別記", "這句請不要記", "這一句不用記喔", "這則不要存"],
)
@pytest.mark.parametrize(
    "message",
    [
        "{}",
        "{}：我住在台南",
        "{}，我住在台南",
        "我住在台南，{}",
        "我住在台南。{}",
        "我住在台南（{}）",
        "我住在台南，但{}",
    ],
)
def test_an_order_about_this_one_sentence_counts_wherever_it_stands(order: str, message: str) -> None:
    said = message.format(order)
    assert asks_to_be_left_out(said, default_lexicon())
    assert (extract(said), memorable(said), to_forget(said)) == ([], [], [])


@pytest.mark.parametrize("order", ["don't remember this", "Don't remember this one", "please don't save this sentence"])
@pytest.mark.parametrize("message", ["{}", "{}: I live in Leeds", "I live in Leeds, {}", "{}. I live in Leeds"])
def test_so_does_one_in_english(order: str, message: str) -> None:
    said = message.format(order)
    assert asks_to_be_left_out(said, default_lexicon())
    assert (extract(said), memorable(said), to_forget(said)) == ([], [], [])


@pytest.mark.parametrize(
    "said", ["這句不要翻成英文", "但這句不要記錯", "這句不要改，我住在台南", "Don't translate this one"]
)
def test_a_task_about_a_sentence_is_none(said: str) -> None:
    assert not asks_to_be_left_out(said, default_lexicon())
