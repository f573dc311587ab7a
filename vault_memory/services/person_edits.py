"""Commit a person's edits under the person's name, before anything else changes the files.

An edit is looked at and never kept: it is what the disk holds against HEAD at the moment of the commit. Whatever the
person takes back before that is gone.

A file with a secret that no commit holds yet is withheld: it alone waits, and `withheld` names it, until the person has
taken the secret out or has committed it with git. So is a file with marks of a conflict, one that is too large to be
read whole, one in a place that a turn may write to, one whose git filter fails, and one that is as another local branch
has it: a checkout that was killed leaves such files, and they are no edits.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote_to_bytes

from vault_memory.adapters import files
from vault_memory.adapters.git import object_id
from vault_memory.adapters.history import Author, Draft, FileChange, Flushed
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout, reading, trailers
from vault_memory.core.notes import note
from vault_memory.core.privacy import Finding, Moved, redact, secrets_added, shown_path
from vault_memory.core.profile import Change, Profile, changes_between, versions
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Busy, Changed, ForeignFile, HistoryError, LargeObject, TooLarge, Unwritable, in_command
from vault_memory.services.vault import Vault

MAX_ATTEMPTS = 20
"""The files are read this often when an editor keeps saving them."""
CONFLICT = "conflict mark"
"""What git leaves in a file for the person to decide."""
_MAX_LISTED_FILES = 20
_MAX_PREFERENCES = 50
"""Changed by one edit of a profile, each with a commit of its own."""
_MAX_PROFILE_BYTES = 1_000_000
"""Of a profile before and after an edit: each of those commits holds all of it."""
_MAX_SEARCHED_BYTES = 65_536
"""The title of a note is looked for in this many of its first bytes."""
_MAX_TITLE_CHARS, _MAX_SEARCHED_TITLE_CHARS = 80, 400
"""A title is cut after its secrets are replaced: half a secret would not be recognised."""


def commit_person_edits(
    vault: Vault,
    scope: str | None,
    paths: Sequence[PurePosixPath] | None = None,
    on_waiting: Callable[[str], None] = lambda reason: None,
) -> int:
    """Commit every edit in a scope (None: in the whole vault) that is not committed yet; return how many files.

    A commit that cannot be made now waits, and `on_waiting` is told why.

    The caller holds the user's lock (for None every user's). Without it the assistant's text could be on disk before it
    is in a draft, and would be committed as the person's. `paths` (vault-relative) limits this to those files. Raises
    `Changed` when an editor keeps saving.
    """
    count = 0
    for attempt in range(MAX_ATTEMPTS):
        edited: set[PurePosixPath] = set()
        try:
            for part in vault.history.uncommitted_in_parts(paths):
                edits = [edit for edit in part if scope in (None, layout.scope_of(edit.path))]
                edited |= {edit.path for edit in edits}
                cleared = _cleared(vault, edits)
                flushed = _commit(vault, cleared)
                waiting = {edit.path for edit in cleared} & flushed.waiting_paths
                if waiting and flushed.paused:
                    on_waiting(flushed.paused)
                count += len(cleared) - len(waiting)
            _forget(vault, scope, paths, edited)
            return count
        except Changed:
            if attempt == MAX_ATTEMPTS - 1:
                raise
            vault.history.wait_for_git()
    raise AssertionError("the loop returns or raises")


def commit_edits(vault: Vault, edits: Sequence[FileChange]) -> Flushed:
    """Commit these edits as the person's: one commit per preference of a profile, one for all other files of a scope.

    A file with a new secret is withheld. One that the person has staged gets a commit of its own, which waits: the
    others do not wait with it. The caller holds the locks, and will write to these files. Raises `Changed` when a file
    was saved again since, and `HistoryError` when one is as another branch has it: what is written there would be, too.
    """
    cleared = _cleared(vault, edits)
    flushed = _commit(vault, cleared)
    if len(cleared) < len(edits):
        for name, noted in _record(vault).read().items():
            if "branch" in noted and _path(name) in {edit.path for edit in edits}:
                found = _of_branch(vault, _path(name), noted["branch"])
                raise HistoryError(f"{found.path}: {found.why}: {found.next_step}")
    return flushed


def _commit(vault: Vault, cleared: Sequence[FileChange]) -> Flushed:
    return vault.history.commit_edits(_drafts(vault, cleared)) if cleared else Flushed()


# --- what is withheld -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Withheld:
    """A file that is kept out of commits, why in words, and what to do about it.

    `kind` is that of the secret in this line (1-based; 0: in the file's name), `conflict mark`, or (line 0) `large`,
    `misplaced`, `filter`, `skip-worktree` or `checkout`. `path` shows no secret that is in the name.
    """

    path: str
    line: int
    kind: str
    why: str
    next_step: str


def withheld(vault: Vault) -> tuple[Withheld, ...]:
    """What was withheld from a commit and still would be: each secret, and each file that is too large or misplaced,
    whose git filter fails, that git leaves out, or that is as another branch has it."""
    record = _record(vault)
    known = record.read()
    branches = _branches(known)
    held: dict[PurePosixPath, str] = {}
    for part in vault.history.uncommitted_in_parts(branches) if branches else ():
        held |= vault.history.obstacles.held_elsewhere(part, branches)
    of_branches = {_written(path): {"branch": branch} for path, branch in held.items()}
    now = {name: of_branches.get(name) or _looked_up(vault, name, noted) for name, noted in known.items()}
    if now != known:
        still = {name: noted for name, noted in now.items() if _is_held(noted)}
        with contextlib.suppress(Busy, Unwritable):  # then the next look searches these files once more
            record.update(lambda state: {name: noted for name, noted in state.items() if name not in now} | still)
    secrets = [
        Withheld(
            shown_path(_path(name)),
            *finding,
            f"{finding.where} holds a secret ({finding.kind})",
            _next_step(name, finding),
        )
        for name, noted in now.items()
        for finding in _findings(noted)
    ]
    left_alone = sorted(vault.history.obstacles.left_alone().items())
    others = (_misplaced(path) if size is None else _large(path, size) for path, size in left_alone)
    unfiltered = (_unfiltered(path, name) for path, name in sorted(vault.history.obstacles.failing_filters().items()))
    unjudged = (_left_out(path) for path in sorted(vault.history.obstacles.kept_back()))
    checked_out = (_of_branch(vault, path, held[path]) for path in sorted(held))
    return (*secrets, *others, *unfiltered, *unjudged, *checked_out)


def _large(path: PurePosixPath, size: int) -> Withheld:
    why = f"it has {size:,} bytes" if size > files.MAX_FILE_BYTES else "the one in git is large"
    next_step = (
        f"files of more than {files.MAX_FILE_BYTES // 10**6} MB are not committed by themselves: commit it on purpose "
        f"(`git add {in_command(shown_path(path))}`, `git commit`), move it out of the vault, or name it in .gitignore"
    )
    return Withheld(shown_path(path), 0, "large", why, next_step)


def _misplaced(path: PurePosixPath) -> Withheld:
    why = "it is a file where the vault has a folder, or in a folder where it has a file"
    return Withheld(shown_path(path), 0, "misplaced", why, "turns cannot write there: move it, or give it another name")


def _unfiltered(path: PurePosixPath, name: str) -> Withheld:
    next_step = (
        f"`git add {in_command(shown_path(path))}` shows what it says: install its program, correct `filter.{name}` "
        "in git's config, or take it out of .gitattributes"
    )
    return Withheld(shown_path(path), 0, "filter", f"its git filter {name} fails", next_step)


def _left_out(path: PurePosixPath) -> Withheld:
    shown = shown_path(path)
    command = f"git update-index --no-skip-worktree {in_command(shown)}"
    next_step = f"`{command}` lets your edits and what was learned since be committed"
    return Withheld(shown, 0, "skip-worktree", "git leaves it out, and it held edits that are in no commit", next_step)


def _of_branch(vault: Vault, path: PurePosixPath, branch: str) -> Withheld:
    shown = shown_path(path)
    named = in_command(shown)
    why = f"it is as the branch {branch} has it, as a git checkout that was killed leaves it"
    is_new = vault.history.entry(path) is None
    undo = f"delete {shown}" if is_new else f"`git restore {named}`"
    next_step = (
        f"{undo} takes it back, `git reset --hard` all that is not committed; `git add {named}` and `git commit`"
    )
    return Withheld(shown, 0, "checkout", why, f"{next_step} keep it on this branch")


def _next_step(name: str, finding: Finding) -> str:
    if finding.kind == CONFLICT:
        mend, added = "keep what is right of both texts, delete the marks", in_command(shown_path(_path(name)))
    elif finding.line:
        mend, added = "take it out and save the file", in_command(shown_path(_path(name)))
    else:
        mend, added = "rename the file", "FILE"
    return f"{mend}; or commit it on purpose: `git add {added}`, `git commit --no-verify`"


def _cleared(vault: Vault, edits: Sequence[FileChange]) -> list[FileChange]:
    """The edits without those that bring in a secret or are as another branch has them, which are recorded."""
    moved = Moved((edit.path, edit.before) for edit in edits if edit.after is None)
    record = _record(vault)
    known = record.read() if os.path.lexists(record.path) else {}
    branches = vault.history.obstacles.held_elsewhere(edits, _branches(known)) if edits else {}
    cleared, held = [], {}
    for edit in edits:
        name = _written(edit.path)
        if edit.path in branches:
            noted: dict[str, Any] = {"branch": branches[edit.path]}
        else:
            noted = _noted(vault, known.get(name), edit.path, edit.before, edit.after, moved)
        if _is_held(noted):
            held[name] = noted
        else:
            cleared.append(edit)
    names = {_written(edit.path) for edit in edits}
    if held != {name: noted for name, noted in known.items() if name in names}:
        record.update(lambda state: {name: noted for name, noted in state.items() if name not in names} | held)
    return cleared


def _forget(
    vault: Vault, scope: str | None, paths: Sequence[PurePosixPath] | None, edited: Collection[PurePosixPath]
) -> None:
    """Drop from the record what was looked at and is as HEAD has it: another edit of that file is a new one."""
    record = _record(vault)
    known = record.read() if os.path.lexists(record.path) else {}
    looked_at = set(map(_path, known) if paths is None else paths) - set(edited)
    gone = {
        name
        for name, path in ((name, _path(name)) for name in known)
        if path in looked_at and scope in (None, layout.scope_of(path)) and not _is_edited(vault, path)
    }
    if gone:
        record.update(lambda state: {name: noted for name, noted in state.items() if name not in gone})


def _is_edited(vault: Vault, path: PurePosixPath) -> bool:
    """Whether a file differs from HEAD; True as long as that cannot be told."""
    try:
        text = files.read(files.contained(vault.root, path))
        is_kept = vault.history.entry(path) is None if text is None else vault.history.is_kept(path, text)
    except (TooLarge, LargeObject, ForeignFile, HistoryError):
        return True
    return not is_kept


def _written(path: PurePosixPath) -> str:
    """A path as the record has it: `%FF` for a byte that is not UTF-8, which JSON cannot hold."""
    return _UNWRITABLE.sub(lambda found: f"%{os.fsencode(found[0])[0]:02X}", str(path))


_UNWRITABLE = re.compile("[%\udc80-\udcff]")


def _path(written: str) -> PurePosixPath:
    return PurePosixPath(os.fsdecode(unquote_to_bytes(written)))


def _looked_up(vault: Vault, name: str, noted: Any) -> dict[str, Any]:
    """The note of a withheld file, as it is now."""
    path = _path(name)
    try:
        return _noted(vault, noted, path, vault.history.blob(path), files.read(files.contained(vault.root, path)))
    except (TooLarge, LargeObject, ForeignFile):  # it is withheld for that
        return {"findings": []}


def _noted(
    vault: Vault, noted: Any, path: PurePosixPath, before: bytes | None, after: bytes | None, moved: Moved | None = None
) -> dict[str, Any]:
    """What is recorded of a file: the secrets that it brings in, and the texts in which they were found.

    That is `noted` again, if it is of these texts: to search a megabyte takes seconds, and every commit asks.
    """
    texts = " ".join("" if text is None else object_id("blob", text) for text in (before, after))
    if isinstance(noted, dict) and noted.get("texts") == texts and _findings(noted):
        return noted

    def has_folder(folder: PurePosixPath) -> bool:
        return vault.history.entry(folder) is not None

    was_held = isinstance(noted, dict) and any(found.line and found.kind != CONFLICT for found in _findings(noted))
    findings = secrets_added(path, [before], after, moved or Moved(), has_folder, was_held=was_held)
    if line := note.git_conflict_added(before, after):
        findings.append(Finding(line, CONFLICT))
    return {"texts": texts, "findings": [list(found) for found in findings]}


def _branches(known: Mapping[str, Any]) -> dict[PurePosixPath, str]:
    """The files of the record that are as another branch has them, and its name."""
    held = {_path(name): noted.get("branch") for name, noted in known.items() if isinstance(noted, dict)}
    return {path: branch for path, branch in held.items() if isinstance(branch, str)}


def _is_held(noted: Mapping[str, Any]) -> bool:
    return bool(noted.get("findings") or noted.get("branch"))


def _findings(noted: dict[str, Any]) -> list[Finding]:
    """The findings in a note; none if anything else stands there."""
    match noted.get("findings"):
        case [*pairs]:
            return [Finding(*pair) for pair in pairs if isinstance(pair, list) and [*map(type, pair)] == [int, str]]
    return []


def _record(vault: Vault) -> StateFile:
    """`_noted` of each withheld file, or the `branch` that has it so. When it is lost, the next look at all files makes
    it again."""
    return StateFile(vault.root, "withheld")


def edit_drafts(
    vault: Vault, author: Author, path: PurePosixPath, before: bytes | None, after: bytes | None
) -> list[Draft]:
    """One draft per preference that differs in an edited USER.md, the last with exactly `after`; else none.

    None either for more than `_MAX_PREFERENCES`, for more `versions` than are kept, for a text that is too long, or one
    that is not in UTF-8 and so holds no preference that can be read: that is a new profile, and a commit like that of
    any other file.
    """
    user_id = layout.scope_of(path)
    if not before or not after or len(before) + len(after) > _MAX_PROFILE_BYTES:
        return []
    if not user_id or path != layout.user_dir(user_id) / layout.PROFILE:
        return []
    if reading.not_utf_8(before) or reading.not_utf_8(after):
        return []
    old, new = (Profile.decode(data, vault.config.locale) for data in (before, after))
    changes = changes_between(old, new, _MAX_PREFERENCES)
    contents = [*versions(old, changes[:-1]), after]
    if len(contents) < len(changes):
        return []
    drafts, previous = [], before
    for change, content in zip(changes, contents, strict=False):  # without a change there is no draft
        message = trailers.render(_subject(change), "", Trailers.of_change(user_id, change))
        drafts.append(Draft(message, author, (FileChange(path, previous, content),)))
        previous = content
    return drafts


def _drafts(vault: Vault, edits: Sequence[FileChange]) -> list[Draft]:
    author = vault.history.person()
    drafts: list[Draft] = []
    staged = vault.history.working_tree.staged([edit.path for edit in edits])
    others: dict[tuple[str, PurePosixPath | None], list[FileChange]] = {}
    for edit in edits:
        preference_drafts = edit_drafts(vault, author, edit.path, edit.before, edit.after)
        drafts += preference_drafts
        if not preference_drafts:
            alone = edit.path if edit.path in staged else None
            others.setdefault((layout.scope_of(edit.path), alone), []).append(edit)
    return drafts + [Draft(_message(changes), author, tuple(changes)) for changes in others.values()]


def _message(changes: Sequence[FileChange]) -> str:
    """`edit 想法 (notes/idea.md)`; for several files `add 12 files, delete 1 file` and a list of the first."""
    lines = [f"{_verb(change)} {_name(change)}" for change in changes]
    if len(lines) == 1:
        return trailers.render(lines[0])
    verbs = [_verb(change) for change in changes]
    counts = [(verb, verbs.count(verb)) for verb in ("add", "edit", "delete") if verb in verbs]
    subject = ", ".join(f"{verb} {count} {'file' if count == 1 else 'files'}" for verb, count in counts)
    more = [f"and {len(lines) - _MAX_LISTED_FILES} more"] if len(lines) > _MAX_LISTED_FILES else []
    listed = [f"- {trailers.single_line(line)}\n" for line in lines[:_MAX_LISTED_FILES] + more]
    return trailers.render(subject) + "\n" + "".join(listed)


def _verb(change: FileChange) -> str:
    return "add" if change.before is None else "delete" if change.after is None else "edit"


def _name(change: FileChange) -> str:
    """The title of a note, if it has one, and its path."""
    if change.path.suffix != ".md":
        return str(change.path)
    data = change.after if change.after is not None else change.before or b""
    parsed = note.parse(data[:_MAX_SEARCHED_BYTES].decode("utf-8", "replace"))
    heading = re.search(r"^# +(\S.*)$", parsed.body, re.MULTILINE)
    title = parsed.title or (heading[1].rstrip(" #") if heading else "")
    title = trailers.single_line(redact(title[:_MAX_SEARCHED_TITLE_CHARS]).text)
    return f"{title[:_MAX_TITLE_CHARS]} ({change.path})" if title else str(change.path)


def _subject(change: Change) -> str:
    if change.op == "set" and change.old:
        return f"{layout.PROFILE}: {change.key} {change.old} → {change.new}"
    return f"{layout.PROFILE}: {change.summary()}"
