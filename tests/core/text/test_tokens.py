from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.text import tokens, typed
from vault_memory.core.text.tokens import stem


def test_both_scripts_and_all_widths_give_the_same_terms() -> None:
    """G2"""
    assert tokens.query_terms("暗色主題") == tokens.query_terms("暗色主题")
    assert tokens.query_terms("Ｒｅａｃｔ組件") == tokens.query_terms("react组件")


def test_a_word_is_asked_for_by_the_name_of_the_other_side_too() -> None:
    assert (
        set(tokens.query_terms("資料庫").search_terms)
        == set(tokens.query_terms("数据库").search_terms)
        == {"资料", "料库", "数据", "据库"}
    )


def test_a_query_searches_pairs_and_only_weighs_single_characters() -> None:
    asked = tokens.query_terms("暗色主題")
    assert asked.search_terms == ("暗色", "色主", "主题")
    assert asked.ranking_terms == ("暗", "色", "主", "题")


def test_a_lone_character_is_searched() -> None:
    assert tokens.query_terms("貓").search_terms == ("猫",)


@pytest.mark.parametrize("which", ["哪天", "哪一天", "哪日", "幾號", "幾月", "哪一次", "哪裡"])
def test_words_that_only_ask_are_no_terms(which: str) -> None:
    assert tokens.query_terms(f"生日{which}？").search_terms == ("生日",)


def test_question_words_are_left_out_unless_nothing_else_is_said() -> None:
    assert tokens.query_terms("When did Gina open her store?").search_terms == ("gina", "open", "store")
    assert tokens.query_terms("什么时候").search_terms == ("什么", "么时", "时候")


def test_programming_names_keep_their_signs() -> None:
    assert tokens.query_terms("C++ and C#").search_terms == ("c++", "c#")


def test_an_index_line_holds_characters_and_pairs() -> None:
    assert tokens.expand(tokens.stems("暗色 themes")).split() == ["暗", "色", "暗色", "theme"]


def test_accents_do_not_matter() -> None:
    assert tokens.query_terms("café").search_terms == tokens.query_terms("cafe").search_terms


@given(st.text(max_size=300))
def test_terms_are_found_in_their_own_text_and_can_be_quoted(text: str) -> None:
    held = set(tokens.expand(tokens.stems(text)).split())
    other = {pair for word in tokens.regional_variants(tokens.fold(text)) for pair in tokens.expand(word).split()}
    for term in tokens.query_terms(text).search_terms:
        assert '"' not in term and not any(char.isspace() or char == "\0" for char in term)
        assert term in held | other


@given(st.text(max_size=200))
def test_counting_is_at_least_the_han_and_never_more_than_the_characters(text: str) -> None:
    assert 0 <= tokens.count(text) <= len(text)


WORDS = [
    "caresses",
    "ponies",
    "ties",
    "caress",
    "cats",
    "feed",
    "agreed",
    "plastered",
    "bled",
    "motoring",
    "sing",
    "conflated",
    "troubled",
    "sized",
    "hopping",
    "tanned",
    "falling",
    "hissing",
    "fizzed",
    "failing",
    "filing",
    "happy",
    "sky",
    "relational",
    "conditional",
    "rational",
    "valenci",
    "hesitanci",
    "digitizer",
    "conformabli",
    "radicalli",
    "differentli",
    "vileli",
    "analogousli",
    "vietnamization",
    "predication",
    "operator",
    "feudalism",
    "decisiveness",
    "hopefulness",
    "callousness",
    "formaliti",
    "sensitiviti",
    "sensibiliti",
    "triplicate",
    "formative",
    "formalize",
    "electriciti",
    "electrical",
    "hopeful",
    "goodness",
    "revival",
    "allowance",
    "inference",
    "airliner",
    "gyroscopic",
    "adjustable",
    "defensible",
    "irritant",
    "replacement",
    "adjustment",
    "dependent",
    "adoption",
    "homologou",
    "communism",
    "activate",
    "angulariti",
    "homologous",
    "effective",
    "bowdlerize",
    "probate",
    "rate",
    "cease",
    "controll",
    "roll",
    "dancing",
    "photography",
    "psychologist",
    "exploring",
]


@pytest.mark.parametrize("word", WORDS)
def test_stems_are_those_of_sqlite_s_porter(word: str) -> None:
    """The tokeniser of everybody's FTS5 tables is the judge."""
    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61"])
    assert stem(word) == tokenizer(word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)[0][2]


def test_what_is_not_an_english_word_stays() -> None:
    assert [stem(word) for word in ("is", "v2ing", "naïvely")] == ["is", "v2ing", "naïvely"]


def test_where_terms_stand_in_a_text() -> None:
    """In the text as it is, whatever folding makes of it."""

    def marked(text: str, query: str) -> list[str]:
        return [text[start:end] for start, end in tokens.places(text, typed.terms(query))]

    assert marked("Two cafés, ﬁne CAFÉ; cafeteria.", "cafe") == ["cafés", "CAFÉ"]
    assert marked("Ｄｏｃｋｅｒ部署登入頁，重新部署。", "docker 怎麼部署登入頁") == ["Ｄｏｃｋｅｒ部署登入頁", "部署"]
    assert marked("honglou, Hongloumeng, hong", "honglou*") == ["honglou", "Hongloumeng"]
    assert marked("nothing here", "") == [] == marked("", "tea")


@given(st.text(max_size=40), st.text(max_size=20))
def test_places_are_in_order_and_apart(text: str, query: str) -> None:
    bounds = [at for place in tokens.places(text, typed.terms(query)) for at in place]
    assert bounds == sorted(set(bounds)) and all(0 <= at <= len(text) for at in bounds)
