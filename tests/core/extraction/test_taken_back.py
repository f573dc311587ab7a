"""What takes back the message before: two sets of sentences that were written before the rules, one of them set aside
until these stood. Half of each are near misses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vault_memory.core.extraction import asks_to_be_left_out, load_lexicon, takes_back_the_last

DATA = Path(__file__).parents[2] / "data/taken_back"


@pytest.mark.parametrize(("name", "least"), [("built", 0.97), ("aside", 0.9)])
def test_it_is_heard_and_nothing_else_is(name: str, least: float) -> None:
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    heard = {row["text"]: takes_back_the_last(row["text"], load_lexicon()) for row in rows}
    meant = [row["text"] for row in rows if row["takes_back"]]
    assert [row["text"] for row in rows if not row["takes_back"] and heard[row["text"]]] == []
    missed = [text for text in meant if not heard[text]]
    assert len(missed) <= (1 - least) * len(meant), missed


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Please don't remember that. How do I sort a list?", True),
        ("剛剛那個不要記。遞迴是什麼？", True),
        ("Don't save this. I want to quit my job.", False),
        ("別記這句：我喜歡紅茶", False),
        ("I like metal. Please don't remember that.", False),
        ("Don't save that, save the other file.", False),
        ("Scratch that. Start the story with the goose instead.", False),
    ],
)
def test_with_more_behind_it(message: str, expected: bool) -> None:
    """What was before is meant only where a sentence of its own comes first and names it."""
    assert takes_back_the_last(message, load_lexicon()) is expected


def test_what_is_between_us_is_for_no_profile() -> None:
    """What is not for others is not to be remembered: the whole message is left out."""
    rows = [json.loads(line) for line in (DATA / "between.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = [row["text"] for row in rows if asks_to_be_left_out(row["text"], load_lexicon()) != row["refused"]]
    assert wrong == []
