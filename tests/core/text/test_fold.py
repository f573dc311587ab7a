"""Folding keeps every offset, and its table is OpenCC's."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.core.text.fold import _SIMPLIFIED, _TRADITIONAL, fold, simplify

_HAN = [*range(0x2E80, 0xD800), *range(0xE000, 0x10000), *range(0x20000, 0x32000)]


def test_the_table_is_opencc_s_character_dictionary() -> None:
    import opencc

    convert = opencc.OpenCC("t2s").convert
    pairs = [(char, simple) for char in map(chr, _HAN) if (simple := convert(char)) != char and len(simple) == 1]
    assert "".join(char for char, _ in pairs) == _TRADITIONAL
    assert "".join(simple for _, simple in pairs) == _SIMPLIFIED


def test_both_scripts_meet() -> None:
    """G2: the two Chinese scripts compare equal."""
    assert simplify("我喜歡暗色主題，資料庫") == "我喜欢暗色主题，资料库"
    assert fold("ｄａｒｋ　ＭＯＤＥ 繁體") == "dark mode 繁体"


@given(st.text())
@example("薴")
def test_no_character_moves_and_folding_twice_changes_nothing(text: str) -> None:
    assert len(simplify(text)) == len(fold(text)) == len(text)
    assert simplify(simplify(text)) == simplify(text)
    assert fold(fold(text)) == fold(text)


def test_letters_that_grow_in_lower_case_keep_their_place() -> None:
    assert fold("İstanbul DARK") == "İstanbul dark"
