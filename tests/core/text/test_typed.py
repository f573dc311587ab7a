"""What a person types into a search."""

from __future__ import annotations

import pytest

from vault_memory.core.text import typed


@pytest.mark.parametrize(
    ("text", "words", "phrases", "prefixes"),
    [
        ("plain words", "plain words", (), ()),
        ('find "State of  the Art" here', "find State of the Art here", ("state of the art",), ()),
        ("“暗色主題” 設定", "暗色主題 設定", ("暗色主题",), ()),
        ('"one" "two" "one"', "one two one", ("one", "two"), ()),
        ('a "phrase without end', 'a "phrase without end', (), ()),
        ('"" x', '"" x', (), ()),
        ('"  "', "", (), ()),
        ("honglou* Run*", "honglou Run", (), ("honglou*", "run*")),
        ("紅樓* a* 2*3 *x", "紅樓 a 2*3 *x", (), ()),
        ('"quoted star*"', "quoted star", ("quoted star*",), ("star*",)),
    ],
)
def test_a_query_is_read_as_it_was_meant(
    text: str, words: str, phrases: tuple[str, ...], prefixes: tuple[str, ...]
) -> None:
    assert typed.read(text) == (words, phrases, prefixes)


@pytest.mark.parametrize(
    ("phrase", "text", "stands"),
    [
        ("state of the art", "The STATE of\u3000the art.", True),
        ("cat", "a category", False),
        ("主题", "暗色主題設定", True),
        ("c++", "in C++ we", True),
        ("art of", "state of the art", False),
    ],
)
def test_a_phrase_stands_as_whole_words(phrase: str, text: str, stands: bool) -> None:
    assert typed.holds(phrase, typed.normal(text)) is stands
