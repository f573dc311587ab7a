"""The end of a conversation: a program says so, or nobody has said anything in it for half an hour. Then memories are
found in it, and it gets a summary. Each turn is distilled once, whoever ends its conversation and however often."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from vault_memory.core import layout
from vault_memory.core.distilling import MAX_TURNS, Said, heard
from vault_memory.core.memories import Memory
from vault_memory.errors import Busy, ForeignFile, HistoryError, NotFound, Unwritable, UsageError
from vault_memory.services.distilling.extract import distil, drafts, keep
from vault_memory.services.memories import memory_files
from vault_memory.services.notes import EndedConversations, ending, key_of, newest_turns, read_ended, write_ended
from vault_memory.services.turns import UNNAMED
from vault_memory.services.undoing import undone_sources
from vault_memory.services.vault import Vault

IDLE = timedelta(minutes=30)
LOOKED_BACK = timedelta(days=7)
"""An older conversation is not looked for: its memories would have expired."""
MAX_SCANNED = 2_000
"""So many of a user's newest turns are looked at for conversations that have ended."""
MAX_AT_ONCE, RUN_S = 10, 60.0
"""So many conversations of a user are ended in one run, which begins no other after that time; the next run goes on."""
WAIT_S = 30.0
"""How long `end_conversation` waits for another that ends conversations of the same user."""


@dataclass(frozen=True)
class Ended:
    """What became of an ended conversation: its `turns` that were not distilled before, the memories that they gave,
    what the conversation was about, and in words what could not be used. `dropped` as in `Extraction`; `by_rules`: no
    model has answered."""

    turns: int = 0
    memories: tuple[Memory, ...] = ()
    summary: str = ""
    dropped: int = 0
    degraded: tuple[str, ...] = ()
    by_rules: bool = True


@dataclass
class _Conversation:
    """The turns of a conversation that are not distilled yet, newest first, with their lines."""

    turns: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    is_known: bool = False
    """Its older turns are distilled."""

    def last_at(self) -> datetime | None:
        with suppress(ValueError, TypeError, OverflowError):
            return max(datetime.fromisoformat(str(turn.get("created_at"))).astimezone() for _, turn in self.turns)
        return None


def end_conversation(
    vault: Vault, user_id: str, conversation_id: str | None = None, *, wait_s: float = WAIT_S
) -> Ended:
    """End a conversation (None: the turns whose conversation nobody has named): store what of it is worth a memory, and
    keep what it was about (`context_summary`).

    Its turns up to now are distilled once: ending it again does nothing until more is said in it. Nothing is kept of a
    user who is off the record, nor of turns that are not to be remembered. Raises `NotFound` for an unknown user or a
    conversation of which no turn is known, `UsageError` for an empty id, `Busy` where somebody else ends conversations
    of that user for longer than `wait_s`, and what the disk and git raise.
    """
    if conversation_id is not None and not str(conversation_id).strip():
        raise UsageError("name the conversation that has ended by its conversation_id")
    vault.known_user(user_id)
    if vault.config.is_off_record(user_id):
        return Ended()
    user_id, as_of = vault.id_now(user_id, vault.renamings())
    with ending(vault, user_id, wait_s):
        ended = read_ended(vault, user_id)
        kept, degraded = _store_waiting(vault, user_id, ended)
        key = "" if conversation_id is None else _key(str(conversation_id))
        known = _conversations(vault, user_id, ended, only=key)
        if not known[key].turns:
            if known[key].is_known:
                return Ended(memories=tuple(kept), degraded=tuple(degraded))
            raise NotFound(
                f"none of the newest {MAX_SCANNED:,} turns of {layout.user_dir(user_id)} is of "
                + (
                    "a conversation without a name"
                    if conversation_id is None
                    else f"the conversation {conversation_id!r}"
                )
            )
        done = _end(vault, user_id, as_of, ended, key, known[key])
        return replace(done, memories=(*kept, *done.memories), degraded=(*degraded, *done.degraded))


def end_idle_conversations(vault: Vault, user_id: str, stop_at: float | None = None) -> list[Ended]:
    """End the conversations of a user in which nobody has said anything for `IDLE`, the oldest first, and store what
    was left over by a kill. `stop_at` is of the monotonic clock: no other is begun after it. Does nothing while
    somebody else ends conversations of that user. Raises what `end_conversation` raises."""
    vault.known_user(user_id)
    if vault.config.is_off_record(user_id):
        return []
    stop_at = time.monotonic() + RUN_S if stop_at is None else stop_at
    done: list[Ended] = []
    user_id, as_of = vault.id_now(user_id, vault.renamings())
    with suppress(Busy), ending(vault, user_id, 0):
        ended = read_ended(vault, user_id)
        _store_waiting(vault, user_id, ended)
        newest = next((source for source, _ in newest_turns(vault, user_id, 1)), "")
        if newest == ended.seen:
            return []
        by_rules = ""
        rest = _conversations(vault, user_id, ended)
        idle = [(key, each) for key, each in reversed(rest.items()) if each.turns and _is_idle(vault, each)]
        for key, each in idle[:MAX_AT_ONCE]:
            if time.monotonic() > stop_at:
                return done
            done.append(_end(vault, user_id, as_of, ended, key, each, by_rules))
            if done[-1].degraded and done[-1].by_rules:
                by_rules = done[-1].degraded[0]  # a model that does not answer is not asked again in this run
            rest.pop(key)
        if not any(each.turns for each in rest.values()):
            ended.seen = newest
            write_ended(vault, user_id, ended)
    return done


def _end(
    vault: Vault,
    user_id: str,
    as_of: int,
    ended: EndedConversations,
    key: str,
    conversation: _Conversation,
    by_rules: str = "",
) -> Ended:
    """Distil a conversation and note that, then store its memories. The caller holds `ending`."""
    undone = undone_sources(vault, user_id)
    told = [(source, turn) for source, turn in conversation.turns[:MAX_TURNS][::-1] if source not in undone]
    turns = heard([_said(source, turn) for source, turn in told])
    distilled = distil(vault, turns, by_rules=by_rules)
    vault.refuse_renamed(user_id, as_of)  # the model may have taken a minute
    # What rules find, each turn has left behind already: twice would be said again.
    is_known = vault.config.memories_from_turns and not distilled.by_model
    found = [] if is_known else drafts(vault, user_id, distilled.found, _skill(conversation.turns))
    ended.end(key, conversation.turns[0][0], found, distilled.summary, vault.now())
    write_ended(vault, user_id, ended)
    kept, degraded = _store_waiting(vault, user_id, ended)
    return Ended(
        len(conversation.turns),
        tuple(kept),
        distilled.summary,
        distilled.dropped,
        (*distilled.degraded, *degraded),
        not distilled.by_model,
    )


def _store_waiting(vault: Vault, user_id: str, ended: EndedConversations) -> tuple[list[Memory], list[str]]:
    """Store the memories that wait, and strike each off; one that is there already was stored before a kill. What
    cannot be stored now waits on."""
    kept: list[Memory] = []
    degraded: list[str] = []
    for memory_id, memory in ended.waiting_memories():
        try:
            if not _is_stored(vault, user_id, memory_id):
                stored, problems = keep(vault, user_id, memory)
                kept += [stored] if stored else []
                degraded += problems
        except UsageError as error:  # it can never be stored
            degraded.append(str(error))
        except (Busy, HistoryError, ForeignFile, Unwritable) as error:
            return kept, [*degraded, f"{len(ended.waiting)} memories of ended conversations wait: {error}"]
        del ended.waiting[memory_id]
        write_ended(vault, user_id, ended)
    return kept, degraded


def _is_stored(vault: Vault, user_id: str, memory_id: str) -> bool:
    with suppress(NotFound):
        return bool(memory_files(vault, user_id, [memory_id]))
    return False


def _conversations(
    vault: Vault, user_id: str, ended: EndedConversations, only: str | None = None
) -> dict[str, _Conversation]:
    """The user's conversations by their keys, the one in which something was said last first: of each the turns that
    are not distilled yet."""
    found: dict[str, _Conversation] = {only: _Conversation()} if only is not None else {}
    since = vault.now() - LOOKED_BACK
    for source, turn in newest_turns(vault, user_id, MAX_SCANNED):
        key = _key(str(turn.get("conversation_id")))
        if only is None and _is_before(turn, since):
            break
        if only not in (None, key):
            continue
        conversation = found.setdefault(key, _Conversation())
        if conversation.is_known or not _is_after(source, ended.until.get(key, "")):
            conversation.is_known = True
            if only is not None:
                break
        elif len(conversation.turns) < MAX_TURNS:
            conversation.turns.append((source, turn))
    return found


def _key(conversation_id: str) -> str:
    """What a conversation is called in the file. Turns whose conversations nobody has named follow one another: they
    are one."""
    return "" if UNNAMED.fullmatch(conversation_id) else key_of(conversation_id)


def _is_after(source: str, until: str) -> bool:
    """Whether a turn's line comes after another one."""
    place, last = layout.turn_place(source), layout.turn_place(until)
    return last is None or (place is not None and place > last)


def _is_before(turn: dict[str, Any], since: datetime) -> bool:
    with suppress(ValueError, TypeError, OverflowError):
        return datetime.fromisoformat(str(turn.get("created_at"))).astimezone() < since
    return False


def _is_idle(vault: Vault, conversation: _Conversation) -> bool:
    last_at = conversation.last_at()
    return last_at is None or vault.now() - last_at >= IDLE


def _said(source: str, turn: dict[str, Any]) -> Said:
    return Said(turn.get("user_message") or "", turn.get("assistant_message") or "", source)


def _skill(turns: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    """The skill of a conversation, if all its turns have the same."""
    named = {turn.get("skill") or "" for _, turn in turns}
    return named.pop() if len(named) == 1 and "" not in named else None
