from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.text import tokens, variants


def test_both_scripts_and_all_widths_give_the_same_terms() -> None:
    """G2"""
    assert tokens.query("暗色主題") == tokens.query("暗色主题")
    assert tokens.query("Ｒｅａｃｔ組件") == tokens.query("react组件")


def test_a_word_is_asked_for_by_the_name_of_the_other_side_too() -> None:
    assert set(tokens.query("資料庫").find) == set(tokens.query("数据库").find) == {"资料", "料库", "数据", "据库"}


def test_a_query_searches_pairs_and_only_weighs_single_characters() -> None:
    asked = tokens.query("暗色主題")
    assert asked.find == ("暗色", "色主", "主题")
    assert asked.weigh == ("暗", "色", "主", "题")


def test_a_lone_character_is_searched() -> None:
    assert tokens.query("貓").find == ("猫",)


def test_question_words_are_left_out_unless_nothing_else_is_said() -> None:
    assert tokens.query("When did Gina open her store?").find == ("gina", "open", "store")
    assert tokens.query("什么时候").find == ("什么", "么时", "时候")


def test_programming_names_keep_their_signs() -> None:
    assert tokens.query("C++ and C#").find == ("c++", "c#")


def test_an_index_line_holds_characters_and_pairs() -> None:
    assert tokens.expand(tokens.stems("暗色 themes")).split() == ["暗", "色", "暗色", "theme"]


def test_accents_do_not_matter() -> None:
    assert tokens.query("café").find == tokens.query("cafe").find


@given(st.text(max_size=300))
def test_terms_are_found_in_their_own_text_and_can_be_quoted(text: str) -> None:
    held = set(tokens.expand(tokens.stems(text)).split())
    other = {pair for word in variants.others(tokens.fold(text)) for pair in tokens.expand(word).split()}
    for term in tokens.query(text).find:
        assert '"' not in term and not any(char.isspace() or char == "\0" for char in term)
        assert term in held | other


@given(st.text(max_size=200))
def test_counting_is_at_least_the_han_and_never_more_than_the_characters(text: str) -> None:
    assert 0 <= tokens.count(text) <= len(text)
