"""Bring this vault and its remote to the same state: fetch, merge, push. Never a rebase, never by force.

Conversation records are not in git, so they stay on each machine.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from vault_memory.adapters import files, scan
from vault_memory.adapters.erasing import brought_back
from vault_memory.adapters.git import CommitLog, Remote
from vault_memory.adapters.history import Flushed
from vault_memory.adapters.index import remove_index
from vault_memory.adapters.scan import walk
from vault_memory.core import layout
from vault_memory.core.privacy import shown_address
from vault_memory.errors import Busy, HistoryError, IndexUnusable, UsageError, in_command
from vault_memory.services.graph import graph_of
from vault_memory.services.indexing import is_mass_deletion, reconcile
from vault_memory.services.sync.agreed_remote import agreed_remote
from vault_memory.services.sync.merge import RemoteMerge
from vault_memory.services.sync.programs import changed_programs, take_programs
from vault_memory.services.sync.refusals import named, private_files, refuse_private_commits
from vault_memory.services.vault import Vault
from vault_memory.services.write import Plan, write

MAX_PUSHES = 20
"""How often a push is tried again, after another merge, because another machine pushed first."""


@dataclass(frozen=True)
class Synced:
    """What a sync did: how many commits came and went, and a line for each thing that a person may want to look at."""

    remote: str
    received: int = 0
    sent: int = 0
    notes: tuple[str, ...] = ()


def sync(vault: Vault, name: str = "", *, plugins: bool = False, take_out_private: bool = False) -> Synced:
    """Fetch from a remote, merge, and push.

    `name` is the remote's name or address; without it the one in the settings or that the branch follows. A remote that
    waits for a yes is refused (`agreed_remote`).
    `plugins`: exchange what Obsidian runs, too (`layout.is_program`). Private files go neither way (`refusals`): a
    commit that holds one is not sent. `take_out_private`: what was not sent yet is made anew without them, and sent.
    Raises `UsageError` when there is no remote, or one that waits for a yes, `HistoryError` when it does not answer or
    when the repository cannot be merged now, and `Busy`. Nothing is lost then, and sync can be run again.
    """
    root = vault.history.root
    branch = _branch(vault)
    typed, name = name, agreed_remote(vault, name)
    remote, commits = Remote(root, name), CommitLog(root)
    received = 0
    notes = [*(take_programs(vault) if plugins else changed_programs(vault))]
    for _ in range(MAX_PUSHES):
        theirs = remote.tip(branch)
        if theirs and not commits.has(theirs):
            remote.fetch(branch, theirs, partial(_refuse_erased, vault, name, theirs))
        before = vault.history.state().head
        notes += _merge(vault, name, theirs, plugins)
        received += commits.count(before, theirs) if theirs else 0
        head = vault.history.state().head
        if take_out_private:
            head, line = _take_out_private(vault, head, theirs)
            notes.append(line)
            take_out_private = False
        sent = commits.count(theirs, head) if head else 0
        if head and head != theirs:
            refuse_private_commits(vault, head, theirs, typed)
        if head is None or head == theirs or remote.push(branch, head):
            return Synced(shown_address(name), received, sent, tuple(notes))
    shown = shown_address(name)
    raise HistoryError(f"others keep pushing to {shown}: what they sent is merged here; sync again to push yours")


def _refuse_erased(vault: Vault, name: str, theirs: str, environment: Mapping[str, str]) -> None:
    """Raise `HistoryError` where the remote would bring back what was erased here; nothing of it is in the repository
    yet."""
    stones = vault.tombstones()
    if stones and (what := brought_back(vault.history.root, stones, theirs, environment)):
        raise HistoryError(
            f"{shown_address(name)} sends {what}, so nothing is taken from there: `vault-memory erase --push "
            f"{in_command(name)}` writes this vault's history over it, with your yes, where nothing else was sent "
            "there since; else erase it on the machine that sent it, too, and let that one push"
        )


def _take_out_private(vault: Vault, head: str | None, theirs: str | None) -> tuple[str | None, str]:
    """Make the commits that the remote, at `theirs`, lacks anew without private files. The last commit then, and a line
    that says what was done."""
    found = private_files(vault, head, theirs) if head else {}
    if found and CommitLog(vault.history.root).is_shallow():
        raise HistoryError(
            f"a commit that the remote lacks holds {named(found)}, and this clone lacks the beginning of its history, "
            "which the commits made anew would need: `git fetch --unshallow` brings it; nothing was changed"
        )
    if held := [path for path in found if theirs and _is_held(vault, path, found[path], head, theirs)]:
        raise HistoryError(
            f"{named(held)} is on the remote, too, in a version without what is private here: taking it out would "
            "delete it there. Move what is private to another file, put the old version back with `git checkout "
            f"{theirs[:10] if theirs else ''} -- FILE`, commit that, then run it again; nothing was changed"
        )
    made = vault.history.take_out(found, theirs, head) if head and found else None
    if made is None:
        return head, "no commit that the remote lacked held a private file: nothing was taken out"
    files, commits = (
        f"{count:,} {what}{'' if count == 1 else 's'}"
        for count, what in ((len(made.paths), "private file"), (made.commits, "commit"))
    )
    return made.tip, (
        f"{files} taken out of {commits} ({named(made.paths)}); what is on this disk stays. Git keeps what was before "
        f"as {made.before}: `git show {made.before}:FILE` shows a file of it; do not check it out, for that puts its "
        "old records in place of yours"
    )


def _is_held(vault: Vault, path: PurePosixPath, blobs: Collection[str], head: str | None, theirs: str) -> bool:
    """Whether the remote has a file whose newest version here is private."""
    ours = vault.history.entry(path, head) if head else None
    return ours is not None and ours.id in blobs and vault.history.entry(path, theirs) is not None


def _branch(vault: Vault) -> str:
    state = vault.history.state()
    if state.paused or not state.branch:
        raise HistoryError(f"cannot sync now: {state.paused}")
    if (vault.history.root / ".git").exists():
        return state.branch
    raise UsageError(f"{vault.root} is a folder of a larger git repository: pull and push that one with git")


def _merge(vault: Vault, name: str, theirs: str | None, plugins: bool) -> list[str]:
    """Commit the person's pending edits, then merge the remote's commit into branch and files; return the notes."""

    def decide() -> Plan[RemoteMerge | None]:
        flushed = _refuse_waiting_commits(vault)
        if theirs is None:
            return Plan(None)
        merge = RemoteMerge(vault, name, theirs, plugins)
        drafts = merge.drafts()
        if not flushed.waiting_paths.isdisjoint(change.path for draft in drafts for change in draft.changes):
            raise _waits(flushed)
        return Plan(merge, drafts)

    written = write(vault, None, None, decide, inspect=lambda paths: _refuse_mass_deletion(vault, paths))
    flushed = _refuse_waiting_commits(vault)
    merge = written.result
    if merge:
        merge.bring_modes()
        merge.bring_to_disk()
    notes = []
    if merge:
        notes = [*merge.notes, *_new_instructions(merge), *_indexes_dropped(vault, merge), *_twins(vault, merge)]
    notes += [f"commits of {len(flushed.kept_back)} files wait: {flushed.paused}"] if flushed.kept_back else []
    return notes + ([f"index: {written.index_problem}"] if written.index_problem else [])


def _indexes_dropped(vault: Vault, merge: RemoteMerge) -> list[str]:
    """Make the indexes of ids anew whose users have got other ones: an id may be the next one's. Returns why that could
    not be done, if so."""
    problems = []
    for user_id in merge.given_up:
        try:
            with vault.lock(user_id), vault.record_lock(user_id):
                remove_index(vault.index_path(user_id))
                for folder, _, _ in reversed(list(walk(vault.root / layout.user_dir(user_id)))):
                    with contextlib.suppress(OSError):  # the next one is there already
                        os.rmdir(folder)
            if vault.is_user(user_id):
                reconcile(vault, user_id)
        except (Busy, IndexUnusable, HistoryError) as error:
            problems.append(f"index of {user_id}: {error}")
    return problems


def _new_instructions(merge: RemoteMerge) -> list[str]:
    """A note when the remote has changed what a model reads as its instructions, or the settings: they say whose turns
    are recorded, for example, and in whose name."""
    if not merge.instructions:
        return []
    names = ", ".join(map(str, merge.instructions))
    return [
        f"the remote changed what assistants or this program are told ({names}): `vault-memory diff FILE` shows how"
    ]


def _refuse_mass_deletion(vault: Vault, paths: Sequence[PurePosixPath]) -> None:
    """Raise where many files are gone at once: the person must confirm that before they are deleted everywhere."""
    deleted: dict[str, set[str]] = {}
    there: dict[str, set[str]] = {}
    for path in paths:
        if place := layout.place_of(path):
            found = there if os.path.lexists(vault.root / path) else deleted
            found.setdefault(place.scope, set()).add(place.source)
    for scope, sources in deleted.items():
        known = vault.index(scope).files() if vault.index_path(scope).exists() else {}
        if not is_mass_deletion(len(sources & known.keys()), len(known)):
            continue
        moved = _hashes(vault, scope, there.get(scope, set()) - known.keys())
        sources = {each for each in sources & known.keys() if known[each].content_hash not in moved}
        if is_mass_deletion(len(sources), len(known)):
            raise HistoryError(
                f"{len(sources)} files of {layout.scope_dir(scope)} are gone: `vault-memory resume` if you deleted "
                "them, else put them back with `git restore`; then sync again"
            )


def _hashes(vault: Vault, scope: str, sources: Collection[str]) -> set[bytes]:
    """Of these files the content, by which one that was renamed is known."""
    found = set()
    for source in sources:
        with contextlib.suppress(OSError):
            found.add(scan.read(vault.root, scope, source, files.MAX_FILE_BYTES).content_hash)
    return found


def _twins(vault: Vault, merge: RemoteMerge) -> list[str]:
    """Entities of one name in two notes, of the users whose entities came."""
    places = [place for path in merge.changed if (place := layout.place_of(path))]
    users = {place.scope for place in places if layout.kind_of(place) == "entity"}
    return [f"{layout.user_dir(user)}: {line}" for user in sorted(users) for line in graph_of(vault, user).twins]


def _refuse_waiting_commits(vault: Vault) -> Flushed:
    """Raise when commits wait that git cannot make now, for another reason than that git leaves a file of theirs out:
    then these files wait alone."""
    flushed = vault.history.flush()
    if flushed.waiting and not flushed.waiting_paths <= flushed.kept_back:
        raise _waits(flushed)
    return flushed


def _waits(flushed: Flushed) -> HistoryError:
    return HistoryError(f"cannot sync before {flushed.waiting} waiting commits are made: {flushed.paused}")
