"""What each part of the judge gives: half of the data, each stage switched off, per key and per language.

    python benchmarks/judge_report.py

All figures are of turns that neither rules nor weights nor last step have seen (`judge_training`): precision, recall
and the share of the turns without a preference in which one was written. The last line is one JSON object.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from judge_training import (
    BLOCKS,
    SEEN,
    SUGGEST,
    UNSEEN,
    WRITE,
    Example,
    Turn,
    chances,
    examples,
    heard,
    last_step,
    measured,
    read,
    steps_of,
    unseen_scores,
)
from labels import Score, satisfies, score
from threadpoolctl import threadpool_limits

from vault_memory.core.extraction.judge.verdicts import Verdict
from vault_memory.core.profile import FIELDS

LANGUAGES = ("zh-TW", "zh-CN", "en", "mixed")
OPINIONS = ("rule", "score of rule", "loose", "turn of rule", "rules chose another")
"""Numbers of the last step that tell what the rules say."""


def main() -> None:
    turns = read((*SEEN, *UNSEEN))
    rows, ruled = examples(turns)
    unseen = [number for number, turn in enumerate(turns) if turn["file"] in UNSEEN]
    half = {number for number, turn in enumerate(turns) if (number // 20) % 2 == 0}
    with threadpool_limits(1):
        scores = unseen_scores(rows, turns)
        of_half = unseen_scores(rows, turns, half)
    figures: dict[str, dict[str, float]] = {}

    def tell(name: str, found: Score, with_suggestions: Score | None = None) -> None:
        row = {"precision": found.precision, "recall": found.recall, "none_fp": found.none_fp}
        row |= {"recall_suggested": with_suggestions.recall} if with_suggestions else {}
        figures[name] = {each: round(value, 3) for each, value in row.items()}
        print(f"{name:34}" + "".join(f"{value:9.3f}" for value in row.values()))

    print(f"{'':34}{'precision':>9}{'recall':>9}{'none_fp':>9}  with suggestions: recall")
    tell("rules alone", sum((score(turns[number], ruled[number]) for number in unseen), Score()))
    said = verdicts_of(rows, scores, turns)
    tell("rules and judge", *measured(turns, unseen, said))
    for name, values, keep in (
        ("half of the turns", of_half, None),
        ("without the opinion of the rules", scores, lambda step: not step.startswith(OPINIONS)),
        ("without the turn as a whole", scores, lambda step: not step.startswith(("turn", "same key"))),
    ):
        tell(name, *measured(turns, unseen, verdicts_of(rows, values, turns, keep)))
    vetoed = [number for number, row in enumerate(rows) if row.proposal is None or row.proposal.origin == "rule"]
    alone = verdicts_of([rows[number] for number in vetoed], scores[vetoed], turns)
    tell("judge as a veto on the rules only", *measured(turns, unseen, alone))
    print()
    for language in LANGUAGES:
        tell(language, *measured(turns, [n for n in unseen if turns[n]["lang"] == language], said))
    print(f"\n{'':34}{'precision':>9}{'recall':>9}{'labels':>9}")
    for key, (right, wrong, expected) in per_key(turns, unseen, said).items():
        figures[key] = {"precision": round(right / max(1, right + wrong), 3), "recall": round(right / expected, 3)}
        print(f"{key:34}{figures[key]['precision']:9.3f}{figures[key]['recall']:9.3f}{expected:9}")
    print(json.dumps(figures))


def verdicts_of(
    rows: Sequence[Example], scores: np.ndarray, turns: Sequence[Turn], keep: Callable[[str], bool] | None = None
) -> dict[int, list[Verdict]]:
    """The verdicts of each unseen turn; `keep` tells which numbers of the last step there are."""
    numbers = [number for number, row in enumerate(rows) if turns[row.turn]["file"] in UNSEEN]
    known, values = [rows[number] for number in numbers], scores[numbers]
    steps = steps_of(known, values)
    if keep:
        steps = [{name: value for name, value in step.items() if keep(name)} for step in steps]
    blocks = np.array([turns[row.turn]["block"] for row in known])
    found = np.zeros(len(known))
    for block in range(BLOCKS):
        others, held = np.flatnonzero(blocks != block), np.flatnonzero(blocks == block)
        learned = last_step([known[number] for number in others], [steps[number] for number in others])
        found[held] = chances([steps[number] for number in held], learned)
    return heard(known, values, found, WRITE, SUGGEST)


def per_key(
    turns: Sequence[Turn], numbers: Sequence[int], said: dict[int, list[Verdict]]
) -> dict[str, tuple[int, int, int]]:
    """Of each key: labels found, values that no label allows, labels."""
    right: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for number in numbers:
        turn = turns[number]
        signals = [v.proposal.signal for v in said.get(number, []) if v.decision == "written"]
        expected.update(label["key"] for label in turn["expect"])
        right.update(label["key"] for label in turn["expect"] if any(satisfies(label, s) for s in signals))
        problems = score(turn, signals).problems
        wrong.update(what.split()[1] for kind, what in problems if kind == "wrong")
    return {key: (right[key], wrong[key], expected[key]) for key in FIELDS if expected[key]}


if __name__ == "__main__":
    main()
