"""How fast search is, against a floor measured in the same run.

    python benchmarks/search.py [--chunks 10000,100000] [--users 1000]

The floor of a warm search is one numpy float32 matrix-vector product over the same vectors and one raw FTS5 query of
the same words over the same texts. The floor of indexing is a loop over the same files that only parses them with
markdown-it, hashes them with scikit-learn's vectoriser and inserts them into FTS5. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import apsw
import numpy

from vault_memory.adapters.embedding.offline import OfflineEmbedder
from vault_memory.adapters.index.base import FileState
from vault_memory.adapters.index.sqlite import SqliteIndex
from vault_memory.config import Config
from vault_memory.core.notes import document
from vault_memory.services.admin import create_vault
from vault_memory.services.indexing import reconcile
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import find_passages, search
from vault_memory.services.vault import open_vault

DIMENSION = 384
RANDOM = random.Random(7)
VOWELS, CONSONANTS = "aeiou", "bcdfghklmnprstvz"
WORDS = [
    "".join(RANDOM.choice(CONSONANTS) + RANDOM.choice(VOWELS) for _ in range(RANDOM.randint(2, 4)))
    for _ in range(30_000)
]
HAN = [chr(0x4E00 + n) for n in range(3_000)]
RANKS = list(itertools.accumulate(1 / (n + 20) for n in range(len(WORDS))))  # Zipf, as languages have it


class Drawn:
    """Vectors of 384 dimensions that depend on the text alone: what they cost matters here, not what they find."""

    space, dimension = "drawn", DIMENSION

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[list[float]]:
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[float]:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector: list[float] = numpy.random.default_rng(seed).standard_normal(DIMENSION).tolist()
        return vector


def sentence(length: int = 12) -> str:
    words = RANDOM.choices(WORDS, cum_weights=RANKS, k=length)
    return " ".join(words).capitalize() + "."


def note(title: str, sections: int) -> str:
    parts = [f"# {title}\n"]
    for n in range(sections):
        parts.append(f"## Part {n}\n\n" + "\n".join(f"- {sentence()}" for _ in range(16)) + "\n")
        if n % 4 == 0:
            parts.append("".join(RANDOM.choices(HAN, k=60)) + "。\n")
    return "\n".join(parts)


def entry(source: str, text: str) -> tuple[document.Document, FileState]:
    data = text.encode()
    return document.read(source, "note", data), FileState(hashlib.sha256(data).digest(), len(data), 0, 0, 0)


def milliseconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return (clock() - started) * 1000


def rss() -> int:
    return int(re.search(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024  # type: ignore[index]


def filled(path: Path, chunks: int, embedder: object) -> tuple[SqliteIndex, int]:
    """An index of about so many chunks, and the bytes of its texts."""
    index, size, count = SqliteIndex(path), 0, 0
    while count < chunks:
        batch = [entry(f"notes/{count}-{n}.md", note(sentence(3), 10)) for n in range(min(100, chunks // 12))]
        index.replace(batch)
        count += sum(len(read.chunks) for read, _ in batch)
        size += sum(state.size for _, state in batch)
    while index.embed_pending(embedder, 1024):  # type: ignore[arg-type]
        pass
    index.compact()  # as a reconcile does that brought so much
    return index, size


def warm(folder: Path, chunks: int) -> dict[str, float]:
    """Hybrid search in a long-lived process against the floor; memory; the cost of one changed chunk."""
    embedder = Drawn()
    index, _ = filled(folder / f"{chunks}.db", chunks, embedder)
    questions = [sentence(RANDOM.randint(4, 8)) for _ in range(60)]
    vault = SimpleNamespace(
        index=lambda scope: index,
        embedder=Asked(embedder, questions),
        config=Config(),
        former_embedder=lambda space: None,
        now=partial(datetime.now, UTC),
    )
    floor_db, matrix = floor_of(index)
    before = rss()
    for question in questions[:5]:
        find_passages(vault, "u", SearchQuery(question))
    held = rss() - before
    ours, floor = [], []
    for question in questions[5:]:
        ours.append(milliseconds(partial(find_passages, vault, "u", SearchQuery(question))))
        floor.append(milliseconds(partial(raw, floor_db, matrix, question, embedder)))
    costs = []
    for n in range(20):
        changed = entry("notes/one.md", f"# One\n\n{sentence(100)} {n}\n")

        def change(changed: tuple[document.Document, FileState] = changed) -> None:
            index.replace([changed])
            index.embed_pending(vault.embedder)

        costs.append(milliseconds(change, time.process_time))
    result = {
        "p50": statistics.median(ours), "p95": sorted(ours)[len(ours) * 95 // 100], "floor": statistics.median(floor),
        "ratio": statistics.median(ours) / statistics.median(floor),
        "replace_cpu_ms": statistics.median(costs), "rss_ratio": max(0.0, held - 80e6) / matrix.nbytes,
    }  # fmt: skip
    index.close()
    return result


class Asked:
    """The questions' vectors are made beforehand: an endpoint's time is not ours."""

    def __init__(self, embedder: Drawn, questions: Sequence[str]) -> None:
        self.space, self.dimension, self._embedder = embedder.space, embedder.dimension, embedder
        self._known = {question: embedder.embed([question])[0] for question in questions}

    def embed(self, texts: Sequence[str], kind: str = "document") -> list[list[float]]:
        return [self._known.get(text) or self._embedder.embed([text])[0] for text in texts]


def floor_of(index: SqliteIndex) -> tuple[apsw.Connection, numpy.ndarray]:
    """The same texts in a plain FTS5 table, and the same vectors in a matrix."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(body, content='', tokenize='porter unicode61')")
    with apsw.Connection(str(index.path), flags=apsw.SQLITE_OPEN_READONLY) as source, db:
        db.executemany("INSERT INTO t(rowid, body) VALUES(?, ?)", source.execute("SELECT chunk_id, text FROM chunks"))
        rows = [row[0] for row in source.execute("SELECT embedding FROM vectors")]
    matrix = numpy.frombuffer(b"".join(rows), numpy.int8).reshape(len(rows), -1).astype(numpy.float32)
    return db, matrix


def raw(db: apsw.Connection, matrix: numpy.ndarray, question: str, embedder: Drawn) -> None:
    match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
    db.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT 20", (match,)).fetchall()
    numpy.argpartition(-(matrix @ matrix[0]), 20)


def cold(folder: Path) -> dict[str, float]:
    """A new process that searches 10,000 chunks once, and what its imports take."""
    index, _ = filled(folder / "cold.db", 10_000, OfflineEmbedder())
    index.close()
    code = (
        "import sys; from types import SimpleNamespace; from pathlib import Path; from datetime import UTC, datetime\n"
        "from vault_memory.config import Config\n"
        "from vault_memory.services.retrieval.query import SearchQuery\n"
        "from vault_memory.services.retrieval.search import find_passages\n"
        "from vault_memory.adapters.index.sqlite import SqliteIndex\n"
        "from vault_memory.adapters.embedding.offline import OfflineEmbedder\n"
        "index = SqliteIndex(Path(sys.argv[1]))\n"
        "vault = SimpleNamespace(index=lambda scope: index, embedder=OfflineEmbedder(), config=Config(), "
        "former_embedder=None, now=lambda: datetime.now(UTC))\n"
        "assert find_passages(vault, 'u', SearchQuery(sys.argv[2])).hits\n"
        "assert not {'numpy', 'sklearn'} & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", code, str(folder / "cold.db"), sentence(6)]
    times = [milliseconds(lambda: subprocess.run(command, check=True)) for _ in range(7)]
    traced = [sys.executable, "-X", "importtime", *command[1:]]
    imports = []
    for _ in range(3):
        lines = subprocess.run(traced, check=True, capture_output=True, text=True).stderr.splitlines()
        imports.append(sum(int(m[1]) for line in lines if (m := re.match(r"import time:\s+(\d+) \|", line))) / 1000)
    return {"cold_ms": statistics.median(times), "import_ms": statistics.median(imports)}


def indexing(folder: Path, count: int = 5_000) -> dict[str, float]:
    """Indexing notes from nothing, offline vectors included, against the floor loop."""
    from markdown_it import MarkdownIt
    from sklearn.feature_extraction.text import HashingVectorizer

    texts = [note(sentence(3), 2) for _ in range(count)]
    paths = [folder / "files" / f"{n}.md" for n in range(count)]
    paths[0].parent.mkdir()
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)

    def ours() -> None:
        index, embedder = SqliteIndex(folder / "built.db"), OfflineEmbedder()
        for at in range(0, count, 200):
            index.replace([entry(path.name, path.read_text()) for path in paths[at : at + 200]])
        while index.embed_pending(embedder, 1024):
            pass
        index.close()

    def floor() -> None:
        db = apsw.Connection(str(folder / "floor.db"))
        db.execute("PRAGMA journal_mode=wal").fetchall()
        db.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61')")
        parser, hashing = MarkdownIt(), HashingVectorizer(n_features=512, analyzer="char_wb", ngram_range=(3, 5))
        for at in range(0, count, 200):
            batch = [path.read_text() for path in paths[at : at + 200]]
            for text in batch:
                parser.parse(text)
            hashing.transform(batch)
            with db:
                db.executemany("INSERT INTO t VALUES(?)", ((text,) for text in batch))
        db.close()

    floor_ms, ours_ms = milliseconds(floor), milliseconds(ours)
    size = sum(len(text.encode()) for text in texts)
    return {
        "files_per_s": count / ours_ms * 1000, "index_ratio": floor_ms / ours_ms,
        "bytes_ratio": (folder / "built.db").stat().st_size / size,
    }  # fmt: skip


def many_users(folder: Path, users: int) -> dict[str, float]:
    """Open, search and close the index of one user after another."""
    embedder = OfflineEmbedder()
    model, _ = filled(folder / "user.db", 200, embedder)
    model.close()
    data = (folder / "user.db").read_bytes()
    times = []
    for n in range(users):
        (folder / f"u{n}.db").write_bytes(data)
        (folder / f"u{n}.db").chmod(0o600)  # as an index of ours is from its first byte
    for n in range(users):
        question = sentence(5)

        def visit(n: int = n, question: str = question) -> None:
            index = SqliteIndex(folder / f"u{n}.db")
            now = partial(datetime.now, UTC)
            vault = SimpleNamespace(
                index=lambda scope: index, embedder=embedder, config=Config(), former_embedder=None, now=now
            )
            find_passages(vault, "u", SearchQuery(question))
            index.close()

        times.append(milliseconds(visit))
    return {"p50": statistics.median(times)}


def notes(folder: Path, count: int = 6_500) -> dict[str, float]:
    """Search in a vault of so many notes: `warm` where a daemon keeps the index fresh, as in `serve`; `alone` in a
    process that looks at every file before each search, as the library without a daemon; `stat` is the floor of that:
    a look at every file."""
    create_vault(folder)
    home = folder / "memory/u/notes"
    for n in range(count):
        path = home / f"{n // 100}" / f"{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(sentence(3), 2))
    vault = open_vault(folder)
    reconcile(vault, "u")
    queries = [SearchQuery(sentence(RANDOM.randint(4, 8))) for _ in range(60)]
    times: dict[str, list[float]] = {"warm": [], "alone": [], "stat": []}
    for query in queries:
        times["warm"].append(milliseconds(partial(find_passages, vault, "u", query)))
        times["alone"].append(milliseconds(partial(search, vault, "u", query)))
        times["stat"].append(milliseconds(partial(look_at, home)))
    return {f"{name}_p50": statistics.median(each[5:]) for name, each in times.items()} | {
        "warm_p95": sorted(times["warm"][5:])[len(queries) * 9 // 10]
    }


def look_at(folder: Path) -> None:
    for path, _, names in os.walk(folder):
        for name in names:
            os.lstat(f"{path}/{name}")


def sections(sizes: Sequence[int], users: int) -> Iterator[tuple[str, dict[str, float]]]:
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            yield f"warm, {size:,} chunks", warm(Path(folder), size)
    for name, work in (("cold, 10,000 chunks", cold), ("indexing", indexing)):
        with tempfile.TemporaryDirectory() as folder:
            yield name, work(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield "6,500 notes", notes(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield f"{users:,} users", many_users(Path(folder), users)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", default="10000,100000")
    parser.add_argument("--users", type=int, default=1000)
    options = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    found: dict[str, float] = {}
    keys = {
        "ratio": "ratio", "replace_cpu_ms": "replace_cpu_ms", "rss_ratio": "rss_ratio", "cold_ms": "cold_ms_10k",
        "import_ms": "import_ms", "files_per_s": "index_files_per_s", "index_ratio": "index_ratio",
        "bytes_ratio": "index_bytes_ratio", "warm_p50": "warm_p50_ms_6k", "alone_p50": "alone_p50_ms_6k",
    }  # fmt: skip
    for name, figures in sections([int(size) for size in options.chunks.split(",")], options.users):
        print(f"{name:24}", "  ".join(f"{key} {value:.2f}" for key, value in figures.items()), flush=True)
        for key, value in figures.items():
            if name.startswith("warm") and key in keys:
                found[f"{keys[key]}_{int(name.split()[1].replace(',', '')) // 1000}k"] = round(value, 2)
            elif key in keys:
                found[keys[key]] = round(value, 2)
            elif name.endswith("users"):
                found["users_p50_ms"] = round(value, 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
