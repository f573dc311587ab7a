"""The labelled corpus: how much is found, and how often an ordinary line is taken for a secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[3] / "benchmarks" / "secret_detection.py"


def measured(*arguments: str) -> dict[str, float]:
    """The last line of the benchmark."""
    command = [sys.executable, str(BENCHMARK), *arguments]
    result = subprocess.run(command, capture_output=True, check=True, timeout=300, encoding="utf-8")
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.slow
def test_our_own_corpus_meets_its_aims() -> None:
    result = measured()
    assert result["secrets"] >= 400 and result["kinds"] >= 60 and result["lines"] >= 2000
    assert result["recall"] >= 0.97 and result["false_alarms"] <= 0.005


@pytest.mark.slow
def test_another_corpus_is_read_from_a_file(tmp_path: Path) -> None:
    """One of two secrets is found, one of four ordinary lines is a false alarm: what is printed are fractions of 1."""
    rows = [
        {"text": "password: hunter22", "secrets": ["hunter22"]},
        {"text": "the magic word is xyzzyplugh", "secrets": ["xyzzyplugh"]},
        {"text": "one\ntwo\npassword: hunter22\nfour", "secrets": []},
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = measured(str(corpus))
    assert (result["recall"], result["false_alarms"]) == (0.5, 0.25)
