"""Voices: what others say, and what is only a text, teaches nothing; what the person says beside it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.core.extraction import extract, load_lexicon
from vault_memory.core.extraction.voices.stretches import of_others
from vault_memory.core.memorable import memorable
from vault_memory.core.text import fold

SETS = Path(__file__).parents[2] / "data/voices"
MOST_OF_OTHERS, LEAST_OWN = 0.05, 0.82
"""Shares of the messages that teach something."""
LINE = st.sampled_from(
    [
        "Hi Anna,",
        "Best,",
        "Tom",
        "Tom: I love tea",
        "我：好",
        "> a",
        "",
        "Fix this mail:",
        "From: a",
        "To: b",
        "I love tea.",
    ]
)


def teaches(text: str) -> bool:
    signals = [each for each in extract(text) if not each.is_suggestion and each.key != "recent_topics"]
    return bool(signals or memorable(text))


def others(text: str) -> list[str]:
    folded = fold(text)
    return [text[start:end] for start, end in of_others(text, folded, folded, load_lexicon())]


@pytest.mark.parametrize("name", ["work", "aside"])
def test_words_of_others_teach_nothing_and_own_words_do(name: str) -> None:
    lines = (SETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    taught: dict[bool, list[bool]] = {True: [], False: []}
    for turn in map(json.loads, lines):
        taught[turn["is_own"]].append(teaches(turn["user_msg"]))
    assert sum(taught[False]) / len(taught[False]) <= MOST_OF_OTHERS
    assert sum(taught[True]) / len(taught[True]) >= LEAST_OWN


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I live in Berlin. Please fix this mail: Hi Anna, I live in Rome. Best, Tom", "I live in Berlin"),
        ("我住在台北。幫我潤飾這封信：小美你好，我搬到東京了。祝好 小明", "我住在台北"),
        ('Translate this to German: "I hate dogs". By the way, I love cats.', "I love cats"),
        ("Amy: I hate tea\nBob: I love tea\n\nI live in Graz.", "I live in Graz"),
        ("Hi Anna,\nI hate tea.\nBest,\nTom\n\nI love coffee.", "I love coffee"),
        ("> I hate tea\n\nI love coffee.", "I love coffee"),
        ("Me: I love coffee", "I love coffee"),
    ],
)
def test_what_the_person_says_beside_a_text_is_kept_alone(text: str, told: str) -> None:
    assert [each.content.removeprefix("Me: ") for each in memorable(text)] == [told]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Me: I love tea\nTom: I hate it", ["Me: I love tea\nTom: I hate it"]),
        ("Me: I love tea\nMe: I live in Graz", []),
        ("我喜歡: 茶\n我討厭: 咖啡", []),
        ("My rules:\n- always answer in German", []),
        ("Hi, I'm Tom and I love chess.", []),
        ("Hey Claude,\nI love chess.\nBest,\nTom", []),
        ("Hey Anna,\nI love chess.\nBest,\nTom", ["Hey Anna,\nI love chess.\nBest,\nTom"]),
        ("On Mon, Tom wrote:\n> a\nok", ["> a"]),
        ("[10:02] Tom: a\n[10:03] Eva: b", ["[10:02] Tom: a\n[10:03] Eva: b"]),
        ("Any poem you write for me: no title", []),
    ],
)
def test_whose_words_lines_are(text: str, found: list[str]) -> None:
    assert others(text) == found


def test_a_text_goes_on_over_what_is_left_out_of_a_long_message() -> None:
    letter = "Hi Anna,\n" + "It rains.\n" * 500 + "I live in Rome.\nBest,\nTom\n\nI love tea."
    assert [each.content for each in memorable(letter)] == ["I love tea"]


@given(st.lists(LINE, max_size=12).map("\n".join))
def test_stretches_lie_in_order_inside_the_message(text: str) -> None:
    folded, end = fold(text), 0
    for start, stop in of_others(text, folded, folded, load_lexicon()):
        assert end <= start < stop <= len(text)
        end = stop
