"""What is withheld from commits, and why; `.vault-memory/withheld.json` keeps what was found.

A file with a secret that no commit holds yet is withheld: it alone waits, and `withheld` names it, until the person has
taken the secret out or has committed it with git. So is a file with marks of a conflict, a conversation record that was
moved or packed out of its place, an archive that cannot be looked into, a file that is too large to be read whole, one
in a place that a turn may write to, one whose git filter fails, and one that is as another local branch has it: a
checkout that was killed leaves such files, and they are no edits.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote_to_bytes

from vault_memory.adapters import files
from vault_memory.adapters.git import object_id
from vault_memory.adapters.history import FileChange
from vault_memory.adapters.state import StateFile
from vault_memory.core import layout
from vault_memory.core.notes import note, stray
from vault_memory.core.privacy import Finding, Moved, secrets_added, shown_path
from vault_memory.errors import Busy, ForeignFile, HistoryError, LargeObject, TooLarge, Unwritable, in_command
from vault_memory.services.vault import Vault

CONFLICT = "conflict mark"
"""What git leaves in a file for the person to decide."""
STRAY, OPAQUE = "private", "opaque"
"""Of `core.notes.stray`: what is private, as before, and what may be."""


@dataclass(frozen=True)
class Withheld:
    """A file that is kept out of commits, why in words, and what to do about it.

    `kind` is that of the secret in this line (1-based; 0: in the file's name), `conflict mark`, or (line 0) `private`
    (a record, an index or an archive of such out of its place; the first such file of a folder stands for all),
    `opaque` (an archive that cannot be looked into), `large`, `misplaced`, `filter`, `skip-worktree` or `checkout`.
    `path` shows no secret that is in the name.
    """

    path: str
    line: int
    kind: str
    why: str
    next_step: str


def withheld(vault: Vault) -> tuple[Withheld, ...]:
    """What was withheld from a commit and still would be: each secret, each folder of conversations, and each file that
    is too large or misplaced, whose git filter fails, that git leaves out, or that is as another branch has it."""
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
    found = [(name, finding) for name, noted in now.items() for finding in _findings(noted)]
    secrets = [
        Withheld(
            shown_path(_path(name)),
            *finding,
            f"{finding.where} holds a secret ({finding.kind})",
            _next_step(name, finding),
        )
        for name, finding in found
        if finding.kind not in (STRAY, OPAQUE)
    ]
    strays = _strays(_path(name) for name, finding in found if finding.kind == STRAY)
    opaque = (_opaque(_path(name)) for name, finding in found if finding.kind == OPAQUE)
    left_alone = sorted(vault.history.obstacles.left_alone().items())
    others = (_misplaced(path) if size is None else _large(path, size) for path, size in left_alone)
    unfiltered = (_unfiltered(path, name) for path, name in sorted(vault.history.obstacles.failing_filters().items()))
    unjudged = (_left_out(path) for path in sorted(vault.history.obstacles.kept_back()))
    checked_out = (_of_branch(vault, path, held[path]) for path in sorted(held))
    return (*secrets, *strays, *opaque, *others, *unfiltered, *unjudged, *checked_out)


def without_withheld(vault: Vault, edits: Sequence[FileChange]) -> list[FileChange]:
    """The edits without those that bring in a secret or a conversation record, or are as another branch has them, which
    are recorded."""
    moved = Moved((edit.path, edit.before) for edit in edits if edit.after is None)
    record = _record(vault)
    known = record.read() if os.path.lexists(record.path) else {}
    branches = vault.history.obstacles.held_elsewhere(edits, _branches(known)) if edits else {}
    free, held = [], {}
    for edit in edits:
        vault.chats.step_aside()
        name = _written(edit.path)
        if edit.path in branches:
            noted: dict[str, Any] = {"branch": branches[edit.path]}
        else:
            noted = _noted(vault, known.get(name), edit.path, edit.before, edit.after, moved)
        if _is_held(noted):
            held[name] = noted
        else:
            free.append(edit)
    names = {_written(edit.path) for edit in edits}
    if held != {name: noted for name, noted in known.items() if name in names}:
        record.update(lambda state: {name: noted for name, noted in state.items() if name not in names} | held)
    return free


def refuse_checked_out(vault: Vault, paths: Collection[PurePosixPath]) -> None:
    """Raise `HistoryError` when one of these files is withheld because another branch has it so."""
    for name, noted in _record(vault).read().items():
        if "branch" in noted and _path(name) in paths:
            found = _of_branch(vault, _path(name), noted["branch"])
            raise HistoryError(f"{found.path}: {found.why}: {found.next_step}")


def forget(
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


# Why a file is withheld, in words ---------------------------------------------------------------------------------


def _strays(paths: Iterable[PurePosixPath]) -> Iterator[Withheld]:
    """One for each folder: a user's folder that is moved holds a record for each day of years."""
    for _, group in itertools.groupby(sorted(paths), key=lambda path: path.parent):
        first, *others = group
        is_record = first.suffix.casefold() in (".jsonl", ".json")
        what = "turns of a conversation" if is_record else "conversations, a search index, state or a git repository"
        why = f"it holds {what}, which is private"
        if others:
            why += f", and so do {len(others):,} more in its folder"
        home = f"{layout.MEMORY_DIR}/USER/{layout.CONVERSATIONS_DIR}/"
        next_step = f"move it out of the vault, or a record back into `{home}`"
        yield Withheld(shown_path(first), 0, STRAY, why, next_step)


def _large(path: PurePosixPath, size: int) -> Withheld:
    why = f"it has {size:,} bytes" if size > files.MAX_FILE_BYTES else "the one in git is large"
    next_step = (
        f"files of more than {files.MAX_FILE_BYTES // 10**6} MB are not committed by themselves: commit it on purpose "
        f"(`git add {in_command(shown_path(path))}`, `git commit`), move it out of the vault, or name it in .gitignore"
    )
    return Withheld(shown_path(path), 0, "large", why, next_step)


def _opaque(path: PurePosixPath) -> Withheld:
    why = "it is an archive that cannot be looked into, and may hold conversations"
    next_step = (
        f"move it out of the vault, name it in .gitignore, or commit it on purpose: "
        f"`git add {in_command(shown_path(path))}`, `git commit`"
    )
    return Withheld(shown_path(path), 0, OPAQUE, why, next_step)


def _misplaced(path: PurePosixPath) -> Withheld:
    if len(path.parts) > layout.MAX_DEPTH:
        why, next_step = (
            f"it is nested more than {layout.MAX_DEPTH} folders deep",
            "no backup takes it either: move it up",
        )
    else:
        why = "it is a file where the vault has a folder, or in a folder where it has a file"
        next_step = "turns cannot write there: move it, or give it another name"
    return Withheld(shown_path(path), 0, "misplaced", why, next_step)


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


# What the record holds ----------------------------------------------------------------------------------------------


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
    """What is recorded of a file: the secrets that it brings in, or that it became a conversation record; and the texts
    in which that was found.

    That is `noted` again, if it is of these texts: to search a megabyte takes seconds, and every commit asks.
    """
    texts = " ".join("" if text is None else object_id("blob", text) for text in (before, after))
    if isinstance(noted, dict) and noted.get("texts") == texts and _findings(noted):
        return noted

    if kind := stray.became(path, before, after):
        return {"texts": texts, "findings": [[0, kind]]}

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
