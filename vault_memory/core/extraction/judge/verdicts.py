"""Verdicts: which proposals are written, which only suggested, and what weighed most.

A proposal's score comes from its words alone. The last step joins it with who proposed it and for which key: that was
learned on turns that neither the rules nor the weights had seen. Its chance decides: from `write` on it is written,
from `suggest` on it is a suggestion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from vault_memory.core.extraction.judge.proposals import Proposal
from vault_memory.core.extraction.judge.weights import Weights
from vault_memory.core.profile import FIELDS, NOTE
from vault_memory.core.text import fold

MOST_WEIGHED = 5
"""Features named for and against a proposal."""
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


def last_step(proposal: Proposal, score: float) -> dict[str, float]:
    """What the chance of a proposal is reckoned from: its score, and the rules' opinion, by kind and by key."""
    kind, key = proposal.kind, proposal.signal.key
    ruled, loose = float(proposal.origin == "rule"), float(proposal.origin == "loose")
    other = float(proposal.is_against_rules)
    return {
        f"kind {kind}": 1.0,
        f"score {kind}": score,
        f"rule {kind}": ruled,
        f"score of rule {kind}": score * ruled,
        f"loose {kind}": loose,
        f"rules chose another {kind}": other,
        f"key {key}": 0.5,
        f"rule {key}": 0.5 * ruled,
    }


def judged(proposals: Iterable[Proposal], weights: Weights) -> list[Verdict]:
    """The proposals with their chances, best first, each value of a key once."""
    best: dict[tuple[str, str], Verdict] = {}
    for proposal in proposals:
        score = weights.score(proposal.evidence)
        verdict = Verdict(proposal, score, weights.chance(score, last_step(proposal, score)))
        name = proposal.signal.key, proposal.signal.value
        if name not in best or best[name].chance < verdict.chance:
            best[name] = verdict
    return sorted(best.values(), key=lambda verdict: -verdict.chance)


def decided(verdicts: Sequence[Verdict], write: float, suggest: float) -> Iterator[Verdict]:
    """The verdicts with their decisions: a key with one value is written once, and of the clauses that only their words
    propose one for each key, of two that overlap the likelier."""
    taken: dict[str, list[str]] = {}
    held: list[tuple[int, int]] = []
    suggestions = 0
    for verdict in sorted(verdicts, key=lambda verdict: verdict.proposal.signal.key == NOTE):  # stable: notes come last
        signal, origin = verdict.proposal.signal, verdict.proposal.origin
        start, end = verdict.proposal.start, verdict.proposal.end
        is_single = FIELDS[signal.key].form == "scalar" or (verdict.proposal.kind == "statement" and origin == "words")
        decision: Decision = "left out"
        value = fold(signal.value)
        if is_single and signal.key in taken:
            pass
        elif signal.op == "add" and verdict.proposal.kind == "statement" and _is_part(value, taken.get(signal.key, ())):
            pass  # the same, cut otherwise
        elif signal.key == NOTE and origin != "rule" and any(first < end and start < last for first, last in held):
            pass  # another key holds it
        elif verdict.chance >= write:
            decision = "written"
        elif verdict.chance >= suggest and suggestions < MAX_SUGGESTIONS:
            decision = "suggested"
            suggestions += 1
        if decision != "left out":
            taken.setdefault(signal.key, []).append(value)
            held.append((start, end))
        yield replace(verdict, decision=decision)


def _is_part(value: str, others: Iterable[str]) -> bool:
    return any(value in other or other in value for other in others)
