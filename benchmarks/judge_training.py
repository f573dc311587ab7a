"""Train the judge from the labelled turns: `make train` writes `vault_memory/core/extraction/judge/weights.bin`.

    python benchmarks/judge_training.py [--compare]

1. Each turn is proposed from, generously (`proposals`); a proposal that a label expects is right, one that a label
   makes optional is left out, every other is wrong. Logistic regressions learn a weight for each feature: one for all
   styles together, one for each other head.
2. The rules are nearly perfect on turns that they were tuned on. So the last step, which joins a score with the rules'
   own opinion, is learned only on turns that the rules have never seen (`UNSEEN`), from scores of weights that have not
   seen their part either (blocks of turns, `BLOCKS` parts).
3. The weights are learned again from all turns, cut to one byte each, and written.

The figures that it prints are of step 2: neither rules nor weights nor last step had seen the turns. With `--compare`
nothing is written. The same data gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from labels import Score, satisfies, score
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.extraction.judge import verdicts
from vault_memory.core.extraction.judge.hearing import proposals_of
from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.judge.verdicts import Verdict
from vault_memory.core.extraction.judge.weights import BITS, FILE, ZERO, packed
from vault_memory.core.extraction.rules import read_turn, signals_of
from vault_memory.core.profile import Signal

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data" / "preferences"
OUTPUT = ROOT / "vault_memory" / "core" / "extraction" / "judge" / FILE
SEEN = ("tuning", *(f"tuning-{letter}" for letter in "bcdefghijk"), "final-j")
UNSEEN = (
    "waiting-l-zh",
    "waiting-l-en",
    "plain-m",
    "waiting-n-en",
    "waiting-n-zh",
    "waiting-o-en",
    "waiting-o-zh",
    "waiting-p",
    "waiting-q-en",
    "waiting-q-zh",
    "plain-r",
)
BLOCKS, BLOCK_TURNS = 5, 20
STRENGTH = {"style": 125.0, "technology": 250.0, "name": 75.0, "statement": 75.0}
"""The inverse of the regularisation, by kind."""
LAST_STRENGTH = 1.0
UNSEEN_WEIGHT = 4.0
"""Of a turn that the rules have not seen, against one that they were tuned on: there they look surer than they are."""
WRITE, SUGGEST = 0.64, 0.36
SIZE = 1 << BITS
Turn = dict[str, Any]


@dataclass
class Example:
    """A proposal of a turn; `label`: 1 right, 0 wrong, -1 neither."""

    turn: int
    proposal: Proposal
    label: int

    @property
    def model(self) -> str:
        """The regression that it belongs to."""
        return "styles" if self.proposal.kind == "style" else self.proposal.evidence.head


def read(names: Iterable[str]) -> list[Turn]:
    turns = []
    for name in names:
        lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(filter(str.strip, lines)):
            turns.append(json.loads(line) | {"file": name, "block": number // BLOCK_TURNS % BLOCKS})
    return turns


def examples(turns: Sequence[Turn]) -> tuple[list[Example], list[list[Signal]]]:
    """The proposals of all turns, and what the rules alone say of each turn."""
    found, ruled = [], []
    for number, turn in enumerate(turns):
        heard = read_turn(turn["user_msg"], turn["assistant_msg"] or "", turn["existing"], load_lexicon())
        signals = signals_of(heard) if heard else []
        ruled.append(signals)
        for proposal in proposals_of(heard, signals) if heard else []:
            found.append(Example(number, proposal, label_of(turn, proposal.signal)))
    return found, ruled


def label_of(turn: Turn, signal: Signal) -> int:
    if any(satisfies(label, signal) for label in turn["expect"]):
        return 1
    return -1 if any(satisfies(label, signal) for label in turn["optional"]) else 0


def matrix(rows: Sequence[Example]) -> tuple[csr_matrix, dict[str, int]]:
    """The features of examples of one regression; and where each table begins. A bias for each head comes last."""
    names = sorted({table for row in rows for table, _ in row.proposal.evidence.tables})
    starts = {name: at * SIZE for at, name in enumerate(names)}
    heads = {name: at for at, name in enumerate(sorted({row.proposal.evidence.head for row in rows}))}
    columns, values, ends = [], [], [0]
    for row in rows:
        size = 1
        for table, features in row.proposal.evidence.tables:
            places = np.array(sorted(features.places), dtype=np.int64)
            columns.append(places + starts[table])
            values.append(np.full(len(places), 1.0 / np.sqrt(max(1, len(places)))))
            size += len(places)
        columns.append(np.array([len(names) * SIZE + heads[row.proposal.evidence.head]]))
        values.append(np.ones(1))
        ends.append(ends[-1] + size)
    width = len(names) * SIZE + len(heads)
    return csr_matrix((np.concatenate(values), np.concatenate(columns), ends), shape=(len(rows), width)), starts


def fitted(features: csr_matrix, labels: np.ndarray, counts: np.ndarray, kind: str) -> np.ndarray:
    """The weights of one regression. A feature of one example only gets none; the last columns are biases."""
    usable = labels >= 0
    seen = np.asarray((features[usable] != 0).sum(0)).ravel()
    kept = np.flatnonzero(seen >= 2)
    model = LogisticRegression(C=STRENGTH[kind], max_iter=2000, tol=1e-6, fit_intercept=False)
    model.fit(features[usable][:, kept], labels[usable], sample_weight=counts[usable])
    weights: np.ndarray = np.zeros(features.shape[1])
    weights[kept] = model.coef_[0]
    return weights


def rounded(value: float) -> float:
    """Six digits, which a sum in another order does not change."""
    return float(f"{value:.6g}")


def by_model(rows: Sequence[Example]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        found.setdefault(row.model, []).append(number)
    return found


def unseen_scores(rows: Sequence[Example], turns: Sequence[Turn]) -> np.ndarray:
    """The score of each example by weights that have not seen its block."""
    scores = np.zeros(len(rows))
    for numbers in by_model(rows).values():
        mine = [rows[number] for number in numbers]
        features, _ = matrix(mine)
        labels = np.array([row.label for row in mine])
        blocks = np.array([turns[row.turn]["block"] for row in mine])
        is_unseen = np.array([turns[row.turn]["file"] in UNSEEN for row in mine])
        counts = np.where(is_unseen, UNSEEN_WEIGHT, 1.0)
        for block in range(BLOCKS):
            held = (blocks == block) & is_unseen
            if held.any():
                weights = fitted(features[~held], labels[~held], counts[~held], mine[0].proposal.kind)
                scores[np.array(numbers)[held]] = features[held].dot(weights)
    return scores


def last_step(rows: Sequence[Example], scores: np.ndarray) -> dict[str, float]:
    """The numbers of `verdicts.last_step`, from examples with scores that had not seen them."""
    usable = [number for number, row in enumerate(rows) if row.label >= 0]
    vectorizer = DictVectorizer()
    features = vectorizer.fit_transform(
        [verdicts.last_step(rows[number].proposal, float(scores[number])) for number in usable]
    )
    model = LogisticRegression(C=LAST_STRENGTH, max_iter=5000, tol=1e-8, fit_intercept=False)
    model.fit(features, [rows[number].label for number in usable])
    return dict(zip(vectorizer.get_feature_names_out(), map(rounded, model.coef_[0]), strict=True))


def chances(rows: Sequence[Example], scores: np.ndarray, step: Mapping[str, float]) -> np.ndarray:
    logits = [
        sum(step.get(name, 0.0) * value for name, value in verdicts.last_step(row.proposal, float(score)).items())
        for row, score in zip(rows, scores, strict=True)
    ]
    result: np.ndarray = 1.0 / (1.0 + np.exp(-np.array(logits)))
    return result


def heard(
    rows: Sequence[Example], scores: np.ndarray, found: np.ndarray, write: float, suggest: float
) -> dict[int, list[Verdict]]:
    """The verdicts of each turn."""
    by_turn: dict[int, dict[tuple[str, str], Verdict]] = {}
    for row, value, chance in zip(rows, scores, found, strict=True):
        verdict = Verdict(row.proposal, float(value), float(chance))
        name = row.proposal.signal.key, row.proposal.signal.value
        best = by_turn.setdefault(row.turn, {})
        if name not in best or best[name].chance < verdict.chance:
            best[name] = verdict
    return {
        turn: list(verdicts.decided(sorted(best.values(), key=lambda v: -v.chance), write, suggest))
        for turn, best in by_turn.items()
    }


def measured(
    turns: Sequence[Turn], numbers: Iterable[int], said: Mapping[int, list[Verdict]], ruled: Sequence[list[Signal]]
) -> tuple[Score, Score]:
    """The score of what is written, and of that with suggestions."""
    written, with_suggestions = Score(), Score()
    for number in numbers:
        removed = [signal for signal in ruled[number] if signal.op == "remove"]
        sure = [v.proposal.signal for v in said.get(number, []) if v.decision == "written"]
        maybe = [v.proposal.signal for v in said.get(number, []) if v.decision == "suggested"]
        written += score(turns[number], sure + removed)
        with_suggestions += score(turns[number], sure + maybe + removed)
    return written, with_suggestions


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--compare", action="store_true", help="write nothing; fail if the shipped file is another")
    options = arguments.parse_args()
    turns = read((*SEEN, *UNSEEN))
    rows, ruled = examples(turns)
    with threadpool_limits(1):  # sums are added in one order, so that the bytes are the same
        scores = unseen_scores(rows, turns)
        for line in report(turns, rows, scores, ruled):
            print(line)
        learned = trained(turns, rows, scores)
    if options.compare:
        sys.exit(None if learned == OUTPUT.read_bytes() else f"{FILE} is not what these turns teach: `make train`")
    OUTPUT.write_bytes(learned)
    print(f"wrote {OUTPUT.relative_to(ROOT)}, {OUTPUT.stat().st_size:,} bytes")


def report(
    turns: Sequence[Turn], rows: Sequence[Example], scores: np.ndarray, ruled: Sequence[list[Signal]]
) -> Iterator[str]:
    """The rules alone and the judge on the unseen turns; the last step of each block is learned on the others."""
    unseen = [row for row in rows if turns[row.turn]["file"] in UNSEEN]
    values = np.array([value for row, value in zip(rows, scores, strict=True) if turns[row.turn]["file"] in UNSEEN])
    blocks = np.array([turns[row.turn]["block"] for row in unseen])
    found = np.zeros(len(unseen))
    for block in range(BLOCKS):
        others = np.flatnonzero(blocks != block)
        step = last_step([unseen[number] for number in others], values[others])
        held = np.flatnonzero(blocks == block)
        found[held] = chances([unseen[number] for number in held], values[held], step)
    yield f"{'':28}{'precision':>10}{'recall':>8}{'none_fp':>9}{'with suggestions: recall':>26}{'none':>7}"
    for name, files in (*((name, (name,)) for name in UNSEEN), ("all", UNSEEN)):
        numbers = [number for number, turn in enumerate(turns) if turn["file"] in files]
        alone = sum((score(turns[number], ruled[number]) for number in numbers), Score())
        yield f"{name + ', rules alone':28}{alone.precision:10.3f}{alone.recall:8.3f}{alone.none_fp:9.3f}"
        for write in (0.5, 0.55, 0.6, WRITE, 0.7) if name == "all" else (WRITE,):
            said = heard(unseen, values, found, write, SUGGEST)
            sure, maybe = measured(turns, numbers, said, ruled)
            suggested = sum(
                any(v.decision == "suggested" for v in said.get(number, []))
                for number in numbers
                if not turns[number]["expect"]
            )
            yield (
                f"{f'{name}, judge from {write}':28}{sure.precision:10.3f}{sure.recall:8.3f}{sure.none_fp:9.3f}"
                f"{maybe.recall:26.3f}{suggested / max(1, sure.none):7.3f}"
            )


def trained(turns: Sequence[Turn], rows: Sequence[Example], scores: np.ndarray) -> bytes:
    """The bytes of the file."""
    unseen = np.array([turns[row.turn]["file"] in UNSEEN for row in rows])
    step = last_step([row for row, held in zip(rows, unseen, strict=True) if held], scores[unseen])
    tables: dict[str, bytes] = {}
    scales: dict[str, float] = {}
    biases: dict[str, float] = {}
    for numbers in by_model(rows).values():
        mine = [rows[number] for number in numbers]
        more, more_scales, more_biases = tables_of(mine, turns)
        tables, scales, biases = tables | more, scales | more_scales, biases | more_biases
    header = {"scales": scales, "biases": biases, "chances": step, "write": WRITE, "suggest": SUGGEST}
    return packed(header, dict(sorted(tables.items())))


def tables_of(
    rows: Sequence[Example], turns: Sequence[Turn]
) -> tuple[dict[str, bytes], dict[str, float], dict[str, float]]:
    """The tables of one regression in bytes, what a step of each is worth, and the bias of each head."""
    features, starts = matrix(rows)
    counts = np.where([turns[row.turn]["file"] in UNSEEN for row in rows], UNSEEN_WEIGHT, 1.0)
    weights = fitted(features, np.array([row.label for row in rows]), counts, rows[0].proposal.kind)
    tables, scales = {}, {}
    for name, start in starts.items():
        table = weights[start : start + SIZE]
        scales[name] = rounded(np.abs(table).max() / (ZERO - 1)) or 1.0
        tables[name] = (np.round(table / scales[name]).astype(np.int64) + ZERO).astype(np.uint8).tobytes()
    heads = sorted({row.proposal.evidence.head for row in rows})
    return tables, scales, dict(zip(heads, map(rounded, weights[len(starts) * SIZE :]), strict=True))


if __name__ == "__main__":
    main()
