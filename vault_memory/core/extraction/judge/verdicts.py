"""Verdicts: which proposals are written, which only suggested, and what weighed most.

A proposal's score comes from its words alone. The last step joins it with who proposed it, for which key, and what else
there is in the turn: that was learned on turns that neither the rules nor the weights had seen. Its chance decides:
from `write` on it is written, from `suggest` on it is a suggestion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.judge.weights import Evidence, Weights
from vault_memory.core.profile import FIELDS, NOTE
from vault_memory.core.text import fold

MOST_WEIGHED = 5
"""Features named for and against a proposal."""
LEAST, MOST = -5.0, 3.0
"""A turn's other scores are cut to this."""
REMOVE = 0.7
"""What the rules take back is written from this chance on: to lose a value costs more than to miss that one is gone."""
MAX_SUGGESTIONS = 2
"""Of one turn."""
Decision = Literal["written", "suggested", "left out"]


@dataclass(frozen=True)
class Verdict:
    """A proposal with its score (by its words), its chance (0 to 1, in all), and what becomes of it."""

    proposal: Proposal
    score: float
    chance: float
    decision: Decision = "left out"

    def explained(self, weights: Weights) -> dict[str, Any]:
        """The verdict as JSON: who proposed it, score, chance, decision, and what weighed most for and against."""
        signal = self.proposal.signal
        weighed = sorted(weights.weighed(self.proposal.evidence).items(), key=lambda item: item[1])
        return {
            "key": signal.key,
            "op": signal.op,
            "value": signal.value,
            "proposed_by": self.proposal.origin,
            "score": round(self.score, 3),
            "chance": round(self.chance, 3),
            "decision": self.decision,
            "for": {name: round(value, 3) for name, value in weighed[: -MOST_WEIGHED - 1 : -1] if value > 0},
            "against": {name: round(value, 3) for name, value in weighed[:MOST_WEIGHED] if value < 0},
        }


class Step(NamedTuple):
    """The numbers that the chance of a proposal is reckoned from, and their names: by its kind, and by its key."""

    kind: str
    key: str
    values: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.kind, self.key)


OF_KIND = (
    "kind", "score", "score above 0", "rule", "score of rule", "loose", "rules chose another",
    "turn", "turn above 0", "turn of rule", "turn by score",
    "same key", "same key above 0",
)  # fmt: skip
OF_KEY = ("key", "rule of", "score of")


@cache
def _names(kind: str, key: str) -> tuple[str, ...]:
    return (*(f"{name} {kind}" for name in OF_KIND), *(f"{name} {key}" for name in OF_KEY))


def last_step(proposals: Sequence[Proposal], scores: Sequence[float], whole: float) -> list[Step]:
    """What the chance of each proposal of a turn is reckoned from: its score, the rules' opinion, the score of the turn
    as a whole (`whole`), and the best score of another proposal for its key."""
    of_key: dict[str, list[float]] = {}
    for proposal, score in zip(proposals, scores, strict=True):
        of_key.setdefault(_subject(proposal), []).append(score)
    best = {key: sorted((*held, LEAST), reverse=True)[:2] for key, held in of_key.items()}
    steps = []
    for proposal, score in zip(proposals, scores, strict=True):
        key = _subject(proposal)
        same = min(MOST, max(LEAST, best[key][score == best[key][0]]))
        ruled = float(proposal.origin == "rule")
        of_turn = (whole, max(0.0, whole), whole * ruled, 0.3 * whole * score)
        others = (same, max(0.0, same))
        opinion = (ruled, score * ruled, float(proposal.origin == "loose"), float(proposal.is_against_rules))
        of_key_alone = (0.5, 0.5 * ruled, 0.5 * score)
        values = (1.0, score, max(0.0, score), *opinion, *of_turn, *others, *of_key_alone)
        steps.append(Step(proposal.kind, key, values))
    return steps


def _subject(proposal: Proposal) -> str:
    return "removal" if proposal.kind == "removal" else proposal.signal.key


def judged(proposals: Sequence[Proposal], whole: Evidence, weights: Weights) -> list[Verdict]:
    """The proposals of a turn with their chances, best first, each value of a key once."""
    scores = [weights.score(proposal.evidence) for proposal in proposals]
    steps = last_step(proposals, scores, weights.score(whole))
    return best_of(
        Verdict(proposal, score, weights.chance(step.names, step.values))
        for proposal, score, step in zip(proposals, scores, steps, strict=True)
    )


def best_of(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts, best first, each value of a key once."""
    best: dict[tuple[str, str, str], Verdict] = {}
    for verdict in verdicts:
        signal = verdict.proposal.signal
        name = signal.key, signal.op, signal.value
        if name not in best or best[name].chance < verdict.chance:
            best[name] = verdict
    return sorted(best.values(), key=lambda verdict: -verdict.chance)


def decided(
    verdicts: Iterable[Verdict], write: float, suggest: float, write_note: float | None = None
) -> Iterator[Verdict]:
    """The verdicts with their decisions; `write_note`: from where on a note is written, if not from `write`.

    A key with one value changes once, a value of a list is added or removed. Of the clauses that only their words
    propose one for each key is written, and of statements that overlap the likelier.
    """
    of_note = write if write_note is None else write_note
    taken: set[tuple[str, str]] = set()
    held: list[tuple[int, int]] = []
    suggestions = 0
    for verdict in sorted(verdicts, key=_turn_to_be_decided):
        signal, origin = verdict.proposal.signal, verdict.proposal.origin
        start, end = verdict.proposal.start, verdict.proposal.end
        is_single = FIELDS[signal.key].form == "scalar" or (verdict.proposal.kind == "statement" and origin == "words")
        this, any_of_key = (signal.key, fold(signal.value)), (signal.key, "")
        decision: Decision = "left out"
        if this in taken or (is_single and any_of_key in taken):
            pass
        elif signal.op == "add" and verdict.proposal.kind == "statement" and _is_part(this, taken):
            pass  # the same, cut otherwise
        elif signal.key == NOTE and origin != "rule" and any(first < end and start < last for first, last in held):
            pass  # another key holds it
        elif signal.op == "remove" and origin != "rule":
            pass  # it may only be named
        elif verdict.chance >= (REMOVE if signal.op == "remove" else of_note if signal.key == NOTE else write):
            decision = "written"
        elif verdict.chance >= suggest and suggestions < MAX_SUGGESTIONS:
            decision = "suggested"
            suggestions += 1
        if decision != "left out":
            taken |= {this, any_of_key}
            held.append((start, end))
        yield verdict if decision == verdict.decision else replace(verdict, decision=decision)


def _is_part(this: tuple[str, str], taken: Iterable[tuple[str, str]]) -> bool:
    """Whether a statement contains another one of its key that is taken, or is contained in it."""
    key, value = this
    return any(other and (value in other or other in value) for of, other in taken if of == key)


def _turn_to_be_decided(verdict: Verdict) -> tuple[bool, bool, float]:
    """Notes come last; the only value of a key is replaced rather than removed; else the likeliest comes first."""
    signal = verdict.proposal.signal
    return signal.key == NOTE, signal.op == "remove" and FIELDS[signal.key].form == "scalar", -verdict.chance
