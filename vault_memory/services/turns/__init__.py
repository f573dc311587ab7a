"""Recording a turn of conversation and learning from it; the second look at it by a language model, if one is
configured. Also turns of former times, adjustments that a program reports, and the counts of what was redacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memory.lazy import lazy_exports

if TYPE_CHECKING:
    from vault_memory.services.turns import feedback
    from vault_memory.services.turns.judgement import explain_message
    from vault_memory.services.turns.old_turns import Kept, Learned, OldTurns
    from vault_memory.services.turns.record import Recorded, add_reply, has_request, record_turn, record_turns
    from vault_memory.services.turns.redactions import add_redactions, redactions, rename_redactions
    from vault_memory.services.turns.save_conversation import save_conversation
    from vault_memory.services.turns.second_look import Tally, second_look, tally
    from vault_memory.services.turns.second_looks import SecondLooks
    from vault_memory.services.turns.steps.append import RETRY_S
    from vault_memory.services.turns.steps.markers import WAIT_S, turns_waiting
    from vault_memory.services.turns.steps.waiting import learn_waiting
    from vault_memory.services.turns.update_memory import update_memory
    from vault_memory.services.turns.validate import (
        UNNAMED,
        conversation_id_at,
        new_conversation_id,
        validate_and_normalize,
    )

__all__ = [
    "RETRY_S",
    "WAIT_S",
    "Kept",
    "Learned",
    "OldTurns",
    "Recorded",
    "SecondLooks",
    "Tally",
    "UNNAMED",
    "add_redactions",
    "add_reply",
    "has_request",
    "explain_message",
    "feedback",
    "learn_waiting",
    "conversation_id_at",
    "new_conversation_id",
    "record_turn",
    "record_turns",
    "redactions",
    "rename_redactions",
    "save_conversation",
    "second_look",
    "tally",
    "turns_waiting",
    "update_memory",
    "validate_and_normalize",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "RETRY_S": "steps.append",
        "WAIT_S": "steps.markers",
        "Kept": "old_turns",
        "Learned": "old_turns",
        "OldTurns": "old_turns",
        "Recorded": "record",
        "SecondLooks": "second_looks",
        "Tally": "second_look",
        "UNNAMED": "validate",
        "add_redactions": "redactions",
        "add_reply": "record",
        "has_request": "record",
        "explain_message": "judgement",
        "learn_waiting": "steps.waiting",
        "conversation_id_at": "validate",
        "new_conversation_id": "validate",
        "record_turn": "record",
        "record_turns": "record",
        "redactions": "redactions",
        "rename_redactions": "redactions",
        "save_conversation": "save_conversation",
        "second_look": "second_look",
        "tally": "second_look",
        "turns_waiting": "steps.markers",
        "update_memory": "update_memory",
        "validate_and_normalize": "validate",
    },
)
