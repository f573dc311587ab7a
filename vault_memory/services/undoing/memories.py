"""What turns have changed in memories, and taking it back: a memory that was added goes, one that another has replaced
holds again, one that was forgotten comes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import CommitLog, LogEntry, changed_files
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, memories, trailers
from vault_memory.core.trailers import KEYS, Trailers
from vault_memory.errors import UsageError
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, refuse_uncommitted, write

_VERBS = ("add", "replace", "forget")


def memory_commits(vault: Vault, user_id: str, limit: int) -> Iterator[tuple[LogEntry, bool]]:
    """The commits with which turns have changed a user's memories, newest first, and whether each is undone."""
    folder = layout.user_dir(user_id)
    undone: set[str] = set()
    for entry in vault.history.log([folder / memories.FOLDER], limit=limit):
        ours = Trailers.read(entry.trailers)
        if ours.undoes:
            undone.add(ours.undoes)
        elif (
            entry.author == ASSISTANT.name and layout.turn_place(ours.source or "") and _verb(user_id, entry) in _VERBS
        ):
            yield entry, entry.commit in undone


def reversal(vault: Vault, user_id: str, commit: str) -> list[FileChange]:
    """The changes that take back what a commit did to notes of memories; none of a note whose words somebody has
    changed since."""
    before = CommitLog(vault.history.root).parent(commit)
    prefix, folder = vault.history.working_tree.repository.prefix, layout.user_dir(user_id)
    found = []
    for each in changed_files(vault.history.root, before, commit):
        if not each.path.is_relative_to(prefix / folder / memories.FOLDER):
            continue
        path = each.path.relative_to(prefix)
        old = vault.history.blob(path, before) if before and each.old else None
        change = _taken_back(path, old, vault.history.blob(path, commit), files.read(vault.root / path))
        found += [change] if change else []
    return found


def take_back_memories(vault: Vault, user_id: str, entry: LogEntry) -> bool:
    """Take back what a commit did to memories, in one commit of the person's; whether anything of it was left."""

    def decide() -> Plan[bool]:
        changes = reversal(vault, user_id, entry.commit)
        for change in changes:
            refuse_uncommitted(vault, change.path, change.before)
        ours = Trailers(user=user_id, op="restore", undoes=entry.commit, memory=entry.trailers.get(KEYS["memory"]))
        message = trailers.render(f"memories({user_id}): undo {summary(user_id, entry)}", "", ours)
        return Plan(bool(changes), [Draft(message, vault.history.person(), tuple(changes))] if changes else [])

    paths = [change.path for change in reversal(vault, user_id, entry.commit)]
    return write(vault, user_id, paths, decide).result


def summary(user_id: str, entry: LogEntry) -> str:
    """What the commit did, in words: `add fact I use Docker`."""
    return entry.subject.removeprefix(f"memories({user_id}): ")


def _verb(user_id: str, entry: LogEntry) -> str:
    is_ours = entry.subject.startswith(f"memories({user_id}): ")
    return summary(user_id, entry).partition(" ")[0] if is_ours else ""


def _taken_back(path: PurePosixPath, old: bytes | None, new: bytes | None, now: bytes | None) -> FileChange | None:
    """The change from a note as it is `now` to one without what was done to it; None where nothing is to be done."""
    if new is None:
        return FileChange(path, None, old) if now is None else None
    if now is None or _content(now) != _content(new):
        return None
    if old is None:
        return FileChange(path, now, None)
    if _content(old) != _content(new):  # a part of it was forgotten
        return FileChange(path, now, old)
    text = now.decode("utf-8", "surrogateescape")
    was, then = (memories.decode(each.decode("utf-8", "replace")) for each in (old, new))
    held = memories.decode(text)
    lives_until = was.expires_at if held.expires_at == then.expires_at else held.expires_at
    holds = replace(held, superseded_by=was.superseded_by, expires_at=lives_until)
    try:
        after = memories.with_properties(text, held, holds).encode("utf-8", "surrogateescape")
    except UsageError:  # its front matter is broken
        return None
    return FileChange(path, now, after) if after != now else None


def _content(note: bytes) -> str:
    return memories.decode(note.decode("utf-8", "replace")).content
