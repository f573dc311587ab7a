"""How long it takes to add a memory to few and to many, and to find one among them.

    python benchmarks/dedup.py [--few 1000] [--many 100000] [--rounds 30]

One user has the memories, a thousand a month, as notes in git and in the index. A memory is added as the library adds
one: similar ones are looked for, a note is written, committed and indexed. A search and a recall are measured among
10,000.
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
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from vault_memory.core import memories
from vault_memory.core.memories import Memory
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.indexing import reconcile
from vault_memory.services.memories import store_memory
from vault_memory.services.retrieval import SearchQuery, recall, search
from vault_memory.services.vault import Vault, open_vault

USER = "alice"
A_MONTH = 1_000
FIRST = datetime(2015, 1, 1, tzinfo=UTC)
SEARCHED = 10_000
"""Memories among which one is searched and recalled."""
SYLLABLES = [
    "ba",
    "be",
    "bo",
    "da",
    "de",
    "do",
    "fa",
    "fi",
    "ga",
    "go",
    "ha",
    "ki",
    "la",
    "le",
    "lo",
    "ma",
    "mi",
    "mo",
    "na",
    "ni",
    "no",
    "pa",
    "po",
    "ra",
    "ri",
    "ro",
    "sa",
    "so",
    "ta",
    "ti",
    "to",
    "va",
    "vo",
    "za",
    "zo",
]
HAN = "部署資料庫登入伺服器測試備份網路設定權限快取效能監控版本排程憑證金鑰日誌記憶搜尋索引同步分支合併審查需求客戶"


def text(number: int) -> str:
    """The words of a memory: half of them Chinese, a tenth from one template in which a number differs."""
    made = random.Random(number)
    if number % 10 == 0:
        return f"Build {number} of the web server was deployed to host web{number} without a problem"
    if number % 2:
        return "".join(made.choices(HAN, k=16)) + f"，{''.join(made.choices(HAN, k=8))}"
    return " ".join("".join(made.choices(SYLLABLES, k=made.randint(2, 4))) for _ in range(10))


def made_vault(root: Path, count: int) -> Vault:
    """A vault whose user has so many memories, committed and indexed."""
    create_vault(root)
    vault = open_vault(root, memories_capacity=1_000_000)
    home = root / "memory" / USER
    for number in range(count):
        at = FIRST + timedelta(days=30.5 * (number // A_MONTH))
        memory = Memory(id=f"mem_{int(at.timestamp() * 1000)}_{number:08x}", content=text(number), created_at=at)
        path = home / memories.source_of(memory)
        path.parent.mkdir(parents=True, exist_ok=True)
        # As `memories.encode` writes it, which takes 2 ms.
        front = f"id: {memory.id}\ntype: note\ntitle: {memory.content}\nimportance: 0.5\ncreated_at: '{at.isoformat()}'"
        path.write_text(f"---\n{front}\naccess_count: 0\n---\n\n{memory.content}\n", encoding="utf-8")
    (home / "USER.md").write_text("# User profile\n", encoding="utf-8")
    for arguments in (
        ["add", "."],
        ["-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--no-verify", "--quiet", "-m", "b"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    reconcile(vault, USER)
    return vault


def milliseconds(act: Callable[[int], object], rounds: int) -> float:
    """The median of an act's times, after three that warm the caches."""
    times = []
    for number in range(-3, rounds):
        started = time.perf_counter()
        act(number)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times[3:])


def add_one(vault: Vault, number: int) -> None:
    """Store a memory that no other is similar to."""
    store_memory(vault, USER, text(10**9 + number))


def main() -> None:
    """Measure, print a table, end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vault-memory-bench-") as name:
        vaults = {
            count: made_vault(Path(name, str(count)), count) for count in sorted({options.few, SEARCHED, options.many})
        }
        add = {count: milliseconds(partial(add_one, vault), options.rounds) for count, vault in vaults.items()}
        among = vaults[SEARCHED]
        asked = [text(number * 331 + 1)[:12] for number in range(options.rounds + 3)]
        searched = milliseconds(lambda n: search(among, USER, SearchQuery(asked[n])), options.rounds)
        recalled = milliseconds(lambda n: recall(among, USER, asked[n]), options.rounds)
    for count, value in add.items():
        print(f"add a memory to {count:>7,}   {value:>7.1f} ms")
    print(f"search among {SEARCHED:,}       {searched:>7.1f} ms\nrecall among {SEARCHED:,}       {recalled:>7.1f} ms")
    few, many = add[options.few], add[options.many]
    figures = {"add_ms_1k": few, "add_ms_100k": many, "growth": many / few, "search_ms_10k": searched}
    print(json.dumps({name: round(value, 2) for name, value in {**figures, "recall_ms_10k": recalled}.items()}))


if __name__ == "__main__":
    main()
