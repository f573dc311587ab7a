"""The assistant's changes, newest first, and taking back the newest that is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from typing import Literal

from vault_memory.adapters.git import LogEntry
from vault_memory.core import layout
from vault_memory.core.trailers import KEYS
from vault_memory.errors import NotFound
from vault_memory.services.profiles import PreferenceChange, learned, refuse_unsettled, take_back
from vault_memory.services.undoing.memories import memory_commits, reversal, summary, take_back_memories
from vault_memory.services.vault import Vault

MAX_LOOKED_AT = 1_000
"""So many of the newest commits on memories are looked at; of those on preferences as many."""


State = Literal["learned", "undone", "changed"]
"""What became of a change."""


@dataclass(frozen=True)
class Step:
    """One change of the assistant's: its commit, when it was said, what was done, in which words and on which line of
    the record; `learned` while it can be taken back, else `undone`, or `changed` by the person since. What
    `brings_back` words when it is taken back is over once the person has had something forgotten: it may be that."""

    commit: str
    at: datetime
    did: str
    reason: str
    source: str
    state: State
    of: PreferenceChange | LogEntry
    brings_back: bool


def steps(vault: Vault, user_id: str) -> Iterator[Step]:
    """The assistant's changes of a user's preferences and memories, newest first. Raises `NotFound`."""
    vault.known_user(user_id)
    # Of one turn what it did to memories was committed last.
    of_both = (_of_memories(vault, user_id), _of_preferences(vault, user_id))
    forgotten_at = _forgotten_at(vault, user_id)
    for step in merge(*of_both, key=_age(vault, user_id)):
        is_over = step.brings_back and forgotten_at is not None and step.at <= forgotten_at
        yield replace(step, state="changed") if is_over and step.state == "learned" else step


def undo(vault: Vault, user_id: str) -> str:
    """Take back the assistant's newest change that is left, and nothing that was written since; say what was done.

    Raises `NotFound` if none is left, and `HistoryError` while changes of the user's files wait for their commits, or
    turns to be learned from.
    """
    vault.known_user(user_id)
    refuse_unsettled(vault, user_id)
    for step in steps(vault, user_id):
        if step.state != "learned":
            continue
        if isinstance(step.of, PreferenceChange):
            if done := take_back(vault, user_id, step.of):
                return "; ".join(change.summary() for change in done)
        elif take_back_memories(vault, user_id, step.of):
            return f"undone: {step.did}"
    raise NotFound(f"nothing that was learned about {user_id} is left to undo")


def undone_sources(vault: Vault, user_id: str) -> set[str]:
    """The turns of which something was undone: nothing is learned from them again."""
    folder = layout.user_dir(user_id)
    undoing = vault.history.log([folder], limit=MAX_LOOKED_AT, trailers={KEYS["undoes"]: None})
    commits = [entry.trailers[KEYS["undoes"]] for entry in undoing]
    known = vault.history.log([folder], limit=MAX_LOOKED_AT, trailers={KEYS["source"]: None}) if commits else []
    return {entry.trailers[KEYS["source"]] for entry in known if entry.commit in commits}


def _age(vault: Vault, user_id: str) -> Callable[[Step], tuple[int, float]]:
    """What orders changes, newest first, as git does: two turns may fall into one of its seconds, and clocks go back.

    What came under a former id of the user, or is beyond what is looked at, is older, in the order of its times.
    """
    newest = vault.history.log([layout.user_dir(user_id)], limit=2 * MAX_LOOKED_AT)
    places = {entry.commit: place for place, entry in enumerate(newest)}
    return lambda step: (places.get(step.commit, len(places)), -step.at.timestamp())


def _of_preferences(vault: Vault, user_id: str) -> Iterator[Step]:
    for each in learned(vault, user_id):
        change = each.change
        values = f"{change.old or '—'} → {change.new or '—'}"
        did = f"{change.key}: {values}" if change.op not in ("strengthen", "weaken") else f"{change.op} {change.key}"
        yield Step(change.commit, change.at, did, change.reason, change.source, each.state, change, bool(change.old))


def _of_memories(vault: Vault, user_id: str) -> Iterator[Step]:
    for entry, is_undone in memory_commits(vault, user_id, MAX_LOOKED_AT):
        state: State = "undone"
        if not is_undone:
            state = "learned" if reversal(vault, user_id, entry.commit) else "changed"
        source = entry.trailers.get(KEYS["source"], "")
        did = summary(user_id, entry)
        yield Step(entry.commit, entry.time, did, entry.reason, source, state, entry, not did.startswith("add "))


def _forgotten_at(vault: Vault, user_id: str) -> datetime | None:
    """When the person last had something forgotten."""
    entries = vault.history.log([layout.user_dir(user_id)], limit=1, trailers={KEYS["op"]: "forget"})
    return entries[0].time if entries else None
