"""Train the judge from the labelled turns: `make train` writes `vault_memory/core/extraction/judge/weights.bin`.

    python benchmarks/judge_training.py [--compare]

1. Each turn is proposed from, generously (`proposals`); a proposal that a label expects is right, one that a label
   makes optional is left out, every other is wrong. Linear support vector machines learn a weight for each feature: one
   for all styles together, one for each other head, one for the turn as a whole (does it hold any preference?).
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
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from labels import Score, satisfies, score
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from vault_memory.core.extraction import load_lexicon
from vault_memory.core.extraction.judge import verdicts
from vault_memory.core.extraction.judge.hearing import proposals_of
from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.judge.verdicts import Verdict
from vault_memory.core.extraction.judge.weights import BITS, FILE, NO_FEATURES, ZERO, Evidence, packed
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
    "plain-s-zh",
    "plain-s-en",
    "kept-t-zh",
    "kept-t-en",
    "talk-u-en-a",
    "talk-u-en-b",
    "talk-u-zh-tw",
    "talk-u-zh-cn",
    "plain-v",
    "day-w-en-a",
    "day-w-en-b",
    "day-w-en-c",
    "day-w-zh-tw",
    "day-w-zh-cn",
    "near-w",
    "notes-w-en",
    "notes-w-zh",
    "plain-x",
    "rule-y-en-a",
    "rule-y-en-b",
    "rule-y-zh-tw",
    "rule-y-zh-cn",
    "none-y",
    "day-z-en",
    "day-z-zh-tw",
    "day-z-zh-cn",
    "notes-z-en",
    "notes-z-zh",
    "near-z",
    "plain-y",
)
BLOCKS, BLOCK_TURNS = 5, 20
STRENGTH = {"turn": 0.25, "style": 1.3, "technology": 2.6, "name": 0.8, "statement": 0.8, "removal": 0.8}
"""The inverse of the regularisation, by kind."""
LAST_STRENGTH = 1.0
UNNAMED_STYLES = 3
"""Of so many values of styles that a turn does not name and does not wish for one is learned from, in place of all:
there are fifteen to a turn."""
SCORED_AT_ONCE = 20_000
UNSEEN_WEIGHT = 4.0
"""Of a turn that the rules have not seen, against one that they were tuned on: there they look surer than they are."""
WRITE, WRITE_NOTE, SUGGEST = 0.66, 0.62, 0.3
"""Chances from which on a proposal, and a note, is written, and suggested: so that of the turns of `waiting-l-zh`
without a preference, the most like those of every day, at most 3.5 % have a false one."""
SIZE = 1 << BITS
Turn = dict[str, Any]


@dataclass
class Example:
    """A proposal of a turn, or the turn as a whole (`proposal` is None); `label`: 1 right, 0 wrong, -1 neither."""

    turn: int
    proposal: Proposal | None
    head: str
    places: tuple[tuple[str, np.ndarray], ...]
    """The places of its features in each table; those that proposals share are one array."""
    label: int
    weight: float = 1.0
    """Of how many examples it is one, when the weights of features are learned; 0: it is not learned from."""

    @property
    def kind(self) -> str:
        return self.proposal.kind if self.proposal else "turn"

    @property
    def model(self) -> str:
        """The model that it belongs to."""
        return "styles" if self.kind == "style" else self.head


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
        if heard:
            proposals = proposals_of(heard, signals)
            arrays: dict[int, np.ndarray] = {}
            held = [*proposals]  # a feature set must not give its id to another one
            for at, proposal in enumerate(held):
                label, places = label_of(turn, proposal.signal), places_of(proposal.evidence, arrays)
                weight = 1.0
                if proposal.kind == "style" and proposal.origin == "words" and label == 0:
                    weight = float(UNNAMED_STYLES if (number + at) % UNNAMED_STYLES == 0 else 0)
                without = replace(proposal, evidence=Evidence(proposal.evidence.head, NO_FEATURES))
                found.append(Example(number, without, proposal.evidence.head, places, label, weight))
            whole = places_of(proposals.whole, arrays)
            found.append(Example(number, None, proposals.whole.head, whole, int(bool(turn["expect"]))))
    return found, ruled


def places_of(evidence: Evidence, arrays: dict[int, np.ndarray]) -> tuple[tuple[str, np.ndarray], ...]:
    """The places of a proposal's features, by table. `arrays` has those of this turn so far, by feature set."""
    for _, features in evidence.tables:
        if id(features) not in arrays:
            arrays[id(features)] = np.array(sorted(features.places), dtype=np.uint32)
    return tuple((table, arrays[id(features)]) for table, features in evidence.tables)


def label_of(turn: Turn, signal: Signal) -> int:
    if any(satisfies(label, signal) for label in turn["expect"]):
        return 1
    return -1 if any(satisfies(label, signal) for label in turn["optional"]) else 0


@dataclass
class Layout:
    """Where each table of one model begins in a row of numbers; a bias for each head comes last."""

    starts: dict[str, int]
    heads: dict[str, int]

    @classmethod
    def of(cls, rows: Sequence[Example]) -> Layout:
        names = sorted({table for row in rows for table, _ in row.places})
        heads = sorted({row.head for row in rows})
        return cls({name: at * SIZE for at, name in enumerate(names)}, {name: at for at, name in enumerate(heads)})

    @property
    def width(self) -> int:
        return len(self.starts) * SIZE + len(self.heads)

    def matrix(self, rows: Sequence[Example]) -> csr_matrix:
        """The features of examples."""
        columns, values, ends = [], [], [0]
        for row in rows:
            size = 1
            for table, places in row.places:
                columns.append((places + self.starts[table]).astype(np.int32))
                values.append(np.full(len(places), 1.0 / np.sqrt(max(1, len(places)))))
                size += len(places)
            columns.append(np.array([len(self.starts) * SIZE + self.heads[row.head]], dtype=np.int32))
            values.append(np.ones(1))
            ends.append(ends[-1] + size)
        parts = (np.concatenate(values), np.concatenate(columns), np.array(ends))
        return csr_matrix(parts, shape=(len(rows), self.width))

    def scores(self, rows: Sequence[Example], weights: np.ndarray) -> np.ndarray:
        """The scores of examples, of some thousands at a time: all their features take gigabytes."""
        steps = range(0, len(rows), SCORED_AT_ONCE)
        return np.concatenate([self.matrix(rows[at : at + SCORED_AT_ONCE]).dot(weights) for at in steps])


def fitted(features: csr_matrix, labels: np.ndarray, counts: np.ndarray, kind: str) -> np.ndarray:
    """The weights of one model. A feature of one example only gets none; the last columns are biases.

    A feature counts by its rareness (the logarithm of examples / examples with it), which goes into its weight.
    """
    usable = labels >= 0
    known = features[usable]
    seen = np.bincount(known.indices, minlength=features.shape[1])
    kept = np.flatnonzero(seen >= 2)
    rareness = np.log((1 + known.shape[0]) / (1 + seen[kept]))
    rareness /= np.average(rareness, weights=seen[kept])
    model = LinearSVC(C=STRENGTH[kind], tol=0.01, max_iter=3000, fit_intercept=False, dual=True, random_state=0)
    model.fit(known[:, kept].multiply(rareness).tocsr(), labels[usable], sample_weight=counts[usable])
    weights: np.ndarray = np.zeros(features.shape[1])
    weights[kept] = model.coef_[0] * rareness
    return weights


def rounded(value: float) -> float:
    """Six digits, which a sum in another order does not change."""
    return float(f"{value:.6g}")


def by_model(rows: Sequence[Example]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        found.setdefault(row.model, []).append(number)
    return found


def unseen_scores(rows: Sequence[Example], turns: Sequence[Turn], learned: Container[int] | None = None) -> np.ndarray:
    """The score of each example by weights that have not seen its block, of all turns or of those `learned` from."""
    scores = np.zeros(len(rows))
    for numbers in by_model(rows).values():
        layout, kind = Layout.of([rows[number] for number in numbers]), rows[numbers[0]].kind
        usable = [n for n in numbers if rows[n].weight and (learned is None or rows[n].turn in learned)]
        features, labels, counts = learnable([rows[number] for number in usable], turns, layout)
        blocks = np.array([turns[rows[number].turn]["block"] for number in usable])
        is_unseen = np.array([turns[rows[number].turn]["file"] in UNSEEN for number in usable])
        for block in range(BLOCKS):
            held = [
                n for n in numbers if turns[rows[n].turn]["block"] == block and turns[rows[n].turn]["file"] in UNSEEN
            ]
            if held:
                known = np.flatnonzero((blocks != block) | ~is_unseen)
                weights = fitted(features[known], labels[known], counts[known], kind)
                scores[held] = layout.scores([rows[number] for number in held], weights)
    return scores


def learnable(
    rows: Sequence[Example], turns: Sequence[Turn], layout: Layout
) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """Features, labels and weights of the examples of one model that are learned from."""
    counts = [row.weight * (UNSEEN_WEIGHT if turns[row.turn]["file"] in UNSEEN else 1.0) for row in rows]
    return layout.matrix(rows), np.array([row.label for row in rows]), np.array(counts)


def steps_of(rows: Sequence[Example], scores: np.ndarray) -> list[dict[str, float]]:
    """The numbers of the last step (`verdicts.last_step`) of each proposal. The last example of a turn is the turn as a
    whole, which has none."""
    steps: list[dict[str, float]] = []
    for _, group in groupby(zip(rows, scores, strict=True), key=lambda pair: pair[0].turn):
        *pairs, (_, whole) = group
        proposals = [row.proposal for row, _ in pairs if row.proposal]
        found = verdicts.last_step(proposals, [float(score) for _, score in pairs], float(whole))
        steps += [*(dict(zip(step.names, step.values, strict=True)) for step in found), {}]
    return steps


def last_step(rows: Sequence[Example], steps: Sequence[dict[str, float]]) -> dict[str, float]:
    """What each number of the last step is worth, from examples with scores that had not seen them."""
    usable = [number for number, row in enumerate(rows) if row.label >= 0 and row.proposal]
    vectorizer = DictVectorizer()
    features = vectorizer.fit_transform([steps[number] for number in usable])
    model = LogisticRegression(C=LAST_STRENGTH, max_iter=5000, tol=1e-8, fit_intercept=False)
    model.fit(features, [rows[number].label for number in usable])
    return dict(zip(vectorizer.get_feature_names_out(), map(rounded, model.coef_[0]), strict=True))


def chances(steps: Sequence[dict[str, float]], learned: Mapping[str, float]) -> np.ndarray:
    logits = [sum(learned.get(name, 0.0) * value for name, value in step.items()) for step in steps]
    result: np.ndarray = 1.0 / (1.0 + np.exp(-np.array(logits)))
    return result


def unseen_chances(rows: Sequence[Example], scores: np.ndarray, turns: Sequence[Turn]) -> np.ndarray:
    """The chances of examples, by last steps that have not seen their block."""
    steps = steps_of(rows, scores)
    blocks = np.array([turns[row.turn]["block"] for row in rows])
    found = np.zeros(len(rows))
    for block in range(BLOCKS):
        others = [number for number in range(len(rows)) if blocks[number] != block]
        learned = last_step([rows[number] for number in others], [steps[number] for number in others])
        held = np.flatnonzero(blocks == block)
        found[held] = chances([steps[number] for number in held], learned)
    return found


def heard(
    rows: Sequence[Example], scores: np.ndarray, found: np.ndarray, write: float, suggest: float
) -> dict[int, list[Verdict]]:
    """The verdicts of each turn."""
    by_turn: dict[int, list[Verdict]] = {}
    for row, value, chance in zip(rows, scores, found, strict=True):
        if row.proposal:
            by_turn.setdefault(row.turn, []).append(Verdict(row.proposal, float(value), float(chance)))
    return {
        turn: list(verdicts.decided(verdicts.best_of(each), write, suggest, min(write, WRITE_NOTE)))
        for turn, each in by_turn.items()
    }


def measured(turns: Sequence[Turn], numbers: Iterable[int], said: Mapping[int, list[Verdict]]) -> tuple[Score, Score]:
    """The score of what is written, and of that with suggestions."""
    written, with_suggestions = Score(), Score()
    for number in numbers:
        sure = [v.proposal.signal for v in said.get(number, []) if v.decision == "written"]
        maybe = [v.proposal.signal for v in said.get(number, []) if v.decision == "suggested"]
        written += score(turns[number], sure)
        with_suggestions += score(turns[number], sure + maybe)
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
    found = unseen_chances(unseen, values, turns)
    thresholds = (0.5, 0.55, 0.62, WRITE, 0.7)
    said_from = {write: heard(unseen, values, found, write, SUGGEST) for write in thresholds}
    yield f"{'':28}{'precision':>10}{'recall':>8}{'none_fp':>9}{'with suggestions: recall':>26}{'none':>7}"
    for name, files in (*((name, (name,)) for name in UNSEEN), ("all", UNSEEN)):
        numbers = [number for number, turn in enumerate(turns) if turn["file"] in files]
        alone = sum((score(turns[number], ruled[number]) for number in numbers), Score())
        yield f"{name + ', rules alone':28}{alone.precision:10.3f}{alone.recall:8.3f}{alone.none_fp:9.3f}"
        for write in thresholds if name == "all" else (WRITE,):
            said = said_from[write]
            sure, maybe = measured(turns, numbers, said)
            suggested = sum(
                any(v.decision == "suggested" for v in said.get(number, []))
                for number in numbers
                if not turns[number]["expect"]
            )
            yield (
                f"{f'{name}, judge from {write}':28}{sure.precision:10.3f}{sure.recall:8.3f}{sure.none_fp:9.3f}"
                f"{maybe.recall:26.3f}{suggested / max(1, sure.none):7.3f}"
            )
    named = {row.turn for row in unseen if row.kind == "removal"}
    judge = {
        number: [verdict.proposal.signal for verdict in said if verdict.decision == "written"]
        for number, said in said_from[WRITE].items()
    }
    for who, signals in (("rules alone", dict(enumerate(ruled))), ("judge", judge)):
        yield f"taken back, {who}: {taken_back(turns, {number: signals[number] for number in named})}"


def taken_back(turns: Sequence[Turn], signals: Mapping[int, Sequence[Signal]]) -> str:
    """How many removals that labels expect are found, and in how many turns one that no label allows."""
    expected = found = wrong = 0
    for number, said in signals.items():
        removed = [signal for signal in said if signal.op == "remove"]
        labels = [label for label in turns[number]["expect"] if label["op"] == "remove"]
        expected += len(labels)
        found += sum(any(satisfies(label, signal) for signal in removed) for label in labels)
        problems = score(turns[number], said).problems
        wrong += any(kind == "wrong" and what.startswith("remove ") for kind, what in problems)
    return f"{found} of {expected}; falsely in {wrong} of {len(signals)} turns that name a stored value"


def trained(turns: Sequence[Turn], rows: Sequence[Example], scores: np.ndarray) -> bytes:
    """The bytes of the file."""
    unseen = np.array([turns[row.turn]["file"] in UNSEEN for row in rows])
    known = [row for row, held in zip(rows, unseen, strict=True) if held]
    step = last_step(known, steps_of(known, scores[unseen]))
    tables: dict[str, bytes] = {}
    scales: dict[str, float] = {}
    biases: dict[str, float] = {}
    for numbers in by_model(rows).values():
        mine = [rows[number] for number in numbers]
        more, more_scales, more_biases = tables_of(mine, turns)
        tables, scales, biases = tables | more, scales | more_scales, biases | more_biases
    header = {
        "scales": scales,
        "biases": biases,
        "chances": step,
        "write": WRITE,
        "write_note": WRITE_NOTE,
        "suggest": SUGGEST,
    }
    return packed(header, dict(sorted(tables.items())))


def tables_of(
    rows: Sequence[Example], turns: Sequence[Turn]
) -> tuple[dict[str, bytes], dict[str, float], dict[str, float]]:
    """The tables of one model in bytes, what a step of each is worth, and the bias of each head."""
    layout = Layout.of(rows)
    features, labels, counts = learnable([row for row in rows if row.weight], turns, layout)
    weights = fitted(features, labels, counts, rows[0].kind)
    starts, heads = layout.starts, layout.heads
    tables, scales = {}, {}
    for name, start in starts.items():
        table = weights[start : start + SIZE]
        scales[name] = rounded(np.abs(table).max() / (ZERO - 1)) or 1.0
        tables[name] = (np.round(table / scales[name]).astype(np.int64) + ZERO).astype(np.uint8).tobytes()
    return tables, scales, dict(zip(heads, map(rounded, weights[len(starts) * SIZE :]), strict=True))


if __name__ == "__main__":
    main()
