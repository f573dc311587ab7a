"""The answer about a conversation: what it must look like, and what of it the person's words carry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.distilling import Said, insights, question
from vault_memory.core.extraction import load_lexicon
from vault_memory.core.memories import Memory

LEXICON = load_lexicon()
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*"ab", "memories", "summary", "insights", "turn", "line", "from"]), inner)
    ),
    max_leaves=12,
)


def kept(quote: str, said: str, kind: str = "fact") -> list[str]:
    answer = question.Answer((question.Proposed(1, kind, quote, quote, 0.9),), "")
    return [each.content for each in question.grounded(answer, [Said(said)], LEXICON)]


@pytest.mark.parametrize(
    ("quote", "said", "kind"),
    [
        ("I play the cello", "I play the cello on weekends", "fact"),
        ("我喜歡咖啡", "其實我喜歡咖啡", "preference"),
        ("we decided to use Postgres", "we decided to use Postgres", "decision"),
        ("我們決定用 Postgres", "我們決定用 Postgres，因為團隊比較熟", "decision"),
    ],
)
def test_the_persons_own_words_are_kept(quote: str, said: str, kind: str) -> None:
    assert kept(quote, said, kind) == [quote]


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ("my sister loves jazz", "my sister loves jazz"),
        ("我室友喜歡紅茶", "我室友喜歡紅茶"),
        ("I like tea", 'she said "I like tea"'),
        ("我喜歡紅茶", "他說：「我喜歡紅茶」"),
        ("I like tea", "```\nI like tea\n```"),
        ("I used to like tea", "I used to like tea"),
        ("如果我喜歡紅茶", "如果我喜歡紅茶，該買哪一種"),
        ("do I like tea", "do I like tea?"),
        ("I like coffee", "I like tea"),
        ("我確診糖尿病", "我確診糖尿病"),
        ("call me at 0912-345-678", "call me at 0912-345-678"),
        ("", "I like tea"),
    ],
)
def test_what_is_not_their_own_lasting_or_public_is_dropped(quote: str, said: str) -> None:
    assert kept(quote, said) == []


def test_importance_has_a_bound() -> None:
    answer = question.Answer((question.Proposed(1, "fact", "I like tea", "I like tea", 1.0),), "")
    (found,) = question.grounded(answer, [Said("I like tea")], LEXICON)
    assert found.importance == 0.7


@given(ANY_JSON)
def test_any_json_is_an_answer_or_a_value_error(value: Any) -> None:
    for parse in (question.parse, lambda text: insights.parse(text, [Memory(id="mem_1_a", content="茶")])):
        try:
            parse(json.dumps(value))
        except ValueError:
            continue


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_answer_makes_a_memory_of_words_that_were_not_said(quote: str, content: str, said: str) -> None:
    answer = question.Answer((question.Proposed(1, "fact", content, quote, 0.5),), "")
    for each in question.grounded(answer, [Said(said)], LEXICON):
        assert each.content and len(each.content) <= question.MAX_CONTENT_CHARS
