"""What waits for the long-term store besides each new turn: recorded turns since a day, and typed memories whose notes
have changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import islice
from typing import Any

from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.core.memories import is_emptied
from vault_memory.errors import IndexUnusable, UsageError
from vault_memory.services.longterm.left_out import names_left_out, whole_name
from vault_memory.services.longterm.waiting import ANSWER_WAIT_S, check_enabled, round_state, sent_part
from vault_memory.services.memories import MemoryFile, changed_memories, without_secrets
from vault_memory.services.notes import newest_turns
from vault_memory.services.vault import Vault

_AT_ONCE = 500
_UNKNOWN = datetime.fromtimestamp(0, UTC)
"""The time of a note that has none: its row must be the same each time."""


def note_since(vault: Vault, since: date) -> int:
    """Let all recorded turns since a day wait again, such as those from before it was enabled; how many these are.
    The database knows each by its name, and has none twice. Raises `UsageError` while it is off, and what the outbox
    raises. At the next round all memories wait again, too."""
    check_enabled(vault)
    _state(vault).remove()
    count = 0
    for user_id in vault.user_ids():
        if vault.config.is_off_record(user_id):
            continue
        turns = _turns_since(vault, user_id, since)
        while batch := [*islice(turns, _AT_ONCE)]:
            left_out = names_left_out(vault, batch)
            sent = [sent_part(turn) for turn in reversed(batch) if whole_name(turn) not in left_out]
            vault.outbox.put(sent)
            count += len(sent)
    return count


def note_memories(vault: Vault, until: float | None = None) -> None:
    """Let every memory wait whose note is new or has changed since the last round, on any way: by a command, by hand,
    by a sync. Past ones too; secrets, private facts and what an erasing has left nothing of stay here. With `until` (of
    `time.monotonic`) the rest is left to the next round. Nothing is done where `memories` is no table. The caller holds
    the round's lock. Raises what the outbox and the disk raise."""
    if "memories" not in vault.config.longterm_tables:
        return
    state = _state(vault)
    for user_id in vault.user_ids():
        if vault.config.is_off_record(user_id):
            continue
        while until is None or time.monotonic() <= until:
            after = state.read().get(user_id)
            try:
                changed = changed_memories(vault, user_id, after if isinstance(after, int) else 0, _AT_ONCE)
            except IndexUnusable:  # `status` says so, and the next round looks again
                break
            if not changed:
                break
            rows = [row for file, at_ns in changed if file and (row := _row(user_id, file, at_ns))]
            vault.outbox.put(rows)
            state.write(state.read() | {user_id: changed[-1][1]})


def note_memories_again(vault: Vault, user_id: str) -> None:
    """Let all memories of a user wait again at the next round: rows of some were deleted that say something else by
    now. Raises `Busy` while another process sends, and what the disk raises."""
    with round_state(vault).lock():
        state = _state(vault)
        state.write({each: at_ns for each, at_ns in state.read().items() if each != user_id})


def rename_noted(vault: Vault, old: str, new: str) -> None:
    """What is known of a user's memories is so of the id `new`."""
    state = _state(vault)
    known = state.read()
    if old in known:
        state.write({**known, new: known.pop(old)})


def _state(vault: Vault) -> StateFile:
    """Of each user the time, in nanoseconds since 1970, up to which changed notes have been seen."""
    return StateFile(vault.root, "long-term-memories")


def _row(user_id: str, file: MemoryFile, at_ns: int) -> dict[str, Any] | None:
    """A memory as the outbox has a turn: known by its id and time, one that has no time by its path; its words in the
    reflection, with the time of its note, by which a later version is known."""
    try:
        kept, _ = without_secrets(file.memory)
    except UsageError:  # nothing is left of it
        return None
    if is_emptied(kept.content):  # nor is anything of what was erased
        return None
    return {
        "conversation_id": kept.id if kept.created_at else str(layout.user_dir(user_id) / file.source),
        "user_id": user_id,
        "created_at": (kept.created_at or _UNKNOWN).isoformat(),
        "reflection": {
            "summary": kept.content,
            "causes": [],
            "type": kept.type,
            "updated_at": datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat(),
        },
        "is_memory": True,
    }


def _turns_since(vault: Vault, user_id: str, since: date) -> Iterator[dict[str, Any]]:
    for source, turn in newest_turns(vault, user_id, sys.maxsize):
        day = layout.recorded_day(source.rpartition(":")[0])
        if day is None or day < since:
            return
        if not _may_be_answered(vault, turn):
            yield {**turn, "user_id": user_id}


def _may_be_answered(vault: Vault, turn: Mapping[str, Any]) -> bool:
    """Whether a turn has no answer yet: it waits for it already."""
    age = vault.now() - datetime.fromisoformat(turn["created_at"])
    return turn.get("assistant_message") is None and age.total_seconds() < ANSWER_WAIT_S
