"""What sync does not let through, whatever `.gitignore` says: private files in both directions, and into this vault
programs, files over an ignored one of the person's, and settings that cannot be read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vault_memory.adapters import files
from vault_memory.adapters.git import ATTRIBUTES, IGNORE, MAX_OBJECT_BYTES, FileDifference, TreeEntry, is_rules
from vault_memory.adapters.unsent import unsent_files
from vault_memory.config import Config
from vault_memory.core import layout, reading
from vault_memory.core.notes import stray
from vault_memory.core.privacy import shown_address, shown_path
from vault_memory.core.profile import MAX_PROFILE_CHARS
from vault_memory.errors import ConfigError, ForeignFile, HistoryError, LargeObject, TooLarge, in_command
from vault_memory.services.sync.git_rules import MAX_RULES_BYTES, is_claiming
from vault_memory.services.vault import Vault

_PRIVATE_NOTE = (
    "private, so they are not taken in; this merge takes them out of the remote's files, not out of its history"
)
_MISPLACED_NOTE = (
    "in the place of a folder or file of the vault's own, or settings where no other vault can be, so they are not "
    "taken in; this merge takes them out of the remote's files, not out of its history, and what stands here stays: "
    "give them another name where they were written"
)
_PROGRAM_NOTE = (
    "run or obeyed by other programs (Obsidian's plugins, hidden files), so they stay in git and are not put on disk: "
    "`vault-memory sync --plugins` takes them"
)
_LARGE_NOTE = (
    f"larger than {files.MAX_FILE_BYTES // 10**6} MB, so they stay in git and are not put on disk: `git update-index "
    "--no-skip-worktree FILE`, then `git checkout HEAD -- FILE` puts one there"
)
_LARGE_BESIDE_NOTE = (
    f"larger than {files.MAX_FILE_BYTES // 10**6} MB, so they stay in git, and what is on this disk under that name "
    "stays as it is: `git show HEAD:FILE > NEW-NAME` puts one beside it"
)
_NAME_NOTE = (
    "too long for this disk, or with signs that it does not take, so they stay in git and are not put on disk: give "
    "them a shorter name where they were written"
)
_ATTRIBUTES_NOTE = (
    f"larger than {MAX_RULES_BYTES // 1000} KB, and every write would search them, so they stay in git and are "
    "not put on disk: divide them where they were written"
)
_LARGE_CLASH_NOTE = (
    "too large, and changed on both sides, a file that turns write or prompts hold, `.gitignore`, or attributes that "
    "newly set an encoding or a filter: yours stays, theirs is in git's history"
)
_KEPT_NOTE = (
    "deleted or renamed there, and you keep what is here out of commits (skip-worktree or assume-unchanged): without "
    "git's entry your text would count as new and be sent, so git goes on tracking it; to end that, move it away or "
    "have git ignore it, then `git rm --cached FILE` and `git commit`"
)
_NO_USER_NOTE = "in a folder of memory/ whose name is no user id, so they are no user's, and are not searched"
_COVERED_NOTE = "ignored here or left out by git, so your own files stay as they are"
_MAX_NAMED = 3
_MAX_SETTINGS_BYTES = 1_000_000
_MAX_WRITTEN_BYTES = {"profile": MAX_PROFILE_CHARS, "daily": 4_000_000}
_MAX_LOG_BYTES = 15_000_000
"""Of a file that turns write: they read all of it, and it must have room to grow."""
_MAX_SWIFT_BYTES = 1_000_000
"""Of a `.gitattributes` on this disk; searching more takes a good part of a write's time."""


@dataclass(frozen=True)
class Refusals:
    """What a merge does not put on disk: the entry that its tree gets for each path (None: none), and a line for each
    reason."""

    entries: dict[PurePosixPath, TreeEntry | None]
    notes: tuple[str, ...]


def refusals(
    vault: Vault,
    theirs: str,
    differences: Sequence[FileDifference],
    sizes: Mapping[str, int],
    *,
    programs: bool,
) -> Refusals:
    """Which files that the commit `theirs` changed must not reach the disk. `sizes` has the bytes of their blobs.

    Private and misplaced ones leave the tree, in which what they would replace stays as it is here. The others keep the
    remote's entry in the tree, so that no push deletes them there, and are marked as not on this disk (git's skip-
    worktree). An entry that this vault has changed too stays ours, and so does a file that turns write: they could not.
    Rules that are not taken in (`git_rules`) stay out of the tree: git heeds those that its index alone has. So does
    the deletion of a file whose text here the person keeps out of commits.
    """
    history = vault.history
    private = [each for each in differences if layout.is_private(each.path)]
    misplaced = [each for each in differences if each not in private and _is_misplaced(vault, each)]
    kept_out = {each.path for each in (*private, *misplaced)}
    others = [each for each in differences if each.path not in kept_out]
    replaced = _replaced([each.path for each in misplaced if each.new], [each.path for each in others])
    open_to_all = [each for each in others if each.path not in replaced]
    left_out = {
        path
        for path in history.working_tree.left_out([each.path for each in open_to_all])
        if not _is_followed(vault, path)
    }
    unfit = {each.path for each in open_to_all if not files.can_write(history.root, each.path)}
    run = {each.path for each in open_to_all if layout.is_for_programs(each.path) and not programs} - unfit
    large = {
        each.path
        for each in open_to_all
        if max((sizes.get(blob, 0) for blob in (each.old, each.new) if blob), default=0) > _max_bytes(each.path)
    } - (unfit | run)
    untracked = _untracked(vault, (each for each in open_to_all if each.path not in unfit | run))
    covered = {path for path in untracked if history.working_tree.is_ignored(path)}
    flagged = _flagged(vault, [each.path for each in open_to_all if each.new is None and each.path not in run])
    kept = flagged - history.working_tree.ignoring(sorted(flagged)).keys()
    entries: dict[PurePosixPath, TreeEntry | None] = {
        each.path: None for each in (*private, *misplaced) if each.new or history.entry(each.path)
    }
    entries |= {path: history.entry(path) for path in replaced}
    clashes: list[PurePosixPath] = []
    for each in open_to_all:
        if each.path in left_out | covered | unfit | run | large | flagged:
            ours = history.entry(each.path)
            is_ours_changed = (ours.id if ours else None) not in (each.old, each.new) and each.path not in left_out
            is_needed = (
                layout.is_written_by_turns(each.path) or layout.is_prompted(each.path) or is_rules(each.path, IGNORE)
            )
            is_kept = is_ours_changed or (each.path in large and is_needed) or is_claiming(vault, each)
            entries[each.path] = ours if is_kept or each.path in kept else history.entry(each.path, theirs)
            if is_kept and each.path in large:
                clashes.append(each.path)
    taken_out = [each.path for each in open_to_all if each.path in large and each.new and each.path not in clashes]
    plain = [path for path in taken_out if not is_rules(path, ATTRIBUTES)]
    on_disk = {path for path in plain if os.path.lexists(history.root / path)}
    notes = (
        *_note([each.path for each in private if each.new], _PRIVATE_NOTE),
        *_note([each.path for each in misplaced if each.new], _MISPLACED_NOTE),
        *_note([each.path for each in open_to_all if each.path in run and each.new], _PROGRAM_NOTE),
        *_note([each.path for each in open_to_all if each.path in unfit and each.new], _NAME_NOTE),
        *_note([each.path for each in open_to_all if each.new and layout.is_of_no_user(each.path)], _NO_USER_NOTE),
        *_note(sorted(kept), _KEPT_NOTE),
        *_note(sorted((covered | left_out) - unfit - run - large - kept), _COVERED_NOTE),
        *_note([path for path in plain if path not in on_disk], _LARGE_NOTE),
        *_note([path for path in plain if path in on_disk], _LARGE_BESIDE_NOTE),
        *_note([path for path in taken_out if is_rules(path, ATTRIBUTES)], _ATTRIBUTES_NOTE),
        *_note(clashes, _LARGE_CLASH_NOTE),
    )
    return Refusals(entries, notes)


def _is_misplaced(vault: Vault, difference: FileDifference) -> bool:
    """Whether a file is in the place of another, or would make a vault of its own of a folder here, whose notes would
    leave the search."""
    if layout.is_misplaced(difference.path):
        return True
    is_inner = difference.path.name.casefold() == layout.SETTINGS_FILE and len(difference.path.parts) > 1
    return is_inner and difference.new is not None and vault.history.entry(difference.path) is None


def _flagged(vault: Vault, deleted: Sequence[PurePosixPath]) -> set[PurePosixPath]:
    """Those of the files that the remote has deleted that lie here, and whose text the person keeps out of commits by a
    flag in git's entry. Without the entry it would count as a new file."""
    return vault.history.working_tree.unseen([path for path in deleted if os.path.lexists(vault.history.root / path)])


def _is_followed(vault: Vault, path: PurePosixPath) -> bool:
    """Whether a file that git leaves out is one that turns write, and is as git has it: a merge may write it too."""
    with contextlib.suppress(TooLarge, LargeObject, ForeignFile):
        on_disk = files.read(files.contained(vault.history.root, path))
        return layout.is_written_by_turns(path) and on_disk is not None and on_disk == vault.history.blob(path)
    return False


def _max_bytes(path: PurePosixPath) -> int:
    if layout.is_written_by_turns(path):
        place = layout.place_of(path)
        return _MAX_WRITTEN_BYTES.get(layout.kind_of(place) if place else "", _MAX_LOG_BYTES)
    if layout.is_prompted(path):
        return layout.MAX_PROMPTED_BYTES
    return MAX_RULES_BYTES if is_rules(path, ATTRIBUTES) or is_rules(path, IGNORE) else files.MAX_FILE_BYTES


def _replaced(misplaced: Sequence[PurePosixPath], others: Iterable[PurePosixPath]) -> set[PurePosixPath]:
    """Those of the other changed files that had to go for a misplaced one: the file above it, or those below it."""
    places, above = set(misplaced), {folder for path in misplaced for folder in path.parents}
    return {path for path in others if path in above or not places.isdisjoint(path.parents)}


def settings_problem(content: bytes) -> str:
    """Why a text cannot be this vault's settings; "" if it can."""
    if len(content) > _MAX_SETTINGS_BYTES:
        return f"it has more than {_MAX_SETTINGS_BYTES:,} bytes"
    try:
        Config.parse(content.decode("utf-8"), Path(layout.SETTINGS_FILE), {})
    except (ConfigError, UnicodeDecodeError) as error:
        return "; ".join(reading.lines(str(error)))
    return ""


def private_files(vault: Vault, head: str, theirs: str | None) -> dict[PurePosixPath, set[str]]:
    """The private files that a push of `head` would send and the remote, at `theirs`, lacks: path → blobs."""
    found: dict[PurePosixPath, set[str]] = {}
    for path, blob in unsent_files(vault.history.root, theirs, head):
        if layout.is_private(path) or _is_stray(vault, path, blob):
            found.setdefault(path, set()).add(blob)
    return found


def refuse_private_commits(vault: Vault, head: str, theirs: str | None, remote: str) -> None:
    """Raise `HistoryError` if a push of `head` would send a private file that the remote, at `theirs`, lacks. `remote`
    is what the person called it, if anything."""
    if not (found := private_files(vault, head, theirs)):
        return
    again = f"vault-memory sync --take-out-private{f' {in_command(shown_address(remote))}' if remote else ''}"
    raise HistoryError(
        f"commits that the remote does not have yet hold {len(found):,} private file{'' if len(found) == 1 else 's'} "
        f"({named(found)}), which never leave this machine: nothing was sent. `{again}` makes these commits anew "
        "without them and sends that; the files themselves stay where they are"
    )


def _is_stray(vault: Vault, path: PurePosixPath, blob: str) -> bool:
    """Whether an object of git's is a conversation record, an index or an archive of such in another place. What turns
    write is not read, since each commit has a version of that, and neither is what git has of more than 300 MB."""
    if layout.is_written_by_turns(path):
        return False
    with contextlib.suppress(LargeObject):
        content = vault.history.stored(blob).read(MAX_OBJECT_BYTES)
        return stray.is_stray(path, lambda: reading.lines(content, keep_ends=True))
    return False


def private_in_git(vault: Vault) -> str:
    """The private files that git tracks, in one line with the next step; "" when there are none."""
    return _private_line(vault.history.working_tree.tracked())


def wrong_in_git(vault: Vault) -> list[str]:
    """A line for each kind of file that git tracks and should not, or not like this, with the next step.

    Private files; misplaced ones that are on the disk; each `.gitattributes` that makes writes slow.
    """
    root, tracked = vault.history.root, vault.history.working_tree.tracked()
    misplaced = [path for path in tracked if layout.is_misplaced(path) and os.path.lexists(root / path)]
    lines = [_private_line(tracked), _misplaced_line(misplaced)]
    above = [root / layout.MEMORY_DIR, *(root / layout.user_dir(user_id) for user_id in vault.user_ids())]
    lines += [
        f"{folder / '.git'} makes git take that folder for another repository: nothing there is committed; move it away"
        for folder in above
        if os.path.lexists(folder / ".git")
    ]
    for path in (path for path in tracked if is_rules(path, ATTRIBUTES)):
        with contextlib.suppress(OSError):
            size = (root / path).lstat().st_size
            if size > _MAX_SWIFT_BYTES:
                lines.append(
                    f"{path} has {size:,} bytes, and every write searches them: take out the lines that you do not need"
                )
    return [line for line in (*lines, claims_line(vault, tracked)) if line]


def claims_line(vault: Vault, tracked: Iterable[PurePosixPath]) -> str:
    """A line if attributes claim that tracked files of the vault's own kinds, or its profiles, are in another encoding
    than UTF-8, or hold `$Id$`; with the next step. Else ""."""
    known = [path for path in tracked if layout.is_own_kind(path)]
    profiles = [layout.user_dir(user_id) / layout.PROFILE for user_id in vault.user_ids()]
    claimed, sources = vault.history.working_tree.claimed(dict.fromkeys([*known, *profiles]))
    if not claimed:
        return ""
    return (
        f"{' and '.join(map(str, sources))} set working-tree-encoding or ident for {_count(claimed)} of the vault "
        f"({_quoted(claimed)}): text in UTF-8 is committed as it is, but plain git would garble it: take those lines "
        "out"
    )


def _private_line(tracked: Iterable[PurePosixPath]) -> str:
    private = [path for path in tracked if layout.is_private(path)]
    if not private:
        return ""
    return (
        f"git tracks {_count(private)} that must stay on this machine ({_quoted(private)}): `git rm -r --cached` and "
        "their names, then `git commit`; if a remote has them, its history keeps them"
    )


def _misplaced_line(misplaced: Sequence[PurePosixPath]) -> str:
    if not misplaced:
        return ""
    return (
        f"git tracks {_count(misplaced)} where the vault has a folder, in a folder where it has a file, or where no "
        f"other vault can be ({_quoted(misplaced)}): `git mv` to another name, then `git commit`"
    )


def _quoted(paths: Sequence[PurePosixPath]) -> str:
    return ", ".join(in_command(path) for path in paths[:_MAX_NAMED])


def _untracked(vault: Vault, differences: Iterable[FileDifference]) -> list[PurePosixPath]:
    """The changed files that are on this disk and not in git here."""
    return [
        each.path
        for each in differences
        if each.new
        and vault.history.entry(each.path) is None
        and files.contained(vault.history.root, each.path).exists()
    ]


def named(paths: Iterable[PurePosixPath]) -> str:
    """The names of some files, for a message; of many the first ones."""
    names = [shown_path(path) for path in paths]
    return ", ".join([*names[:_MAX_NAMED], *(["…"] if len(names) > _MAX_NAMED else [])])


def _note(paths: Sequence[PurePosixPath], why: str) -> list[str]:
    return [f"{_count(paths)} of the remote ({named(paths)}): {why}"] if paths else []


def _count(paths: Sequence[PurePosixPath]) -> str:
    return f"{len(paths):,} file{'' if len(paths) == 1 else 's'}"
