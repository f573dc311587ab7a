"""What a turn changes: the profile, its evidence, the typed memories, the logs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from vault_memory.adapters.files import ReadCache
from vault_memory.adapters.history import ASSISTANT
from vault_memory.core import layout
from vault_memory.core.extraction import CONCLUDED, INCIDENTAL, Lexicon, extract_by_rules, takes_back_the_last
from vault_memory.core.memorable import Forget, Memorable, to_forget
from vault_memory.core.notes import Turn
from vault_memory.core.profile import NOTE, Change, Row, Signal, Suggestion, subject
from vault_memory.core.text import comparable, fold
from vault_memory.errors import Busy, Unwritable
from vault_memory.services.forgetting import forget_said, is_forgotten_by, still_said
from vault_memory.services.memories import NOTHING_KEPT, Kept, KeptOfTurn, forget_accesses, keep_said, note_in_session
from vault_memory.services.notes import drop_summary
from vault_memory.services.profiles import LaterChanges, ProfileFiles, Unlearned, unlearned
from vault_memory.services.turns.lived import as_lived, learned_from, told_in
from vault_memory.services.turns.steps.before import TurnBefore, digest_of_conversation, turn_before
from vault_memory.services.turns.steps.logs import labels_of, log_entries, with_logs
from vault_memory.services.turns.steps.markers import Line
from vault_memory.services.turns.update_memory import tasks_ended
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault
from vault_memory.services.write import Plan, Written, write


class Learned(NamedTuple):
    """What a turn has changed in the profile, what it only suggests, what it has left behind as memories, the ids of
    those that have expired for these, and what it asks to be forgotten and nothing was found for."""

    changes: tuple[Change, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    memories: tuple[Kept, ...] = ()
    expired: tuple[str, ...] = ()
    not_forgotten: tuple[str, ...] = ()


NOTHING = Learned()


def learn_turn(
    vault: Vault,
    turn: Turn,
    as_of: int,
    line: Line,
    before: ProfileFiles,
    quote: str,
    cache: ReadCache,
    until: float | None,
    begin: Callable[[], None],
    *,
    is_reply: bool = False,
) -> Written[Learned]:
    """Write what the turn changes: the profile, its evidence, the typed memories, the daily log, MEMORY.md; of a turn
    whose question was learned from, what its reply adds to that (`is_reply`).

    `line` is that of the turn, `before` the profile before it, `quote` its message without private facts. It waits
    `until` then for another writer of the user's files; `begin` is called before anything is written. Raises `Busy` too
    when the user got another id than as of `as_of`: the turn's marker has that id, too.
    """
    at, said, existing = before.at, turn.user_message or "", before.profile.values()
    written = said or turn.context or ""
    signals = learned_from(said, turn.assistant_message or "", existing, vault.lexicon())
    if is_reply:
        heard = learned_from(said, "", existing, vault.lexicon())
        signals = [signal for signal in signals if signal not in heard]
    else:
        signals = as_lived(signals, said, existing, vault.lexicon())
    is_heard = vault.config.memories_from_turns and not is_reply
    forgotten = [] if is_reply else to_forget(said, vault.lexicon())
    told = told_in(said, forgotten, vault.lexicon()) if is_heard else []
    if own := [each for each in told if not each.is_only_a_change]:
        signals = without_told(signals, own, said, existing, vault.lexicon())
    is_reversal = not (is_reply or signals or forgotten) and takes_back_the_last(said, vault.lexicon())
    before_it = turn_before(vault, turn, line.source) if is_reversal else None
    vault.chats.step_aside()
    folder, said_at = layout.user_dir(turn.user_id), min(turn.created_at.astimezone(), vault.now())
    later = LaterChanges(vault, turn.user_id, said_at)
    ended = 0

    def decide() -> Plan[Learned]:
        nonlocal ended
        vault.refuse_renamed(turn.user_id, as_of)
        begin()
        state = ProfileFiles.read(vault, turn.user_id, said_at, cache.read, later, written)
        new = state.unrecorded(signals, line.source) if is_reply else signals
        if before_it:
            new = [replace(each, quote=said) for each in state.reversed(before_it.source, before_it.at)]
        counting, suggestions = state.hear(new, digest_of_conversation(turn))
        known = known_words(state, counting)
        kept = kept_and_forgotten(vault, turn.user_id, told, forgotten, before_it, line.source, at, known)
        gone = unlearned_with(state, forgotten, kept, said, counting)
        removed = [subject(each.key, each.value) for each in gone.signals]
        suggestions = [
            each for each in suggestions if each.op != "remove" or subject(each.key, each.value) not in removed
        ]
        changes, evidence = state.merge([*counting, *gone.signals])
        is_in_profile = gone.stays or any(change.op == "remove" for change in changes)
        left = kept.left or still_said(vault, turn.user_id, gone.learned_from, kept.memories)
        not_found = (*(gone.stays if is_in_profile else kept.not_found), *left)
        learned = Learned(tuple(changes), tuple(suggestions), kept.memories, kept.expired, not_found)
        labels = vault.config.locale or labels_of(written, state.profile)
        logs = log_entries(
            vault, turn, line.source, at, quote, changes, kept.memories, cache, labels, before_it, is_reply=is_reply
        )
        ended = tasks_ended(logs)
        logs += kept.reinforced
        if evidence or suggestions or gone.dismissed:
            logs.append(state.with_evidence([*evidence, *suggestions, *gone.dismissed], line.source))
        drafts = state.drafts(changes, ASSISTANT, line.source) if changes or not is_reply else []
        drafts = [*drafts, *kept.drafts]
        again = [each.id for each in kept.memories if each.became == "reinforced"]
        drafts = with_logs(drafts, logs, turn.user_id, at, line, again, waits=vault.config.git_log_commits != "turn")
        return Plan(learned, [replace(draft, made_at=said_at) for draft in drafts])

    names = (layout.PROFILE, layout.daily_source(at.date()), layout.FEEDBACK, layout.MEMORY_LOG)
    wait_s = LOCK_TIMEOUT_S if until is None else max(0.0, until - time.monotonic())
    edited = [folder / name for name in names]
    # The next turn looks in the index for what this one leaves behind.
    done = write(vault, turn.user_id, edited, decide, cache=cache, index=False, index_first=bool(told), wait_s=wait_s)
    note_kept(vault, turn.user_id, done.result.memories, completed=ended)
    if before_it or forgotten:
        with contextlib.suppress(Busy, Unwritable):  # it is over after some days
            drop_summary(vault, turn.user_id)
    return done


def kept_and_forgotten(
    vault: Vault,
    user_id: str,
    told: Sequence[Memorable],
    forgotten: Sequence[Forget],
    before_it: TurnBefore | None,
    source: str,
    at: datetime,
    known: Sequence[str],
    *,
    said_until: datetime | None = None,
) -> KeptOfTurn:
    """Plan the memories of what a turn has `told`, and that those go that it asks to have `forgotten`, or that are of
    the turn `before_it`, if it takes that back. What it tells takes the place of none of these."""
    gone = NOTHING_KEPT
    if forgotten or before_it:
        taken_back = (before_it.source, before_it.at) if before_it else None
        gone = forget_said(vault, user_id, forgotten, taken_back, source, said_until=said_until)
    if not told:
        return gone
    return keep_said(vault, user_id, told, source, at, known, gone.changed) + gone


def unlearned_with(
    state: ProfileFiles, forgotten: Sequence[Forget], kept: KeptOfTurn, said: str, named: Sequence[Signal] = ()
) -> Unlearned:
    """What goes from the profile with what a turn has asked to be `forgotten`, beside the memories that go; `named` are
    the preferences that it has `said` besides."""
    if not forgotten:
        return Unlearned()
    is_meant = is_forgotten_by(forgotten, kept.memories)
    lexicon = state.vault.lexicon()
    signals = [each for asked in forgotten if asked.is_said for each in learned_from(asked.words, "", {}, lexicon)]
    stated = {(each.key, comparable(each.cleaned())) for each in signals if each.key not in (*CONCLUDED, NOTE)}

    def is_earlier(row: Row) -> bool:  # of a turn that comes late: what is said since then stays
        return row.at is None or row.at <= state.at

    def is_forgotten(row: Row) -> bool:
        return is_earlier(row) and is_meant(row.quote)

    def is_stated(row: Row) -> bool:
        return is_earlier(row) and (row.key, comparable(row.value)) in stated

    gone = [fold(each.content) for each in kept.memories if each.became == "forgotten"]

    def is_beside(row: Row) -> bool:
        return bool(row.quote) and any(fold(row.quote) in content for content in gone)

    return unlearned(state, is_forgotten, said, named, is_beside, is_stated)


def note_kept(vault: Vault, user_id: str, kept: Sequence[Kept], *, completed: int = 0) -> None:
    """Count in this session what a turn has left behind, and forget how often that was recalled which it took back."""
    note_in_session(vault, user_id, created=sum(each.became == "remembered" for each in kept), completed=completed)
    if gone := [each.id for each in kept if each.became == "forgotten" and not each.stays]:
        with contextlib.suppress(Busy, Unwritable):  # nobody asks for the counts of what is deleted
            forget_accesses(vault, user_id, gone)


def without_told(
    signals: list[Signal],
    told: Sequence[Memorable],
    said: str,
    existing: Mapping[str, str | list[str]],
    lexicon: Lexicon,
) -> list[Signal]:
    """The signals without the notes of what is only told, a fact or a like: that is a memory of some days, whatever it
    is about. A note is what the person asks to have remembered, or how it is to be from now on."""
    tells = [comparable(each.content) for each in told if each.kind in ("preference", "fact")]
    notes = [
        each for each in signals if each.key == NOTE and any(tell in comparable(str(each.value)) for tell in tells)
    ]
    asked = [each.value for each in extract_by_rules(said, "", existing, lexicon)] if notes else []
    return [each for each in signals if each not in notes or each.value in asked]


def known_words(state: ProfileFiles, signals: Sequence[Signal]) -> list[str]:
    """What a profile knows, so that no memory says it again: its notes, and the words of this turn's preferences."""
    notes = [item.value for item in state.profile.items(NOTE)]
    return [*notes, *(signal.quote for signal in signals if signal.key not in (*INCIDENTAL, *CONCLUDED))]
