"""Turns that wait for the long-term store, and why they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from vault_memory.adapters.longterm import WaitingCounts
from vault_memory.adapters.state import StateFile
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.services.longterm.left_out import names_left_out
from vault_memory.services.vault import NO_DATABASE, Vault

SENT_FIELDS = ("conversation_id", "user_id", "user_message", "assistant_message", "reflection", "cid", "created_at")
ANSWER_WAIT_S = 3_600.0
"""So long a turn waits for its answer: without a unique key a row that is there would not get it any more."""
_A_LONG_TIME = timedelta(hours=1)
"""Between two rounds; the daemon has one each minute."""


@dataclass(frozen=True)
class LongTermState:
    """Whether turns are sent at all, what waits, and the last round: when it was ("": never), how many turns it sent,
    and what ended it early ("": nothing)."""

    is_enabled: bool
    counts: WaitingCounts
    last_round: str = ""
    last_sent: int = 0
    problem: str = ""


def note_for_long_term(vault: Vault, turn: Mapping[str, Any], *, is_whole: bool = False) -> str:
    """Let a turn wait for the long-term store that is in the record, without secrets; one without an answer for an hour
    at least, unless it `is_whole`: the answer may come. What was not to be remembered is not sent. Returns what could
    not be done, in words, else ""; nothing is done while `longterm.enabled` is off."""
    if not _is_wanted(vault):
        return ""
    try:
        if names_left_out(vault, [turn]):
            return ""
        is_begun = turn.get("assistant_message") is None and not is_whole
        vault.outbox.put([sent_part(turn)], vault.now().timestamp() + ANSWER_WAIT_S if is_begun else 0.0)
    except VaultMemoryError as error:
        return f"long-term store: {error}"
    return ""


def _is_wanted(vault: Vault) -> bool:
    """Whether turns are to be sent, also where a wrong setting keeps them here: they wait for the right one."""
    return vault.config.longterm_enabled or "longterm.enabled" in dict(vault.config.spared)


def check_enabled(vault: Vault) -> None:
    """Raise `UsageError` while nothing is sent, with the reason."""
    if not vault.config.longterm_enabled:
        off = "longterm.enabled is off: set it in vault-memory.toml first (docs/stores.md)"
        raise UsageError(dict(vault.config.spared).get("longterm.enabled", off))


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
        vault.outbox.counts(vault.now().timestamp()),
        str(last.get("at") or ""),
        sent if isinstance(sent, int) else 0,
        str(last.get("problem") or ""),
    )


def long_term_problem(vault: Vault) -> str:
    """Why turns wait that should be in the database, in words; "" when all is well, or it is off."""
    if not _is_wanted(vault):
        return ""
    try:
        state = long_term_state(vault)
    except VaultMemoryError as error:
        return f"long-term store: {error}"
    if not vault.config.longterm_enabled:
        why = dict(vault.config.spared)["longterm.enabled"]
        return f"long-term store: {state.counts.waiting:,} turns wait: {why}" if state.counts.waiting else ""
    if not vault.database_url:
        return f"long-term store: {NO_DATABASE}"
    why = state.problem or "; ".join(reason for reason, _ in state.counts.reasons)
    if not state.last_round or vault.now() - datetime.fromisoformat(state.last_round) > _A_LONG_TIME:
        why = "nobody sends them: the daemon does, and `vault-memory longterm flush`"
    if not (why and state.counts.waiting):
        return ""
    return f"long-term store: {state.counts.waiting:,} turns wait: {why}"


def sent_part(turn: Mapping[str, Any]) -> dict[str, Any]:
    """What of a recorded turn is sent."""
    return {name: turn.get(name) for name in SENT_FIELDS}
