"""Sending turns to the long-term store: from the outbox, or as a program gives them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from vault_memory.adapters.tokenizer import pack_token_record
from vault_memory.core import payload
from vault_memory.core.longterm import Row, rows_of, targets
from vault_memory.errors import EndpointError, UsageError, VaultMemoryError
from vault_memory.services.longterm.left_out import Name, names_left_out, whole_name
from vault_memory.services.longterm.since import note_memories
from vault_memory.services.longterm.waiting import SENT_FIELDS, check_enabled, round_state
from vault_memory.services.redactor import Redactor
from vault_memory.services.vault import Vault

if TYPE_CHECKING:
    from vault_memory.adapters.longterm import PostgresStore, Table

PAUSES_S = (1.0, 2.0, 4.0)
"""Between the attempts at a batch; after the last one it waits for the next round."""
ROUND_S = 60.0
"""After this time a round of the daemon's begins no other batch: other jobs wait for it."""
_SAID = ("user_message", "assistant_message", "reflection")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Flushed:
    """A round: how many turns the database has got, how many it has refused, and how many wait now, those included."""

    sent: int
    refused: int
    waiting: int


def flush_long_term(
    vault: Vault, *, stop_s: float | None = None, pause: Callable[[float], None] = time.sleep
) -> Flushed:
    """Send what waits in the outbox, and the memories whose notes have changed, each at most once, in batches; with
    `stop_s` no batch begins after that time. A memory counts as a turn. A turn goes from the outbox when the database
    has committed it; one that it refuses stays, and holds up no other.

    Raises `Busy` while another process sends, `UsageError` while it is off, and what `PostgresStore` raises, after
    three more attempts where these may help; all that is not sent waits, and `long_term_state` says why.
    """
    check_enabled(vault)
    state = round_state(vault)
    with state.lock():
        sent = refused = 0
        problem = ""
        until = None if stop_s is None else time.monotonic() + stop_s
        began = vault.now()
        try:
            note_memories(vault, until)
            with vault.long_term() as store, ThreadPoolExecutor(1) as ahead:
                tables: list[Table] = []
                numbers, rows = _taken(vault, began)
                while numbers and (until is None or time.monotonic() <= until):
                    following = ahead.submit(_taken, vault, began, numbers)  # while the database writes
                    tables = tables or _retried(lambda: _tables(vault, store), pause)
                    refusals = _retried(partial(_send, vault, store, tables, rows), pause)
                    reasons = {numbers[index]: why for index, why in refusals.items()}
                    done = [number for number in numbers if number not in reasons]
                    vault.outbox.settle(done, reasons, began.timestamp())
                    sent, refused = sent + len(done), refused + len(reasons)
                    numbers, rows = following.result()
        except VaultMemoryError as error:
            problem = str(error)
            raise
        finally:
            state.write({"at": began.isoformat(timespec="seconds"), "sent": sent, "problem": problem})
        return Flushed(sent, refused, vault.outbox.counts().waiting)


def persist_long_term(vault: Vault, records: Sequence[Mapping[str, Any]]) -> int:
    """Write turns to the long-term store at once, without their secrets; how many were written. They are as
    `validate_and_normalize` takes them, and known by conversation_id and created_at: the same may be written again.

    Several records of one name are pieces of one turn, as if each came in a call of its own, in their order. While
    `longterm.enabled` is off nothing is done. Turns off the record, or that ask to be left out, are not written, nor
    what comes with the name of one that asks so in the same call, in one before or in the record. Raises `UsageError`
    for a record of another form, or of an erased user or text, before any is written, and where it should be on and
    lacks a setting; what `PostgresStore` raises; and `EndpointError` when the database has refused some: the others are
    written then.
    """
    if not vault.config.longterm_enabled:
        if "longterm.enabled" in dict(vault.config.spared):
            check_enabled(vault)
        return 0
    if not isinstance(records, Sequence) or isinstance(records, str):
        raise UsageError(f"a list of turns is wanted, not {type(records).__name__}")
    turns = [_kept(vault, record) for record in records]
    _refuse_erased(vault, turns)
    left_out = names_left_out(vault, turns)
    chosen = [
        turn for turn in turns if whole_name(turn) not in left_out and not vault.config.is_off_record(turn["user_id"])
    ]
    if not chosen:
        return 0
    reasons: dict[Name, str] = {}
    size = vault.config.longterm_batch_size
    with vault.long_term() as store:
        tables = _tables(vault, store)
        for start in range(0, len(chosen), size):
            batch = chosen[start : start + size]
            refused = _send(vault, store, tables, _rows(vault, batch))
            for index, why in sorted(refused.items()):
                reasons.setdefault(whole_name(batch[index]), why)
    count = len({whole_name(turn) for turn in chosen})
    if reasons:
        (_, conversation_id, _), why = next(iter(reasons.items()))
        raise EndpointError(
            f"{len(reasons):,} of {count:,} turns {'was' if len(reasons) == 1 else 'were'} refused, such as that "
            f"of the conversation {conversation_id!r}: {why}"
            + ("; the others are written" if len(reasons) < count else "")
        )
    return count


def _kept(vault: Vault, record: Mapping[str, Any]) -> dict[str, Any]:
    turn = payload.normalized(record, vault.now(), vault.config.zone())
    turn["user_id"] = vault.user_of(turn["user_id"])
    redact = Redactor()
    return {name: redact(turn[name]) if name in _SAID else turn[name] for name in SENT_FIELDS}


def _refuse_erased(vault: Vault, turns: Sequence[Mapping[str, Any]]) -> None:
    by_user: dict[str, list[Mapping[str, Any]]] = {}
    for turn in turns:
        by_user.setdefault(turn["user_id"], []).append(turn)
    for user_id, theirs in by_user.items():
        vault.refuse_erased_id(user_id)
        vault.refuse_erased(user_id, partial(_said_in, theirs), "one of these turns")


def _said_in(turns: Sequence[Mapping[str, Any]]) -> list[str]:
    return [*chain(*map(payload.said_texts, turns))]


def _tables(vault: Vault, store: PostgresStore) -> list[Table]:
    return [store.look(target) for target in targets(vault.config.longterm_tables, vault.config.longterm_columns_map)]


def _taken(vault: Vault, began: datetime, beside: Sequence[int] = ()) -> tuple[list[int], list[list[Row]]]:
    """The next batch of the outbox, without those `beside` it, which are being sent: the numbers of its turns, and the
    rows of each."""
    batch = vault.outbox.take(vault.config.longterm_batch_size, began.timestamp(), beside)
    return [each.number for each in batch], _rows(vault, [each.turn for each in batch])


def _rows(vault: Vault, turns: Sequence[Mapping[str, Any]]) -> list[list[Row]]:
    """The rows of each turn."""
    mapped = targets(vault.config.longterm_tables, vault.config.longterm_columns_map)
    return [rows_of(turn, _tokens(vault, turn), mapped) for turn in turns]


def _send(vault: Vault, store: PostgresStore, tables: Sequence[Table], made: Sequence[Sequence[Row]]) -> dict[int, str]:
    """Write the rows of turns; which of the turns, by index, were refused, and why."""
    pairs = {*vault.renamed()}
    had = Counter(old for old, _ in pairs)  # by one user after another: whose a row is, it does not say
    renamed = [(old, now) for old, now in pairs if had[old] == 1 and not vault.is_user(old)]
    reasons: dict[int, str] = {}
    outdated: set[int] = set()  # one answer decides for all tables, and only the first has it
    for table in tables:
        rows = [
            (index, replace(row, is_outdated=index in outdated))
            for index, rows in enumerate(made)
            for row in rows
            if row.logical == table.target.logical
        ]
        written = store.write(table, [row for _, row in rows], renamed)
        reasons |= {rows[at][0]: f"{table.target.table}: {why}" for at, why in written.refused.items()}
        outdated |= {rows[at][0] for at in written.outdated}
    return reasons


def _tokens(vault: Vault, turn: Mapping[str, Any]) -> dict[str, Any]:
    if "token_data" not in vault.config.longterm_columns_map:
        return {}
    user, assistant, reflection = (turn.get(name) for name in _SAID)
    return pack_token_record(user, assistant, reflection, vault.config.tokens_encoding)


def _retried(ask: Callable[[], _T], pause: Callable[[float], None]) -> _T:
    for seconds in PAUSES_S:
        try:
            return ask()
        except EndpointError:
            pause(seconds)
    return ask()
