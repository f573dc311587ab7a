"""G8: the offline benchmark of search, by command; no model judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli

pytestmark = pytest.mark.slow


def test_a_dataset_is_measured(tmp_path: Path) -> None:
    """G8: any folder of that form, in a vault or outside one."""
    notes = tmp_path / "set/users/u1/notes"
    notes.mkdir(parents=True)
    (notes / "birds.md").write_text("# Birds\n\nThe heron waits by the river.\n\nA 鷺鷥 is white.\n")
    (notes / "other.md").write_text("# Other\n\nNothing about it.\n")
    rows = [
        {"query_id": "1", "user_id": "u1", "query": "where does the heron wait", "gold": [_gold(3)]},
        {"query_id": "2", "user_id": "u1", "query": "鹭鸶", "gold": [_gold(5)]},
    ]
    (tmp_path / "set/queries.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    cli = Cli(tmp_path)
    figures = json.loads(cli("bench", "set", "--json"))["set"]
    assert {"recall@5", "mrr@10", "ndcg@10", "rec@1000c", "rec@300c", "p50_ms", "p95_ms"} <= figures.keys()
    assert figures["recall@1"] == 1.0
    assert "recall@5" in cli("bench", "set")
    assert "is not a dataset" in cli("bench", "set/users", code=2)


def _gold(line: int) -> dict[str, object]:
    return {"file": "notes/birds.md", "line_start": line, "line_end": line}
