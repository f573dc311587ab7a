"""How fast a large knowledge graph is searched, walked and written.

    python benchmarks/graph.py [--entities 2000] [--relations 10000] [--rounds 200]

One user has the entities as notes in git. A search is for three letters of a name, a word of an observation, or what is
nowhere; a path is between two entities at random. Each looks at the notes anew, as the library does; `look` is the
floor, the system's own answer to what has changed in the folder. A write is `add_observation` or `create_relation`: a
note is written, committed and indexed. `cold_s` is the first look of a process, which reads all notes. Prints one line
of JSON. The bounds are judged by processor time (`…_cpu_p95_ms`): other programs take their share of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from vault_memory.core.graph import RELATION_TYPES, TYPES, NewEntity, NewRelation
from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.graph import (
    add_observation,
    add_to_graph,
    create_relation,
    find_path,
    search_entities,
)
from vault_memory.services.vault import Vault, open_vault

USER = "alice"
BOUNDS = {"search_cpu_p95_ms": 20.0, "path_cpu_p95_ms": 50.0}
PARTS = [
    "auth",
    "cache",
    "login",
    "queue",
    "mail",
    "search",
    "index",
    "vault",
    "proxy",
    "token",
    "page",
    "user",
    "order",
    "cart",
    "stock",
    "price",
    "資料庫",
    "登入",
    "部署",
    "快取",
]
WORDS = [
    "handles",
    "stores",
    "sends",
    "reads",
    "each",
    "nightly",
    "slow",
    "fast",
    "for",
    "of",
    "users",
    "sessions",
    "requests",
    "errors",
    "管理",
    "使用者",
    "伺服器",
    "備份",
]


def name(number: int) -> str:
    """The name of an entity: two words and its number."""
    return f"{PARTS[number % len(PARTS)]} {PARTS[number // len(PARTS) % len(PARTS)]} {number}"


def filled(root: Path, entities: int, relations: int) -> Vault:
    """A vault whose user has the graph."""
    create_vault(root)
    vault, made = open_vault(root), random.Random(7)
    new = [
        NewEntity(name(n), made.choice(TYPES), [" ".join(made.choices(WORDS, k=8)) for _ in range(3)], [PARTS[n % 7]])
        for n in range(entities)
    ]
    pairs = ((made.randrange(entities), made.randrange(entities)) for _ in range(relations))
    related = [
        NewRelation(name(begin), name(end), made.choice(RELATION_TYPES), f"number {number}")
        for number, (begin, end) in enumerate(pairs)
    ]
    batch = add_to_graph(vault, USER, [*new, *related], "graph(alice): fill")
    assert not [each for each in batch.outcomes if isinstance(each, Exception)]
    return vault


def times_ms(name: str, act: Callable[[int], object], rounds: int) -> dict[str, float]:
    """Medians and 95th percentiles of an act's times, by the clock and by the processor, after three that warm up."""
    clock, processor = [], []
    for number in range(-3, rounds):
        began, worked = time.perf_counter(), time.process_time()
        act(number)
        clock.append((time.perf_counter() - began) * 1000)
        processor.append((time.process_time() - worked) * 1000)
    return {
        f"{name}_p50_ms": statistics.median(clock[3:]),
        f"{name}_p95_ms": statistics.quantiles(clock[3:], n=20)[-1],
        f"{name}_cpu_p50_ms": statistics.median(processor[3:]),
        f"{name}_cpu_p95_ms": statistics.quantiles(processor[3:], n=20)[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=2_000)
    parser.add_argument("--relations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        root = filled(Path(folder) / "vault", given.entities, given.relations).root
        fill_s = time.perf_counter() - began
        vault, made = open_vault(root), random.Random(8)
        began = time.perf_counter()
        search_entities(vault, USER, "auth")
        cold_s = time.perf_counter() - began
        queries = ["aut", "index 1", "使用者", "slow", "nowhere at all", "sessions mail", name(17), "ock"]
        searches = times_ms("search", lambda n: search_entities(vault, USER, queries[n % len(queries)]), given.rounds)
        ends = [name(made.randrange(given.entities)) for _ in range(2 * given.rounds + 6)]
        paths = times_ms("path", lambda n: find_path(vault, USER, ends[2 * n], ends[2 * n + 1]), given.rounds)

        notes = root / "memory" / USER / "entities"
        looks = times_ms("look", lambda n: [each.stat() for each in os.scandir(notes)], given.rounds)

        def write(number: int) -> None:
            if number % 2:
                add_observation(vault, USER, name(number + 3), f"seen in round {number}")
            else:
                create_relation(vault, USER, name(number + 3), name(number + 99), "related_to", f"round {number}")

        writes = times_ms("write", write, max(20, given.rounds // 5))
    figures = {
        "entities": given.entities,
        "relations": given.relations,
        **looks,
        **searches,
        **paths,
        **writes,
        "cold_s": cold_s,
        "fill_s": fill_s,
    }
    print(json.dumps({key: round(value, 2) for key, value in figures.items()}))
    over = [f"{key} is above {bound}" for key, bound in BOUNDS.items() if figures[key] > bound]
    if over:
        sys.exit("; ".join(over))


if __name__ == "__main__":
    main()
