"""Texts of any length take a time in proportion to it."""

from __future__ import annotations

import pytest

from tests.pace import assert_in_proportion, repeated
from vault_memory.core.extraction import llm
from vault_memory.core.profile import PastTurn, computed
from vault_memory.core.text import tokens

LONG = 20_000
HOSTILE = {
    "blanks after a date": ("May 8", " "),
    "blanks after a month": ("May", " "),
    "dates": ("", "2026-01-30 "),
    "months": ("", "1月"),
    "digits": ("", "1"),
    "marks": ("a", "\u0301\u0316"),
    "vowels": ("", "a"),
    "syllables": ("", "ba"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("start", "piece"), HOSTILE.values(), ids=HOSTILE)
def test_words_and_dates_of_a_hostile_text(start: str, piece: str) -> None:
    def read(size: int) -> None:
        text = start + repeated(piece, size) + "x"
        tokens.stems(text)
        tokens.date_terms(text)

    assert_in_proportion(read, LONG)


def test_dates_with_a_comma_are_still_read() -> None:
    for text in ("May 8, 2023", "May 8 , 2023", "8 May 2023", "may the 8th,2023"):
        assert f"{tokens.DATE_MARK}20230508" in tokens.date_terms(text), text
    assert f"{tokens.DATE_MARK}202305" in tokens.date_terms("in May, 2023")
    assert f"{tokens.DATE_MARK}202305" in tokens.date_terms("May of 2023")


def test_code_is_looked_for_in_a_message_of_blank_lines() -> None:
    def read(size: int) -> None:
        turns = [PastTurn("\n" * size + text, None, False) for text in ["x", repeated("; \n", size)] * 5]
        assert computed.question_style(turns) == "code-first"
        assert computed.question_style([PastTurn("\n" * size, None, False)] * 10) == "detailed"

    assert_in_proportion(read, 60_000)


def test_the_response_of_a_model() -> None:
    def read(size: int) -> None:
        for text in ("```" + " " * size, "```json" + "`" * size, "[" * size, "```" + "\n" * size + "x"):
            with pytest.raises(ValueError):
                llm.parse(text)

    assert_in_proportion(read, LONG)
    assert llm.parse(' ```json\n{"changes": []}\n``` \n') == llm.parse('```{"changes": []}```') == []
