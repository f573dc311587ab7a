"""Keeping a whole turn whose beginning may be in the record already (the design's `save_conversation`).

The design's program has the memory learn from the first characters of an answer, and saves the answer afterwards. Both
calls are of one turn.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters import files
from vault_memory.core import layout
from vault_memory.core.notes import Reply, journal
from vault_memory.services.longterm import note_for_long_term
from vault_memory.services.notes import bring_back, newest_turns
from vault_memory.services.redactor import Redactor
from vault_memory.services.shortterm import note_kept_turn
from vault_memory.services.turns.record import Recorded, record_turn
from vault_memory.services.turns.redactions import add_redactions
from vault_memory.services.turns.steps.append import RETRY_S
from vault_memory.services.vault import Vault
from vault_memory.services.write import index_problem

LEARNED_CHARS = 500
"""How much of an answer the design's program has the memory learn from."""
MAX_TURNS = 8
"""The newest turns, one of which may be the begun one: several programs of a user may talk at once."""


def save_conversation(vault: Vault, user_id: str, user_message: str, assistant_message: str) -> Recorded:
    """Keep a turn. If it was recorded within `RETRY_S`, with the beginning of the answer or all of it, the rest is
    added in a line of its own, and nothing is learned anew: the same message and answer are the same turn then.
    Else the turn is recorded, and learned from.

    Raises what `record_turn` raises.
    """
    user_id, as_of = vault.id_now(layout.check_user_id(user_id), vault.renamings())
    if vault.config.is_off_record(user_id):
        return Recorded("", user_id=user_id, as_of=as_of)
    redact, begun = Redactor(), Redactor()
    message, whole = redact(user_message), redact(assistant_message)
    begun(user_message)
    beginning = begun(assistant_message[:LEARNED_CHARS])
    with vault.record_lock(user_id):
        source, turn = _begun(vault, user_id, message, whole, beginning)
        rest = whole[len(os.path.commonprefix([str(turn["assistant_message"]), whole])) :] if turn else ""
        if turn and rest:
            conversation_id, created_at = journal.name_of(turn)
            reply = Reply(conversation_id, user_id, created_at, rest, vault.now(), continues=True)
            home = vault.path(user_id, ".")
            bring_back(vault, user_id, _file(source))
            files.append_line(home / _file(source), reply.line().encode(), below=home, within=vault.root)
    if not turn:
        return record_turn(vault, user_id, user_message, assistant_message, as_of=as_of)
    if not rest:
        return Recorded(source, user_id=user_id, as_of=as_of, is_new=False, is_complete=True)
    counts = Counter(redact.counts) - Counter(begun.counts)
    if counts:
        add_redactions(vault, user_id, counts, as_of)
    problem = index_problem(vault, [layout.user_dir(user_id) / _file(source)])
    kept = {**turn, "assistant_message": whole, "user_id": user_id}
    noted = [note_for_long_term(vault, kept), note_kept_turn(vault, kept)]
    return Recorded(
        source,
        sources=(_file(source),),
        redactions=dict(counts),
        degraded=(*([f"index: {problem}"] if problem else []), *filter(None, noted)),
        user_id=user_id,
        as_of=as_of,
        is_complete=True,
    )


def _begun(vault: Vault, user_id: str, message: str, whole: str, beginning: str) -> tuple[str, dict[str, Any] | None]:
    """(source, record) of the new turn with this message and a beginning of this answer; a secret that was cut is not
    known as one in the `beginning`, and looks another in the `whole`."""
    oldest = vault.now() - timedelta(seconds=RETRY_S)
    for source, turn in newest_turns(vault, user_id, MAX_TURNS):
        said = turn.get("assistant_message")
        if said is None or turn.get("user_message") != message:
            continue
        with suppress(ValueError, TypeError, OverflowError):  # another program may write any time
            if datetime.fromisoformat(turn["created_at"]).astimezone() < oldest:
                break
            if said == beginning or whole.startswith(said):
                return source, turn
    return "", None


def _file(source: str) -> str:
    return source.rpartition(":")[0]
