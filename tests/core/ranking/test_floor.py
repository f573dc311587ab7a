from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.ranking.test_rank import candidates
from vault_memory.core.ranking import floor, rank
from vault_memory.core.ranking.candidate import Candidates, Spread
from vault_memory.core.text import tokens

NOTES = {
    "notes/heron.md": "# Heron\n\nHeron is written in Rust with axum.\nWe deploy on Thursdays.\n",
    "notes/家裡.md": "# 家裡\n\n路由器在書房，密碼貼在背面。\n冷氣每年五月要清洗。\n",
}
NO_SPREAD = Spread(40, 0.0, 0.0, 0.0)
WORDS = st.lists(
    st.sampled_from(["heron", "marsh", "river", "lantern", "copper", "violin", "orchard", "harbour"]), min_size=1
)


def fit(
    question: str,
    notes: dict[str, str] | None = None,
    spread: Spread | None = None,
    is_model: bool = False,
    total: int | None = None,
) -> float:
    terms = tokens.query_terms(question)
    found = candidates(question, NOTES if notes is None else notes)
    found = Candidates(found.chunks, found.frequency, total or found.total, spread)
    return floor.fit(question, terms, found, rank.score_segments(question, terms, found), is_model=is_model)


@pytest.mark.parametrize(
    "question",
    [
        "What is Heron written in?",
        "When do we deploy?",
        "路由器在哪裡？",
        "冷氣什麼時候清洗？",
        "Heron?",
        "what is axum",
        "Which day do we deploy the frontend?",
    ],
)
def test_what_a_line_answers_lies_above_the_floor(question: str) -> None:
    assert fit(question) >= floor.MIN_FIT


@pytest.mark.parametrize(
    "question",
    [
        "When did Melanie's daughter deploy to Lisbon with her regiment?",
        "Who painted the ceiling of the Sistine chapel?",
        "冷戰是什麼時候結束的，誰是當時的總統？",
        "誰發明了電話？",
    ],
)
def test_what_the_memory_does_not_speak_of_lies_below(question: str) -> None:
    assert fit(question) < floor.MIN_FIT


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("What is my sister called?", True),
        ("what is my sister called", True),
        ("我女兒的生日是哪天", True),
        ("Which films did you recommend?", True),
        ("你給我推薦了哪兩部電影？", True),
        ("Which hotel in Dubai would you recommend?", False),
        ("What are some quiet places for me?", False),
        ("Is there a quiet café near the station?", False),
        ("晚餐吃什麼好？", False),
        ("推薦京都的行程，有哪些好玩的？", False),
        ("Fix the error that appears when a file is missing", False),
        ("任何人都可以看", False),
        ("deploy staging", False),
        ("部署", False),
    ],
)
def test_only_a_question_for_a_fact_has_a_floor(text: str, is_asked: bool) -> None:
    assert floor.asks_for_a_fact(text) is is_asked


def test_one_word_is_enough_for_what_asks_for_no_fact() -> None:
    for request in ("Write Zanzibar's anthem in Rust", "Could you help Melanie deploy her zeppelin to Lisbon?"):
        assert fit(request) == 1.0


def test_a_name_that_stands_nowhere_counts_more_than_another_word() -> None:
    assert fit("Where does the Lisbon team deploy?") < fit("Where does the lisbon team deploy?")


def test_pairs_between_known_words_are_no_unknown_words() -> None:
    """書房 and 密碼 are words of the note; 房密 is none."""
    assert fit("書房密碼貼在哪裡？") == 1.0


def test_another_word_for_one_of_the_question_is_not_missing() -> None:
    notes = {"notes/a.md": "# A\n\n数据库的端口是五四三二。\n"}
    assert fit("数据库的端口是多少？", notes) == 1.0  # 資料庫, its name in Taiwan, stands nowhere


def test_key_words_that_stand_nowhere_find_nothing_offline() -> None:
    assert fit("zeppelin", spread=Spread(40, 0.0, 0.05, 0.2)) == 0.0
    assert fit("herno axmu", spread=Spread(40, 0.0, 0.05, 0.4)) == 1.0, "a misspelling is near to one chunk"


def test_vectors_of_a_model_that_stand_out_need_no_words() -> None:
    question = "What is she allergic to?"
    far, near = Spread(400, 0.1, 0.1, 0.8), Spread(400, 0.1, 0.1, 0.45)
    assert fit(question, spread=far, is_model=True) == 1.0
    assert fit(question, spread=near, is_model=True) < floor.MIN_FIT
    assert fit(question, spread=Spread(4, 0.1, 0.1, 0.25), is_model=True) == 1.0, "too few to stand out among"
    assert fit(question, spread=NO_SPREAD, is_model=True) < floor.MIN_FIT


def test_between_chinese_and_other_text_nothing_is_silenced() -> None:
    assert fit("Heron 是用什麼語言寫的，誰寫的？") == 1.0


def test_a_chinese_question_of_which_no_word_is_known_finds_no_line_of_figures() -> None:
    """A line of the profile counts as no Chinese; between Chinese and other text a name at least must be shared."""
    assert fit("登入頁怎麼部署", {"USER.md": "- 加入日期：2026-11-25\n"}, spread=Spread(3, -0.1, 0.1, 0.03)) == 0.0


@given(st.integers(1, 300))
def test_in_the_smallest_index_a_third_of_a_question_is_enough(total: int) -> None:
    """In an index of one chunk no word is rare; one known word of three counts as it does elsewhere."""
    notes = {"notes/heron.md": NOTES["notes/heron.md"]}
    assert fit("When does the backend team deploy?", notes, total=total) >= floor.MIN_FIT


@given(WORDS, st.integers(1, 40))
def test_a_question_whose_words_all_stand_in_one_chunk_is_never_silenced(words: list[str], gap: int) -> None:
    text = "# Note\n\n" + "".join(word + "\n" + "filler line here\n" * gap for word in words)
    chunk = candidates("", {"notes/a.md": text}).chunks[0].text
    asked = [word for word in dict.fromkeys(words) if word in chunk]
    if asked:
        assert fit(f"where is {' '.join(asked)}?", {"notes/a.md": text}) >= floor.MIN_FIT


@given(WORDS, st.lists(st.sampled_from(["zeppelin", "quartz", "Lisbon", "Melanie", "comet", "tulip"]), unique=True))
def test_a_word_that_stands_nowhere_never_makes_a_question_fit_better(words: list[str], strange: list[str]) -> None:
    notes = {f"notes/{number}.md": f"# N\n\n{word} tower\n" for number, word in enumerate(words)}
    fits = [
        fit(f"where is the {words[0]} lamp {' '.join(strange[:count])}?", notes) for count in range(len(strange) + 1)
    ]
    assert fits == sorted(fits, reverse=True) and all(value >= 0 for value in fits)


@given(st.text(max_size=200), st.booleans())
def test_no_text_breaks_it(question: str, is_model: bool) -> None:
    assert fit(question, spread=NO_SPREAD, is_model=is_model) >= 0
