"""Clauses: who speaks, how it is meant, and what carries over to the next clause."""

from __future__ import annotations

import pytest

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.extraction.clauses import Clause, clauses
from vault_memory.core.extraction.speech import read


def of(message: str) -> list[Clause]:
    return clauses(read(message, load_lexicon()), load_lexicon())


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("我室友超愛深色模式", "is_about_others"),
        ("the rubric says use dark slides", "is_about_others"),
        ("如果我用深色主題", "is_hypothetical"),
        ("這次先用英文", "is_once"),
        ("我以前喜歡暗色", "is_past"),
        ("以後都用深色", "is_lasting"),
        ("深色模式是怎麼實作出來的", "asks_to_know"),
        ("我喜歡暗色主題", "likes"),
        ("我喜歡暗色主題", "is_first_person"),
        ("please add comments", "asks"),
    ],
)
def test_each_fact_is_read_from_the_clause(message: str, fact: str) -> None:
    (clause,) = of(message)
    assert getattr(clause, fact)


@pytest.mark.parametrize(
    ("message", "wish"),
    [
        ("我喜歡暗色主題", "explicit"),
        ("以後都用深色", "explicit"),
        ("please add comments", "adjustment"),
        ("我室友超愛深色模式", None),
        ("天氣很好", None),
    ],
)
def test_the_strength_of_a_wish(message: str, wish: str | None) -> None:
    (clause,) = of(message)
    assert clause.wish == wish


def test_what_carries_over_and_what_comes_afterwards() -> None:
    both = of("以後都用深色，字大一點")
    assert [clause.is_lasting for clause in both] == [True, True]
    assert [clause.is_lasting_here for clause in both] == [True, False]
    assert [clause.is_once for clause in of("use light mode please, just for today")] == [True, True]
    assert [clause.is_about_others for clause in of("螢幕一亮小孩會醒，所以網頁麻煩一直維持深色")] == [True, False]
