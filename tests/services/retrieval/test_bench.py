from __future__ import annotations

import json
from pathlib import Path

import pytest

from vault_memory.errors import UsageError
from vault_memory.services.retrieval.bench import bench


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "facts"
    (folder / "users/u/daily").mkdir(parents=True)
    (folder / "users/u/daily/2026-01-30.md").write_text("# 2026-01-30\n\n- The cat sleeps.\n- The dog barks.\n")
    (folder / "users/u/ignored.txt").write_text("The cat reads.\n")
    ask(folder, [("cat", 3), ("dog", 4)])
    return folder


def ask(folder: Path, questions: list[tuple[str, int]]) -> None:
    rows = []
    for number, (query, line) in enumerate(questions):
        gold = [{"file": "daily/2026-01-30.md", "line_start": line, "line_end": line}]
        rows.append({"query_id": number, "user_id": "u", "query": query, "gold": gold})
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_perfect_search_scores_one(dataset: Path) -> None:
    """G8"""
    found = bench(dataset)
    assert (found.dataset, found.queries) == ("facts", 2)
    for figure in ("recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10", "rec@300c", "rec@1000c"):
        assert found.figures[figure] == 1.0
    assert found.figures["chars@5"] > 0 and found.figures["p50_ms"] <= found.figures["p95_ms"]


def test_what_is_not_found_scores_nothing(dataset: Path) -> None:
    ask(dataset, [("zeppelin", 3), ("cat", 3)])
    assert bench(dataset).figures["recall@5"] == 0.5


def test_it_writes_nothing_into_the_dataset(dataset: Path) -> None:
    before = sorted(dataset.rglob("*"))
    bench(dataset, mode="keyword")
    assert sorted(dataset.rglob("*")) == before


@pytest.mark.parametrize(
    "text", [None, "", "not json\n", '{"user_id": "u"}\n', '{"user_id": "u", "query": "x", "gold": []}\n']
)
def test_what_is_no_dataset_is_refused(dataset: Path, text: str | None) -> None:
    path = dataset / "queries.jsonl"
    path.unlink() if text is None else path.write_text(text)
    with pytest.raises(UsageError, match="queries.jsonl"):
        bench(dataset)
