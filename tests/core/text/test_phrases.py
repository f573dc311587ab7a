"""Phrases: the notation of the lexicon files."""

from __future__ import annotations

import re

import pytest

from vault_memory.core.text import phrases


@pytest.mark.parametrize(
    "phrase", ["(give|show) me it", "(un)?comment", "(a|b)*c", "x?y", "…so", "(?=d)dark", "a (b)?", "-x"]
)
def test_a_phrase_matches_the_same_alone_and_in_a_long_list(phrase: str) -> None:
    """A list is tried by first characters; that excludes none of its phrases."""
    texts = [
        "give me it",
        "show me it",
        "uncomment",
        "comment",
        "aabc",
        "c",
        "xy",
        "y",
        "and so",
        "dark",
        "a b",
        "a ",
        "-x",
    ]
    alone = re.compile(phrases.pattern([phrase]))
    among = re.compile(phrases.pattern(["zebra", "quagga", "(?!z)zoo", phrase]))
    assert [bool(alone.search(text)) for text in texts] == [bool(among.search(text)) for text in texts]
    assert any(alone.search(text) for text in texts)


@pytest.mark.parametrize(
    ("phrase", "needed"),
    [
        ("remove (it|them)", {"remove"}),
        ("(remove|drop) (it|them)", {"remove", "drop"}),
        ("(remove|drop)? it", {"it"}),
        ("(下|上)(?!课)去", {"下", "上"}),
        ("(a|b)?", set()),
        ("colou?r", {"colo"}),
        ("(rule|law)(?= ?$)", {"rule", "law"}),
    ],
)
def test_every_text_that_a_phrase_matches_contains_what_it_needs(phrase: str, needed: set[str]) -> None:
    assert set(phrases.needs(phrase)) == needed


def test_a_list_matches_the_same_before_and_after_it_is_compiled_whole() -> None:
    """Only the phrases that can match are compiled, until a list has searched many texts."""
    matcher = phrases.Matcher("dark mode, (give|show) me …examples?, 深色(主題)?")
    texts = ["dark mode please", "show me some examples", "深色主题", "深色", "nothing", "dark-mode"]
    first = [[match[0] for match in matcher.finditer(text)] for text in texts]
    for number in range(phrases.Selection.MAX_TEXTS):
        matcher.search(f"dark mode {number}")
    assert first == [[match[0] for match in matcher.finditer(text)] for text in texts]
    assert first == [["dark mode"], ["show me some examples"], ["深色主题"], ["深色"], [], ["dark-mode"]]
