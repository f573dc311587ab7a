"""Memories that are said or recalled again live on: their time begins anew. What is used often stays for good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.memories import Memory
from vault_memory.core.trailers import Trailers
from vault_memory.errors import UsageError
from vault_memory.services.memories.files import memory_files, memory_rows, read_memory
from vault_memory.services.vault import LOCK_TIMEOUT_S, Vault
from vault_memory.services.write import Plan, Written, write


def reinforce(vault: Vault, user_id: str, memory_id: str) -> bool:
    """Let a memory's time begin anew, and count it as recalled; whether that was done: of a memory that is past, or of
    a user who is off the record, nothing is.

    It counts at once, in the note. That makes no commit of its own: it waits for the user's next one, as the logs do.
    Raises `NotFound` for an unknown memory, `Busy`, and what the disk and git raise.
    """
    if vault.config.is_off_record(user_id):
        return False
    sources = [file.source for file in memory_files(vault, user_id, [memory_id]) if not file.is_archived]
    return bool(renew(vault, user_id, sources).result)


def renew(
    vault: Vault, user_id: str, sources: Sequence[str], wait_s: float = LOCK_TIMEOUT_S, *, at_once: bool = False
) -> Written[list[str]]:
    """`reinforce` for the memories in these notes; the result is the sources of those for which it was done. `at_once`:
    in a commit of its own, because somebody asked to have them stored."""
    folder, at = layout.user_dir(user_id), vault.now().astimezone(vault.config.zone())

    def decide() -> Plan[list[str]]:
        changes = {source: reinforcement(vault, user_id, source, at) for source in sources}
        made = tuple(change for change in changes.values() if change)
        done = [source for source, change in changes.items() if change]
        memories_of = [file.memory for source in done if (file := read_memory(vault, user_id, source))]
        named = ", ".join(memory.heading for memory in memories_of)
        logged = trailers.logs_subject(user_id, f"{at:%Y-%m-%d %H:%M}")
        subject = f"memories({user_id}): reinforce {named}" if at_once else logged
        message = trailers.render(subject, "", Trailers(user=user_id))
        message = trailers.with_memories(message, [memory.id for memory in memories_of])
        waits = not at_once and vault.config.git_log_commits != "turn"
        return Plan(done, [Draft(message, ASSISTANT, made, waits=waits)] if made else [])

    return write(vault, user_id, [folder / source for source in sources], decide, wait_s=wait_s)


def reinforcement(
    vault: Vault, user_id: str, source: str, at: datetime, said_on: date | None = None
) -> FileChange | None:
    """The change of a note whose memory was recalled, or `said_on` a day again. None for one that is past or gone, that
    cannot be read, or that holds an edit of its person's which is in no commit yet. The caller holds the user's lock.
    """
    file = read_memory(vault, user_id, source)
    path = layout.user_dir(user_id) / source
    if file is None or file.is_archived or file.memory.is_past(at) or not vault.history.is_kept(path, file.stored):
        return None
    try:
        text = memories.with_properties(file.text, file.memory, memories.reinforced(file.memory, at, said_on))
    except UsageError:
        return None  # the note stays as a person has left it, which `status` names
    return FileChange(path, file.stored, text.encode("utf-8", "surrogateescape"))


def make_lasting(vault: Vault, user_id: str) -> tuple[str, ...]:
    """Let stay for good what was said in conversation on three days, or was said again or recalled five times
    (`core.memories.why_lasting`); return the ids of these memories. One that has expired meanwhile and is not in the
    archive yet has earned it before. One commit names each, why, and the turn that it comes from. Raises `NotFound` for
    an unknown user, and what `write` raises."""
    rows = [row for row in memory_rows(vault, user_id) if row.expires is not None and row.until != 0]
    found = ((row.source, read_memory(vault, user_id, row.source)) for row in rows)
    sources = [source for source, file in found if file and memories.why_lasting(file.memory)]
    if not sources:
        return ()
    folder = layout.user_dir(user_id)

    def decide() -> Plan[tuple[str, ...]]:
        changes: list[FileChange] = []
        made: list[tuple[Memory, str]] = []
        for source in sources:
            file = read_memory(vault, user_id, source)
            why = memories.why_lasting(file.memory) if file and not file.memory.superseded_by else ""
            if file is None or not why or not vault.history.is_kept(folder / source, file.stored):
                continue
            try:
                text = memories.with_properties(file.text, file.memory, replace(file.memory, expires_at=None))
            except UsageError:
                continue  # the note stays as a person has left it, which `status` names
            changes.append(FileChange(folder / source, file.stored, text.encode("utf-8", "surrogateescape")))
            made.append((file.memory, why))
        drafts = [Draft(_lasting_message(user_id, made), ASSISTANT, tuple(changes))] if made else []
        return Plan(tuple(memory.id for memory, _ in made), drafts)

    return write(vault, user_id, [folder / source for source in sources], decide).result


def _lasting_message(user_id: str, made: Sequence[tuple[Memory, str]]) -> str:
    count = "1 memory stays" if len(made) == 1 else f"{len(made):,} memories stay"
    head = trailers.render(f"memories({user_id}): {count} for good").rstrip("\n")
    listed = "\n".join(trailers.single_line(f"- {memory.heading}: {why}") for memory, why in made)
    lines = [(key, value) for each, _ in made for key, value in (("memory", each.id), ("source", each.source))]
    named = "".join(f"{trailers.KEYS[key]}: {trailers.single_line(value)}\n" for key, value in lines)
    return f"{head}\n\n{listed}\n\n{trailers.KEYS['user']}: {user_id}\n{named}"
