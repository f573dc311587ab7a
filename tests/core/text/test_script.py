"""The script of a text: by characters that only one kind of Chinese has, never by guessing a language."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.text import chinese_of, script, script_of, script_of_last
from vault_memory.core.text.fold import simplified

TURNS = Path(__file__).parents[2] / "data/preferences"


def test_the_characters_of_both_scripts_are_opencc_s() -> None:
    """Those that the table calls Simplified, and that Traditional text keeps by one of OpenCC's conversions."""
    import opencc

    convert = [opencc.OpenCC(name).convert for name in ("s2t", "s2tw", "s2hk")]
    pairs = [(chr(a), chr(b)) for a, b in simplified().items() if a != b and "\u4e00" <= chr(a) <= "\u9fff"]
    targets = {b for _, b in pairs} - {a for a, _ in pairs}
    assert set(script._IN_BOTH) == {char for char in targets if any(each(char) == char for each in convert)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜歡暗色主題", "zh-TW"),
        ("我喜欢暗色主题", "zh-CN"),
        ("你好", "zh"),
        ("只用中文", "zh"),
        ("叫我 Andy", "zh"),
        ("幫我用 React Router 和 TypeScript 寫 login page", "zh-TW"),
        ("for 循环怎么写？`this is the way it works`", "zh-CN"),
        ("把這段翻成中文：https://example.com/a/very/long/path/of/english/words", "zh-TW"),
        ("```\nif this then that else nothing at all\n```\n這樣對嗎", "zh-TW"),
        ("請問「体」是簡體嗎", "zh-TW"),
        ("I prefer dark mode.", "und"),
        ("Hello", "und"),
        ("Что такое рекурсия?", "und"),
        ("สวัสดี", "und"),
        ("My name is 王", "und"),
        ("暗いテーマが好きです", "ja"),
        ("日本語で答えて", "ja"),
        ("다크 모드가 좋아요", "ko"),
        ("", ""),
        ("123 + 4 = ?", ""),
        ("```\nonly code\n```", ""),
        ("\ud800\x00", ""),
    ],
)
def test_the_script_of_a_text(text: str, expected: str) -> None:
    assert script_of(text) == expected


def test_a_few_words_of_another_script_may_be_passed_over() -> None:
    assert script_of("npm install") == "und" and script_of("npm install", 3) == ""
    assert script_of("嗯", 3) == "zh", "a character is telling"


@pytest.mark.parametrize(
    ("newest_first", "expected"),
    [
        (["我喜歡", "我喜欢"], "zh-TW"),
        (["你好", "我喜欢"], "zh-CN"),
        (["你好", "please be brief, thanks", "我喜歡"], "zh-TW"),
        (["ok", "我喜歡"], "zh-TW"),
        (["what does this error mean?", "我喜歡"], "und"),
        (["你好", "ok"], "zh"),
        (["ok", ""], ""),
        ([], ""),
    ],
)
def test_the_script_that_a_person_wrote_last(newest_first: list[str], expected: str) -> None:
    assert script_of_last(iter(newest_first)) == expected


def test_of_our_labelled_turns_hardly_one_is_misread() -> None:
    """Turns in one language; those in two have no right answer."""
    found: dict[str, Counter[str]] = {"zh-TW": Counter(), "zh-CN": Counter(), "en": Counter()}
    for path in TURNS.glob("tuning*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            if turn["lang"] in found:
                found[turn["lang"]][script_of(turn["user_msg"])] += 1
    assert set(found["en"]) <= {"und", ""} and found["en"][""] <= 2
    for own, other in (("zh-TW", "zh-CN"), ("zh-CN", "zh-TW")):
        assert found[own][other] == found[own]["ja"] == 0 and found[own]["und"] <= 3
        assert found[own][own] >= 0.98 * found[own].total()


@given(st.text(max_size=200))
def test_any_text_has_one_of_six_scripts(text: str) -> None:
    assert script_of(text) in ("", "und", "zh", "zh-TW", "zh-CN", "ja", "ko")
    assert chinese_of(text) in ("zh", "zh-TW", "zh-CN")
