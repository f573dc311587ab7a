"""Turns that wait for the long-term store, and why they do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any

from vault_memory.adapters.longterm import WaitingCounts
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.core.extraction import asks_to_be_left_out
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.notes import newest_turns
from vault_memory.services.vault import Vault

SENT_FIELDS = ("conversation_id", "user_id", "user_message", "assistant_message", "reflection", "cid", "created_at")
_MAX_SEARCHED_CHARS = 20_000
_AT_ONCE = 500


@dataclass(frozen=True)
class LongTermState:
    """Whether turns are sent at all, what waits, and the last round: when it was ("": never), how many turns it sent,
    and what ended it early ("": nothing)."""

    is_enabled: bool
    counts: WaitingCounts
    last_round: str = ""
    last_sent: int = 0
    problem: str = ""


def note_for_long_term(vault: Vault, turn: Mapping[str, Any]) -> str:
    """Let a turn wait for the long-term store that is in the record, whole and without secrets. What was not to be
    remembered is not sent. Returns what could not be done, in words, else ""; nothing is done while
    `longterm.enabled` is off."""
    if not vault.config.longterm_enabled or not is_to_be_sent(vault, turn):
        return ""
    try:
        vault.outbox.put([_sent_part(turn)])
    except VaultMemoryError as error:
        return f"long-term store: {error}"
    return ""


def note_since(vault: Vault, since: date) -> int:
    """Let all recorded turns since a day wait again, such as those from before it was enabled; how many these are.
    The database knows each by its name, and has none twice. Raises `UsageError` while it is off, and what the outbox
    raises."""
    check_enabled(vault)
    count = 0
    for user_id in vault.user_ids():
        if vault.config.is_off_record(user_id):
            continue
        turns = _turns_since(vault, user_id, since)
        while batch := [*islice(turns, _AT_ONCE)]:
            vault.outbox.put(batch[::-1])
            count += len(batch)
    return count


def check_enabled(vault: Vault) -> None:
    """Raise `UsageError` while nothing is sent, with the reason."""
    if not vault.config.longterm_enabled:
        off = "longterm.enabled is off: set it in vault-memory.toml first (docs/stores.md)"
        raise UsageError(dict(vault.config.spared).get("longterm.enabled", off))


def is_to_be_sent(vault: Vault, turn: Mapping[str, Any]) -> bool:
    """Whether a turn is sent: it has a reply, and its person has not asked that it be left out."""
    message = str(turn.get("user_message") or "")[:_MAX_SEARCHED_CHARS]
    return turn.get("assistant_message") is not None and not asks_to_be_left_out(message, vault.lexicon())


def rename_waiting(vault: Vault, old: str, new: str) -> None:
    """What waits of a user is that of the id `new`. Raises what the outbox raises."""
    vault.outbox.rename(old, new)


def round_state(vault: Vault) -> StateFile:
    """How the last round went; its lock is held by the one that sends."""
    return StateFile(vault.root, "long-term")


def long_term_state(vault: Vault) -> LongTermState:
    """What waits, and how the last round went. The database is not asked. Raises what the outbox raises."""
    last = round_state(vault).read()
    sent = last.get("sent")
    return LongTermState(
        vault.config.longterm_enabled,
        vault.outbox.counts(),
        str(last.get("at") or ""),
        sent if isinstance(sent, int) else 0,
        str(last.get("problem") or ""),
    )


def long_term_problem(vault: Vault) -> str:
    """Why turns wait that should be in the database, in words; "" when all is well, or it is off."""
    if not vault.config.longterm_enabled:
        return ""
    try:
        state = long_term_state(vault)
    except VaultMemoryError as error:
        return f"long-term store: {error}"
    why = state.problem or "; ".join(reason for reason, _ in state.counts.reasons)
    if not (why and state.counts.waiting):
        return ""
    return f"long-term store: {state.counts.waiting:,} turns wait: {why}"


def _turns_since(vault: Vault, user_id: str, since: date) -> Iterator[dict[str, Any]]:
    for source, turn in newest_turns(vault, user_id, sys.maxsize):
        day = layout.recorded_day(source.rpartition(":")[0])
        if day is None or day < since:
            return
        turn = {**turn, "user_id": user_id}
        if is_to_be_sent(vault, turn):
            yield _sent_part(turn)


def _sent_part(turn: Mapping[str, Any]) -> dict[str, Any]:
    return {name: turn.get(name) for name in SENT_FIELDS}
