"""Commit a person's edits under the person's name, before anything else changes the files.

An edit is looked at and never kept: it is what the disk holds against HEAD at the moment of the commit. Whatever the
person takes back before that is gone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from vault_memory.adapters.history import Author, Draft, FileChange, Flushed
from vault_memory.core import layout, reading, trailers
from vault_memory.core.notes import note
from vault_memory.core.privacy import redact
from vault_memory.core.profile import Change, Profile, changes_between, versions
from vault_memory.core.trailers import Trailers
from vault_memory.errors import Changed
from vault_memory.services.person_edits.withheld import forget, refuse_checked_out, without_withheld
from vault_memory.services.vault import Vault

MAX_ATTEMPTS = 20
"""The files are read this often when an editor keeps saving them."""
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
                free = without_withheld(vault, edits)
                flushed = _commit(vault, free)
                waiting = {edit.path for edit in free} & flushed.waiting_paths
                if waiting and flushed.paused:
                    on_waiting(flushed.paused)
                count += len(free) - len(waiting)
            forget(vault, scope, paths, edited)
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
    free = without_withheld(vault, edits)
    flushed = _commit(vault, free)
    if len(free) < len(edits):
        refuse_checked_out(vault, {edit.path for edit in edits})
    return flushed


def _commit(vault: Vault, edits: Sequence[FileChange]) -> Flushed:
    return vault.history.commit_edits(_drafts(vault, edits)) if edits else Flushed()


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
    old, new = (Profile.decode(data) for data in (before, after))
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
        saved_at = vault.saved_at(edit.path)  # it may be long ago, and what was said since then is newer
        drafts += (replace(draft, made_at=saved_at) for draft in preference_drafts)
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
