"""How far the first search and the first preference are from what no program could do better.

    python benchmarks/first.py [--notes 2000] [--rounds 100]

Search: p50 of a hybrid search through the product, in a warm process, against a floor on the same data: one numpy
mat-vec over the stored vectors and one raw FTS5 query. Turn: p50 of a turn that changes a preference (conversation
record, profile, logs, two commits) against `git commit --only` of one file in the same repository.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy

from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.daemon.daemon_record import only_daemon
from vault_memory.services.indexing.reconcile import embed, reconcile
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

USER = "alice"
_LATIN = [a + b + c for a in ("ka", "lo", "mi", "ne", "ru") for b in ("ba", "do", "fi", "gu") for c in ("n", "r", "s")]
_HAN = [chr(code) for code in range(0x4E00, 0x4E00 + 900, 3)]


def words(random_: random.Random, count: int) -> str:
    """Made-up text, half Latin and half Han, so that no real sentence favours either."""
    latin = " ".join(random_.choices(_LATIN, k=count))
    return latin + "。" + "".join(random_.choices(_HAN, k=count))


def fill(vault: Vault, notes: int) -> list[str]:
    """Write the notes and index them; returns queries that occur in them."""
    random_ = random.Random(1)
    folder = vault.root / "memory" / USER / "notes"
    folder.mkdir(parents=True)
    texts = [words(random_, 40) for _ in range(notes)]
    for number, text in enumerate(texts):
        (folder / f"{number:05d}.md").write_text(f"# note {number}\n\n{text}\n", encoding="utf-8")
    reconcile(vault, USER)
    while embed(vault, USER):
        pass
    return [" ".join(text.split()[3:6]) + text[-12:-8] for text in random_.sample(texts, 50)]


def median_ms(run: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """Median and 95th percentile of `run(i)`, in milliseconds, after three runs that do not count."""
    times = []
    for number in range(rounds + 3):
        start = time.perf_counter()
        run(number)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[3:]), statistics.quantiles(times[3:], n=20)[18]


def search_floor(vault: Vault, queries: list[str], chunks: int) -> Callable[[int], object]:
    """One mat-vec over as many vectors as the index holds, and one raw FTS5 query on its table."""
    matrix = numpy.random.default_rng(1).standard_normal((chunks, vault.embedder.dimension), dtype=numpy.float32)
    db = apsw.Connection(str(vault.index_path(USER)), flags=apsw.SQLITE_OPEN_READONLY)

    def run(number: int) -> object:
        scores = matrix @ matrix[number % chunks]
        best = numpy.argpartition(scores, -10)[-10:]
        terms = " OR ".join(f'"{word}"' for word in queries[number % len(queries)].split()[:3])
        return best, db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 10", (terms,)
        ).fetchall()

    return run


def commit_only(root: Path, number: int) -> None:
    """What a person's git does for one changed file."""
    (root / "floor.md").write_text(f"{number}\n")
    identity = ["-c", "user.name=b", "-c", "user.email=b@localhost"]
    if number == 0:
        subprocess.run(["git", "add", "floor.md"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "x", "--only", "floor.md", "--no-verify"], cwd=root, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        vault = open_vault(create_vault(Path(folder, "vault")).root)
        queries = fill(vault, arguments.notes)
        chunks = vault.index(USER).stats().chunks
        with only_daemon(vault.root):  # else each search would look for edits first
            found = median_ms(lambda i: search(vault, USER, SearchQuery(queries[i % len(queries)])), arguments.rounds)
        floor = median_ms(search_floor(vault, queries, chunks), arguments.rounds)
        rounds = min(arguments.rounds, 40)
        turn = median_ms(
            lambda i: record_turn(vault, "bob", ("我喜歡暗色主題", "我改用亮色主題，以後都用亮色")[i % 2], index=False),
            rounds,
        )
        commit = median_ms(lambda i: commit_only(vault.root, i), rounds)
        rows = {"search": found, "search floor": floor, "preference turn": turn, "git commit --only": commit}
    print(f"{chunks} chunks")
    for name, (p50, p95) in rows.items():
        print(f"{name:<20} p50 {p50:8.2f} ms   p95 {p95:8.2f} ms")
    figures = {
        "search_ratio": round(found[0] / floor[0], 2),
        "turn_p50_ms": round(turn[0], 1),
        "turn_ratio": round(turn[0] / commit[0], 2),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
