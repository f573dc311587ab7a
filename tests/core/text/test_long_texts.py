"""Texts of any length take a time in proportion to it."""

from __future__ import annotations

import time

import pytest

from vault_memory.core.extraction import llm
from vault_memory.core.profile import PastTurn, computed
from vault_memory.core.text import tokens

LONG = 200_000
HOSTILE = {
    "blanks after a date": "May 8" + " " * LONG + "x",
    "blanks after a month": "May" + " " * LONG + "x",
    "dates": "2026-01-30 " * (LONG // 11),
    "months": "1月" * (LONG // 2),
    "digits": "1" * LONG,
    "marks": "a" + "\u0301\u0316" * (LONG // 2),
    "vowels": "a" * LONG,
    "syllables": "ba" * (LONG // 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_words_and_dates_of_a_hostile_text(text: str) -> None:
    started = time.process_time()
    tokens.stems(text)
    tokens.date_terms(text)
    assert time.process_time() - started < 3


def test_dates_with_a_comma_are_still_read() -> None:
    for text in ("May 8, 2023", "May 8 , 2023", "8 May 2023", "may the 8th,2023"):
        assert f"{tokens.DATE_MARK}20230508" in tokens.date_terms(text), text
    assert f"{tokens.DATE_MARK}202305" in tokens.date_terms("in May, 2023")
    assert f"{tokens.DATE_MARK}202305" in tokens.date_terms("May of 2023")


def test_code_is_looked_for_in_a_message_of_blank_lines() -> None:
    started = time.process_time()
    turns = [PastTurn("\n" * 60_000 + text, None, False) for text in ["x", "; \n" * 20_000] * 5]
    assert computed.question_style(turns) == "code-first"
    assert computed.question_style([PastTurn("\n" * 60_000, None, False)] * 10) == "detailed"
    assert time.process_time() - started < 3


def test_the_response_of_a_model() -> None:
    started = time.process_time()
    for text in ("```" + " " * LONG, "```json" + "`" * LONG, "[" * LONG, "```" + "\n" * LONG + "x"):
        with pytest.raises(ValueError):
            llm.parse(text)
    assert llm.parse(' ```json\n{"changes": []}\n``` \n') == llm.parse('```{"changes": []}```') == []
    assert time.process_time() - started < 3
