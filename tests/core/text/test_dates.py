from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.text import tokens

DAY = tokens.day_terms(date(2023, 5, 8))


@pytest.mark.parametrize(
    "text",
    ["May 8th, 2023", "8 May 2023", "the 8th of May 2023", "2023-05-08", "2023/5/8", "2023年5月8日", "2023年5月8號"],
)
def test_every_way_of_writing_a_day_gives_the_day_s_own_tokens(text: str) -> None:
    assert tokens.date_terms(f"it was on {text}, I think") == DAY


@pytest.mark.parametrize("text", ["On May 8th", "5月8号", "5月8日"])
def test_a_day_without_a_year_meets_that_day_of_any_year(text: str) -> None:
    found = tokens.date_terms(text)
    assert found == [DAY[1], DAY[3]]


@pytest.mark.parametrize("text", ["in May 2023", "2023年5月"])
def test_a_month_of_a_year(text: str) -> None:
    assert tokens.date_terms(text) == [DAY[2], DAY[3]]


@pytest.mark.parametrize("text", ["you may 8", "may I?", "It may rain", "13月40日", "version 2023.99.1", "3个月"])
def test_what_is_no_date_gives_none(text: str) -> None:
    assert [token for token in tokens.date_terms(text) if token != DAY[3]] in ([], [tokens.DATE_MARK + "d0508"])


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_iso_and_chinese_agree_with_the_calendar(day: date) -> None:
    assert tokens.date_terms(day.isoformat()) == tokens.day_terms(day)
    assert tokens.date_terms(f"{day.year}年{day.month}月{day.day}日") == tokens.day_terms(day)
