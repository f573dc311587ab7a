"""Merge the remote's commit into this vault, file by file (`sides`).

The merge is planned here and committed by the same steps as any other write. Therefore it needs no merge driver in git,
and a file that the person saves during it is merged too. What may not come in is refused first (`refusals`).
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import (
    ATTRIBUTES,
    EXECUTABLE_MODE,
    FILE_MODES,
    IGNORE,
    CommitLog,
    FileDifference,
    TreeEntry,
    bytes_of,
    is_rules,
    refuse_vast,
    refuse_vast_files,
)
from vault_memory.adapters.history import ASSISTANT, Draft, FileChange
from vault_memory.core import layout, trailers
from vault_memory.core.merging import merge
from vault_memory.errors import Changed, HistoryError, TooLarge, UsageError, in_command
from vault_memory.services.sync.git_rules import filter_problem, filters_after, ignore_problem
from vault_memory.services.sync.refusals import refusals
from vault_memory.services.sync.renamings import Renamings
from vault_memory.services.sync.sides import BY_HAND, Sides, encode, free_place, has_new_mode
from vault_memory.services.vault import Vault

MAX_NEW_USERS = 200
MAX_NEW_FILES = 20_000
"""In one sync of a vault that has users: both hold up turns meanwhile, and a few kilobytes in git name any number."""
_Texts = dict[PurePosixPath, bytes | None]
"""Files as a merge would leave them on the disk; None for gone."""


@dataclass
class RemoteMerge:
    """One merge of the commit `theirs` of the remote `name`; `programs`: also take what Obsidian runs."""

    vault: Vault
    name: str
    theirs: str
    programs: bool = False
    sides: Sides = field(init=False)
    modes: dict[PurePosixPath, bytes] = field(default_factory=dict)
    left_out: list[FileDifference] = field(default_factory=list)
    instructions: list[PurePosixPath] = field(default_factory=list)
    changed: list[PurePosixPath] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        head = self.vault.history.state().head
        base = CommitLog(self.vault.history.root).merge_base(head, self.theirs) if head else None
        self.sides = Sides(
            self.vault, self.name, base, head, self.theirs, Renamings(self.vault, base, head, self.theirs)
        )

    @property
    def notes(self) -> list[str]:
        """A line for each thing that a person may want to look at."""
        return self.sides.notes

    def bring_modes(self) -> None:
        """Let files be run here, or no more, that the other side made so in the merged tree, as git would; after the
        merge is committed."""
        history = self.vault.history
        for path, mode in self.modes.items() if os.name != "nt" and history.working_tree.has_modes() else ():
            entry = history.entry(path)
            if entry and entry.mode == mode:
                with contextlib.suppress(FileNotFoundError), files.opened(free_place(history.root, path)) as file:
                    now = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                    runs = now | (now & 0o444) >> 2 if mode == EXECUTABLE_MODE else now & ~0o111
                    if runs != now:
                        os.fchmod(file.fileno(), runs)

    def bring_to_disk(self) -> None:
        """Merge what the remote changed into files that turns write, and that git leaves out here: on the disk alone,
        after the merge is committed. What the person keeps out of commits would else undo it one day."""
        history = self.vault.history
        for each in self.left_out:
            place = free_place(history.root, each.path)
            with contextlib.suppress(Changed, TooLarge):  # the person saves it just now, or it is too large
                mine = files.read(place)
                base, other = (history.stored(blob).read() if blob else None for blob in (each.old, each.new))
                if mine is None or other is None:
                    continue
                merged = merge.merge_file(each.path, base, mine, other, partial(self.sides.newer, each.path))
                if merged:
                    files.replace(place, encode(merged.text), mine, history.root)
                    self.sides.notes.append(
                        f"{each.path}: git leaves it out, so what came is merged into it on this disk alone"
                    )

    def drafts(self) -> list[Draft]:
        """The merge commit, and one commit per key that both sides changed; none when there is nothing to merge."""
        history, sides = self.vault.history, self.sides
        root = history.root
        if sides.base == self.theirs:
            return []
        self.given_up = sides.renamings.refuse_pending()
        refuse_vast(root, self.theirs)  # before anything of it is read
        settings = history.entry(PurePosixPath(layout.SETTINGS_FILE), self.theirs)
        if settings is None or settings.mode not in FILE_MODES:
            raise UsageError(
                f"the remote holds no vault ({layout.SETTINGS_FILE} is missing there): is it the right one?"
            )
        sides.base, sides.theirs = sides.renamings.moved()
        differences = sides.follow_moves()
        self._refuse_many(differences)
        sizes = refuse_vast_files(root, (blob for each in differences for blob in (each.old, each.new) if blob))
        refused = refusals(self.vault, sides.theirs, differences, sizes, programs=self.programs)
        sides.tree_only = refused.entries
        sides.notes += refused.notes
        kept = [each for each in differences if each.path in sides.tree_only and layout.is_written_by_turns(each.path)]
        taken = [each.path for each in kept if _is_taken(sides.tree_only[each.path], each)]
        flagged = history.working_tree.left_out(taken)
        self.left_out = [each for each in kept if each.path in flagged]
        self._refuse_below_kept(differences)
        rules = {each.path: each for each in differences if _is_open_rules(each.path)}
        differences = [difference for difference in differences if difference.path not in sides.tree_only]
        for difference in differences:
            _require_plain_file(difference)
        self.modes = {each.path: each.new_mode.encode() for each in differences if has_new_mode(each)}
        self._refuse_filtered(history.working_tree.filtered([difference.path for difference in differences]))
        changes = self._merge_rules(list(rules.values()), differences)
        later_drafts: list[Draft] = []
        for difference in (each for each in differences if each.path not in rules):
            file_changes, key_drafts = sides.merge(difference)
            changes += file_changes
            later_drafts += key_drafts
        self.changed = [each.path for each in changes if each.new]
        self.instructions = [path for path in self.changed if _is_to_be_told(path)]
        count = CommitLog(root).count(sides.ours, self.theirs)
        message = trailers.render(f"sync: merge {count} {'commit' if count == 1 else 'commits'} of the remote")
        merged = Draft(message, ASSISTANT, tuple(changes), self.theirs, tuple(sides.tree_only.items()))
        drafts = [merged, *later_drafts]
        self._refuse_staged(drafts)
        return drafts

    def _refuse_many(self, differences: Sequence[FileDifference]) -> None:
        """Raise `HistoryError` when the remote brings more users or files than people do: each user gets an index of a
        quarter of a megabyte, and each file takes some two milliseconds. A vault without users is filled for the first
        time."""
        known = set(self.vault.user_ids())
        users = {layout.scope_of(each.path) for each in differences if each.new} - known - {layout.SHARED}
        count = sum(1 for each in differences if each.old is None)
        if known and len(users) > MAX_NEW_USERS:
            what = f"{len(users):,} users who are not here yet, and a sync takes in {MAX_NEW_USERS}"
        elif known and count > MAX_NEW_FILES:
            what = f"{count:,} files that are not here yet, and a sync takes in {MAX_NEW_FILES:,}"
        else:
            return
        raise HistoryError(
            f"the remote has {what}: nothing of it is taken in; if you trust it, merge it yourself with "
            "`git pull --no-rebase`"
        )

    def _refuse_below_kept(self, differences: Sequence[FileDifference]) -> None:
        """Raise `HistoryError` for a file below one that stays in git as it is here."""
        kept = {path for path, entry in self.sides.tree_only.items() if entry}
        for each in differences:
            is_refused = each.path in self.sides.tree_only and each.path not in kept
            if each.new and not is_refused and not kept.isdisjoint(each.path.parents):
                free_place(self.vault.history.root, each.path)

    def _refuse_filtered(self, filtered: Mapping[PurePosixPath, str]) -> None:
        for path, name in filtered.items():
            raise HistoryError(f"{path} goes through the git filter {name}: {BY_HAND}")

    def _merge_rules(self, rules: Sequence[FileDifference], differences: Sequence[FileDifference]) -> list[FileChange]:
        """Merge the changed `.gitignore` and `.gitattributes` files before anything else: they say what may be merged.

        All of a kind are refused where one of them must be. `differences` are the files that are merged.
        """
        root = self.vault.history.root
        changes: list[FileChange] = []
        if ignore := [each for each in rules if is_rules(each.path, IGNORE)]:
            left = [path for path, entry in self.sides.tree_only.items() if entry is None]
            gone = [path for path in left if os.path.lexists(root / path)]
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
        sides = self.sides
        held, notes = dict(sides.tree_only), list(sides.notes)
        changes = [change for each in rules if each.path not in held for change in sides.merge(each)[0]]
        problem = problem_of(self._texts_after(name, changes))
        if not problem:
            return changes
        sides.tree_only, sides.notes = held, notes
        theirs = {each.path: each.new if each.path not in held else None for each in rules}
        stored = self.vault.history.stored
        return [
            change
            for path, blob in theirs.items()
            for change in sides.keep_ours(path, stored(blob) if blob else None, problem)
        ]

    def _texts_after(self, name: str, changes: Sequence[FileChange]) -> _Texts:
        """The files of rules called `name` that these changes leave on the disk, or in git's index alone, which git
        heeds where there is none on the disk."""
        history = self.vault.history
        after: _Texts = {change.path: bytes_of(change.new) for change in changes if is_rules(change.path, name)}
        for path, entry in self.sides.tree_only.items():
            is_in_index_alone = path not in after and not os.path.lexists(history.root / path)
            if is_rules(path, name) and is_in_index_alone and entry != history.entry(path):
                after[path] = history.stored(entry.id).read() if entry else None
        return after

    def _refuse_staged(self, drafts: Sequence[Draft]) -> None:
        """Raise `HistoryError` for a file that the person has staged, before anything is changed: its commit would take
        back what came, and commits of ours wait for it."""
        history = self.vault.history
        paths = dict.fromkeys(change.path for draft in drafts for change in draft.changes)
        paths |= dict.fromkeys(path for draft in drafts for path, entry in draft.tree_only if entry)
        staged = sorted(history.working_tree.staged(paths))
        if staged and (staged := sorted({*staged} - history.working_tree.left_out(staged))):
            raise HistoryError(
                f"{staged[0]} is staged, and the remote changed it, too: `git commit` it, or `git restore --staged "
                f"{in_command(staged[0])}`, which leaves your text on the disk; then sync again. Nothing was changed"
            )


def _is_to_be_told(path: PurePosixPath) -> bool:
    """Whether a file says what a model or this program is to do."""
    return layout.is_instruction(path) or path == PurePosixPath(layout.SETTINGS_FILE)


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
        raise HistoryError(f"{difference.path} is not a plain file on the other side (git mode {new_mode}): {BY_HAND}")


def _is_taken(entry: TreeEntry | None, difference: FileDifference) -> bool:
    return entry is not None and entry.id == difference.new
