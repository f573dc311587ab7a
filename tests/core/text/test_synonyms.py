from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.adapters.index.test_sqlite import entry
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.core.text import fold, synonyms, tokens

LINES = Path(synonyms.__file__).with_name("bilingual.txt").read_text(encoding="utf-8").split("\n")
ONE_CHARACTER = "狗猫茶碳税"
"""The only Chinese words of one character; others mean too much inside longer words."""


def rows() -> Iterator[tuple[list[str], list[str]]]:
    for line in LINES:
        if line and not line.startswith("#"):
            han, english = line.split(" = ")
            yield han.split(" "), english.split(", ")


PAIRS = [pair for han, english in rows() for pair in itertools.product(han, english)]


def others(question: str, *own: list[str]) -> dict[str, set[str]]:
    """The words that were asked for → what stands for them."""
    terms = synonyms.query_terms(question, own)
    return {" ".join(asked): set(words) for asked, words in terms.synonyms}


def test_a_chinese_word_stands_for_an_english_one_and_the_other_way_round() -> None:
    assert others("登入頁怎麼部署") == {"登入": {"login"}, "部署": {"deploi", "deploy"}}
    assert others("database migration") == {"databas": {"资料库", "数据库"}, "migrat": {"迁移"}}


def test_the_longest_word_counts_and_none_inside_it() -> None:
    assert others("機器學習") == {"机器 器学 学习": {"machin  learn"}}
    assert others("machine learning") == {"machin learn": {"机器学习"}}
    assert others("learning") == {"learn": {"学习"}}


def test_a_question_word_counts_only_inside_a_phrase() -> None:
    assert others("what type of database") == {"databas": {"资料库", "数据库"}}
    assert others("which data type") == {"data type": {"资料型别", "数据类型", "型别"}}


def test_a_question_has_the_same_terms_with_and_without_synonyms() -> None:
    question = "When did we deploy the 資料庫?"
    assert synonyms.query_terms(question)._replace(synonyms=()) == tokens.query_terms(question)


def test_a_persons_words_stand_for_each_other_in_any_language() -> None:
    own = ["k8s", "Kubernetes", "酷伯", "container conductor"]
    assert others("Kubernetes", own) == {"kubernet": {"k8s", "酷伯", "contain  conductor"}}
    assert others("問題出在酷伯上", own)["酷伯"] == {"k8s", "kubernet", "contain  conductor"}
    assert others("the container conductor", own) == {"contain conductor": {"k8s", "kubernet", "酷伯"}}
    assert others("containers", own) == {"contain": {"容器", "包括", "包含"}}, "and the shipped ones stay"


@pytest.mark.parametrize(
    "group",
    [
        ["alone"],
        ["word"] * 11,
        ["a" * 61, "b"],
        ["the", "of"],
        ["C 語言", "c"],
        ["the falcon", "falcon"],
        ["1,000", "k"],
    ],
)
def test_a_group_that_could_not_be_found_is_refused(group: list[str]) -> None:
    assert synonyms.group_problem(group)


@pytest.mark.parametrize("group", [["k8s", "k8s"], ["k8s", "K8S", "K8s!"], ["deploy", "deploys"], ["週會", "周会"]])
def test_one_word_written_twice_is_refused_and_the_message_says_why(group: list[str]) -> None:
    assert (problem := synonyms.group_problem(group)) and all(repr(word) in problem for word in group)
    assert "one word" in problem and synonyms.group_problem([*group, "falcon"]) is None


@pytest.mark.parametrize(
    ("written", "question", "asked"),
    [
        ("on call", "who is on call?", "call"),
        ("on-call rota", "the on-call rotas", "call rota"),
        (".NET", "why .NET?", "net"),
        (".NET Core", "a .net core service", "net core"),
        ("C++", "c++ or what", "c++"),
        ("C#", "is C# used", "c#"),
        ("#standup", "when is #standup", "standup"),
        ("The Hague", "trips to the Hague", "hagu"),
        ("「獵鷹」", "獵鷹在哪", "猎鹰"),
    ],
)
def test_a_word_is_accepted_as_a_person_writes_it(written: str, question: str, asked: str) -> None:
    """Search looks for what is left of it: words such as «on» and signs are in no index."""
    group = [written, "falcon"]
    assert synonyms.group_problem(group) is None
    assert "falcon" in others(question, group)[asked] and asked.replace(" ", "  ") in others("falcon", group)["falcon"]


@given(st.lists(st.text(max_size=12), min_size=2, max_size=4))
@example(["relational", "關聯式"])
@example(["0", "𠀀:"])
def test_every_group_that_is_accepted_is_found(group: list[str]) -> None:
    if synonyms.group_problem(group) is None:
        written = [tokens.phrase(word) for word in group]
        for word, itself in zip(group, written, strict=True):
            found = {other for _, words in synonyms.query_terms(word, [group]).synonyms for other in words}
            terms = set(tokens.pieces(itself))
            if not terms.isdisjoint(tokens.query_terms(word).search_terms):
                assert set(written) - {itself} - terms <= found


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14))
@example("relational")
@example("responsibility")
@example("dies")
def test_words_of_a_stem_begin_like_it(word: str) -> None:
    """Otherwise the list in order would not find them."""
    stem = tokens.stem(word)
    assert word.startswith(stem[:-1] or stem)


def test_the_shipped_list_holds_only_what_can_be_found() -> None:
    assert len(PAIRS) >= 600
    seen = set()
    for han, english in PAIRS:
        assert (fold(han), fold(english)) == (tokens.fold(han), tokens.fold(english)), "it is read by the faster one"
        assert tokens.phrase(han) == fold(han) and (len(han) > 1 or fold(han) in ONE_CHARACTER), han
        words = tokens.phrase(english).split()
        assert len(words) == len(re.split("[ -]", english)) or "'s" in english, f"{english}: a stop word is not found"
        assert len(english) > 1 and not any(map(tokens.is_han_piece, words)), english
        assert (pair := (fold(han), tokens.phrase(english))) not in seen, f"{pair} stands twice"
        seen.add(pair)


def test_each_section_of_the_shipped_list_is_in_order() -> None:
    for _, lines in itertools.groupby(LINES, key=lambda line: not line or line.startswith("#")):
        keys = [line.split(" = ")[::-1] for line in lines if " = " in line]
        assert keys == sorted(keys)


@pytest.mark.slow
def test_every_pair_finds_each_other_both_ways(tmp_path: Path) -> None:
    index = SqliteIndex(tmp_path / "index.db")
    names = {word: f"{number}.md" for number, word in enumerate(dict.fromkeys(itertools.chain(*PAIRS)))}
    index.replace([entry(name, f"{word}\n") for word, name in names.items()])
    found: dict[str, set[str]] = {}
    for word in names:
        terms = synonyms.query_terms(word)
        found[word] = {chunk.source for chunk in index.search(terms, limit=500).chunks}
    missed = [
        pair for one, other in PAIRS for pair in ((one, other), (other, one)) if names[pair[1]] not in found[pair[0]]
    ]
    assert not missed
