"""The lexicon: a person's own words, spellings of names, and lists that exclude no phrase."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pace import assert_at_most
from vault_memory.core.extraction import extract, extract_by_rules, load_lexicon, problem_with
from vault_memory.core.extraction.lexicon import longest


def test_a_person_s_words_extend_the_lexicon() -> None:
    """Technologies and style words of `[lexicon]` in the settings work like the shipped ones."""
    extra = load_lexicon({"frameworks": ["Lanternfish: lantern"], "styles": {"theme": {"dark": {"named": "墨色"}}}})
    liked = ("preferred_frameworks", "Lanternfish")
    assert [(s.key, s.value) for s in extract_by_rules("我最喜歡 lantern", lexicon=extra)] == [liked]
    assert liked in [(s.key, s.value) for s in extract("我最喜歡 lantern", lexicon=extra) if not s.is_suggestion]
    assert [(s.key, s.value) for s in extract_by_rules("以後都用墨色主題", lexicon=extra)] == [("theme", "dark")]
    assert ("theme", "dark") in [(s.key, s.value) for s in extract("以後都用墨色主題", lexicon=extra)]
    assert extract_by_rules("以後都用墨色主題") == []


def test_every_phrase_of_a_style_is_near_its_key() -> None:
    """A phrase that contains no `near` word of its key would never be searched."""
    lexicon = load_lexicon()
    for style in lexicon.styles:
        for matcher in (style.named, style.asked):
            for phrase in matcher.phrases:
                words = re.sub(r"[()|*+…$]", " ", phrase.replace("?", ""))
                assert lexicon.near(style.key, words) or lexicon.near(style.key, words.replace(" ", "")), phrase


@pytest.mark.parametrize("name", ["Python語言", "C语言", "githubactions", "visual-studio-code", "VS Code 2"])
def test_a_name_of_several_words_is_known_with_and_without_blanks(name: str) -> None:
    """People write Python 語言 and Python語言."""
    assert extract(f"我用 {name} 寫作業") != []


def test_all_lists_of_a_table_match_as_one() -> None:
    """A cheap test for a whole table, and a person's own lists are part of it."""
    lexicon = load_lexicon({"people": {"language": {"eo": "esperanto"}}})
    for text in ("日文", "en français", "Esperanto", "nothing"):
        alone = any(lexicon.words(f"people.language.{tag}").search(text) for tag in lexicon.sections("people.language"))
        assert bool(lexicon.words("people.language").search(text)) == alone


def test_of_names_inside_one_another_the_longest_counts() -> None:
    names = [(0, 3, "新德里"), (1, 3, "德里"), (5, 7, "東京")]
    assert longest(names) == [(0, 3, "新德里"), (5, 7, "東京")]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"words": {"speaker": {"others": "a…a…a…a…a…a…b"}}}, "too many ways"),
        ({"words": {"speaker": {"others": "((((a)*)*)*)*"}}}, "too many ways"),
        ({"words": {"speaker": {"others": "(a|aa)" * 18}}}, "too many ways"),
        ({"words": {"speaker": {"others": "(" * 5_000}}}, "brackets"),
        ({"words": {"speaker": {"others": "(a"}}}, "no phrase"),
        ({"words": {"speaker": {"others": "a???"}}}, "no phrase"),
        ({"words": {"speaker": {"others": ["a"]}}}, "must be a text"),
        ({"words": {"speaker": "a"}}, "must be a table"),
        ({"words": "a"}, "must be a table"),
        ({"styles": {"theme": {"dark": "a"}}}, "must be a table"),
        ({"styles": {"theme": {"near": {"a": "b"}}}}, "must be a text"),
        ({"styles": {"thme": {"dark": {"named": "a"}}}}, "not 'thme'"),
        ({"word": {"speaker": {"others": "a"}}}, "not 'word'"),
        ({"frameworks": "Zellij"}, "must be lists"),
        ({"tools": [1]}, "must be lists"),
    ],
)
def test_additions_that_would_fail_or_never_end_are_refused(extra: dict[str, Any], said: str) -> None:
    """Anybody may have written a `vault-memory.toml`; a turn must neither fail nor hang because of its words."""
    assert said in (problem_with(extra) or "")


@pytest.mark.slow
@given(st.lists(st.sampled_from([*"ab的…()?*+|.$ ", "(a|b)", "(?=a)"]), max_size=12).map("".join))
@settings(max_examples=200, deadline=None)
def test_additions_that_are_accepted_can_be_searched_in_time(phrase: str) -> None:
    extra = {"words": {"speaker": {"others": phrase}}}
    if problem_with(extra) is None:
        assert_at_most(100, lambda: load_lexicon(extra).words("words.speaker.others").search("ab" * 1_000))


def test_a_shape_holds_lists_of_words() -> None:
    """The words are data, also a person's own; the code says where they stand."""
    lexicon = load_lexicon({"people": {"language": {"eo": "esperanto"}}})
    spoken = lexicon.shape("{people.language.eo}[^,]{0,6}$")
    assert spoken.search("please use esperanto now") and not spoken.search("esperanto, for this one, please")
    assert not spoken.search("esperantos") and spoken is lexicon.shape("{people.language.eo}[^,]{0,6}$")
