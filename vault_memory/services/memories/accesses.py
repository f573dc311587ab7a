"""How often memories are recalled. It is counted in a small file of the state, and written to the notes once a day: a
search must not make a commit. What was said in conversation lives on by that (`reinforce`).

`new` counts since the last writing, `written` what is being written to the notes: a writing that was interrupted goes
on with that, and a note whose `last_accessed_at` says so has it already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout, memories, trailers
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories.files import memory_rows, read_memory
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

Counts = dict[str, tuple[int, str]]
"""Memory id → how often it was recalled, and when last."""


def note_accesses(vault: Vault, user_id: str, ids: Iterable[str], *, once_a_day: bool = False) -> None:
    """Count that these memories were recalled now; `once_a_day`: those that were not recalled today, for what shows
    them unasked. Nothing of a user who is off the record. Raises `Busy`, `Unwritable` or `ForeignFile`."""
    at, named = _stamp(vault.now()), list(ids)
    if once_a_day:
        known = _counts(_state(vault, user_id).read(), "new")
        named = [each for each in named if known.get(each, (0, ""))[1][: len("2026-01-30")] != at[: len("2026-01-30")]]

    def counted(state: dict[str, Any]) -> Mapping[str, Any]:
        new = _counts(state, "new")
        for each in named:
            new[each] = (new.get(each, (0, ""))[0] + 1, at)
        return {**state, "new": new}

    if named and not vault.config.is_off_record(user_id):
        _state(vault, user_id).update(counted)


def accesses(vault: Vault, user_id: str) -> dict[str, int]:
    """Memory id → how often it was recalled since its note was written; most have none."""
    state = _state(vault, user_id).read()
    new, written = _counts(state, "new"), _counts(state, "written")
    return {each: new.get(each, (0, ""))[0] + written.get(each, (0, ""))[0] for each in {*new, *written}}


def write_accesses(vault: Vault, user_id: str) -> int:
    """Write to the notes how often their memories were recalled, in one commit; return how many notes that were."""
    state = _state(vault, user_id)
    state.update(lambda stored: stored if stored.get("written") else {"new": {}, "written": _counts(stored, "new")})
    counts = _counts(state.read(), "written")
    if not counts:
        return 0
    sources = {row.source: row.memory_id for row in memory_rows(vault, user_id, counts)}
    folder = layout.user_dir(user_id)
    later: set[str] = set()

    def decide() -> Plan[int]:
        changes, counted = [], []
        later.clear()
        for source, memory_id in sources.items():
            count, last = counts[memory_id]
            file = read_memory(vault, user_id, source)
            at = datetime.fromisoformat(last)
            if file is None or (file.memory.last_accessed_at is not None and file.memory.last_accessed_at >= at):
                continue
            if not vault.history.is_kept(folder / source, file.stored):
                later.add(memory_id)  # it waits for its person, and the others must not wait with it
                continue
            if memories.is_of_conversation(file.memory):
                used = memories.reinforced(file.memory, at, times=count)
            else:
                used = replace(file.memory, access_count=file.memory.access_count + count, last_accessed_at=at)
            try:
                text = memories.with_properties(file.text, file.memory, used)
            except UsageError:
                continue  # the note stays as a person has left it, which `status` names
            changes.append(FileChange(folder / source, file.stored, text.encode("utf-8", "surrogateescape")))
            counted.append(memory_id)
        subject = f"memories({user_id}): recalls of {len(changes):,} counted"
        message = trailers.with_memories(trailers.render(subject, "", Trailers(user=user_id)), counted)
        return Plan(len(changes), [Draft(message, ASSISTANT, tuple(changes))] if changes else [])

    done = write(vault, user_id, [folder / source for source in sources], decide).result

    def finished(stored: dict[str, Any]) -> Mapping[str, Any]:
        new = _counts(stored, "new")
        for memory_id in later:
            count, last = counts[memory_id]
            more, at = new.get(memory_id, (0, last))
            new[memory_id] = (count + more, at)
        return {"new": new, "written": {}}

    state.update(finished)
    return done


def forget_accesses(vault: Vault, user_id: str, ids: Iterable[str]) -> None:
    """Forget what is counted of these memories, which are deleted. Raises `Busy` or `Unwritable`."""
    state, gone = _state(vault, user_id), {*ids}

    def without(stored: dict[str, Any]) -> dict[str, Any]:
        return {
            part: {each: row for each, row in rows.items() if each not in gone} if isinstance(rows, dict) else rows
            for part, rows in stored.items()
        }

    if (stored := state.read()) != without(stored):
        state.update(without)


def rename_accesses(vault: Vault, old: str, new: str) -> None:
    """Move a user's counts to the user's new id. The caller holds the locks of both ids."""
    if counts := _state(vault, old).read():
        _state(vault, new).write(counts)
        _state(vault, old).remove()


def _state(vault: Vault, user_id: str) -> StateFile:
    return StateFile(vault.root, f"recalls/{layout.check_user_id(user_id)}")


def _counts(state: Mapping[str, Any], part: str) -> Counts:
    """A part of the state; what is not as we write it is left out."""
    stored = state.get(part)
    found: Counts = {}
    for memory_id, row in stored.items() if isinstance(stored, dict) else ():
        if isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], int) and _is_time(row[1]):
            found[memory_id] = (row[0], row[1])
    return found


def _is_time(text: Any) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except (ValueError, TypeError):
        return False


def _stamp(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
