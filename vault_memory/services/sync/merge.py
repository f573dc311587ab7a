"""Merge the remote's commit into this vault, file by file (`core.notes.merge`).

The merge is planned here and committed by the same steps as any other write. Therefore it needs no merge driver in git,
and a file that the person saves during it is merged too. What may not come in is refused first (`refusals`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import (
    ATTRIBUTES,
    EXECUTABLE_MODE,
    FILE_MODES,
    IGNORE,
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
    refuse_vast,
    refuse_vast_files,
)
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, reading, trailers
from vault_memory.core.notes import Clash, Side, merge, note
from vault_memory.core.profile import Profile
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Changed, HistoryError, TooLarge, UsageError, in_command
from vault_memory.services.sync.copies import copy_beside
from vault_memory.services.sync.git_rules import attributes_problem, filter_problem, filters_after, ignore_problem
from vault_memory.services.sync.refusals import refusals, settings_problem
from vault_memory.services.vault import Vault

CONFLICT_COPY = " (conflict "
"""In the name of the older text of a file that cannot be merged: `plan (conflict 2026-01-30 1a2b3c4).canvas`."""

_LAST_SECOND = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
_BY_HAND = "merge it yourself with `git pull --no-rebase`, then sync again"
_Texts = dict[PurePosixPath, bytes | None]
"""Files as a merge would leave them on the disk; None for gone."""


@dataclass
class RemoteMerge:
    """One merge of the commit `theirs` of the remote `name`; `programs`: also take what Obsidian runs.

    `notes` has a line for each thing that a person may want to look at.
    """

    vault: Vault
    name: str
    theirs: str
    programs: bool = False
    notes: list[str] = field(default_factory=list)
    tree_only: dict[PurePosixPath, TreeEntry | None] = field(default_factory=dict)
    runnable: list[PurePosixPath] = field(default_factory=list)
    left_out: list[FileDifference] = field(default_factory=list)
    instructions: list[PurePosixPath] = field(default_factory=list)

    def allow_runs(self) -> None:
        """Let new files be run here that the merged tree lets be run, as git would; after the merge is committed."""
        history = self.vault.history
        for path in self.runnable if os.name != "nt" else ():
            entry = history.entry(path)
            if entry and entry.mode == EXECUTABLE_MODE:
                with contextlib.suppress(FileNotFoundError), files.opened(_place(history.root, path)) as file:
                    mode = os.fstat(file.fileno()).st_mode
                    os.fchmod(file.fileno(), stat.S_IMODE(mode | (mode & 0o444) >> 2))

    def bring_to_disk(self) -> None:
        """Merge what the remote changed into files that turns write, and that git leaves out here: on the disk alone,
        after the merge is committed. What the person keeps out of commits would else undo it one day."""
        history = self.vault.history
        for each in self.left_out:
            place = _place(history.root, each.path)
            with contextlib.suppress(Changed, TooLarge):  # the person saves it just now, or it is too large
                mine = files.read(place)
                base, other = (history.stored(blob).read() if blob else None for blob in (each.old, each.new))
                if mine is None or other is None:
                    continue
                merged = merge.merge_file(each.path, base, mine, other, partial(self._newer_side, each.path))
                if merged:
                    files.replace(place, _encode(merged.text), mine, history.root)
                    self.notes.append(
                        f"{each.path}: git leaves it out, so what came is merged into it on this disk alone"
                    )

    def drafts(self) -> list[Draft]:
        """The merge commit, and one commit per key that both sides changed; none when there is nothing to merge."""
        history = self.vault.history
        root, head = history.root, history.state().head
        commits = CommitLog(root)
        self.ours = head or ""
        self.base = commits.merge_base(head, self.theirs) if head else None
        if self.base == self.theirs:
            return []
        refuse_vast(root, self.theirs)  # before anything of it is read
        settings = history.entry(PurePosixPath(layout.SETTINGS_FILE), self.theirs)
        if settings is None or settings.mode not in FILE_MODES:
            raise UsageError(
                f"the remote holds no vault ({layout.SETTINGS_FILE} is missing there): is it the right one?"
            )
        differences = changed_files(root, self.base, self.theirs)
        sizes = refuse_vast_files(root, (blob for each in differences for blob in (each.old, each.new) if blob))
        refused = refusals(self.vault, self.theirs, differences, sizes, programs=self.programs)
        self.tree_only = refused.entries
        self.notes += refused.notes
        kept = [each for each in differences if each.path in self.tree_only and layout.is_written_by_turns(each.path)]
        flagged = history.left_out([each.path for each in kept if _is_taken(self.tree_only[each.path], each)])
        self.left_out = [each for each in kept if each.path in flagged]
        self._refuse_below_kept(differences)
        rules = {each.path: each for each in differences if _is_open_rules(each.path)}
        differences = [difference for difference in differences if difference.path not in self.tree_only]
        for difference in differences:
            _require_plain_file(difference)
        self.runnable = [each.path for each in differences if (each.old_mode, each.new_mode) == ("000000", "100755")]
        self._refuse_filtered(history.filtered([difference.path for difference in differences]))
        self.instructions = [each.path for each in differences if each.new and layout.is_instruction(each.path)]
        self._here = {each.path: each.new for each in changed_files(root, self.base, head)} if head else {}
        changes = self._merge_rules(list(rules.values()), differences)
        later_drafts: list[Draft] = []
        for difference in (each for each in differences if each.path not in rules):
            file_changes, key_drafts = self._merge_difference(difference)
            changes += file_changes
            later_drafts += key_drafts
        count = commits.count(head, self.theirs)
        message = trailers.render(f"sync: merge {count} {'commit' if count == 1 else 'commits'} of the remote")
        merged = Draft(message, ASSISTANT, tuple(changes), self.theirs, tuple(self.tree_only.items()))
        drafts = [merged, *later_drafts]
        self._refuse_staged(drafts)
        return drafts

    def _refuse_below_kept(self, differences: Sequence[FileDifference]) -> None:
        """Raise `HistoryError` for a file below one that stays in git as it is here."""
        kept = {path for path, entry in self.tree_only.items() if entry}
        for each in differences:
            is_refused = each.path in self.tree_only and each.path not in kept
            if each.new and not is_refused and not kept.isdisjoint(each.path.parents):
                _place(self.vault.history.root, each.path)

    def _refuse_filtered(self, filtered: Mapping[PurePosixPath, str]) -> None:
        for path, name in filtered.items():
            raise HistoryError(f"{path} goes through the git filter {name}: {_BY_HAND}")

    def _merge_rules(self, rules: Sequence[FileDifference], differences: Sequence[FileDifference]) -> list[FileChange]:
        """Merge the changed `.gitignore` and `.gitattributes` files before anything else: they say what may be merged.

        All of a kind are refused where one of them must be. `differences` are the files that are merged.
        """
        root = self.vault.history.root
        changes: list[FileChange] = []
        if ignore := [each for each in rules if is_rules(each.path, IGNORE)]:
            gone = [path for path, entry in self.tree_only.items() if entry is None and os.path.lexists(root / path)]
            changes += self._merge_kind(IGNORE, ignore, lambda after: ignore_problem(self.vault, after, gone))
        if attributes := [each for each in rules if is_rules(each.path, ATTRIBUTES)]:
            new = [each.path for each in differences if each.new]
            changes += self._merge_kind(ATTRIBUTES, attributes, lambda after: filter_problem(self.vault, after, new))
            after = self._texts_after(ATTRIBUTES, changes)
            self._refuse_filtered(filters_after(self.vault, after, [each.path for each in differences]))
        return changes

    def _merge_kind(
        self, name: str, rules: Sequence[FileDifference], problem_of: Callable[[_Texts], str]
    ) -> list[FileChange]:
        """Merge the files of rules called `name`; where there is a problem with what comes of it, ours all stay."""
        held, notes = dict(self.tree_only), list(self.notes)
        changes = [change for each in rules if each.path not in held for change in self._merge_difference(each)[0]]
        problem = problem_of(self._texts_after(name, changes))
        if not problem:
            return changes
        self.tree_only, self.notes = held, notes
        theirs = {each.path: each.new if each.path not in held else None for each in rules}
        stored = self.vault.history.stored
        return [
            change
            for path, blob in theirs.items()
            for change in self._keep_ours(path, stored(blob) if blob else None, problem)
        ]

    def _texts_after(self, name: str, changes: Sequence[FileChange]) -> _Texts:
        """The files of rules called `name` that these changes leave on the disk, or in git's index alone, which git
        heeds where there is none on the disk."""
        history = self.vault.history
        after: _Texts = {change.path: bytes_of(change.new) for change in changes if is_rules(change.path, name)}
        for path, entry in self.tree_only.items():
            is_in_index_alone = path not in after and not os.path.lexists(history.root / path)
            if is_rules(path, name) and is_in_index_alone and entry != history.entry(path):
                after[path] = history.stored(entry.id).read() if entry else None
        return after

    def _merge_difference(self, difference: FileDifference) -> tuple[list[FileChange], list[Draft]]:
        """Merge one file of the other side (`_merge_file`), whatever edits it holds here."""
        history, path = self.vault.history, difference.path
        blobs = (difference.old, self._here.get(path, difference.old), difference.new)
        base, held, other = (history.stored(blob) if blob else None for blob in blobs)
        mine = _mine(history.root, path)
        if is_content(None if mine is None else history.as_in_git(path, mine), held):
            return self._merge_file(path, base, mine, other)
        return self._merge_below_edits(path, base, held, other, mine)

    def _refuse_staged(self, drafts: Sequence[Draft]) -> None:
        """Raise `HistoryError` for a file that the person has staged, before anything is changed: its commit would take
        back what came, and commits of ours wait for it."""
        history = self.vault.history
        paths = dict.fromkeys(change.path for draft in drafts for change in draft.changes)
        paths |= dict.fromkeys(path for draft in drafts for path, entry in draft.tree_only if entry)
        staged = sorted(history.staged(paths))
        if staged and (staged := sorted({*staged} - history.left_out(staged))):
            raise HistoryError(
                f"{staged[0]} is staged, and the remote changed it, too: `git commit` it, or `git restore --staged "
                f"{in_command(staged[0])}`, which leaves your text on the disk; then sync again. Nothing was changed"
            )

    def _merge_below_edits(
        self, path: PurePosixPath, base: Stored | None, held: Stored | None, other: Stored | None, mine: bytes | None
    ) -> tuple[list[FileChange], list[Draft]]:
        """Merge a file that holds edits of the person's which are in no commit, as `git merge --autostash` does.

        The commits get what HEAD (`held`) and the other side make of it. On the disk the same change is made below the
        edits (`mine`), which stay edits: else a later commit of them would take back what came.
        """
        history = self.vault.history
        before = bytes_of(history.as_on_disk(path, held))
        changes, drafts = self._merge_file(path, base, before, other)
        beside = [change for change in changes if change.path != path]
        steps = [change.new for change in changes if change.path == path]
        steps += [change.new for draft in drafts for change in draft.changes]
        if not steps:
            return beside, []
        entry = history.entry(path) or history.entry(path, self.theirs)
        mode = entry.mode if entry else FILE_MODES[0]
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
        return [*beside, FileChange(path, mine, _encode(merged.text))], drafts

    def _merge_file(
        self, path: PurePosixPath, base: Stored | None, mine: bytes | None, other: Stored | None
    ) -> tuple[list[FileChange], list[Draft]]:
        """Merge one file that the other side changed: changes for the merge commit, and drafts to commit after it.

        What the repository holds is read only for a file that both sides changed.
        """
        if path == PurePosixPath(layout.SETTINGS_FILE) and other and (problem := settings_problem(other.read())):
            return self._keep_ours(path, other, problem), []
        on_disk, to_disk = mine, partial(self.vault.history.as_on_disk, path)
        mine = None if mine is None else self.vault.history.as_in_git(path, mine)
        if is_content(mine, other):
            return [], []
        if other and layout.is_written_by_turns(path) and (problem := reading.not_utf_8(other.read())):
            return self._keep_ours(path, other, f"it {problem}"), []
        if other and is_rules(path, ATTRIBUTES) and (problem := attributes_problem(self.vault, other.read(), mine)):
            return self._keep_ours(path, other, problem), []
        if is_content(mine, base):
            return [FileChange(path, base if on_disk == mine else on_disk, to_disk(other))], []
        if mine is None or other is None:
            self.notes.append(f"{path}: deleted on one side, edited on the other: it is kept")
            return ([FileChange(path, None, to_disk(other))] if mine is None else []), []
        before, theirs = base.read() if base else None, other.read()
        merged = merge.merge_file(path, before, mine, theirs, lambda key: self._newer_side(path, key))
        if merged is None:
            return self._keep_both_files(path, on_disk or b"", other), []
        for first, last in note.conflicts_in(merged.text):
            self.notes.append(f"{path}: both sides changed the same lines; lines {first}-{last} hold both texts")
        if not merged.clashes:
            return [FileChange(path, on_disk, to_disk(_encode(merged.text)))], []
        # The older value must be in the history too: the merge commit holds it, and a commit of its own replaces it.
        older = merge.merge_file(path, before, mine, theirs, lambda key: _other_side(self._newer_side(path, key)))
        assert older is not None
        drafts = self._newer_value_drafts(path, older.text, merged.text, merged.clashes)
        return [FileChange(path, mine, _encode(older.text))], drafts

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
            drafts.append(Draft(message, ASSISTANT, (FileChange(path, _encode(before), _encode(after)),)))
            self.notes.append(f"{path}: {clash.key} = {clash.kept or '(nothing)'} stays, {reason}")
        return drafts

    def _keep_ours(self, path: PurePosixPath, other: Stored | None, problem: str) -> list[FileChange]:
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

    def _keep_both_files(self, path: PurePosixPath, mine: bytes, other: Stored) -> list[FileChange]:
        """For a file that cannot be merged (a picture, settings): the newer stays, the older becomes a copy."""
        ours, theirs = self._last_changes(path)
        is_theirs_newer = theirs > ours
        older: Content
        older, lost = (mine, ours) if is_theirs_newer else (other, theirs)
        copy = self._copy(path, older, lost)
        self.notes.append(f"{path}: both sides changed it; the newer stays, the older is {copy.path}")
        return [copy, *([FileChange(path, mine, other)] if is_theirs_newer else [])]

    def _copy(self, path: PurePosixPath, content: Content, written: Moment) -> FileChange:
        day = self._local_time(written).date()
        return copy_beside(
            self.vault.history, path, f"{CONFLICT_COPY}{day} {written.commit[:7]})", content, self.theirs
        )

    def _newer_side(self, path: PurePosixPath, key: str) -> Side:
        ours, theirs = self._last_changes(path, key)
        return "ours" if ours > theirs else "theirs"

    def _last_changes(self, path: PurePosixPath, key: str | None = None) -> tuple[Moment, Moment]:
        """The last commit of each side that changed a file, or one key of a profile: ours, theirs."""
        commits = CommitLog(self.vault.history.root)
        ours, theirs = (commits.last_change(path, self.base, tip, key) for tip in (self.ours, self.theirs))
        return ours, theirs

    def _local_time(self, moment: Moment) -> datetime:
        return datetime.fromtimestamp(min(moment.time, _LAST_SECOND), UTC).astimezone(self.vault.config.zone())


def _place(root: Path, path: PurePosixPath) -> Path:
    """Where a file of the other side goes. Raises `HistoryError` for a folder in its place, or a file above it."""
    place = files.contained(root, path)
    in_the_way = place if place.is_dir() else next((each for each in place.parents if each.is_file()), None)
    if in_the_way:
        kinds = "file there and a folder" if in_the_way == place else "folder there and a file"
        raise HistoryError(f"{in_the_way.relative_to(root.resolve())} is a {kinds} here: {_BY_HAND}")
    return place


def _mine(root: Path, path: PurePosixPath) -> bytes | None:
    try:
        return files.read(_place(root, path))
    except TooLarge as error:
        raise HistoryError(f"the remote changed {path}, which is too large here to be merged: {_BY_HAND}") from error


def _is_open_rules(path: PurePosixPath) -> bool:
    """Whether git reads a file for rules, and it may come in at all."""
    is_kind = is_rules(path, IGNORE) or is_rules(path, ATTRIBUTES)
    return is_kind and not layout.is_private(path) and not layout.is_misplaced(path)


def _require_plain_file(difference: FileDifference) -> None:
    """Only plain files are merged: a person must decide about a link or a repository inside the vault.

    A note that may be run comes from a disk that knows no modes; it is merged as any other.
    """
    old_mode, new_mode = difference.old_mode, difference.new_mode
    if new_mode not in ("000000", "100644", "100755", old_mode) or old_mode in ("120000", "160000"):
        raise HistoryError(f"{difference.path} is not a plain file on the other side (git mode {new_mode}): {_BY_HAND}")


def _is_taken(entry: TreeEntry | None, difference: FileDifference) -> bool:
    return entry is not None and entry.id == difference.new


def _other_side(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
