"""How long a prompt takes to build, against the search inside it, measured in the same run.

    python benchmarks/prompt.py [--chunks 10000] [--rounds 60]

One user's notes of so many chunks, two days of logs, five turns and a skill. The floor is the bare search: all that
the prompt adds is reading a few files and asking git where they stand. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.daemon.daemon_record import only_daemon
from vault_memory.services.indexing.reconcile import reconcile
from vault_memory.services.retrieval.build_prompt import build_enhanced_prompt
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.turns.record import record_turn
from vault_memory.services.vault import Vault, open_vault

RANDOM = random.Random(5)
WORDS = ["".join(RANDOM.choice("bdfgklmnprst") + RANDOM.choice("aeiou") for _ in range(3)) for _ in range(5_000)]
HAN = [chr(0x4E00 + n) for n in range(2_000)]


def sentence() -> str:
    """A line of a note, now English-like, now Chinese-like."""
    if RANDOM.random() < 0.5:
        return " ".join(RANDOM.choices(WORDS, k=12)) + "."
    return "".join(RANDOM.choices(HAN, k=24)) + "。"


def make_vault(folder: Path, chunks: int) -> Vault:
    """A vault of one user with notes of about so many chunks."""
    vault = open_vault(create_vault(folder).root)
    notes = folder / "memory" / "alice" / "notes"
    notes.mkdir(parents=True)
    number = indexed = 0
    while indexed < chunks:
        for _ in range(100):
            sections = [
                f"## {' '.join(RANDOM.choices(WORDS, k=3))}\n\n" + "\n".join(sentence() for _ in range(8))
                for _ in range(8)
            ]
            (notes / f"{number}.md").write_text(f"# Note {number}\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")
            number += 1
        reconcile(vault, "alice")
        indexed = vault.index("alice").stats().chunks
    for n in range(5):
        record_turn(vault, "alice", f"{sentence()} {n}", sentence() * 3, skill="coding-agent", index=False)
    for scope in ("alice", ""):
        reconcile(vault, scope)
    return vault


def measure(act: Callable[[str], object], rounds: int) -> list[float]:
    """Milliseconds of each round, after three that warm the caches."""
    times = []
    for _ in range(rounds + 3):
        request = sentence()
        started = time.perf_counter()
        act(request)
        times.append((time.perf_counter() - started) * 1000)
    return times[3:]


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[int(len(values) * 0.95)]


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name:
        vault = make_vault(Path(name) / "vault", options.chunks)
        with only_daemon(vault.root):  # else each search would look for edits first
            times = {
                "search": measure(
                    lambda request: search(vault, "alice", SearchQuery(request, 10, scope="all")), options.rounds
                ),
                "prompt": measure(
                    lambda request: build_enhanced_prompt(vault, "alice", request, "coding-agent"), options.rounds
                ),
            }
        chunks = vault.index("alice").stats().chunks
    print(f"{chunks:,} chunks, {options.rounds} rounds{'median ms':>16}{'p95 ms':>10}")
    for way, values in times.items():
        print(f"  {way:<24}{statistics.median(values):>16.1f}{p95(values):>10.1f}")
    print(
        json.dumps(
            {
                "p95_ms_10k": round(p95(times["prompt"]), 1),
                "p50_ms_10k": round(statistics.median(times["prompt"]), 1),
                "search_p95_ms_10k": round(p95(times["search"]), 1),
            }
        )
    )


if __name__ == "__main__":
    main()
