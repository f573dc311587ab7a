"""How often a search rightly finds nothing: each user of a dataset is asked the questions of the other users.

`silent` is the share of those questions that get no hit. `lost` is the share of a user's own questions whose answer is
among the first five hits without the floor, and gone with it. The table shows both for a range of floors; the one in
use is marked. `python benchmarks/unanswerable.py DATASET…`; `services/retrieval/bench.py` describes a dataset's form.

`silent_adversarial` is a further look, if a dataset has `queries_adversarial.jsonl`: questions for what was never said,
of people and things that were. The last line is one JSON object, over all datasets and for each.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from vault_memory.adapters.embedding import Embedder, OfflineEmbedder
from vault_memory.config import Config
from vault_memory.core.ranking import floor
from vault_memory.services.retrieval.bench import DatasetVault, read_queries, score
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import find_passages

FLOORS = (0.0, 0.05, 0.1, 0.15, 0.18, 0.2, 0.22, 0.24, 0.26, 0.3, 0.35, 0.4)
TOP_K = 5
ADVERSARIAL = "queries_adversarial.jsonl"
NOTHING = -1.0
"""The fit of a question that gets no hit at any floor."""


@dataclass
class Fits:
    """How well the best passage fits: of strangers' questions, of own ones that are answered, of adversarial ones."""

    strangers: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    adversarial: list[float] = field(default_factory=list)
    own: int = 0

    def add(self, other: Fits) -> None:
        self.strangers += other.strangers
        self.answered += other.answered
        self.adversarial += other.adversarial
        self.own += other.own

    def at(self, least: float) -> dict[str, float]:
        """`silent` and `lost` at a floor, and `silent_adversarial` where there are such questions."""
        found = {"silent": _share_below(least, self.strangers), "lost": _count_below(least, self.answered) / self.own}
        if self.adversarial:
            found["silent_adversarial"] = _share_below(least, self.adversarial)
        return {name: round(value, 4) for name, value in found.items()}


def _count_below(least: float, fits: list[float]) -> int:
    return sum(fit < least for fit in fits)


def _share_below(least: float, fits: list[float]) -> float:
    return _count_below(least, fits) / len(fits) if fits else 0.0


def measure(folder: Path, strangers: int = 0, embedder: Embedder | None = None) -> Fits:
    """Ask every user of a dataset their own questions and `strangers` (0: all) of the other users'."""
    rows = read_queries(folder)
    adversarial = _adversarial(folder / ADVERSARIAL)
    found = Fits(own=len(rows))
    with tempfile.TemporaryDirectory(prefix="vault-memory-unanswerable-") as scratch:
        vault = DatasetVault(folder, Path(scratch), embedder or OfflineEmbedder(), Config())
        for user_id in sorted({row["user_id"] for row in rows}):
            vault.fill(user_id)
            own = [row for row in rows if row["user_id"] == user_id]
            for row in own:
                fit, recall = _asked(vault, user_id, row)
                if recall:
                    found.answered.append(fit)
            for text in _others(rows, {row["query"] for row in own}, strangers):
                found.strangers.append(_asked(vault, user_id, {"query": text})[0])
            for row in adversarial:
                if row["user_id"] == user_id:
                    found.adversarial.append(_asked(vault, user_id, row)[0])
        vault.close()
    return found


def _others(rows: list[dict[str, Any]], own: set[str], count: int) -> list[str]:
    """Questions that this user did not ask, in an order that says nothing."""
    texts = sorted({row["query"] for row in rows} - own, key=lambda text: (crc32(text.encode()), text))
    return texts[:count] if count else texts


def _asked(vault: DatasetVault, user_id: str, row: dict[str, Any]) -> tuple[float, float]:
    """The fit of the best passage, and which share of the answers is among the hits without a floor."""
    result = find_passages(vault, user_id, SearchQuery(row["query"], TOP_K, min_fit=0.0))
    if not result.hits:
        return NOTHING, 0.0
    recall = score(row["gold"], result.hits, vault.lines_of(user_id))["recall@5"] if row.get("gold") else 0.0
    return result.fit, recall


def _adversarial(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [{**json.loads(line), "gold": None} for line in path.read_text("utf-8").splitlines() if line]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--strangers", type=int, default=0, help="questions of others for each user; all by default")
    options = parser.parse_args()
    sets = {folder.name: measure(folder, options.strangers) for folder in options.datasets}
    together = Fits()
    for fits in sets.values():
        together.add(fits)
    shown = {**sets, "together": together} if len(sets) > 1 else sets
    print("silent / lost" + "".join(f"{name[:20]:>22}" for name in shown))
    for least in sorted({*FLOORS, floor.MIN_FIT}):
        rows = (fits.at(least) for fits in shown.values())
        mark = " *" if least == floor.MIN_FIT else ""
        print(f"{f'{least:.2f}{mark}':13}" + "".join(f"{row['silent']:>14.3f} / {row['lost']:.3f}" for row in rows))
    result: dict[str, Any] = together.at(floor.MIN_FIT)
    print(
        json.dumps({**result, "floor": floor.MIN_FIT, "sets": {n: fits.at(floor.MIN_FIT) for n, fits in sets.items()}})
    )


if __name__ == "__main__":
    main()
