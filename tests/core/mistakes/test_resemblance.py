"""B3: which requests are about to repeat a mistake, on the labelled sets, and what a hostile request costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import pace
from vault_memory.core.mistakes import TEXTS, least, likeness
from vault_memory.core.text import synonyms

DATA = Path(__file__).parents[2] / "data" / "mistakes"


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


MISTAKES = read("mistakes.jsonl")


def resembled(request: str, mistakes: list[dict[str, Any]] = MISTAKES) -> list[str]:
    terms, wanted = synonyms.query_terms(request), least(request)
    scores = {row["key"]: likeness(request, terms, {name: row.get(name, "") for name in TEXTS}) for row in mistakes}
    best = max(scores.values())
    return [key for key, score in scores.items() if score >= max(wanted, 0.75 * best)]


@pytest.mark.parametrize("name", ["open.jsonl", "final.jsonl"])
def test_shown_where_it_may_be_repeated_and_nowhere_else(name: str) -> None:
    """The figures that are asked for: at least .8 of those that resemble a mistake, at most .1 of the others."""
    rows = read(name)
    alike, others = [row for row in rows if row["resembles"]], [row for row in rows if not row["resembles"]]
    assert len(rows) >= 60 and abs(len(alike) - len(others)) <= 4
    shown = sum(bool(set(row["resembles"]).intersection(resembled(row["request"]))) for row in alike)
    false = sum(bool(resembled(row["request"])) for row in others)
    assert shown >= 0.8 * len(alike) and false <= 0.1 * len(others), (shown, len(alike), false, len(others))


@pytest.mark.parametrize(("name", "most"), [("hard/requests.jsonl", 0.1), ("hard/second.jsonl", 0.25)])
def test_one_shared_word_is_not_the_same_task(name: str, most: float) -> None:
    """Of those that share a noun with a mistake, and ask for something else, few get one."""
    mistakes = read("hard/mistakes.jsonl")
    others = [row for row in read(name) if not row["resembles"]]
    assert sum(bool(resembled(row["request"], mistakes)) for row in others) <= most * len(others)


def test_what_is_done_counts_in_another_word_and_words_alone_repeat_nothing() -> None:
    mistake = {"key": "x", "action": "Deleted the rows of the archive", "correct_method": "先備份"}
    assert resembled("purge the old archive", [mistake]) == resembled("把 archive 清空", [mistake]) == ["x"]
    for request in ("write a poem about the archive", "幫 archive 取名", "summarise the archive"):
        assert resembled(request, [mistake]) == [], request
    poem = {"key": "poem", "action": "Wrote a poem without rhymes", "correct_method": "Rhyme each second line"}
    assert resembled("a poem about mail, please", [poem]) == ["poem"]


@pytest.mark.parametrize(
    "requests",
    [
        (
            "部署網站到正式環境",
            "部署网站到正式环境",
            "Deploy the site",
            "DEPLOY IT NOW",
            "ｄｅｐｌｏｙ the site please",
        ),
        ("幫我整理會議記錄的摘要", "整理会议记录的摘要"),
        ("幫我跑 migration", "run the migrations"),
    ],
)
def test_in_both_scripts_and_languages(requests: tuple[str, ...]) -> None:
    wanted = resembled(requests[0])
    assert wanted and all(set(wanted).intersection(resembled(request)) for request in requests)


def test_who_asks_what_something_is_repeats_nothing() -> None:
    assert resembled("部署網站") == ["deploy-untested"]
    for request in ("部署是什麼", "What is a deployment?", "解釋一下部署", "How does deploying work?"):
        assert resembled(request) == [], request
    for request in ("上次部署時犯了什麼錯？", "What mistakes did we make when we deployed?", "你能幫我部署嗎？"):
        assert resembled(request) == ["deploy-untested"], request


def test_general_words_and_grammar_are_nothing_in_common() -> None:
    for request in ("", "。", "請", "幫我把這個檔案改成新的", "please make a new list of all the files", "🙂"):
        assert resembled(request) == [], request


@pytest.mark.parametrize(
    "piece", ["部署", "deploy ", "what ", "請", "go wrong ", "a" * 50 + " ", "犯", "\\## Action\n"]
)
def test_any_request_takes_a_time_in_proportion(piece: str) -> None:
    texts = {name: pace.repeated(f"{piece} tests 部署 deploy", 4_000) for name in TEXTS}

    def work(size: int) -> None:
        request = pace.repeated(piece, size)
        likeness(request, synonyms.query_terms(request), texts)
        least(request)

    pace.assert_in_proportion(work, 20_000)
