"""What is left of a line where a text went is well-formed Markdown."""

from __future__ import annotations

import pytest

from vault_memory.core.erasing import Erasure


@pytest.mark.parametrize(
    ("text", "line", "left"),
    [
        ("杭州市西湖區", "- 舊家在**杭州市**西湖區很遠", "- 舊家在(erased)很遠"),
        ("杭州市西湖區", "住在杭州市**西湖區**很遠", "住在(erased)很遠"),
        ("杭州市西湖區", "**我家在杭州市**西湖區很遠", "**我家在**(erased)很遠"),
        ("杭州市西湖區", "杭州市**西湖區很遠**", "(erased)**很遠**"),
        ("杭州市西湖區", "[[杭州市]]西湖區", "(erased)"),
        ("杭州市西湖區", "%%杭州市%% 西湖區 留", "(erased) 留"),
        ("b one c two", "**a b one** c two d", "**a** (erased) d"),
        ("b one c two", "b one **c two d** e", "(erased) **d** e"),
        ("b one c two d", "x **a b one** c two **d e** f", "x **a** (erased) **e** f"),
        ("b one c two", "_**a b one** c_ two d", "_**a**_ (erased) d"),
        ("home is red", "`home` is red ~~x~~", "(erased) ~~x~~"),
        ("home is red", "_my home_ is red", "_my_ (erased)"),
    ],
)
def test_a_pair_of_which_one_goes_encloses_what_is_left(text: str, line: str, left: str) -> None:
    assert Erasure([text]).masked(line.encode()).decode() == left


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("my **home is red** door", "my **(erased)** door"),
        ("* one **home** is red\n* two*", "* one (erased)\n* two*"),
        ('{"a": "the **home** is red", "b": "x**"}', '{"a": "the (erased)", "b": "x**"}'),
        ("a snake_home is_red", "a snake_(erased)"),
        ("5 * 3, home is *red", "5 * 3, (erased)"),
        ("**x** home is red **y**", "**x** (erased) **y**"),
        ("**bold\n\nhome** is red", "**bold\n\n(erased)"),
    ],
)
def test_what_is_no_pair_or_a_whole_one_stays(line: str, left: str) -> None:
    assert Erasure(["home is red"]).masked(line.encode()).decode() == left


def test_a_long_line_of_marks_takes_no_time() -> None:
    line = ("**home** is red " * 300 + "*_[`" * 500).encode()
    assert b"home" not in Erasure(["home is red"]).masked(line)
