"""Preference extraction against labelled turns: precision, recall, false alarms, and the time extraction takes.

    python benchmarks/preferences.py tests/data/preferences/tuning.jsonl [--errors]

The floor in the same run is word search: a style word or a technology anywhere in the message is a preference. The
rules alone stand beside the judge. The last line is JSON: precision, recall, f1, none_fp (share of turns without
preferences that got one), recall_suggested (suggestions counted as found), none_suggested (share of turns without
preferences that left a suggestion), p50_ms, p99_ms.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from labels import Score, score

from vault_memory.core.extraction import extract, extract_by_rules, load_lexicon
from vault_memory.core.profile import Signal
from vault_memory.core.text.fold import fold

Turn = dict[str, Any]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("path", type=Path, help="labelled turns, one JSON object per line")
    arguments.add_argument("--errors", action="store_true", help="list every wrong and every missed value")
    options = arguments.parse_args()
    turns = [json.loads(line) for line in options.path.read_text(encoding="utf-8").splitlines() if line.strip()]
    hear(turns[0])  # compiles the lexicon
    floor, _ = measure(turns, word_search)
    rules, _ = measure(turns, hear_by_rules)
    ours, times = measure(turns, hear, options.errors)
    all_heard = sum((score(turn, extracted(turn)) for turn in turns), Score())
    none = [turn for turn in turns if not turn["expect"]]
    suggested = sum(any(signal.is_suggestion for signal in extracted(turn)) for turn in none)
    print(f"{options.path.name}: {len(turns)} turns, {ours.none} of them without preferences\n")
    print(f"{'':16}{'precision':>10}{'recall':>8}{'f1':>7}{'none_fp':>9}{'exact':>7}")
    for name, result in (("word search", floor), ("rules alone", rules), ("rules and judge", ours)):
        print(
            f"{name:16}{result.precision:10.3f}{result.recall:8.3f}{result.f1:7.3f}{result.none_fp:9.3f}{result.exact:7d}"
        )
    p50, p99 = times[len(times) // 2], times[min(len(times) - 1, int(len(times) * 0.99))]
    print(f"\nextraction alone: p50 {p50:.2f} ms, p99 {p99:.2f} ms per turn (processor time, best of five)")
    figures = {
        "precision": ours.precision,
        "recall": ours.recall,
        "f1": ours.f1,
        "none_fp": ours.none_fp,
        "recall_suggested": all_heard.recall,
        "none_suggested": suggested / max(1, len(none)),
        "p50_ms": p50,
        "p99_ms": p99,
    }
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}))


def extracted(turn: Turn) -> list[Signal]:
    return extract(turn["user_msg"], turn["assistant_msg"], turn["existing"])


def hear(turn: Turn) -> list[Signal]:
    """What is written."""
    return [signal for signal in extracted(turn) if not signal.is_suggestion]


def hear_by_rules(turn: Turn) -> list[Signal]:
    return extract_by_rules(turn["user_msg"], turn["assistant_msg"], turn["existing"])


def word_search(turn: Turn) -> list[Signal]:
    """The floor: every word that could be a preference is one."""
    text = fold(turn["user_msg"])
    lexicon = load_lexicon()
    found = [Signal(style.key, "set", style.value, "observed") for style in lexicon.styles if style.named.search(text)]
    return found + [
        Signal(item.category, "add", item.name, "observed") for item in lexicon.technologies(text, turn["user_msg"])
    ]


def measure(
    turns: Iterable[Turn], method: Callable[[Turn], list[Signal]], errors: bool = False
) -> tuple[Score, list[float]]:
    """The summed score and the sorted times in milliseconds (of each turn the best of five)."""
    total = Score()
    times = []
    for turn in turns:
        best = float("inf")
        for _ in range(5):
            began = time.process_time()
            heard = method(turn)
            best = min(best, time.process_time() - began)
        times.append(best * 1000)
        one = score(turn, heard)
        total += one
        if errors and (one.wrong or one.missed):
            print(f"{turn['id']}  {turn['user_msg'][:160]!r}")
            print("".join(f"    {kind}: {text}\n" for kind, text in one.problems), end="")
    return total, sorted(times)


if __name__ == "__main__":
    main()
