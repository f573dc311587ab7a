"""What a turn says about its person: the rules propose, the judge decides.

Without usable weights (`problem`) the rules alone answer. What the rules take back is judged, too; nothing else is
taken back: whoever only names a stored value must not lose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vault_memory.core.extraction import language, person, rules, styles, topics
from vault_memory.core.extraction.judge.gates import is_gated
from vault_memory.core.extraction.judge.places import left_by
from vault_memory.core.extraction.judge.proposals import Proposal, Proposals
from vault_memory.core.extraction.judge.scene import Scene
from vault_memory.core.extraction.judge.verdicts import Verdict, decided, judged
from vault_memory.core.extraction.judge.weights import Weights, WeightsDamaged, shipped
from vault_memory.core.extraction.lexicon import Lexicon, default_lexicon
from vault_memory.core.privacy import is_private, names_a_contact
from vault_memory.core.profile import Signal


def extract(
    user_msg: str,
    assistant_msg: str = "",
    existing: Mapping[str, str | list[str]] = rules.NOTHING_STORED,
    lexicon: Lexicon | None = None,
    weights: Weights | WeightsDamaged | None = None,
) -> list[Signal]:
    """The preferences stated in one turn, in the order of the message, and suggestions (`Signal.is_suggestion`).

    `assistant_msg` is the reply before the message: context only, never a source. `existing` is the profile before the
    turn; it decides what can be removed. Pure and deterministic; the time is bounded for a message of any length.
    """
    turn = rules.read_turn(user_msg, assistant_msg, existing, lexicon or default_lexicon())
    if turn is None:
        return []
    weights = weights or shipped()
    ruled = [each for each in rules.signals_of(turn) if each.op == "remove" or not is_private(each.value)]
    if isinstance(weights, WeightsDamaged):
        return turn.allowed([*left_by(turn, ruled), *ruled])
    kept = [verdict for verdict in _verdicts(turn, ruled, weights) if verdict.decision != "left out"]
    heard = [
        replace(
            verdict.proposal.signal,
            quote=turn.quote(verdict.proposal.start, verdict.proposal.end),
            is_suggestion=verdict.decision == "suggested",
        )
        for verdict in sorted(kept, key=lambda each: (each.proposal.start, each.proposal.offset))
    ]
    return turn.allowed([*left_by(turn, heard), *heard])


def explain(
    user_msg: str,
    assistant_msg: str = "",
    existing: Mapping[str, str | list[str]] = rules.NOTHING_STORED,
    lexicon: Lexicon | None = None,
) -> list[dict[str, Any]]:
    """What was proposed of a turn, most likely first: by whom, score, chance, decision, and what weighed most.

    Empty where nothing may be learned from the turn, or the weights cannot be used.
    """
    turn = rules.read_turn(user_msg, assistant_msg, existing, lexicon or default_lexicon())
    weights = shipped()
    if turn is None or isinstance(weights, WeightsDamaged):
        return []
    return [verdict.explained(weights) for verdict in _verdicts(turn, rules.signals_of(turn), weights)]


def why_nothing(
    user_msg: str,
    assistant_msg: str = "",
    existing: Mapping[str, str | list[str]] = rules.NOTHING_STORED,
    lexicon: Lexicon | None = None,
) -> str:
    """Why a turn that asks to be remembered, or not to be, has changed nothing; "" if it asks neither.

    `existing`: the profile now.
    """
    lexicon = lexicon or default_lexicon()
    turn = rules.read_turn(user_msg, assistant_msg, existing, lexicon)
    if turn is not None and turn.is_refused:
        return "it asks not to be remembered, and stays in the conversation record alone"
    if turn is None or not topics.asks_to_remember(turn.message.speech, lexicon):
        return ""
    if names_a_contact(turn.message.written):
        return "it holds somebody's address or number"
    if is_private(turn.message.written):
        return "it states a private fact, which stays in the conversation record"
    if any(not signal.is_suggestion for signal in extract(user_msg, assistant_msg, existing, lexicon)):
        return "it is known already"
    return "nothing in it is surely a preference or a fact to keep"


def problem() -> str | None:
    """Why the judge cannot be used, if it cannot."""
    weights = shipped()
    return f"judge: {weights}; the rules alone decide" if isinstance(weights, WeightsDamaged) else None


def proposals_of(turn: rules.HeardTurn, ruled: list[Signal]) -> Proposals:
    """What there is to judge in a turn."""
    return Proposals(Scene(turn.message, turn.clauses, turn.reply, turn.existing, turn.lexicon), ruled)


def _verdicts(turn: rules.HeardTurn, ruled: list[Signal], weights: Weights) -> list[Verdict]:
    if _is_one_sign(turn.message.speech):  # a key that was held down
        return []
    proposals = proposals_of(turn, ruled)
    likely = [
        verdict
        for verdict in judged([*proposals], proposals.whole, weights)
        if verdict.chance < weights.suggest
        or not (_is_kept_out(verdict.proposal, turn) or is_gated(verdict.proposal, turn))
    ]
    return list(decided(likely, weights.write, weights.suggest, weights.write_note))


def _is_one_sign(value: str) -> bool:
    """Whether a text is the same sign or two again and again, with blanks or without."""
    return len(value) > 10 and len(set("".join(value.split()))) < 3


def _is_kept_out(proposal: Proposal, turn: rules.HeardTurn) -> bool:
    """Whether a statement or name holds a private fact or somebody's address, a statement is no language, a language is
    only liked, a name is that of where the person is, or a wish for steps only names those of an answer."""
    value = proposal.signal.value
    if is_private(value) or (proposal.kind == "statement" and _is_one_sign(value)):
        return True
    if proposal.signal.value == styles.STEPS and styles.only_takes_steps(turn.message.speech, turn.lexicon):
        return True
    if proposal.kind not in ("statement", "name") or proposal.origin == "rule":
        return False
    if proposal.signal.key == "language":
        said = turn.message.speech[proposal.start : proposal.end]
        return language.is_only_liked(said, proposal.offset, turn.lexicon)
    if proposal.signal.key == "display_name" and person.is_where_one_is(
        turn.message.speech[: proposal.start + proposal.offset]
    ):
        return True
    written = turn.message.written[proposal.start : proposal.end]
    if proposal.signal.key != "note":
        return is_private(written)
    following = turn.message.written[proposal.end : proposal.end + topics.MAX_ADDRESS_CHARS]  # an address has dots
    return is_private(written) or names_a_contact(written + following)
