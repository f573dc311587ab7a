"""The two sides of a merge with a remote, and what comes of each file that they changed.

Nobody's words are lost: texts are merged (`core.merging.merge`), and where that cannot be, one of them becomes a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import (
    ATTRIBUTES,
    FILE_MODES,
    CommitLog,
    Content,
    FileDifference,
    Moment,
    Stored,
    TreeEntry,
    bytes_of,
    changed_files,
    is_content,
    is_rules,
)
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange, copy_beside
from vault_memory.core import graph, layout, reading, trailers
from vault_memory.core.merging import Clash, Side, merge
from vault_memory.core.notes import note
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import HistoryError, TooLarge
from vault_memory.services.archiving import with_moves_followed
from vault_memory.services.sync.git_rules import attributes_problem
from vault_memory.services.sync.refusals import settings_problem
from vault_memory.services.sync.renamings import Renamings
from vault_memory.services.vault import Vault

CONFLICT_COPY = " (conflict "
"""In the name of the older text of a file that cannot be merged: `plan (conflict 2026-01-30 1a2b3c4).canvas`."""
_LAST_SECOND = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
BY_HAND = "merge it yourself with `git pull --no-rebase`, then sync again"
"""What a person does with what is not merged here."""


@dataclass
class Sides:
    """The two sides of a merge: `ours` (None: no commit yet), `theirs` of the remote `name`, and where they parted.

    In `base` and `theirs` the folders of users have the ids of this side (`Renamings.moved`), and what one side has
    moved into the archive is there in all three (`follow_moves`). `notes` has a line for
    each thing that a person may want to look at; `tree_only` the entries of the merged tree that are not put on the
    disk.
    """

    vault: Vault
    name: str
    base: str | None
    ours: str | None
    theirs: str
    renamings: Renamings
    notes: list[str] = field(default_factory=list)
    tree_only: dict[PurePosixPath, TreeEntry | None] = field(default_factory=dict)
    _moved: dict[PurePosixPath, FileDifference] = field(default_factory=dict)
    """What `follow_moves` has changed in `ours`: from what HEAD and the disk have."""

    def follow_moves(self) -> list[FileDifference]:
        """Let what one side has moved into the archive be there in all three commits; the files to merge then."""
        root, head = self.vault.history.root, self.ours
        if self.base and head and self.base not in (head, self.theirs):
            self.base, self.ours, self.theirs = with_moves_followed(self.vault, self.base, head, self.theirs)
            self._moved = {each.path: each for each in changed_files(root, head, self.ours)}
        differences = changed_files(root, self.base, self.theirs)
        known = {each.path for each in differences}
        return [*differences, *(self._unchanged(path) for path in self._moved if path not in known)]

    def _unchanged(self, path: PurePosixPath) -> FileDifference:
        """A file that the other side has not changed, and that is not on the disk here as it is in `ours`."""
        entry = self.vault.history.entry(path, self.theirs)
        mode, blob = (entry.mode.decode(), entry.id) if entry else ("000000", None)
        return FileDifference(path, mode, mode, blob, blob)

    @cached_property
    def _here(self) -> dict[PurePosixPath, str | None]:
        """The blob of each file that this side has changed."""
        root = self.vault.history.root
        return {each.path: each.new for each in changed_files(root, self.base, self.ours)} if self.ours else {}

    def merge(self, difference: FileDifference) -> tuple[list[FileChange], list[Draft]]:
        """Merge one file of the other side: changes for the merge commit, and drafts to commit after it.

        Where they alone changed its mode, the merge commit has theirs (`RemoteMerge.bring_modes` has the disk follow).
        """
        changes, drafts = self._merge_content(difference)
        history, path = self.vault.history, difference.path
        if path in self.tree_only or not self._is_their_mode(difference):
            return changes, drafts
        merged, entry = next((change for change in changes if change.path == path), None), history.entry(path)
        blob = history.store(path, merged.new) if merged else entry and entry.id
        if blob:
            self.tree_only[path] = TreeEntry(difference.new_mode.encode(), blob)
        if blob and not merged:
            mine = _mine(history.root, path)
            changes = [*changes, FileChange(path, mine, mine)]
        return changes, drafts

    def _is_their_mode(self, difference: FileDifference) -> bool:
        """Whether they made a file one that may be run, or no more, and this side did not."""
        entry = self.vault.history.entry(difference.path) if has_new_mode(difference) else None
        return has_new_mode(difference) and (entry is None or entry.mode.decode() == difference.old_mode)

    def _merge_content(self, difference: FileDifference) -> tuple[list[FileChange], list[Draft]]:
        history, path = self.vault.history, difference.path
        blob = self._here.get(path, difference.old)
        blobs = (difference.old, self._moved[path].old if path in self._moved else blob, blob, difference.new)
        base, held, ours, other = (history.stored(blob) if blob else None for blob in blobs)
        mine = _mine(history.root, path)
        if is_content(None if mine is None else history.working_tree.as_in_git(path, mine), held):
            return self._merge_committed(path, base, mine, ours, other)
        entry = history.entry(path) or history.entry(path, self.theirs)
        mode = (
            difference.new_mode.encode() if self._is_their_mode(difference) else entry.mode if entry else FILE_MODES[0]
        )
        return self._merge_below_edits(path, mode, (base, held, ours, other), mine)

    def keep_ours(self, path: PurePosixPath, other: Stored | None, problem: str) -> list[FileChange]:
        """The remote's file cannot be used: ours stays in force and in git, if there is one, and theirs is a copy.

        There is none of one that it deleted (`other` is None), or that is not put on the disk.
        """
        self.tree_only[path] = self.vault.history.entry(path)
        unusable = f"{path} of {self.name} cannot be used ({problem}): what is here stays in force"
        if other is None:
            self.notes.append(f"{unusable}; git's history has what was done there")
            return []
        copy = self._copy(path, other, self._last_changes(path)[1])
        self.notes.append(
            f"{unusable}, theirs is {copy.path}: correct it where it was written, or take what you need from the "
            "copy and delete it"
        )
        return [copy]

    def newer(self, path: PurePosixPath, key: str) -> Side:
        """The side that changed a key of a profile last."""
        ours, theirs = self._last_changes(path, key)
        return "ours" if ours > theirs else "theirs"

    def _merge_below_edits(
        self,
        path: PurePosixPath,
        mode: bytes,
        states: Sequence[Stored | None],
        mine: bytes | None,
    ) -> tuple[list[FileChange], list[Draft]]:
        """Merge a file that holds edits of the person's which are in no commit, as `git merge --autostash` does.

        `states` are those of the base, of HEAD, of `ours` and of the other side. The commits get what HEAD and the
        other side make of it, with `mode`. On the disk the same change is
        made below the edits (`mine`), which stay edits: else a later commit of them would take back what came.
        """
        history, (base, held, ours, other) = self.vault.history, states
        before = bytes_of(history.working_tree.as_on_disk(path, held))
        changes, drafts = self._merge_committed(path, base, before, ours, other)
        beside = [change for change in changes if change.path != path]
        steps = [change.new for change in changes if change.path == path]
        steps += [change.new for draft in drafts for change in draft.changes]
        if not steps:
            return beside, []
        blobs = [history.store(path, content) for content in steps]
        entries = [TreeEntry(mode, blob) if blob else None for blob in blobs]
        self.tree_only[path] = entries[0]
        drafts = [
            replace(draft, changes=(), tree_only=((path, entry),))
            for draft, entry in zip(drafts, entries[1:], strict=True)
        ]
        after = bytes_of(steps[-1])
        if after is None:
            self.notes.append(f"{path}: the remote deleted it, and it holds edits that are in no commit: it is kept")
            return beside, drafts
        if mine is None:
            return [*beside, FileChange(path, None, after)], drafts
        merged = merge.merge_file(path, before, mine, after, lambda key: "ours")
        if merged is None:
            copy = self._copy(path, after, self._last_changes(path)[1])
            self.notes.append(f"{path} holds edits that are in no commit: it stays, what came is {copy.path}")
            return [*beside, copy, FileChange(path, mine, mine)], drafts
        self.notes.append(f"{path} holds edits that are in no commit: what came is merged in below them")
        return [*beside, FileChange(path, mine, encode(merged.text))], drafts

    def _merge_committed(
        self, path: PurePosixPath, base: Stored | None, before: bytes | None, ours: Stored | None, other: Stored | None
    ) -> tuple[list[FileChange], list[Draft]]:
        """The same for a file as HEAD has it, `before` on the disk; `ours` is what `follow_moves` has made of it."""
        if path not in self._moved:
            return self._merge_file(path, base, before, other)
        moved = bytes_of(self.vault.history.working_tree.as_on_disk(path, ours))
        is_theirs_changed = (base and base.id) != (other and other.id)
        changes, drafts = self._merge_file(path, base, moved, other) if is_theirs_changed else ([], [])
        after = next((change.new for change in changes if change.path == path), moved)
        return [*(each for each in changes if each.path != path), FileChange(path, before, after)], drafts

    def _merge_file(
        self, path: PurePosixPath, base: Stored | None, mine: bytes | None, other: Stored | None
    ) -> tuple[list[FileChange], list[Draft]]:
        """The same for a file that holds no edits of the person's, `mine` on the disk.

        What the repository holds is read only for a file that both sides changed.
        """
        if path == PurePosixPath(layout.SETTINGS_FILE) and other and (problem := settings_problem(other.read())):
            return self.keep_ours(path, other, problem), []
        on_disk, to_disk = mine, partial(self.vault.history.working_tree.as_on_disk, path)
        mine = None if mine is None else self.vault.history.working_tree.as_in_git(path, mine)
        if is_content(mine, other):
            return [], []
        if other and layout.is_written_by_turns(path) and (problem := reading.not_utf_8(other.read())):
            return self.keep_ours(path, other, f"it {problem}"), []
        if other and is_rules(path, ATTRIBUTES) and (problem := attributes_problem(self.vault, other.read(), mine)):
            return self.keep_ours(path, other, problem), []
        if is_content(mine, base):
            return [FileChange(path, base if on_disk == mine else on_disk, to_disk(other))], []
        before, theirs = (None if each is None else each.read() for each in (base, other))
        merged = merge.merge_file(path, before, mine, theirs, lambda key: self.newer(path, key))
        if merged is None and (mine is None or other is None):
            self.notes.append(f"{path}: deleted on one side, edited on the other: it is kept")
            return ([FileChange(path, None, to_disk(other))] if mine is None else []), []
        if merged is None:
            assert other is not None
            if mine and theirs and merge.is_of_two_entities(path, mine, theirs):
                return self._keep_two_entities(path, on_disk or b"", other), []
            return self._keep_both_files(path, on_disk or b"", other), []
        for first, last in note.conflicts_in(merged.text):
            self.notes.append(f"{path}: both sides changed the same lines; lines {first}-{last} hold both texts")
        is_profile = path.name == layout.PROFILE
        for clash in () if is_profile else merged.clashes:
            self.notes.append(
                f"{path}: both sides changed {clash.key}: {clash.kept or '(nothing)'} stays, the older "
                f"{clash.older or '(nothing)'} is in git's history"
            )
        if not (is_profile and merged.clashes):
            is_gone = not merged.text and None in (mine, theirs)
            return [FileChange(path, on_disk, None if is_gone else to_disk(encode(merged.text)))], []
        # The older value must be in the history too: the merge commit holds it, and a commit of its own replaces it.
        older = merge.merge_file(path, before, mine, theirs, lambda key: _other_side(self.newer(path, key)))
        assert older is not None
        drafts = self._newer_value_drafts(path, older.text, merged.text, merged.clashes)
        return [FileChange(path, mine, encode(older.text))], drafts

    def _newer_value_drafts(
        self, path: PurePosixPath, older: str, newer: str, clashes: tuple[Clash, ...]
    ) -> list[Draft]:
        """A commit for each clash, which replaces the older side's value of the key by the newer side's."""
        drafts = []
        state, wanted = Profile.parse(older), Profile.parse(newer)
        user = layout.scope_of(path)
        for number, clash in enumerate(clashes, 1):
            before = state.text
            state = state.with_items(clash.key, wanted.items(clash.key))
            after = newer if number == len(clashes) else state.text
            kept, lost = self._last_changes(path, clash.key)
            if clash.kept_side == "theirs":
                kept, lost = lost, kept
            kept_commit = Trailers.read(CommitLog(self.vault.history.root).of_commits([kept.commit])[0].trailers)
            at = self._local_time(lost)
            reason = f"both sides changed {clash.key}: {clash.older or '(nothing)'} of {at:%Y-%m-%d %H:%M} is the older"
            message = trailers.render(
                f"memory({user}): {clash.key} = {clash.kept or '(nothing)'} (the newer)",
                reason,
                Trailers(
                    user=user,
                    key=clash.key,
                    op="set",
                    old=clash.older,
                    new=clash.kept,
                    strength=kept_commit.strength or "manual",
                    source=kept_commit.source,
                    conflict=lost.commit,
                ),
            )
            drafts.append(Draft(message, ASSISTANT, (FileChange(path, encode(before), encode(after)),)))
            self.notes.append(f"{path}: {clash.key} = {clash.kept or '(nothing)'} stays, {reason}")
        return drafts

    def _keep_both_files(self, path: PurePosixPath, mine: bytes, other: Stored) -> list[FileChange]:
        """For a file that cannot be merged (a picture, settings): the newer stays, the older becomes a copy."""
        ours, theirs = self._last_changes(path)
        is_theirs_newer = theirs > ours
        older: Content
        older, lost = (mine, ours) if is_theirs_newer else (other, theirs)
        copy = self._copy(path, older, lost)
        self.notes.append(f"{path}: both sides changed it; the newer stays, the older is {copy.path}")
        return [copy, *([FileChange(path, mine, other)] if is_theirs_newer else [])]

    def _keep_two_entities(self, path: PurePosixPath, mine: bytes, other: Stored) -> list[FileChange]:
        """Two entities whose names make one file: that whose name it is stays, else ours; the other's gets a number."""
        is_theirs = graph.name_in_note(other.read().decode("utf-8", "replace")) == path.stem
        content: Content = mine if is_theirs else other
        beside = copy_beside(self.vault.history, path, "", content, self.theirs)
        self.notes.append(
            f"{path}: two entities have this name of a file; one is in {beside.path.name} now. A link that shows its "
            "name leads to it, any other to the one that stays"
        )
        return [beside, *([FileChange(path, mine, other)] if is_theirs else [])]

    def _copy(self, path: PurePosixPath, content: Content, written: Moment) -> FileChange:
        day = self._local_time(written).date()
        name = f"{CONFLICT_COPY}{day} {written.commit[:7]})"
        return copy_beside(self.vault.history, path, name, content, self.theirs)

    def _last_changes(self, path: PurePosixPath, key: str | None = None) -> tuple[Moment, Moment]:
        """The last commit of each side that changed a file, or one key of a profile: ours, theirs."""
        commits, renamings = CommitLog(self.vault.history.root), self.renamings
        ours, theirs = (
            commits.last_change(renamings.places(path, there=there), renamings.base, key) for there in (False, True)
        )
        return ours, theirs

    def _local_time(self, moment: Moment) -> datetime:
        return datetime.fromtimestamp(min(moment.time, _LAST_SECOND), UTC).astimezone(self.vault.config.zone())


def has_new_mode(difference: FileDifference) -> bool:
    """Whether the other side made a file one that may be run, or no more; git makes new files that may not be run."""
    modes = [mode.decode() for mode in FILE_MODES]
    before = difference.old_mode if difference.old else modes[0]
    return difference.new_mode in modes and difference.new_mode != before


def free_place(root: Path, path: PurePosixPath) -> Path:
    """Where a file of the other side goes. Raises `HistoryError` for a folder in its place, or a file above it."""
    place = files.contained(root, path)
    in_the_way = place if place.is_dir() else next((each for each in place.parents if each.is_file()), None)
    if in_the_way:
        kinds = "file there and a folder" if in_the_way == place else "folder there and a file"
        raise HistoryError(f"{in_the_way.relative_to(root.resolve())} is a {kinds} here: {BY_HAND}")
    return place


def _mine(root: Path, path: PurePosixPath) -> bytes | None:
    try:
        return files.read(free_place(root, path))
    except TooLarge as error:
        raise HistoryError(f"the remote changed {path}, which is too large here to be merged: {BY_HAND}") from error


def _other_side(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"


def encode(text: str) -> bytes:
    """The bytes of a text as `core.merging.merge` decoded it."""
    return text.encode("utf-8", "surrogateescape")
