"""Measure search on a folder of questions with known answers: no model judges, no network is needed.

A dataset is a folder with `users/<user_id>/…` (notes as in a vault) and `queries.jsonl`, one question per line:
`{"query_id", "user_id", "query", "gold": [{"file", "line_start", "line_end"}, …]}`. A passage answers when it is of a
gold file and touches its lines. The notes are indexed by the product's own code into a temporary folder.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.adapters.embedding import Embedder
from vault_memory.adapters.index import FileState, Index, SqliteIndex
from vault_memory.config import Config
from vault_memory.core import layout, reading
from vault_memory.core.notes import document
from vault_memory.errors import UsageError
from vault_memory.services.retrieval.query import Hit, Mode, SearchQuery
from vault_memory.services.retrieval.search import find_passages

DEPTH = 10
"""Passages asked for; the figures look at the first 1, 5 and 10."""
BUDGETS = (300, 1000)
"""Characters of the `rec@Nc` figures: recall within the first N characters of the answers, walked line by line, so that
long passages cannot win by their length."""


@dataclass(frozen=True)
class BenchResult:
    """Figures of one dataset, each the mean over its `queries` questions; times in milliseconds, lengths in
    characters."""

    dataset: str
    queries: int
    figures: dict[str, float] = field(default_factory=dict)


def bench(
    folder: Path,
    *,
    queries: str = "queries.jsonl",
    mode: Mode = "hybrid",
    embedder: Embedder | None = None,
    config: Config | None = None,
) -> BenchResult:
    """Index the notes of a dataset, ask its questions and score the answers. Raises `UsageError` if it is no
    dataset."""
    if embedder is None:
        from vault_memory.adapters.embedding import OfflineEmbedder

        embedder = OfflineEmbedder()
    rows = read_queries(folder, queries)
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as scratch:
        vault = DatasetVault(folder, Path(scratch), embedder, config or Config())
        for user_id in sorted({row["user_id"] for row in rows}):
            vault.fill(user_id)
        figures, times = [], []
        for row in rows:
            started = time.perf_counter()
            found = find_passages(vault, row["user_id"], SearchQuery(row["query"], DEPTH, mode))
            times.append((time.perf_counter() - started) * 1000)
            figures.append(score(row["gold"], found.hits, vault.lines_of(row["user_id"])))
        vault.close()
    means = {name: sum(each[name] for each in figures) / len(figures) for name in figures[0]}
    times.sort()
    means |= {"p50_ms": times[len(times) // 2], "p95_ms": times[len(times) * 95 // 100]}
    name = folder.name if queries == "queries.jsonl" else f"{folder.name}/{queries}"
    return BenchResult(name, len(rows), {key: round(value, 4) for key, value in means.items()})


def score(gold: Sequence[dict[str, Any]], hits: Sequence[Hit], lines: _Lines) -> dict[str, float]:
    """Figures of one question: recall@k, mrr@10, ndcg@10 (a repeated answer gains nothing), rec@Nc, and the characters
    of the first five passages. `gold` has one entry per line or lines that answer."""
    first: dict[int, int] = {}
    gain = 0.0
    for rank, hit in enumerate(hits):
        new = [at for at in _touched(gold, hit) if at not in first]
        first.update(dict.fromkeys(new, rank))
        gain += len(new) / math.log2(rank + 2)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(gold), DEPTH)))
    within = _within_budget(gold, hits, lines)
    return {
        **{f"recall@{k}": sum(rank < k for rank in first.values()) / len(gold) for k in (1, 5, 10)},
        "mrr@10": 1 / (min(first.values()) + 1) if first else 0.0,
        "ndcg@10": min(1.0, gain / ideal),
        **{f"rec@{budget}c": within[budget] / len(gold) for budget in BUDGETS},
        "chars@5": float(sum(len(hit.content) for hit in hits[:5])),
    }


def _touched(gold: Sequence[dict[str, Any]], hit: Hit) -> list[int]:
    first, last = hit.line_range
    return [
        at
        for at, answer in enumerate(gold)
        if answer["file"] == hit.source and first <= answer["line_end"] and answer["line_start"] <= last
    ]


def _within_budget(gold: Sequence[dict[str, Any]], hits: Sequence[Hit], lines: _Lines) -> dict[int, int]:
    """How many answers the first N characters hold, for each budget N; the first line read always counts."""
    covered: dict[int, set[int]] = {budget: set() for budget in BUDGETS}
    used = 0
    for hit in hits:
        answers = _touched(gold, hit)
        for number, length in _shown_lines(hit, lines):
            used += length
            for budget in BUDGETS:
                if used <= budget or used == length:
                    covered[budget] |= {a for a in answers if gold[a]["line_start"] <= number <= gold[a]["line_end"]}
    return {budget: len(found) for budget, found in covered.items()}


def _shown_lines(hit: Hit, lines: _Lines) -> Iterator[tuple[int, int]]:
    """The lines of a hit in the order in which they are shown, each with its characters; what stands above or before
    the words of a passage belongs to its first line."""
    for passage in hit.passages:
        label = len(passage.text) - len(passage.words)
        for number in range(passage.line_range[0], passage.line_range[1] + 1):
            yield number, len(lines[hit.source, number]) + 1 + label
            label = 0


class _Lines:
    """The lines of one user's files, read when they are first asked for; empty beyond a file's end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, list[str]] = {}

    def __getitem__(self, place: tuple[str, int]) -> str:
        source, number = place
        if source not in self._read:
            self._read[source] = (self.folder / source).read_text("utf-8", "replace").split("\n")
        lines = self._read[source]
        return lines[number - 1] if number <= len(lines) else ""


class DatasetVault:
    """What search needs of a vault, over a dataset's folders and with indexes in a scratch folder."""

    def __init__(self, root: Path, scratch: Path, embedder: Embedder, config: Config) -> None:
        self.root, self.scratch, self.embedder, self.config = root, scratch, embedder, config
        self._indexes: dict[str, SqliteIndex] = {}
        self._lines: dict[str, _Lines] = {}

    def folder(self, scope: str) -> Path:
        return self.root / "users" / layout.check_user_id(scope)

    def path(self, scope: str, source: str) -> Path:
        return self.folder(scope) / source

    def now(self) -> datetime:
        """The time of the question."""
        return datetime.now().astimezone()

    def former_embedder(self, space: str) -> None:
        """No settings change in the middle of a benchmark."""

    def index(self, scope: str) -> Index:
        if scope not in self._indexes:
            self._indexes[scope] = SqliteIndex(self.scratch / f"{scope}.db")
        return self._indexes[scope]

    def lines_of(self, user_id: str) -> _Lines:
        return self._lines.setdefault(user_id, _Lines(self.folder(user_id)))

    def fill(self, user_id: str) -> None:
        index = self.index(user_id)
        index.replace(self._entries(user_id))
        while index.embed_pending(self.embedder):
            pass

    def close(self) -> None:
        for index in self._indexes.values():
            index.close()

    def _entries(self, user_id: str) -> Iterator[tuple[document.Document, FileState]]:
        root = self.folder(user_id)
        for path in sorted(root.rglob("*")):
            place = layout.place_of(PurePosixPath(layout.MEMORY_DIR, user_id, path.relative_to(root).as_posix()))
            if place and path.is_file():
                data = path.read_bytes()
                state = FileState(hashlib.sha256(data).digest(), len(data), 0, 0, 0)
                yield document.read(place.source, layout.kind_of(place), data), state


def read_queries(folder: Path, name: str = "queries.jsonl") -> list[dict[str, Any]]:
    path = folder / name
    try:
        rows = [reading.json_value(line) for line in reading.lines(path.read_bytes()) if line.strip()]
    except OSError as error:
        raise UsageError(f"{folder} is not a dataset: {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSONL: {error}") from error
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not row.get("gold") or not {"user_id", "query"} <= row.keys():
            raise UsageError(f"{path}:{number}: a question needs user_id, query and gold")
    if not rows:
        raise UsageError(f"{path} holds no questions")
    return rows
