"""Bring this vault and its remote to the same state: fetch, merge, push. Never a rebase, never by force.

The merge is made here, file by file (`core.notes.merge`), and becomes a commit by the same careful steps as any other, so that
it needs no merge driver and a save that lands in the middle of it is taken in. Conversation records are not in git, and
so stay on each machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import process as git
from vault_memory.adapters.git import remote
from vault_memory.adapters.git.remote import Difference, Moment
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.change import is_mass_deletion
from vault_memory.core.notes import conflict, merge
from vault_memory.core.notes.merge import Clash, Side
from vault_memory.core.profile.profile import Profile
from vault_memory.errors import Busy, Changed, HistoryError, UsageError
from vault_memory.services.person_edits import commit_person_edits
from vault_memory.services.vault import Vault

_ATTEMPTS = 20
"""How often a merge is redone when a save lands in the middle of it, and a push when somebody else was faster."""
CONFLICT_COPY = " (conflict "
"""In the name of the older text of a file that cannot be merged: `plan (conflict 2026-01-30 1a2b3c4).canvas`."""


@dataclass(frozen=True)
class Synced:
    """What a sync did: commits taken in and given out, the scopes whose files changed here, and a line for whatever a person may want to look at."""

    remote: str
    received: int = 0
    sent: int = 0
    scopes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def sync(vault: Vault, name: str = "") -> Synced:
    """Fetch from a remote (its name or address; else the configured one, else the one that the branch follows), merge, push.

    Raises `UsageError` when there is no remote, `HistoryError` when it does not answer or the repository is not in a state
    to be merged, and `Busy`; nothing is lost then, and it can be run again.
    """
    root = vault.history.root
    branch = _branch(vault)
    name = name or vault.config.git_remote or remote.remote_of(root, branch) or ""
    if not name:
        raise UsageError("this vault has no remote: name one with `git remote add origin ADDRESS`")
    received, done = 0, _Merge(vault, "")
    for _ in range(_ATTEMPTS):
        theirs = remote.tip_of(root, name, branch)
        if theirs and not remote.has(root, theirs):
            theirs = remote.fetch(root, name, branch)
        before = vault.history.state().head
        taken = _take_in(vault, theirs)
        done.notes += taken.notes
        done.touched |= taken.touched
        received += remote.count(root, before, theirs) if theirs else 0
        head = vault.history.state().head
        sent = remote.count(root, theirs, head) if head else 0
        if head is None or head == theirs or remote.push(root, name, branch, head):
            scopes = tuple(sorted({layout.scope_of(path) for path in done.touched}))
            return Synced(name, received, sent, scopes, tuple(done.notes))
    raise HistoryError(
        f"others keep pushing to {name} at the same time: what came is merged, the push is to be tried again"
    )


def _branch(vault: Vault) -> str:
    state = vault.history.state()
    if state.paused or not state.branch:
        raise HistoryError(f"cannot sync now: {state.paused}")
    if (vault.history.root / ".git").exists():
        return state.branch
    raise UsageError(f"{vault.root} is a folder of a larger git repository: pull and push that one with git")


@contextmanager
def _all_locks(vault: Vault) -> Iterator[None]:
    with ExitStack() as held:
        for user_id in vault.user_ids():
            held.enter_context(vault.lock(user_id))
        yield


def _take_in(vault: Vault, theirs: str | None) -> _Merge:
    """Commit what the person left uncommitted, then merge the other side's commit into the branch and the files."""
    for _ in range(_ATTEMPTS):
        try:
            with _all_locks(vault):
                _refuse_mass_deletion(vault)
                commit_person_edits(vault, None)
                _flushed(vault)
                merging = _Merge(vault, theirs or "")
                if theirs and (drafts := merging.drafts()):
                    vault.history.commit(drafts)
                    _flushed(vault)
                return merging
        except Changed:
            continue  # a person saved one of these files just now: their edit is committed first, then merged
    raise Busy("the notes keep changing: sync again when the editor has come to rest")


def _refuse_mass_deletion(vault: Vault) -> None:
    """Files that are gone by the dozen are not to be gone everywhere before the person has said so."""
    gone: dict[str, set[str]] = {}
    for change in vault.history.uncommitted():
        if change.after is None and (place := layout.place_of(change.path)):
            gone.setdefault(place.scope, set()).add(place.source)
    for scope, sources in gone.items():
        known = vault.index(scope).files() if vault.index_path(scope).exists() else {}
        if is_mass_deletion(len(sources & known.keys()), len(known)):
            raise HistoryError(
                f"{len(sources)} files of {layout.scope_dir(scope)} are gone: `vault-memory resume` if you deleted them, "
                "else put them back with `git restore`; then sync again"
            )


def _flushed(vault: Vault) -> None:
    flushed = vault.history.flush()
    if flushed.waiting:
        raise HistoryError(f"cannot sync before {flushed.waiting} waiting commits are made: {flushed.paused}")


@dataclass
class _Merge:
    """One merge of the commit `theirs`. `touched` are the files it changes here."""

    vault: Vault
    theirs: str
    notes: list[str] = field(default_factory=list)
    touched: set[PurePosixPath] = field(default_factory=set)

    def drafts(self) -> list[Draft]:
        """The merge commit, and one commit for each key that both sides changed; none when there is nothing to merge."""
        root, head = self.vault.history.root, self.vault.history.state().head
        self.ours = head or ""
        self.base = remote.merge_base(root, head, self.theirs) if head else None
        if self.base == self.theirs:
            return []
        if self.vault.history.blob(PurePosixPath(layout.SETTINGS_FILE), self.theirs) is None:
            raise UsageError(
                f"the remote holds no vault ({layout.SETTINGS_FILE} is missing there): is it the right one?"
            )
        found = remote.differences(root, self.base, self.theirs)
        for each in found:
            _check(each)
        blobs = remote.contents(root, (blob for each in found for blob in (each.old, each.new) if blob))
        changes: list[FileChange] = []
        decided: list[Draft] = []
        for each in found:
            base, other = (blobs[blob] if blob else None for blob in (each.old, each.new))
            mine = files.read(files.contained(root, each.path))
            settled, after_it = self._settle(each.path, base, mine, other)
            changes += settled
            decided += after_it
        self.touched = {change.path for change in changes}
        count = remote.count(root, head, self.theirs)
        message = trailers.render(f"sync: merge {count} {'commit' if count == 1 else 'commits'} of the remote")
        return [Draft(message, ASSISTANT, tuple(changes), merges=self.theirs), *decided]

    def _settle(
        self, path: PurePosixPath, base: bytes | None, mine: bytes | None, other: bytes | None
    ) -> tuple[list[FileChange], list[Draft]]:
        """What becomes of one file that the other side changed: changes of the merge commit, and commits on top of it."""
        if mine in (base, other):
            return ([] if mine == other else [FileChange(path, mine, other)]), []
        if mine is None or other is None:
            self.notes.append(f"{path}: deleted on one side, edited on the other: it is kept")
            return ([FileChange(path, None, other)] if mine is None else []), []
        merged = merge.merge_file(path, base, mine, other, lambda key: self._newer(path, key))
        if merged is None:
            return self._beside(path, mine, other), []
        for first, last in conflict.conflicts_in(merged.text):
            self.notes.append(f"{path}: both sides changed the same lines; lines {first}-{last} hold both texts")
        if not merged.clashes:
            return [FileChange(path, mine, _bytes(merged.text))], []
        # History must know the older value: the merge commit has it, and a commit of its own puts the newer in its place.
        older = merge.merge_file(path, base, mine, other, lambda key: _opposite(self._newer(path, key)))
        assert older is not None
        return [FileChange(path, mine, _bytes(older.text))], self._decisions(
            path, older.text, merged.text, merged.clashes
        )

    def _decisions(self, path: PurePosixPath, older: str, newer: str, clashes: tuple[Clash, ...]) -> list[Draft]:
        drafts = []
        state, wanted = Profile.parse(older), Profile.parse(newer)
        user = layout.scope_of(path)
        for number, clash in enumerate(clashes, 1):
            before = state.text
            state = state.with_items(clash.key, wanted.items(clash.key))
            after = newer if number == len(clashes) else state.text
            kept, lost = self._moments(path, clash.key)
            if clash.kept_side == "theirs":
                kept, lost = lost, kept
            told = trailers.parse(git.run(self.vault.history.root, "log", "-1", "--format=%B", kept.commit).decode())
            at = datetime.fromtimestamp(lost.time, UTC).astimezone(self.vault.config.zone())
            reason = f"both sides changed {clash.key}: {clash.older or '(nothing)'} of {at:%Y-%m-%d %H:%M} is the older"
            fields = {
                "Vault-User": user,
                "Vault-Key": clash.key,
                "Vault-Op": "set",
                "Vault-Old": clash.older,
                "Vault-New": clash.kept,
                "Vault-Strength": told.trailers.get("Vault-Strength", "manual"),
            }
            fields |= {"Vault-Source": told.trailers["Vault-Source"]} if "Vault-Source" in told.trailers else {}
            message = trailers.render(
                f"memory({user}): {clash.key} = {clash.kept or '(nothing)'} (the newer)",
                reason,
                fields | {"Vault-Conflict": lost.commit},
            )
            drafts.append(Draft(message, ASSISTANT, (FileChange(path, _bytes(before), _bytes(after)),)))
            self.notes.append(f"{path}: {clash.key} = {clash.kept or '(nothing)'} stays, {reason}")
        return drafts

    def _beside(self, path: PurePosixPath, mine: bytes, other: bytes) -> list[FileChange]:
        """Files that are no text of ours (pictures, settings): the newer stays, the older is kept beside it."""
        ours, theirs = self._moments(path)
        is_theirs = theirs > ours
        older, lost = (mine, ours) if is_theirs else (other, theirs)
        day = datetime.fromtimestamp(lost.time, UTC).astimezone(self.vault.config.zone()).date()
        copy = path.with_name(f"{path.stem}{CONFLICT_COPY}{day} {lost.commit[:7]}){path.suffix}")
        self.notes.append(f"{path}: both sides changed it; the newer stays, the older is {copy.name}")
        found = files.read(files.contained(self.vault.history.root, copy))
        return [FileChange(copy, found, older), *([FileChange(path, mine, other)] if is_theirs else [])]

    def _newer(self, path: PurePosixPath, key: str) -> Side:
        ours, theirs = self._moments(path, key)
        return "ours" if ours > theirs else "theirs"

    def _moments(self, path: PurePosixPath, key: str | None = None) -> tuple[Moment, Moment]:
        root = self.vault.history.root
        ours, theirs = (remote.last_change(root, path, self.base, tip, key) for tip in (self.ours, self.theirs))
        return ours, theirs


def _check(found: Difference) -> None:
    """Only plain files are merged here: a link or a repository inside the vault is the person's to decide."""
    if found.new_mode not in ("000000", "100644", found.old_mode) or found.old_mode in ("120000", "160000"):
        raise HistoryError(
            f"{found.path} is no plain note on the other side (git mode {found.new_mode}): merge it yourself with "
            "`git pull --no-rebase`, then sync again"
        )


def _opposite(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
