"""Memories that are often needed become lasting lines of the profile: proposed first, as what was heard in doubt is,
then written when they are needed again on another day.

Nothing that a person wrote is replaced or removed, a memory is proposed once, and a run adds a few lines at most. A
proposal is the person's to accept or dismiss (`pref accept`, `pref dismiss`) at any time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from vault_memory.adapters.history import ASSISTANT
from vault_memory.adapters.models import ChatModel
from vault_memory.core import layout
from vault_memory.core.distilling import insights
from vault_memory.core.memories import Memory
from vault_memory.core.profile import NOTE, Change, Evidence, Row, Signal, Suggestion, newest_rows, with_replaced
from vault_memory.errors import EndpointError
from vault_memory.services.memories import list_memories, write_accesses
from vault_memory.services.profiles import ProfileFiles, change_profile
from vault_memory.services.vault import Vault

MAX_OPEN = 10
"""While so many proposals of memories wait for the person, no other is made."""
MAX_KEPT = 30
"""While so many lines of the profile come from memories, no other is added: the profile is part of every prompt."""


@dataclass
class Consolidated:
    """What became of frequent memories: the new proposals, the lines written into the profile, and in words what could
    not be used."""

    proposed: list[Suggestion] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Told:
    """What the evidence knows of memories: the ids of all that were ever proposed, the open proposals, and how many
    lines of the profile come from them."""

    ids: frozenset[str]
    open: tuple[Row, ...]
    kept: int


def consolidate_to_profile(vault: Vault, user_id: str, model: ChatModel | None = None) -> Consolidated:
    """Propose lines for the profile out of the memories that are often recalled or said again, and write those proposed
    before that were needed again since, on another day. `model` replaces the configured one; without one, or if it
    fails, each memory is a line of its own.

    Does nothing for a user who is off the record. Raises `NotFound` for an unknown user, `Busy`, and what the disk and
    git raise.
    """
    vault.known_user(user_id)
    done = Consolidated()
    if vault.config.is_off_record(user_id):
        return done
    write_accesses(vault, user_id)
    frequent = insights.frequent([file.memory for file in list_memories(vault, user_id)])
    if not frequent:
        return done
    state = ProfileFiles.read(vault, user_id, vault.now())
    told = _told(state)
    if told.kept >= MAX_KEPT:
        return done
    again = list(_needed_again(told, frequent, vault.now()))
    fresh = [each for each in frequent if each.id not in told.ids and not _is_in_profile(state, each)]
    chosen = again[: insights.MAX_LINES]
    if fresh and len(told.open) < MAX_OPEN and len(chosen) < insights.MAX_LINES:
        chosen += _lines(vault, fresh[: insights.MAX_ASKED], model or vault.chat_model(), done)
    for each in chosen[: insights.MAX_LINES]:
        _note(vault, user_id, each, done)
    return done


def _lines(vault: Vault, fresh: list[Memory], model: ChatModel | None, done: Consolidated) -> list[insights.Insight]:
    """The lines that a model makes of memories, else those of the rules."""
    if model:
        try:
            return insights.parse(model.complete(insights.messages(fresh), insights.SCHEMA), fresh)
        except (EndpointError, ValueError) as error:
            done.degraded.append(f"each memory is a line of its own, without the chat model: {error}")
    elif vault.config.is_waiting("llm"):
        done.degraded += vault.config.waits()
    return insights.by_rules(fresh)


def _note(vault: Vault, user_id: str, insight: insights.Insight, done: Consolidated) -> None:
    """Propose a line, or write it if it was proposed on another day."""
    memory = insight.memories[0]
    source = memory.source if layout.turn_place(memory.source) else ""
    heard: list[Suggestion] = []

    def decide(state: ProfileFiles) -> tuple[list[Change], list[Evidence | Suggestion]]:
        signal = Signal(NOTE, "add", insight.line, "observed", insight.reason, is_suggestion=True)
        heard.clear()
        if _touches(state, signal):
            return [], []
        counting, kept = state.hear([signal])
        heard.extend(kept)
        changes, evidence = state.merge(counting)
        return changes, [*evidence, *kept]

    written = change_profile(vault, user_id, decide, ASSISTANT, source, memory=memory.id)
    done.proposed += heard
    done.changes += written.result
    if written.paused:
        done.degraded.append(f"a change of the profile waits for its commit: {written.paused}")


def _touches(state: ProfileFiles, signal: Signal) -> bool:
    """Whether a line would replace a note of the profile, or only repeats one."""
    notes = [item.value for item in state.profile.items(NOTE)]
    sure = replace(signal, is_suggestion=False)
    return [*with_replaced([sure], notes)] != [sure]


def _told(state: ProfileFiles) -> _Told:
    rows = [row for row in newest_rows(state.feedback, b'"note"') if row.key == NOTE and insights.ids_in(row.quote)]
    waiting = {each.value for each in state.open_suggestions() if each.key == NOTE}
    open_rows = {row.value: row for row in reversed(rows) if row.suggestion == "open" and row.value in waiting}
    notes = {item.value for item in state.profile.items(NOTE)}
    kept = len(notes & {row.value for row in rows if row.applied})
    ids = frozenset(memory_id for row in rows for memory_id in insights.ids_in(row.quote))
    return _Told(ids, (*open_rows.values(),), kept)


def _needed_again(told: _Told, frequent: Iterable[Memory], now: datetime) -> Iterable[insights.Insight]:
    """The open proposals of which a memory was needed after they were made, on another day."""
    by_id = {each.id: each for each in frequent}
    for row in told.open:
        named = [by_id[each] for each in insights.ids_in(row.quote) if each in by_id]
        is_later = row.at is not None and row.at.astimezone(now.tzinfo).date() < now.date()
        if is_later and any(each.last_accessed_at and each.last_accessed_at > row.at for each in named if row.at):
            yield insights.Insight(row.value, tuple(named))


def _is_in_profile(state: ProfileFiles, memory: Memory) -> bool:
    """Whether the turn that a memory comes from has taught a preference: the profile says it in its own field."""
    return bool(memory.source) and any(row.applied for row in state.evidence_of(memory.source))
