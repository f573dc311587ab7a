"""Whether a prompt shows the mistake that its request is about to repeat, and none where there is nothing to repeat.

    python benchmarks/mistakes.py [SET…] [--errors]

A set is JSONL, a line for each request: {"request", "resembles": [key of a mistake, …]}, where those that resemble none
may be `is_near`: of the same matter, but nothing is done that could go wrong. Without one, that of tests/data/mistakes
that may be looked at (`open.jsonl`). All mistakes in the `mistakes.jsonl` beside it are recorded in one vault, and each
request's prompt is built as for a person. The floor in the same run is a hybrid search among the mistakes, whose best
note is shown.

The last line is JSON: the share of the requests that resemble a mistake where it is shown, the share of the others
where any is, the same of the floor, the share of shown mistakes that are not those, and times in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from vault_memory.services.admin.create_vault import create_vault
from vault_memory.services.mistakes import record_mistake
from vault_memory.services.retrieval import build_enhanced_prompt
from vault_memory.services.retrieval.query import SearchQuery
from vault_memory.services.retrieval.search import search
from vault_memory.services.vault import Vault, open_vault

DATA = Path(__file__).parent.parent / "tests" / "data" / "mistakes"
USER = "alice"


@dataclass
class Figures:
    """What was shown: `shown` of `resembling` requests got their mistake, `false` of `others` got one; `wrong` of all
    `mistakes` shown to the former are others."""

    resembling: int = 0
    shown: int = 0
    others: int = 0
    false: int = 0
    near_false: int = 0
    mistakes: int = 0
    wrong: int = 0


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def recorded(vault: Vault, folder: Path) -> tuple[dict[str, str], list[float]]:
    """Id of a mistake → its key, with all of that folder recorded; and the time of each in milliseconds."""
    keys, times = {}, []
    for row in read(folder / "mistakes.jsonl"):
        key = row.pop("key")
        began = time.perf_counter()
        keys[str(record_mistake(vault, USER, **row))] = key
        times.append((time.perf_counter() - began) * 1000)
    return keys, times


def measure(
    rows: list[dict[str, Any]],
    find: Callable[[str], set[str]],
    errors: Callable[[dict[str, Any], set[str]], None] = lambda row, found: None,
) -> Figures:
    """What is shown of the mistakes, by their keys, for each request."""
    figures = Figures()
    for row in rows:
        found, wanted = find(row["request"]), set(row["resembles"])
        if wanted:
            figures.resembling += 1
            figures.shown += bool(found & wanted)
            figures.mistakes += len(found)
            figures.wrong += len(found - wanted)
        else:
            figures.others += 1
            figures.false += bool(found)
            figures.near_false += bool(found) and row.get("is_near", False)
        if bool(found & wanted) != bool(wanted) or (found and not wanted):
            errors(row, found)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", type=Path, default=[DATA / "open.jsonl"])
    parser.add_argument("--errors", action="store_true", help="list the requests that get another mistake, or none")
    options = parser.parse_args()
    rows = [row for path in options.sets for row in read(path)]
    with tempfile.TemporaryDirectory(prefix="vault-memory-mistakes-") as folder:
        create_vault(Path(folder) / "vault")
        vault = open_vault(Path(folder) / "vault")
        keys, write_times = recorded(vault, options.sets[0].parent)
        times: list[float] = []

        def key_of(source: str) -> str | None:
            name = PurePosixPath(source.partition(".md")[0]).name
            return next((key for mistake_id, key in keys.items() if name.startswith(mistake_id)), None)

        def in_prompt(request: str) -> set[str]:
            began = time.perf_counter()
            prompt = build_enhanced_prompt(vault, USER, request)
            times.append((time.perf_counter() - began) * 1000)
            return {key for passage in prompt.passages if (key := key_of(passage.place))}

        def by_search(request: str) -> set[str]:
            found = search(vault, USER, SearchQuery(request, 1, kinds=("mistake",))).hits
            return {key for hit in found if (key := key_of(hit.source))}

        def show(row: dict[str, Any], found: set[str]) -> None:
            if options.errors:
                print(f"{row['request'][:80]}  wanted {row['resembles']}, shown {sorted(found)}")

        in_prompt(rows[0]["request"])  # the first loads word lists
        times.clear()
        figures, floor = measure(rows, in_prompt, show), measure(rows, by_search)
    times.sort()
    result = {
        "shown": figures.shown / figures.resembling,
        "false": figures.false / figures.others,
        "near_false": figures.near_false / max(1, sum(row.get("is_near", False) for row in rows)),
        "wrong": figures.wrong / max(1, figures.mistakes),
        "floor_shown": floor.shown / floor.resembling,
        "floor_false": floor.false / floor.others,
        "requests": len(rows),
        "prompt_p50_ms": times[len(times) // 2],
        "prompt_p95_ms": times[int(len(times) * 0.95)],
        "write_p50_ms": statistics.median(write_times),
    }
    print(f"{len(rows)} requests, {figures.resembling} resemble one of {len(keys)} mistakes\n")
    print(f"{'':10}{'shown':>8}{'false':>8}")
    print(f"{'floor':10}{result['floor_shown']:8.3f}{result['floor_false']:8.3f}")
    print(f"{'prompt':10}{result['shown']:8.3f}{result['false']:8.3f}\n")
    print(json.dumps({name: round(value, 4) for name, value in result.items()}))


if __name__ == "__main__":
    main()
