"""What turns say that is worth a memory, against labelled turns.

    python benchmarks/memorable.py tests/data/memorable/work.jsonl [--errors]

A line is {user_msg, kind, expect_memory}; kind is preference, fact or decision, null where nothing is expected. The
floor in the same run is a plain word list: «我» or «I» with like or 喜歡 anywhere is a preference. The last line, JSON:
kept (share of the turns with something memorable of which one of the right kind is kept), invented (share of the turns
without of which one is), floor_kept, floor_invented, p50_ms and p99_ms (processor time, best of three).
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vault_memory.core.memorable import Kind, memorable
from vault_memory.core.text import fold

OURS = Path(__file__).parent.parent / "tests/data/memorable/work.jsonl"
Turn = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("path", type=Path, nargs="?", default=OURS, help="labelled turns, one JSON object per line")
    arguments.add_argument("--errors", action="store_true", help="list what is missed and what is invented")
    options = arguments.parse_args()
    turns = [json.loads(line) for line in options.path.read_text(encoding="utf-8").splitlines() if line.strip()]
    kept, invented = shares(turns, kinds, options.errors)
    floor_kept, floor_invented = shares(turns, word_list)
    times = sorted(milliseconds(turn) for turn in turns)
    expecting = sum(turn["expect_memory"] for turn in turns)
    print(f"{options.path.name}: {len(turns)} turns, {expecting} of them with something memorable\n")
    print(f"{'':12}{'kept':>8}{'invented':>10}")
    print(f"{'word list':12}{floor_kept:8.3f}{floor_invented:10.3f}")
    print(f"{'memorable':12}{kept:8.3f}{invented:10.3f}\n")
    figures = {
        "kept": kept,
        "invented": invented,
        "floor_kept": floor_kept,
        "floor_invented": floor_invented,
        "p50_ms": times[len(times) // 2],
        "p99_ms": times[int(len(times) * 0.99)],
    }
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


def kinds(turn: Turn) -> list[Kind]:
    """The labels call a lesson a decision."""
    return ["decision" if each.kind == "lesson" else each.kind for each in memorable(turn["user_msg"])]


def word_list(turn: Turn) -> list[Kind]:
    """The floor."""
    text = fold(turn["user_msg"])
    return ["preference"] if re.search(r"我|\bi\b", text) and re.search("like|喜欢", text) else []


def shares(turns: Sequence[Turn], method: Callable[[Turn], list[Kind]], errors: bool = False) -> tuple[float, float]:
    """(kept, invented), each 0 to 1."""
    counts = {True: [0, 0], False: [0, 0]}
    for turn in turns:
        found = method(turn)
        hit = turn["kind"] in found if turn["expect_memory"] else bool(found)
        counts[turn["expect_memory"]][0] += hit
        counts[turn["expect_memory"]][1] += 1
        if errors and hit != turn["expect_memory"]:
            print(f"{turn['kind'] or 'nothing'} expected, {found or 'nothing'} found: {turn['user_msg'][:120]!r}")
    return counts[True][0] / max(1, counts[True][1]), counts[False][0] / max(1, counts[False][1])


def milliseconds(turn: Turn) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        memorable(turn["user_msg"])
        best = min(best, time.process_time() - began)
    return best * 1000


if __name__ == "__main__":
    main()
